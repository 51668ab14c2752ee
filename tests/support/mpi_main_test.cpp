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

/// Run by name alone, by the tests mpi_main.a_failure_*: it fails on the last rank and on no other.
TEST(MpiMain, DISABLED_TheLastRankFails) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_NE(rank, size - 1) << "on purpose";
}

}  // namespace
