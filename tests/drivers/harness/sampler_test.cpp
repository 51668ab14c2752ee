#include "harness/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "core/flags.hpp"
#include "mpi/handles.hpp"
#include "mpi/shared_window.hpp"
#include "support/pretended_nodes.hpp"
#include "support/world.hpp"

namespace fourscore {
namespace {

using test::rank;
using test::size;

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

SamplingOptions options(int repetitions, int warmup) {
  SamplingOptions result;
  result.repetitions = repetitions;
  result.warmup = warmup;
  return result;
}

/// Samples of runs that nothing prepares.
Samples measured(const SamplingOptions& how, const std::function<void(PhaseClock&)>& run,
                 ReadClock now_ns = PhaseClock::now_ns) {
  return Sampler(MPI_COMM_WORLD, how, now_ns).measure([](int) {}, run);
}

TEST(Sampler, KeepsEverySampleOfEveryRankAndTheWarmUpApart) {
  Sampler sampler(MPI_COMM_WORLD, options(4, 2));
  std::vector<int> prepared;
  const Samples samples = sampler.measure([&](int run) { prepared.push_back(run); }, [](PhaseClock&) { wait_ms(1); });
  EXPECT_EQ(prepared, (std::vector<int>{-2, -1, 0, 1, 2, 3}));
  if (rank() != 0) return;
  EXPECT_EQ(samples.warmup_s.size(), 2U);
  EXPECT_EQ(samples.time_s.size(), 4U);
  ASSERT_EQ(samples.rank_total_s.size(), static_cast<std::size_t>(size()));
  for (const auto& totals : samples.rank_total_s) {
    ASSERT_EQ(totals.size(), 4U);
    for (const double total : totals) EXPECT_GE(total, 1e-3);
  }
}

double largest_total(const Samples& samples, std::size_t run) {
  double largest = 0;
  for (const auto& totals : samples.rank_total_s) largest = std::max(largest, totals[run]);
  return largest;
}

/// No less than the longest rank takes, and no more than that and the skew of the start.
void expect_spans(const Samples& samples, double off_s) {
  ASSERT_EQ(samples.start_skew_s.size(), samples.time_s.size());
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) {
    EXPECT_GE(samples.time_s[i], largest_total(samples, i) - off_s);
    EXPECT_LE(samples.time_s[i], largest_total(samples, i) + samples.start_skew_s[i] + off_s);
  }
}

TEST(Sampler, TakesFromTheFirstStartToTheLastEnd) {
  const Samples samples = measured(options(3, 0), [](PhaseClock&) { wait_ms(rank() == size() - 1 ? 20 : 1); });
  if (rank() != 0) return;
  EXPECT_TRUE(samples.are_spans);
  EXPECT_EQ(samples.clock_alignment, "shared clock");
  EXPECT_EQ(samples.clock_uncertainty_s, 0);
  for (const double time : samples.time_s) EXPECT_GE(time, 0.020);
  expect_spans(samples, 1e-9);
}

/// Each rank starts later than the one before it, as on a barrier that lets them go one by one, and works as long: the
/// longest rank says nothing of the whole. The clock that says so is the one that the sampler reads.
TEST(Sampler, CountsTheSkewOfTheStart) {
  constexpr std::int64_t late_ns = 400'000'000;
  constexpr double busy_s = 0.2;  // how long a busy machine holds a rank up
  Sampler sampler(MPI_COMM_WORLD, options(2, 1), [] { return PhaseClock::now_ns() + late_ns * rank(); });
  const Samples samples = sampler.measure([](int) {}, [](PhaseClock&) { wait_ms(10); });
  if (rank() != 0) return;
  const double skew = 1e-9 * static_cast<double>(late_ns * (size() - 1));
  ASSERT_TRUE(samples.are_spans);
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) {
    EXPECT_NEAR(samples.start_skew_s[i], skew, busy_s);
    EXPECT_GE(samples.time_s[i], skew - busy_s);
  }
  EXPECT_GE(samples.warmup_s.at(0), skew - busy_s);
  expect_spans(samples, 1e-9);
}

class SamplerOnPretendedNodes : public testing::Test {
  test::EachRankIsANode nodes_;
};

