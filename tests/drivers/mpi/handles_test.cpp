// The owners of MPI's handles. This program defines the calls that free them itself (MPI 3.1, chapter 14), counts, and
// passes on to the profiling interface.

#include "mpi/handles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "interfaces/exchange.hpp"
#include "mpi/error.hpp"
#include "mpi/shared_window.hpp"
#include "support/heap.hpp"

namespace {

struct Freed {
  int communicators = 0;
  int types = 0;
  int groups = 0;
  int cancelled = 0;
  int requests = 0;
  int windows = 0;
  int unlocked = 0;
} freed;

}  // namespace

extern "C" {
int MPI_Comm_free(MPI_Comm* comm) {
  ++freed.communicators;
  return PMPI_Comm_free(comm);
}
int MPI_Type_free(MPI_Datatype* type) {
  ++freed.types;
  return PMPI_Type_free(type);
}
int MPI_Group_free(MPI_Group* group) {
  ++freed.groups;
  return PMPI_Group_free(group);
}
int MPI_Win_free(MPI_Win* window) {
  ++freed.windows;
  return PMPI_Win_free(window);
}
int MPI_Win_unlock_all(MPI_Win window) {
  ++freed.unlocked;
  return PMPI_Win_unlock_all(window);
}
int MPI_Cancel(MPI_Request* request) {
  ++freed.cancelled;
  return PMPI_Cancel(request);
}
int MPI_Request_free(MPI_Request* request) {
  ++freed.requests;
  return PMPI_Request_free(request);
}
}

