// What an error of MPI tells: the call, the rank, the host, and MPI's own text.

#include "mpi/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "mpi/handles.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using test::message_of;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int no_such_rank = 1 << 20;

std::string host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

std::string text_of_mpi(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// What both forms must say of a call of MPI_Send that returned `code`.
std::string expected_message(int code) {
  return "MPI_Send failed on rank " + std::to_string(mpi::rank_in(MPI_COMM_WORLD)) + " on host " + host() + ": " +
         text_of_mpi(code);
}

TEST(MpiErrors, ASuccessIsSilent) {
  EXPECT_NO_THROW(FOURSCORE_MPI(MPI_SUCCESS));
  testing::internal::CaptureStderr();
  FOURSCORE_MPI_NOTHROW(MPI_SUCCESS);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(MpiErrors, NameTheCallWithoutItsArgumentsTheRankTheHostAndMpisText) {
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  const int code = MPI_Send(nullptr, 0, MPI_BYTE, no_such_rank, 0, comm.get());
  ASSERT_NE(code, MPI_SUCCESS) << "what handles.hpp makes returns its errors";
  ASSERT_FALSE(text_of_mpi(code).empty());
  const std::string message =
      message_of<MpiError>([&] { FOURSCORE_MPI(MPI_Send(nullptr, 0, MPI_BYTE, no_such_rank, 0, comm.get())); });
  // MPICH gives each error a code and a text of its own, so only what comes before is compared here.
  const std::string expected = expected_message(code);
  EXPECT_THAT(message, StartsWith(expected.substr(0, expected.find(": ") + 2)));
  EXPECT_THAT(message, Not(HasSubstr("no_such_rank")));
  EXPECT_THAT(message, Not(HasSubstr("comm.get()")));
  EXPECT_EQ(message_of<MpiError>([&] { mpi::check(code, "MPI_Send(data, count, type, rank, tag, comm)"); }), expected);
}

TEST(MpiErrors, InADestructorGoToStderrInTheSameWords) {
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  const int code = MPI_Send(nullptr, 0, MPI_BYTE, no_such_rank, 0, comm.get());
  static_assert(noexcept(mpi::check_nothrow(0, "")));
  testing::internal::CaptureStderr();
  mpi::check_nothrow(code, "MPI_Send(data, count, type, rank, tag, comm)");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "fourscore: " + expected_message(code) + "\n");
}

TEST(MpiErrors, OfDifferentKindsHaveDifferentTexts) {
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  const int wrong_count = MPI_Send(nullptr, -1, MPI_BYTE, MPI_PROC_NULL, 0, comm.get());
  const int wrong_rank = MPI_Send(nullptr, 0, MPI_BYTE, no_such_rank, 0, comm.get());
  ASSERT_NE(wrong_count, MPI_SUCCESS);
  const auto message = [](int code) { return message_of<MpiError>([&] { mpi::check(code, "MPI_Send"); }); };
  EXPECT_NE(message(wrong_count), message(wrong_rank));
  EXPECT_THAT(message(wrong_count), EndsWith(text_of_mpi(wrong_count)));
}

}  // namespace
}  // namespace fourscore