/// Clocks that are seconds apart and drift by 100 microseconds a second: the skew of the start is found all the same.
TEST_F(SamplerOnPretendedNodes, AlignsClocksThatAreApartAndDrift) {
  const std::int64_t zero = PhaseClock::now_ns();
  const auto clock = [zero] {
    const std::int64_t now = PhaseClock::now_ns();
    return now + 3'000'000'000LL * rank() + (now - zero) * rank() / 10'000;
  };
  Sampler sampler(MPI_COMM_WORLD, options(4, 1), clock);
  const Samples samples = sampler.measure([](int) { wait_ms(5); }, [](PhaseClock&) { wait_ms(200); });
  if (rank() != 0 || size() == 1) return;
  EXPECT_EQ(samples.clock_alignment, "ping-pong");
  EXPECT_GT(samples.clock_uncertainty_s, 0);
  if (!samples.are_spans) {  // a machine too busy to align clocks within 1 % of the run, and it says so
    EXPECT_GT(samples.clock_uncertainty_s, 0.01 * 0.2);
    return;
  }
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) {
    EXPECT_GE(samples.time_s[i], 0.200 - 2 * samples.clock_uncertainty_s);
    EXPECT_LT(samples.time_s[i], 2.5);
  }
  expect_spans(samples, 2 * samples.clock_uncertainty_s + 1e-9);
}

TEST_F(SamplerOnPretendedNodes, WaitsForTheSlowestNodeAndTellsWhichItIs) {
  const auto clock = [] { return PhaseClock::now_ns() - 7'000'000'000LL * rank(); };
  const Samples samples = measured(
      options(3, 0), [](PhaseClock&) { wait_ms(rank() == size() - 1 ? 600 : 100); }, clock);
  if (rank() != 0) return;
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) {
    EXPECT_GE(samples.time_s[i], 0.6 - 2 * samples.clock_uncertainty_s);
    EXPECT_LT(samples.time_s[i], 6);
    for (std::size_t r = 0; r < samples.rank_total_s.size(); ++r)
      EXPECT_LE(samples.rank_total_s[r][i], samples.rank_total_s.back()[i]) << "rank " << r;
  }
}

/// Half of the drift between two alignments is in the uncertainty, and then the clocks are no basis for a span.
TEST_F(SamplerOnPretendedNodes, TakesTheLongestRankWhereClocksAreNotAligned) {
  const std::int64_t zero = PhaseClock::now_ns();
  const auto clock = [zero] {
    const std::int64_t now = PhaseClock::now_ns();
    return now + (now - zero) * rank() / 2;
  };
  const Samples samples = measured(
      options(2, 0), [](PhaseClock&) { wait_ms(20); }, clock);
  if (rank() != 0 || size() == 1) return;
  EXPECT_FALSE(samples.are_spans);
  EXPECT_GE(samples.clock_uncertainty_s, 0.25 * 0.020);
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) EXPECT_EQ(samples.time_s[i], largest_total(samples, i));
}

TEST(Sampler, LeavesThePreparationOutOfTheTime) {
  Sampler sampler(MPI_COMM_WORLD, options(3, 0));
  const Samples samples = sampler.measure([](int) { wait_ms(200); }, [](PhaseClock&) {});
  for (const double time : samples.time_s) EXPECT_LT(time, 0.200);
}

/// How many ranks are ready, in memory that all of them see: what one rank asks of the others without waiting for them.
class ReadyRanks {
 public:
  ReadyRanks() : node_(mpi::split_by_node(MPI_COMM_WORLD)), window_(node_, sizeof(int)) {
    if (mpi::rank_in(node_.get()) == 0) count().store(0);
    MPI_Barrier(node_.get());
  }
  void add() { count().fetch_add(1); }
  [[nodiscard]] int seen() { return count().load(); }

 private:
  std::atomic_ref<int> count() { return std::atomic_ref<int>(*reinterpret_cast<int*>(window_.segment(0))); }
  mpi::Communicator node_;
  mpi::SharedWindow window_;
};

/// Without the barrier the ranks that are ready early would start, and wait within the measured time for the late one.
TEST(Sampler, StartsNoRankBeforeAllAreReady) {
  ReadyRanks ready;
  int started = 0;
  Sampler sampler(MPI_COMM_WORLD, options(3, 2));
  (void)sampler.measure(
      [&](int) {
        if (rank() == size() - 1) wait_ms(30);
        ready.add();
      },
      [&](PhaseClock&) { EXPECT_GE(ready.seen(), ++started * size()); });
  EXPECT_EQ(started, 5);
}

TEST(Sampler, StartsNoRankOnAComponentBeforeAllAreThroughWithTheLastRun) {
  ReadyRanks ready;
  int started = 0;
  Sampler sampler(MPI_COMM_WORLD, options(3, 2));
  (void)sampler.measure_component({"pack-1", Phase::pack, [&] {
                                     EXPECT_GE(ready.seen(), started++ * size());
                                     if (rank() == size() - 1) wait_ms(30);
                                     ready.add();
                                   }});
  EXPECT_EQ(started, 5);
}

