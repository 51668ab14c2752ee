// Before MPI_Init and after MPI_Finalize: nothing may call MPI then, and errors must still be told. The tests stand in
// the order in which they run.

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

std::string message_outside() {
  try {
    mpi::check(MPI_ERR_RANK, "MPI_Send(data)");
  } catch (const MpiError& error) {
    return error.what();
  }
  return "no error";
}

std::string expected_outside() {
  return "MPI_Send failed outside MPI_Init and MPI_Finalize: error code " + std::to_string(MPI_ERR_RANK);
}

TEST(OutsideMpi, ErrorsBeforeMpiStartsAreReported) {
  EXPECT_FALSE(mpi::is_running());
  EXPECT_EQ(message_outside(), expected_outside());
}

TEST(OutsideMpi, WhatOutlivesMpiIsDestroyedWithoutMpi) {
  ASSERT_EQ(MPI_Init(nullptr, nullptr), MPI_SUCCESS);
  EXPECT_TRUE(mpi::is_running());
  {
    mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
    mpi::Group group = mpi::group_of(comm.get());
    mpi::Datatype type = mpi::box_type(16, 0, {2, 2, 2}, {8, 4, 1}, {0, 1, 2});
    const mpi::Datatype empty = std::move(type);
    const mpi::Communicator moved = std::move(comm);
    EXPECT_EQ(comm.get(), MPI_COMM_NULL);  // NOLINT(bugprone-use-after-move): what a move leaves
    const mpi::Requests requests;
    ASSERT_EQ(MPI_Barrier(moved.get()), MPI_SUCCESS);
    ASSERT_EQ(MPI_Finalize(), MPI_SUCCESS);
    EXPECT_FALSE(mpi::is_running());
    testing::internal::CaptureStderr();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(OutsideMpi, ErrorsAfterMpiEndedAreReported) {
  EXPECT_EQ(message_outside(), expected_outside());
  testing::internal::CaptureStderr();
  mpi::check_nothrow(MPI_ERR_RANK, "MPI_Send(data)");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "fourscore: " + expected_outside() + "\n");
}

}  // namespace
}  // namespace fourscore
