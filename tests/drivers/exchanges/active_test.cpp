// Exchange `active`: how blocks are cut into packets, how these pass through the slots of a window, and that ranks that
// run ahead or behind never meet each other's packets of another exchange.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exchanges/active/packets.hpp"
#include "interfaces/exchange.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "redistribution/packet_window.hpp"
#include "support/exchange_fixture.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<std::array<int, 3>> orders{{0, 1, 2}, {0, 2, 1}, {2, 0, 1}, {2, 1, 0}};

/// Where an element of the block lies in a message.
Index place_in_message(const Extents& index, const Extents& extents, const std::array<int, 3>& order) {
  const Extents strides = dense_strides(extents, order);
  return index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2];
}

TEST(PacketCut, IsOfRunsOfTheMessageThatFollowEachOther) {
  for (const Extents& extents : std::vector<Extents>{{1, 1, 1}, {5, 4, 3}, {1, 7, 2}, {6, 1, 9}, {2, 3, 8}})
    for (const auto& order : orders)
      for (Index most = 1; most <= extents[0] * extents[1] * extents[2] + 3; ++most) {
        const PacketCut cut(extents, order, most);
        Index end = 0;
        Index largest = 0;
        for (Index p = 0; p < cut.packets(); ++p) {
          const auto [low, size] = cut.packet(p);
          ASSERT_EQ(place_in_message(low, extents, order), end) << "packet " << p << " of at most " << most;
          const Index elements = size[0] * size[1] * size[2];
          ASSERT_GT(elements, 0);
          ASSERT_LE(elements, most);
          // The last element of a run is as far from its first as there are elements.
          const Extents last{low[0] + size[0] - 1, low[1] + size[1] - 1, low[2] + size[2] - 1};
          ASSERT_EQ(place_in_message(last, extents, order), end + elements - 1);
          end += elements;
          largest = std::max(largest, elements);
        }
        ASSERT_EQ(end, extents[0] * extents[1] * extents[2]);
        ASSERT_EQ(cut.largest(), largest);
      }
}

/// Packets of as many slowest indices as fit: n / floor(c / m) packets, rounded up, with n indices of m elements.
TEST(PacketCut, HasAsManyPacketsAsTheFormulaSays) {
  const Extents extents{8, 6, 10};
  const auto packets = [&](Index most) { return PacketCut(extents, {0, 1, 2}, most).packets(); };
  EXPECT_EQ(packets(1000), 1);
  EXPECT_EQ(packets(480), 1);
  EXPECT_EQ(packets(479), 2);     // 7 planes of 60 fit; 4 and 4
  EXPECT_EQ(packets(120), 4);     // 2 planes
  EXPECT_EQ(packets(60), 8);      // 1 plane
  EXPECT_EQ(packets(59), 8 * 2);  // 5 rows of 10; 3 and 3
  EXPECT_EQ(packets(10), 8 * 6);  // 1 row
  EXPECT_EQ(packets(9), 48 * 2);  // 5 and 5
  EXPECT_EQ(packets(1), 480);
  EXPECT_EQ(PacketCut(extents, {2, 1, 0}, 48).packets(), 10);
  EXPECT_EQ(PacketCut({0, 6, 10}, {0, 1, 2}, 48).packets(), 0);
}

TEST(SlotRule, HasHalfOfTheSlotsInABurst) {
  const SlotRule many = slot_rule(10, 1000, 4);
  EXPECT_EQ(many.slots, 4);
  EXPECT_EQ(many.slot_bytes, 1024);
  EXPECT_EQ(many.burst, 2);
  EXPECT_EQ(many.bursts(), 5);
  EXPECT_EQ(many.bytes(), 4096);
  EXPECT_EQ(slot_rule(11, 64, 4).bursts(), 6);
  EXPECT_EQ(slot_rule(11, 64, 1).bursts(), 11);
  EXPECT_EQ(slot_rule(11, 64, 3).burst, 1);
  EXPECT_EQ(slot_rule(1, 64, 1024).slots, 2) << "one exchange after another";
  EXPECT_EQ(slot_rule(1, 64, 1).slots, 1);
}

