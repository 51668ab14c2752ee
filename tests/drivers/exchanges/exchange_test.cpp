// Every registered exchange, between decompositions that divide and that do not: each element is looked at.

#include "interfaces/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "mpi/handles.hpp"
#include "support/boxes_of.hpp"
#include "support/exchange_fixture.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;

class EveryExchange : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const ExchangeMethod& method() const {
    return ExchangeRegistry::instance().get(GetParam(), "exchange");
  }
};

TEST_P(EveryExchange, BringsEachElementToItsPlace) {
  const auto buffers = test::allocate(method());
  for (const auto& movement : test::movements())
    for (const std::size_t element_bytes : {8U, 16U}) test::run_and_check(method(), movement, element_bytes, buffers);
}

TEST_P(EveryExchange, WorksOnOrdinaryBuffersToo) {
  const auto buffers = test::allocate(ExchangeRegistry::instance().get("alltoallv", "exchange"));
  const auto& all = test::movements();
  for (std::size_t i = 0; i < all.size(); i += 3) test::run_and_check(method(), all[i], 16, buffers);
}

TEST_P(EveryExchange, WorksWhereOnlySomeRanksShareMemory) {
  const auto buffers = test::allocate_on_two_nodes();
  const auto& all = test::movements();
  for (std::size_t i = 0; i < all.size(); i += 2) test::run_and_check(method(), all[i], i % 4 == 0 ? 8 : 16, buffers);
}

/// As it says, whichever way the blocks lie: who computes on a device relies on it.
TEST_P(EveryExchange, IsDivisibleAsItSays) {
  const auto buffers = test::allocate(method());
  for (const auto& movement : test::movements()) {
    const auto exchange = method().make({movement.from, movement.to, movement.comm, 16, *buffers.source, *buffers.spare,
                                         MPI_COMM_WORLD, nullptr, nullptr, true});
    const Divisible divisible = method().divisible();
    EXPECT_EQ(exchange->packed_memory().has_value(),
              divisible == Divisible::copies || divisible == Divisible::messages);
    EXPECT_EQ(exchange->by_peer() != nullptr, divisible == Divisible::messages);
    if (!exchange->lands_in_source()) {
      EXPECT_EQ(exchange->readable_sources().has_value(), divisible == Divisible::reads);
    }
  }
}

