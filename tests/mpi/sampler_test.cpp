#include "core/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace fourscore {
namespace {

int rank() {
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

int size() {
  int value = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &value);
  return value;
}

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

SamplingOptions options(int repetitions, int warmup) {
  SamplingOptions result;
  result.repetitions = repetitions;
  result.warmup = warmup;
  return result;
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

TEST(Sampler, TakesTheMaximumOverRanks) {
  Sampler sampler(MPI_COMM_WORLD, options(3, 0));
  const Samples samples = sampler.measure([](int) {}, [](PhaseClock&) { wait_ms(rank() == size() - 1 ? 20 : 1); });
  if (rank() != 0) return;
  for (std::size_t i = 0; i < samples.time_s.size(); ++i) {
    EXPECT_GE(samples.time_s[i], 0.020);
    double largest = 0;
    for (const auto& totals : samples.rank_total_s) largest = std::max(largest, totals[i]);
    EXPECT_EQ(samples.time_s[i], largest);
  }
}

TEST(Sampler, LeavesThePreparationOutOfTheTime) {
  Sampler sampler(MPI_COMM_WORLD, options(3, 0));
  const Samples samples = sampler.measure([](int) { wait_ms(200); }, [](PhaseClock&) {});
  for (const double time : samples.time_s) EXPECT_LT(time, 0.200);
}

TEST(Sampler, SharesTheTimeOfARankOutToItsPhases) {
  Sampler sampler(MPI_COMM_WORLD, options(3, 1));
  const Samples samples = sampler.measure([](int) {},
                                          [](PhaseClock& clock) {
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

TEST(Sampler, TakesNoPhasesWhenAskedNotTo) {
  SamplingOptions without = options(2, 0);
  without.phases = false;
  Sampler sampler(MPI_COMM_WORLD, without);
  const Samples samples = sampler.measure([](int) {}, [](PhaseClock& clock) { EXPECT_FALSE(clock.enabled()); });
  EXPECT_TRUE(samples.rank_phase_s.empty());
  EXPECT_FALSE(samples.closure_worst.has_value());
}

TEST(Sampler, StopsAllRanksAfterTheSameRunWhenTheTimeIsUp) {
  SamplingOptions limited = options(1000, 1);
  limited.max_time_s = 0.05;
  Sampler sampler(MPI_COMM_WORLD, limited);
  int runs = 0;
  const Samples samples = sampler.measure([](int) {},
                                          [&](PhaseClock&) {
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

}  // namespace
}  // namespace fourscore
