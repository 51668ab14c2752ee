#include "harness/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "harness/sampler.hpp"
#include "mpi/handles.hpp"
#include "support/pretended_nodes.hpp"
#include "support/world.hpp"

namespace fourscore {
namespace {

using test::rank;
using test::size;

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

TEST(ClockAlignment, PingPongFindsAClockThatIsSecondsOff) {
  if (size() < 2) GTEST_SKIP() << "takes two ranks";
  const mpi::Communicator pair = mpi::split(MPI_COMM_WORLD, rank() < 2 ? 0 : MPI_UNDEFINED, rank());
  if (rank() >= 2) return;
  // Both ranks of a test read one clock, so what is added to it is what must be found.
  constexpr std::int64_t ahead_ns = 3'000'000'000;
  const auto clock = [] { return PhaseClock::now_ns() + (rank() == 1 ? ahead_ns : 0); };
  const ClockOffset found = clock_offset_by_ping_pong(pair.get(), 0, 1, 20, clock);
  if (rank() == 0) {
    EXPECT_EQ(found.offset_ns, 0);
    return;
  }
  EXPECT_GT(found.uncertainty_ns, 0);
  EXPECT_LE(std::abs(found.offset_ns + ahead_ns), found.uncertainty_ns);
}

TEST(ClockAlignment, RanksOfOneNodeShareAClock) {
  const ClockAligner clocks(MPI_COMM_WORLD);
  EXPECT_TRUE(clocks.shares_a_clock());
  const ClockOffset offset = clocks.align();
  EXPECT_EQ(offset.offset_ns, 0);
  EXPECT_EQ(offset.uncertainty_ns, 0);
}

/// The clock of rank r is r seconds ahead: every node must find that, also one that asks a node which asked another.
TEST(ClockAlignment, EveryNodeFindsTheTimeOfTheFirst) {
  const test::EachRankIsANode nodes;
  const std::int64_t ahead_ns = 1'000'000'000LL * rank();
  const ClockAligner clocks(MPI_COMM_WORLD, [=] { return PhaseClock::now_ns() + ahead_ns; });
  EXPECT_EQ(clocks.shares_a_clock(), size() == 1);
  const ClockOffset offset = clocks.align();
  EXPECT_LE(std::abs(offset.offset_ns + ahead_ns), offset.uncertainty_ns);
  EXPECT_EQ(offset.uncertainty_ns > 0, rank() > 0);
}

TEST(ClockAlignment, DriftIsInTheUncertaintyOfWhatLiesBetween) {
  const ClockOffset offset = between({1000, 30}, {1400, 50});
  EXPECT_EQ(offset.offset_ns, 1200);
  EXPECT_EQ(offset.uncertainty_ns, 250);
}

TEST(Timeline, EveryRankAndThreadIsOnOneAxis) {
  Sampler sampler(MPI_COMM_WORLD, {});
  int prepared = 0;
  const Timeline timeline = sampler.trace([&] { ++prepared; },
                                          [](PhaseClock& clock) {
                                            const Region fft(clock, Phase::fft, rank());
                                            std::thread([&clock] {
                                              const Region pack(clock.lane(1), Phase::pack);
                                              wait_ms(2);
                                            }).join();
                                          },
                                          2);
  EXPECT_EQ(prepared, 1);
  if (rank() != 0) {
    EXPECT_TRUE(timeline.lanes.empty());
    return;
  }
  EXPECT_EQ(timeline.alignment, "shared clock");
  const auto ranks = static_cast<std::size_t>(size());
  ASSERT_EQ(timeline.lanes.size(), 2 * ranks);
  EXPECT_EQ(*std::ranges::min_element(timeline.rank_start_s), 0);
  for (std::size_t i = 0; i < timeline.lanes.size(); ++i) {
    const Timeline::Lane& lane = timeline.lanes[i];
    const auto r = static_cast<std::size_t>(lane.rank);
    EXPECT_EQ(r, i / 2);
    EXPECT_EQ(lane.lane, static_cast<int>(i % 2));
    EXPECT_EQ(lane.dropped, 0U);
    const auto wanted = lane.lane == 0 ? Phase::fft : Phase::pack;
    const auto found = std::ranges::find(lane.events, wanted, &PhaseEvent::phase);
    ASSERT_NE(found, lane.events.end());
    EXPECT_GE(found->end_ns - found->begin_ns, 2'000'000);
    EXPECT_EQ(found->piece, lane.lane == 0 ? lane.rank : no_piece);
    EXPECT_GE(1e-9 * static_cast<double>(lane.events.front().begin_ns), timeline.rank_start_s[r]);
    EXPECT_LE(1e-9 * static_cast<double>(lane.events.back().end_ns), timeline.rank_end_s[r]);
  }
}

TEST(Timeline, AThreadThatDidNothingHasNoLane) {
  Sampler sampler(MPI_COMM_WORLD, {});
  const Timeline timeline = sampler.trace([] {}, [](PhaseClock&) { wait_ms(1); }, 3);
  EXPECT_EQ(timeline.lanes.size(), rank() == 0 ? static_cast<std::size_t>(size()) : 0U);
}

TEST(Timeline, EventsWithoutRoomAreCountedOnEachRank) {
  TimelineRecorder recorder(MPI_COMM_WORLD, 1, 0);
  const std::int64_t begin = PhaseClock::now_ns();
  recorder.clock().start();
  for (int i = 0; i < 20'000; ++i) {
    const Region fft(recorder.clock(), Phase::fft);
  }
  recorder.clock().stop();
  const Timeline timeline = recorder.gather(begin, PhaseClock::now_ns());
  for (const Timeline::Lane& lane : timeline.lanes) {
    EXPECT_EQ(lane.events.size(), timeline.room);
    EXPECT_GT(lane.dropped, 0U);
  }
}

}  // namespace
}  // namespace fourscore