TEST_P(EveryExchange, GivesBuffersAlignedToACacheLineAndReadableByPeers) {
  const auto buffer = method().allocate(MPI_COMM_WORLD, 1000, BufferUse::array);
  EXPECT_GE(buffer->bytes(), 1000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  *static_cast<int*>(buffer->data()) = 100 + me;
  buffer->sync();
  MPI_Barrier(MPI_COMM_WORLD);
  buffer->sync();
  for (int rank = 0; rank < mpi::size_of(MPI_COMM_WORLD); ++rank) {
    if (const void* peer = buffer->peer(rank)) {
      EXPECT_EQ(*static_cast<const int*>(peer), 100 + rank);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(EveryExchange, RefusesDecompositionsThatDoNotBelongTogether) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  const auto source = method().allocate(MPI_COMM_WORLD, 16 * 64, BufferUse::array);
  const auto spare = method().allocate(MPI_COMM_WORLD, 16 * 64, BufferUse::array);
  const auto make = [&](const Decomposition& from, const Decomposition& to) {
    return method().make({from, to, MPI_COMM_WORLD, 16, *source, *spare});
  };
  const Decomposition good = decompose({4, 4, 4}, {{size, 1, 1}});
  EXPECT_NO_THROW((void)make(good, good));
  EXPECT_THROW((void)make(good, decompose({4, 4, 4}, {{size + 1, 1, 1}})), std::invalid_argument);
  EXPECT_THROW((void)make(good, decompose({4, 4, 5}, {{size, 1, 1}})), std::invalid_argument);
  const Decomposition large = decompose({4 * size, 8, 8}, {{size, 1, 1}});
  EXPECT_THROW((void)make(large, large), std::invalid_argument);
}

/// Claims more memory than there is: planning touches none of it.
class ClaimedBuffer : public Buffer {
 public:
  [[nodiscard]] void* data() const override { return const_cast<std::byte*>(place_.data()); }
  [[nodiscard]] std::size_t bytes() const override { return std::size_t{1} << 62; }

 private:
  alignas(64) std::array<std::byte, 64> place_{};
};

TEST_P(EveryExchange, NamesABlockThatOverflowsMpisCountsOrPlansIt) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  if (size == 1) GTEST_SKIP() << "one rank sends no message";
  const Index n = 1 << 18;
  const Decomposition from = decompose({n, n, 8}, {{size, 1, 1}});
  const Decomposition to = decompose({n, n, 8}, {{1, size, 1}});
  const Index block = block_range(n, size, 0).size() * block_range(n, size, 1).size() * 8;
  ASSERT_GT(block, std::numeric_limits<int>::max());
  ClaimedBuffer source;
  ClaimedBuffer spare;
  const auto make = [&] { return method().make({from, to, MPI_COMM_WORLD, 16, source, spare}); };
  // The ones with a datatype for each block send one of it, however large.
  if (const std::set<std::string> whole_blocks{"alltoallw", "shared"}; whole_blocks.contains(GetParam())) {
    const auto exchange = make();
    const int me = mpi::rank_in(MPI_COMM_WORLD);
    const Index sent = from.box(me).volume() * 16 - exchange->message_volume().bytes_self;
    EXPECT_EQ(exchange->message_volume().bytes_sent, sent);
    EXPECT_EQ(exchange->message_volume().messages_sent, size - 1);
    return;
  }
  // Packets are of a size that MPI can count, whatever the block's.
  if (GetParam() == "active") {
    const MessageVolume traffic = make()->message_volume();
    const Index sent = from.box(mpi::rank_in(MPI_COMM_WORLD)).volume() * 16 - traffic.bytes_self;
    EXPECT_EQ(traffic.bytes_sent, sent);
    EXPECT_GT(traffic.messages_sent, block / std::numeric_limits<int>::max() * (size - 1));
    return;
  }
  EXPECT_THAT(test::message_of(make), ::testing::AllOf(HasSubstr(std::to_string(block)), HasSubstr(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryExchange, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

TEST(Movements, AreOfEachKind) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  const auto grids = two_dimensional_grids(size).size();
  const auto& all = test::movements();
  EXPECT_EQ(all.size(), size <= test::most_ranks_with_every_movement ? 6 * 9 + grids * 6 * 6 : 9 + grids * 3);

  const auto holds = [&](const auto& property) { return std::ranges::any_of(all, property); };
  const auto is_prime = [](Index n) {
    for (Index d = 2; d * d <= n; ++d)
      if (n % d == 0) return false;
    return n > 1;
  };
  EXPECT_TRUE(holds([&](const auto& m) { return std::ranges::all_of(m.from.shape, is_prime); }));
  EXPECT_TRUE(holds([](const auto& m) { return m.from.order != m.to.order; }));
  EXPECT_TRUE(holds([](const auto& m) { return m.from.same_boxes(m.to) && m.from.order == m.to.order; }));
  const auto uneven = [](const Decomposition& d) {
    return std::ranges::any_of(test::boxes_of(d), [&](const Box& box) { return box.volume() != d.box(0).volume(); });
  };
  EXPECT_EQ(holds([&](const auto& m) { return uneven(m.from) && uneven(m.to); }), size > 1);
  const auto leaves_a_rank_empty = [](const Decomposition& d) {
    return std::ranges::any_of(test::boxes_of(d), [](const Box& box) { return box.empty(); });
  };
  EXPECT_EQ(holds([&](const auto& m) { return leaves_a_rank_empty(m.from) || leaves_a_rank_empty(m.to); }), size > 1);
}

TEST(LeastTraffic, OfAnExchangeIsWhatIsReadToSendAndWrittenOnceReceived) {
  MessageVolume traffic;
  traffic.bytes_sent = 100;
  traffic.bytes_self = 20;
  traffic.bytes_relayed = 5;
  traffic.bytes_read_shared = 30;
  // 20 of the 200 bytes stayed and 30 were read from neighbours, and written: 150 came in messages.
  EXPECT_EQ(min_bytes_of_exchange(traffic, 200), 100 + 150 + 5 + 2 * 30);
  EXPECT_EQ(min_bytes_of_exchange(traffic, 10), 100 + 5 + 2 * 30) << "nothing came in messages";
}

TEST(Exchanges, AreAllRegistered) {
  EXPECT_THAT(ExchangeRegistry::instance().names(),
              ::testing::IsSupersetOf({"active", "alltoallv", "alltoallw", "bruck", "hierarchical", "ialltoallv",
                                       "ialltoallv-pipelined", "p2p", "p2p-pipelined", "pairwise", "rma", "shared"}));
}

}  // namespace
}  // namespace fourscore