TEST(Sampler, TracesNoRankBeforeAllAreReady) {
  ReadyRanks ready;
  Sampler sampler(MPI_COMM_WORLD, options(1, 0));
  (void)sampler.trace(
      [&] {
        if (rank() == size() - 1) wait_ms(30);
        ready.add();
      },
      [&](PhaseClock&) { EXPECT_EQ(ready.seen(), size()); }, 1);
}

/// Every run takes as long as its number says, so that each sample tells which run it is of.
TEST(Sampler, KeepsTheTimeOfEachRunInItsPlace) {
  constexpr int step_ms = 15;
  int number = 0;
  const auto next = [&] { wait_ms(step_ms * ++number); };
  const auto expect_from = [](const std::vector<double>& times, int first) {
    for (std::size_t i = 0; i < times.size(); ++i)
      EXPECT_GE(times[i], 1e-3 * step_ms * (first + static_cast<int>(i))) << "run " << i;
  };
  Sampler sampler(MPI_COMM_WORLD, options(4, 2));
  const Samples samples = sampler.measure([](int) {},
                                          [&](PhaseClock& clock) {
                                            const Region fft(clock, Phase::fft);
                                            next();
                                          });
  number = 0;
  const auto component = sampler.measure_component({"fft-1", Phase::fft, next});
  if (rank() != 0) return;
  EXPECT_EQ(samples.warmup_s.size(), 2U);
  EXPECT_EQ(samples.time_s.size(), 4U);
  EXPECT_EQ(component.time_s.size(), 4U);
  expect_from(samples.warmup_s, 1);
  expect_from(samples.time_s, 3);
  expect_from(component.time_s, 3);
  for (const auto& of_rank : samples.rank_phase_s.at(Phase::fft)) expect_from(of_rank, 3);
}

/// A first run that is long because it is the first: it is the warm-up's, not among the samples.
TEST(Sampler, KeepsTheTimeOfTheWarmUpOutOfTheSamples) {
  int runs = 0;
  const Samples samples = measured(options(5, 1), [&](PhaseClock&) { wait_ms(runs++ == 0 ? 300 : 0); });
  if (rank() != 0) return;
  ASSERT_EQ(samples.warmup_s.size(), 1U);
  EXPECT_GE(samples.warmup_s.front(), 0.3);
  // One run may be held up as long by chance, not most of them.
  EXPECT_GE(std::count_if(samples.time_s.begin(), samples.time_s.end(), [](double time) { return time < 0.3; }), 3);
}

TEST(Sampler, SharesTheTimeOfARankOutToItsPhases) {
  const Samples samples = measured(options(3, 1), [](PhaseClock& clock) {
    const Region fft(clock, Phase::fft);
    wait_ms(10);
    const Region exchange(clock, Phase::exchange);
    wait_ms(5);
  });
  if (rank() != 0) return;
  ASSERT_TRUE(samples.closure_worst.has_value());
  EXPECT_LE(*samples.closure_worst, closure_limit);
  ASSERT_TRUE(samples.rank_phase_s.contains(Phase::fft));
  ASSERT_TRUE(samples.rank_phase_s.contains(Phase::exchange));
  EXPECT_FALSE(samples.rank_phase_s.contains(Phase::pack));
  for (std::size_t r = 0; r < samples.rank_total_s.size(); ++r)
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_GE(samples.rank_phase_s.at(Phase::fft)[r][i], 0.010);
      EXPECT_GE(samples.rank_phase_s.at(Phase::exchange)[r][i], 0.005);
    }
}

/// What it says of the phases is what they say: time that none of them has is a gap.
TEST(Sampler, TellsTheLargestGapBetweenAPhasesSumAndATotal) {
  const Samples samples = measured(options(3, 0), [](PhaseClock& clock) {
    const Region fft(clock, Phase::fft);
    wait_ms(2);
    clock.start();  // forgets them
    wait_ms(rank() == size() - 1 ? 1 : 8);
  });
  if (rank() != 0) return;
  double worst = 0;
  for (std::size_t r = 0; r < samples.rank_total_s.size(); ++r)
    for (std::size_t i = 0; i < samples.rank_total_s[r].size(); ++i) {
      double sum = 0;
      for (const auto& [phase, of_ranks] : samples.rank_phase_s) sum += of_ranks[r][i];
      worst = std::max(worst, std::abs(sum / samples.rank_total_s[r][i] - 1));
    }
  EXPECT_GT(worst, closure_limit);
  ASSERT_TRUE(samples.closure_worst.has_value());
  EXPECT_NEAR(*samples.closure_worst, worst, 1e-9);
}