class Active : public ::testing::Test {
 protected:
  [[nodiscard]] static const ExchangeMethod& method() { return ExchangeRegistry::instance().get("active", "exchange"); }
  [[nodiscard]] static Problem with(const std::string& packet_bytes, const std::string& in_flight) {
    Problem problem;
    problem.parameters = {{"packet-bytes", packet_bytes}, {"packets-in-flight", in_flight}};
    return problem;
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

TEST_F(Active, NamesAParameterThatCannotBeUsed) {
  const auto refusal = [](const Problem& problem) {
    return test::message_of([&] { return method().supports(problem); });
  };
  for (const char* bytes : {"0", "15", "-16", "1073741825", "16KiB", ""})
    EXPECT_THAT(refusal(with(bytes, "4")), AllOf(HasSubstr("'packet-bytes' is '" + std::string(bytes) + "'"),
                                                 HasSubstr("allowed: 16 to 1073741824")));
  for (const char* packets : {"0", "1025", "two"})
    EXPECT_THAT(
        refusal(with("4096", packets)),
        AllOf(HasSubstr("'packets-in-flight' is '" + std::string(packets) + "'"), HasSubstr("allowed: 1 to 1024")));
  Problem single = with("8", "1");
  EXPECT_THAT(refusal(single), HasSubstr("allowed: 16 to"));
  single.precision = Precision::single_precision;
  EXPECT_FALSE(method().supports(single)) << "one element of 8 bytes";
}

/// Each value tells which exchange, which run and which element it is of.
using Value = std::complex<double>;
void fill(const Buffer& buffer, const Decomposition& layout, int rank, double run) {
  for (Index i = 0; i < layout.box(rank).volume(); ++i) {
    const Extents index = layout.global_index(rank, i);
    static_cast<Value*>(buffer.data())[i] = {run, static_cast<double>((index[0] * 100 + index[1]) * 100 + index[2])};
  }
}
Index wrong(const Buffer& buffer, const Decomposition& layout, int rank, double run) {
  Index count = 0;
  for (Index i = 0; i < layout.box(rank).volume(); ++i) {
    const Extents index = layout.global_index(rank, i);
    const Value expected{run, static_cast<double>((index[0] * 100 + index[1]) * 100 + index[2])};
    count += static_cast<const Value*>(buffer.data())[i] == expected ? 0 : 1;
  }
  return count;
}

struct Planned {
  Planned(const ExchangeMethod& method, const Decomposition& from, const Decomposition& to, const Problem& problem)
      : bytes(static_cast<std::size_t>(std::max(from.max_volume(), to.max_volume())) * sizeof(Value)),
        source(ordinary_buffer(bytes)),
        spare(ordinary_buffer(bytes)),
        exchange(method.make({from, to, MPI_COMM_WORLD, sizeof(Value), *source, *spare, MPI_COMM_NULL, &problem})) {}
  /// One rank moves nothing: what it has stays where it is.
  [[nodiscard]] const Buffer& result() const { return exchange->lands_in_source() ? *source : *spare; }
  std::size_t bytes;
  std::unique_ptr<Buffer> source;
  std::unique_ptr<Buffer> spare;
  std::unique_ptr<Exchange> exchange;
};

/// Nothing keeps the ranks together but the packets. A rank is late in each run, another one each time.
TEST_F(Active, KeepsExchangesApartWhoseRanksRunAheadAndBehind) {
  const Decomposition from = decompose({9, 7, 4}, {{ranks_, 1, 1}});
  const Decomposition to = decompose({9, 7, 4}, {{1, ranks_, 1}});
  PhaseClock clock(false);
  for (const char* packet_bytes : {"16", "48", "100000"})
    for (const char* in_flight : {"1", "2", "5"}) {
      const Problem problem = with(packet_bytes, in_flight);
      const Planned there(method(), from, to, problem);
      for (int run = 0; run < 25; ++run) {
        fill(*there.source, from, me_, run);
        if (run % ranks_ == me_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        there.exchange->run(clock);
        ASSERT_EQ(wrong(there.result(), to, me_, run), 0) << packet_bytes << " x " << in_flight << ", run " << run;
      }
    }
}

/// As instances do it: two exchanges in flight, each begun before the other ends.
TEST_F(Active, HasOtherExchangesBetweenItsHalves) {
  const Decomposition from = decompose({6, 8, 5}, {{ranks_, 1, 1}});
  const Decomposition to = decompose({6, 8, 5}, {{1, 1, ranks_}});
  PhaseClock clock(false);
  const Problem problem = with("64", "2");
  const Planned first(method(), from, to, problem);
  const Planned second(method(), from, to, problem);
  for (int run = 0; run < 6; ++run) {
    fill(*first.source, from, me_, run);
    first.exchange->begin(clock);
    fill(*second.source, from, me_, run + 100);
    second.exchange->begin(clock);
    first.exchange->end(clock);
    ASSERT_EQ(wrong(first.result(), to, me_, run), 0);
    second.exchange->end(clock);
    ASSERT_EQ(wrong(second.result(), to, me_, run + 100), 0);
  }
}

/// P - 1 blocks of 2 x 2 x 4 elements there and as many back, each in packets of one row: four messages a block, and
/// with four slots a flag for two of them and a credit for two.
TEST_F(Active, DeclaresPacketsFlagsAndCredits) {
  const Index n = 2 * ranks_;
  const Planned there(method(), decompose({n, n, 4}, {{ranks_, 1, 1}}), decompose({n, n, 4}, {{1, ranks_, 1}}),
                      with("64", "4"));
  const MessageVolume volume = there.exchange->message_volume();
  EXPECT_EQ(volume.messages_sent, 4 * (ranks_ - 1));
  EXPECT_EQ(volume.bytes_sent, 16 * 16 * (ranks_ - 1));
  EXPECT_EQ(volume.control_messages_sent, (2 + 2) * (ranks_ - 1));
  // Slots of four packets of a cache line for each sender; a line for the flag of each and one for the credit of each
  // target; and two packets in which a burst for each target is put together, unless rows lie as they are sent.
  if (ranks_ > 1) {
    EXPECT_EQ(there.exchange->facts().workspace_bytes, static_cast<std::size_t>((4 + 2) * 64 * (ranks_ - 1)));
  } else {
    EXPECT_EQ(there.exchange->facts().workspace_bytes, 0U);
  }
  const Planned large(method(), decompose({n, n, 4}, {{ranks_, 1, 1}}), decompose({n, n, 4}, {{1, ranks_, 1}}),
                      with("1000000", "1"));
  EXPECT_EQ(large.exchange->message_volume().messages_sent, ranks_ - 1);
  EXPECT_EQ(large.exchange->message_volume().control_messages_sent, 2 * (ranks_ - 1));
}

}  // namespace
}  // namespace fourscore
