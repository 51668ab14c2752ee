// Each call of MPI that sends is counted as what it hands over, and no run of another time is.

#include "harness/sent_messages.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/handles.hpp"

namespace fourscore {
namespace {

/// A call, made by all ranks, and what this rank hands to MPI in it.
struct Case {
  std::string name;
  std::function<void()> call;
  SentMessages expected;
};

class SentMessagesTest : public testing::Test {
 protected:
  SentMessagesTest() : send_(static_cast<std::size_t>(4 * ranks_), 1), receive_(send_.size()) {
    for (int rank = 0; rank < ranks_; ++rank) {
      counts_.push_back(rank);  // nothing for rank 0
      from_each_.push_back(me_);
      places_.push_back(4 * rank);
      byte_places_.push_back(4 * rank * static_cast<int>(sizeof(double)));
    }
    types_.assign(static_cast<std::size_t>(ranks_), MPI_DOUBLE);
  }

  void expect(const std::vector<Case>& cases) const {
    for (const Case& one : cases) {
      const SentMessages sent = count_messages(one.call);
      EXPECT_EQ(sent.bytes, one.expected.bytes) << one.name;
      EXPECT_EQ(sent.messages, one.expected.messages) << one.name;
      EXPECT_EQ(sent.control_messages, one.expected.control_messages) << one.name;
      EXPECT_EQ(sent.complete, one.expected.complete) << one.name;
    }
  }
  /// What this rank sends to all others where each gets `bytes`, and where rank r gets r doubles.
  [[nodiscard]] SentMessages same_to_each(Index bytes) const { return {bytes * (ranks_ - 1), ranks_ - 1, 0}; }
  [[nodiscard]] SentMessages more_to_each() const {
    Index doubles = 0;
    for (int rank = 0; rank < ranks_; ++rank) doubles += rank == me_ ? 0 : rank;
    return {8 * doubles, ranks_ - 1 - (me_ == 0 ? 0 : 1), 0};
  }
  /// Waits for what a call began.
  [[nodiscard]] static std::function<void()> through(const std::function<void(MPI_Request*)>& begin) {
    return [begin] {
      MPI_Request request = MPI_REQUEST_NULL;
      begin(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
  }
  /// A send to the next rank, which receives from the one before.
  [[nodiscard]] std::function<void()> to_next(const std::function<void()>& send) {
    return [this, send] {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(receive_.data(), 4, MPI_DOUBLE, before_, 7, MPI_COMM_WORLD, &request);
      send();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
  const int next_ = (me_ + 1) % ranks_;
  const int before_ = (me_ + ranks_ - 1) % ranks_;
  std::vector<double> send_, receive_;
  std::vector<int> counts_, from_each_, places_, byte_places_;
  std::vector<MPI_Datatype> types_;
};

TEST_F(SentMessagesTest, AreThoseOfSends) {
  const SentMessages one{ranks_ > 1 ? 32 : 0, ranks_ > 1 ? 1 : 0, 0};
  const SentMessages empty{0, 0, ranks_ > 1 ? 1 : 0};
  double* const data = send_.data();
  const auto ended = [](const std::function<void(MPI_Request*)>& begin) { return through(begin); };
  using Request = MPI_Request*;
  expect({
      {"Send", to_next([&] { MPI_Send(data, 4, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD); }), one},
      {"Send of nothing", to_next([&] { MPI_Send(data, 0, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD); }), empty},
      {"Rsend", to_next([&] {
         MPI_Barrier(MPI_COMM_WORLD);
         MPI_Rsend(data, 4, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD);
       }),
       one},
      {"Isend", to_next(ended([&](Request r) { MPI_Isend(data, 4, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD, r); })), one},
      {"Issend", to_next(ended([&](Request r) { MPI_Issend(data, 4, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD, r); })), one},
      {"Sendrecv",
       [&] {
         MPI_Sendrecv(data, 4, MPI_DOUBLE, next_, 1, receive_.data(), 4, MPI_DOUBLE, before_, 1, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE);
       },
       one},
      {"Sendrecv_replace",
       [&] { MPI_Sendrecv_replace(data, 4, MPI_DOUBLE, next_, 1, before_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); },
       one},
      {"to nobody", [&] { MPI_Send(data, 4, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD); }, {}},
  });
}

TEST_F(SentMessagesTest, AreThoseOfCollectives) {
  double* const s = send_.data();
  double* const r = receive_.data();
  const MPI_Comm world = MPI_COMM_WORLD;
  using Request = MPI_Request*;
  const SentMessages to_root{me_ == 0 ? 0 : 8, me_ == 0 ? 0 : 1, 0};
  const SentMessages from_root = me_ == 0 ? same_to_each(8) : SentMessages{};
  // In place, rank r hands over what it also gets: r doubles to each are counted where it is told what comes.
  const SentMessages own_to_each{8 * me_ * (ranks_ - 1), me_ == 0 ? 0 : ranks_ - 1, 0};
  expect({
      {"Alltoall", [&] { MPI_Alltoall(s, 2, MPI_DOUBLE, r, 2, MPI_DOUBLE, world); }, same_to_each(16)},
      {"Alltoall in place", [&] { MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, r, 2, MPI_DOUBLE, world); },
       same_to_each(16)},
      {"Ialltoall", through([&](Request q) { MPI_Ialltoall(s, 2, MPI_DOUBLE, r, 2, MPI_DOUBLE, world, q); }),
       same_to_each(16)},
      {"Alltoallv",
       [&] {
         MPI_Alltoallv(s, counts_.data(), places_.data(), MPI_DOUBLE, r, from_each_.data(), places_.data(), MPI_DOUBLE,
                       world);
       },
       more_to_each()},
      {"Ialltoallv", through([&](Request q) {
         MPI_Ialltoallv(s, counts_.data(), places_.data(), MPI_DOUBLE, r, from_each_.data(), places_.data(), MPI_DOUBLE,
                        world, q);
       }),
       more_to_each()},
      {"Alltoallw",
       [&] {
         MPI_Alltoallw(s, counts_.data(), byte_places_.data(), types_.data(), r, from_each_.data(), byte_places_.data(),
                       types_.data(), world);
       },
       more_to_each()},
      {"Gather", [&] { MPI_Gather(s, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, 0, world); }, to_root},
      {"Igather", through([&](Request q) { MPI_Igather(s, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, 0, world, q); }), to_root},
      {"Scatter", [&] { MPI_Scatter(s, 1, MPI_DOUBLE, r, 1, MPI_DOUBLE, 0, world); }, from_root},
      {"Allgather", [&] { MPI_Allgather(s, 3, MPI_DOUBLE, r, 3, MPI_DOUBLE, world); }, same_to_each(24)},
      {"Allgatherv", [&] { MPI_Allgatherv(s, me_, MPI_DOUBLE, r, counts_.data(), places_.data(), MPI_DOUBLE, world); },
       own_to_each},
      {"Allgatherv in place",
       [&] { MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, r, counts_.data(), places_.data(), MPI_DOUBLE, world); },
       own_to_each},
      {"Barrier", [&] { MPI_Barrier(world); }, {}},
  });
}

TEST_F(SentMessagesTest, AreThoseOfWindows) {
  MPI_Win window = MPI_WIN_NULL;
  const auto bytes = static_cast<MPI_Aint>(receive_.size() * sizeof(double));
  void* memory = nullptr;
  MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  const bool others = ranks_ > 1;
  expect({
      {"Put",
       [&] { MPI_Put(send_.data(), 2, MPI_DOUBLE, next_, 0, 2, MPI_DOUBLE, window); },
       {others ? 16 : 0, others ? 1 : 0, 0}},
      {"Accumulate",
       [&] { MPI_Accumulate(send_.data(), 1, MPI_DOUBLE, next_, 3, 1, MPI_DOUBLE, MPI_SUM, window); },
       {0, 0, others ? 1 : 0}},
      {"Get", [&] { MPI_Get(send_.data(), 1, MPI_DOUBLE, next_, 2, 1, MPI_DOUBLE, window); }, {0, 0, 0, false}},
  });
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

TEST_F(SentMessagesTest, AreSaidToBeIncompleteWhereACallIsNotCounted) {
  double* const s = send_.data();
  double* const r = receive_.data();
  const SentMessages incomplete{0, 0, 0, false};
  expect({
      {"Bcast", [&] { MPI_Bcast(s, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); }, incomplete},
      {"Allreduce", [&] { MPI_Allreduce(s, r, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }, incomplete},
      {"Start", to_next(through([&](MPI_Request* request) {
         MPI_Send_init(s, 4, MPI_DOUBLE, next_, 7, MPI_COMM_WORLD, request);
         MPI_Start(request);
         MPI_Wait(request, MPI_STATUS_IGNORE);
         MPI_Request_free(request);
       })),
       incomplete},
  });
}

TEST_F(SentMessagesTest, AreCountedWhileTheRunRunsAndNeverElse) {
  const auto send = [&] { MPI_Allgather(send_.data(), 1, MPI_DOUBLE, receive_.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD); };
  send();
  EXPECT_EQ(count_messages([] {}).messages, 0);
  EXPECT_THROW((void)count_messages([&] { throw std::runtime_error("on purpose"); }), std::runtime_error);
  send();
  EXPECT_EQ(count_messages(send).messages, ranks_ - 1);
  EXPECT_TRUE(can_count_messages());
}

}  // namespace
}  // namespace fourscore