TEST(Sampler, TakesNoPhasesWhenAskedNotTo) {
  SamplingOptions without = options(2, 0);
  without.phases = false;
  const Samples samples = measured(without, [](PhaseClock& clock) { EXPECT_FALSE(clock.enabled()); });
  EXPECT_TRUE(samples.rank_phase_s.empty());
  EXPECT_FALSE(samples.closure_worst.has_value());
}

TEST(Sampler, StopsAllRanksAfterTheSameRunWhenTheTimeIsUp) {
  SamplingOptions limited = options(1000, 1);
  limited.max_time_s = 0.05;
  int runs = 0;
  const Samples samples = measured(limited, [&](PhaseClock&) {
    ++runs;
    wait_ms(5 + rank());
  });
  int least = 0;
  int most = 0;
  MPI_Allreduce(&runs, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&runs, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(least, most);
  EXPECT_LT(most, 30);
  if (rank() != 0) return;
  EXPECT_EQ(samples.time_s.size(), static_cast<std::size_t>(runs - 1));
  EXPECT_EQ(samples.rank_total_s.front().size(), samples.time_s.size());
}

TEST(Sampler, TimesAComponentAlone) {
  Sampler sampler(MPI_COMM_WORLD, options(3, 2));
  int runs = 0;
  const auto samples = sampler.measure_component({"pack-1", Phase::pack, [&] {
                                                    ++runs;
                                                    wait_ms(2);
                                                  }});
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(samples.name, "pack-1");
  EXPECT_EQ(samples.phase, Phase::pack);
  if (rank() != 0) return;
  EXPECT_EQ(samples.rank_s.size(), static_cast<std::size_t>(size()));
  ASSERT_EQ(samples.time_s.size(), 3U);
  EXPECT_GE(samples.time_s.front(), 2e-3);
}

TEST(Sampler, RefusesToMeasureNothing) {
  EXPECT_THROW(Sampler(MPI_COMM_WORLD, options(0, 1)), InputError);
  EXPECT_THROW(Sampler(MPI_COMM_WORLD, options(1, -1)), InputError);
}

TEST(Sampler, KnowsTheResolutionOfItsClock) {
  EXPECT_GT(Sampler::clock_resolution_s(), 0);
  EXPECT_LT(Sampler::clock_resolution_s(), 1e-3);
}

/// Runs of 12 ms, of which `pack` takes 4, with a cost of half a run in `pack`.
Samples slowed_by_half_in_pack() {
  SamplingOptions slowed = options(5, 1);
  slowed.slow_down = SlowDown{Phase::pack, 0.5};
  return measured(slowed, [](PhaseClock& clock) {
    for (int piece = 0; piece < 4; ++piece) {
      {
        const Region region(clock, Phase::fft);
        wait_ms(2);
      }
      const Region region(clock, Phase::pack);
      wait_ms(1);
    }
  });
}

/// No machine is so busy that a cost is less than it should be. That it is no more, and in no other phase, shows on the
/// fastest of several runs at the latest.
TEST(Sampler, ASlowDownMakesRunsLongerByThePartAskedForAllOfItInItsPhase) {
  constexpr int tries = 40;
  const double busy = size() > 2 ? 5 : 1.5;  // ranks that share a core wait for it
  double run_s = 1, fft_s = 1;               // the fastest ones
  for (int i = 0; i < tries; ++i) {
    const Samples samples = slowed_by_half_in_pack();
    if (rank() == 0) {
      for (const double total_s : samples.rank_total_s[0]) EXPECT_GE(total_s, 0.018);
      for (const double pack_s : samples.rank_phase_s.at(Phase::pack)[0]) EXPECT_GE(pack_s, 0.010);
      run_s = std::min(run_s, *std::ranges::min_element(samples.rank_total_s[0]));
      fft_s = std::min(fft_s, *std::ranges::min_element(samples.rank_phase_s.at(Phase::fft)[0]));
    }
    int is_enough = run_s < busy * 0.018 && fft_s < busy * 0.008;
    MPI_Bcast(&is_enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_enough) return;
  }
  ADD_FAILURE() << "runs take " << run_s << " s, of which fft takes " << fft_s;
}

TEST(Sampler, ASlowDownWantsPhases) {
  SamplingOptions slowed = options(1, 1);
  slowed.slow_down = SlowDown{Phase::pack, 0.5};
  slowed.phases = false;
  EXPECT_THROW(Sampler(MPI_COMM_WORLD, slowed), InputError);
}

}  // namespace
}  // namespace fourscore
