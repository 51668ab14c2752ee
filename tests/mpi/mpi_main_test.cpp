#include <gtest/gtest.h>
#include <mpi.h>

namespace {

TEST(MpiMain, AllRanksRunOneWorld) {
  int size = 0;
  int sum = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, size);
}

}  // namespace