namespace fourscore {
namespace {

const int no_tag_is_sent = 77;

class Handles : public testing::Test {
 protected:
  void SetUp() override { freed = {}; }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
  const int next_ = (me_ + 1) % ranks_;
  const int previous_ = (me_ + ranks_ - 1) % ranks_;
};

TEST_F(Handles, AreFreedOnceHoweverOftenTheyMove) {
  {
    mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
    mpi::Communicator moved = std::move(comm);
    EXPECT_EQ(comm.get(), MPI_COMM_NULL);  // NOLINT(bugprone-use-after-move): what a move leaves
    mpi::Communicator other = mpi::duplicate(MPI_COMM_WORLD);
    other = std::move(moved);  // frees what it held
    EXPECT_EQ(freed.communicators, 1);
    mpi::Communicator& same = other;
    other = std::move(same);
    EXPECT_EQ(freed.communicators, 1);
    EXPECT_EQ(mpi::size_of(other.get()), ranks_);
    other.reset();
    other.reset();
    EXPECT_EQ(freed.communicators, 2);
    const mpi::Group group = mpi::group_of(MPI_COMM_WORLD);
  }
  EXPECT_EQ(freed.communicators, 2);
  EXPECT_EQ(freed.groups, 1);
}

TEST_F(Handles, OfABoxTypeThatWasBuiltInStepsLeaveNoStepBehind) {
  for (int built = 0; built < 3; ++built)
    const mpi::Datatype type = mpi::box_type(16, 5, {2, 3, 4}, {100, 10, 2}, {2, 0, 1});
  // One contiguous, three vectors, one displacement.
  EXPECT_EQ(freed.types, 3 * 5);
}

TEST_F(Handles, OfABoxTypeMoveTheElementsOfTheBoxInTheOrderOfTheVisit) {
  std::vector<std::complex<double>> data(200);
  std::iota(data.begin(), data.end(), 0.0);
  // Axis 2 slowest, then 0, then 1.
  const mpi::Datatype type = mpi::box_type(16, 5, {2, 3, 4}, {60, 10, 2}, {2, 0, 1});
  std::vector<std::complex<double>> received(24, -1.0);
  FOURSCORE_MPI(MPI_Sendrecv(data.data(), 1, type.get(), next_, 0, received.data(), 24, mpi::element_type(16),
                             previous_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  std::size_t i = 0;
  for (int c = 0; c < 4; ++c)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 3; ++b) EXPECT_EQ(received[i++], std::complex<double>(5 + 60 * a + 10 * b + 2 * c));
}

TEST_F(Handles, OfCommunicatorsAreEmptyWhereARankTakesNoPart) {
  const mpi::Communicator first = mpi::split(MPI_COMM_WORLD, me_ == 0 ? 0 : MPI_UNDEFINED, 0);
  EXPECT_EQ(first.get() == MPI_COMM_NULL, me_ != 0);
  const mpi::Communicator reversed = mpi::split(MPI_COMM_WORLD, 0, -me_);
  std::vector<int> expected(static_cast<std::size_t>(ranks_));
  std::iota(expected.rbegin(), expected.rend(), 0);
  EXPECT_EQ(mpi::translate_ranks(MPI_COMM_WORLD, reversed.get()), expected);
  if (first.get() != MPI_COMM_NULL) {
    std::vector<int> undefined(static_cast<std::size_t>(ranks_), MPI_UNDEFINED);
    undefined[0] = 0;
    EXPECT_EQ(mpi::translate_ranks(MPI_COMM_WORLD, first.get()), undefined);
  }
}

TEST_F(Handles, OfElementsExistFor8And16BytesOnly) {
  for (const std::size_t bytes : {8U, 16U}) {
    int size = 0;
    MPI_Type_size(mpi::element_type(bytes), &size);
    EXPECT_EQ(static_cast<std::size_t>(size), bytes);
  }
  EXPECT_THROW(static_cast<void>(mpi::element_type(4)), std::invalid_argument);
}

/// Gives `owner` a receive from this rank itself that no message answers.
void expect_nothing(mpi::Requests& owner, std::vector<std::int64_t>& data, MPI_Comm comm, int me) {
  FOURSCORE_MPI(
      MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_INT64_T, me, no_tag_is_sent, comm, owner.next()));
}

TEST_F(Handles, OfRequestsThatNothingAnswersAreCancelledAndNothingHangs) {
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  std::vector<std::int64_t> abandoned(8, -1);
  {
    mpi::Requests requests;
    for (int i = 0; i < 3; ++i) expect_nothing(requests, abandoned, comm.get(), me_);
  }
  EXPECT_EQ(freed.cancelled, 3);
  EXPECT_EQ(freed.requests, 3);

  // The message comes after all. It goes to whoever asks now, not into the memory that was given up.
  const std::vector<std::int64_t> sent(8, 42);
  std::vector<std::int64_t> received(8, 0);
  mpi::Requests requests;
  expect_nothing(requests, received, comm.get(), me_);
  FOURSCORE_MPI(MPI_Send(sent.data(), 8, MPI_INT64_T, me_, no_tag_is_sent, comm.get()));
  requests.wait_all();
  EXPECT_EQ(received, sent);
  EXPECT_EQ(abandoned, std::vector<std::int64_t>(8, -1));
}

TEST_F(Handles, OfRequestsThatWereWaitedForNeedNoCancelling) {
  {
    std::array<std::int64_t, 2> data{me_, -1};
    mpi::Requests requests;
    requests.reserve(2);
    for (int round = 0; round < 3; ++round) {
      FOURSCORE_MPI(MPI_Irecv(&data[1], 1, MPI_INT64_T, previous_, 0, MPI_COMM_WORLD, requests.next()));
      FOURSCORE_MPI(MPI_Isend(data.data(), 1, MPI_INT64_T, next_, 0, MPI_COMM_WORLD, requests.next()));
      requests.wait_all();
      EXPECT_EQ(data[1], previous_);
      data[1] = -1;
    }
    requests.wait_all();  // waits for none
  }
  EXPECT_EQ(freed.cancelled, 0);
  EXPECT_EQ(freed.requests, 0);
}

/// MPI 3.1, 5.12: a nonblocking collective can neither be cancelled nor freed.
TEST_F(Handles, OfACollectiveInFlightAreWaitedFor) {
  const int one = 1;
  int sum = 0;
  {
    mpi::Requests requests(mpi::RequestsOf::collectives);
    FOURSCORE_MPI(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests.next()));
  }
  EXPECT_EQ(sum, ranks_);
  EXPECT_EQ(freed.cancelled, 0);
  EXPECT_EQ(freed.requests, 0);
}

TEST_F(Handles, OfAnIalltoallvThatIsNeverFinishedAreWaitedFor) {
  const ExchangeMethod& method = ExchangeRegistry::instance().get("ialltoallv", "exchange");
  const Decomposition from = decompose({8, 8, 8}, {{ranks_, 1, 1}});
  const Decomposition to = decompose({8, 8, 8}, {{1, ranks_, 1}});
  const auto source = method.allocate(MPI_COMM_WORLD, 8 * 8 * 8 * 16, BufferUse::array);
  const auto spare = method.allocate(MPI_COMM_WORLD, 8 * 8 * 8 * 16, BufferUse::array);
  {
    const auto exchange = method.make({from, to, MPI_COMM_WORLD, 16, *source, *spare});
    exchange->pack();
    exchange->start();
  }
  EXPECT_EQ(freed.cancelled, 0);
  EXPECT_EQ(freed.requests, 0);
}

/// Another rank that meets no error never comes to free its part: this one would wait for it and not tell its error.
TEST_F(Handles, AreLeftAloneByAnExceptionWhereTheirReleaseIsCollective) {
  try {
    const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
    const mpi::SharedWindow window(mpi::split_by_node(MPI_COMM_WORLD), 100);
    const mpi::Datatype type = mpi::box_type(16, 0, {2, 2, 2}, {8, 4, 1}, {0, 1, 2});
    freed = {};
    EXPECT_TRUE(mpi::may_call_collectives());
    throw std::runtime_error("on purpose");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(mpi::may_call_collectives());
  }
  EXPECT_EQ(freed.communicators, 0);
  EXPECT_EQ(freed.windows, 0);
  EXPECT_EQ(freed.unlocked, 0);
  EXPECT_EQ(freed.types, 1);  // no other rank takes part in that
}

TEST_F(Handles, OfRequestsTellEachThatIsCompleteOnce) {
  mpi::Requests receiving;
  mpi::Requests sending;
  for (const bool waits : {true, false, true}) {
    std::array<std::int64_t, 3> received{-1, -1, -1};
    const std::array<std::int64_t, 3> sent{10, 11, 12};
    for (std::size_t i = 0; i < 3; ++i)
      FOURSCORE_MPI(
          MPI_Irecv(&received[i], 1, MPI_INT64_T, previous_, static_cast<int>(i), MPI_COMM_WORLD, receiving.next()));
    EXPECT_EQ(receiving.test_any(), std::nullopt) << "nothing is sent before all have asked";
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<std::size_t> told;
    for (const std::size_t i : {2U, 0U, 1U}) {
      FOURSCORE_MPI(MPI_Isend(&sent[i], 1, MPI_INT64_T, next_, static_cast<int>(i), MPI_COMM_WORLD, sending.next()));
      auto complete = waits ? receiving.wait_any() : receiving.test_any();
      while (!complete) complete = receiving.test_any();
      EXPECT_EQ(received[*complete], sent[*complete]);
      told.push_back(*complete);
    }
    EXPECT_EQ(waits ? receiving.wait_any() : receiving.test_any(), std::nullopt);
    std::ranges::sort(told);
    EXPECT_EQ(told, (std::vector<std::size_t>{0, 1, 2}));
    sending.wait_all();
  }
  EXPECT_EQ(freed.cancelled, 0);
}

TEST_F(Handles, OfRequestsMoveWithTheirOwner) {
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  std::vector<std::int64_t> data(1, -1);
  mpi::Requests first;
  expect_nothing(first, data, comm.get(), me_);
  {
    const mpi::Requests second = std::move(first);
    EXPECT_EQ(freed.cancelled, 0);
  }
  EXPECT_EQ(freed.cancelled, 1);
}

/// What an exception leaves in flight, over and over.
TEST_F(Handles, OfUnfinishedRequestsLeakNothing) {
  if (!testing_support::heap_is_seen()) GTEST_SKIP() << "the heap is not the C library's";
  const mpi::Communicator comm = mpi::duplicate(MPI_COMM_WORLD);
  std::vector<std::int64_t> data(64, -1);
  const auto abandon = [&](int times) {
    for (int i = 0; i < times; ++i) {
      mpi::Requests requests;
      requests.reserve(100);
      for (int r = 0; r < 100; ++r) expect_nothing(requests, data, comm.get(), me_);
    }
  };
  abandon(2);  // MPI fills its pools
  const std::size_t before = testing_support::heap_bytes();
  abandon(200);
  // 20,000 requests; the smallest request of an MPI is larger than 100 bytes.
  EXPECT_LT(testing_support::heap_bytes(), before + 200'000);
}

}  // namespace
}  // namespace fourscore
