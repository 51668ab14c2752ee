// What it costs to attribute time to a phase: a Region must stay under 100 ns, and near nothing when phases are off.

#include <benchmark/benchmark.h>

#include <chrono>

#include "core/phase.hpp"

namespace {

using fourscore::Phase;
using fourscore::PhaseClock;
using fourscore::Region;

void region(benchmark::State& state, bool enabled) {
  PhaseClock clock(enabled);
  clock.start();
  for (auto step : state) {
    (void)step;
    const Region fft(clock, Phase::fft);
    benchmark::ClobberMemory();
  }
  clock.stop();
}
BENCHMARK_CAPTURE(region, enabled, true);
BENCHMARK_CAPTURE(region, disabled, false);

/// As in a traced run: the log is emptied when it is full, so that every stretch is written down.
void recorded_region(benchmark::State& state) {
  fourscore::EventLog log(4096);
  PhaseClock clock(log);
  clock.start();
  for (auto step : state) {
    (void)step;
    if (log.events().size() + 2 > 4096) log.clear();
    const Region fft(clock, Phase::fft, 7);
    benchmark::ClobberMemory();
  }
  clock.stop();
}
BENCHMARK(recorded_region);

void nested_regions(benchmark::State& state) {
  PhaseClock clock;
  clock.start();
  for (auto step : state) {
    (void)step;
    const Region exchange(clock, Phase::exchange);
    benchmark::ClobberMemory();
    const Region pack(clock, Phase::pack);
    benchmark::ClobberMemory();
  }
  clock.stop();
}
BENCHMARK(nested_regions);

void clock_read(benchmark::State& state) {
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(std::chrono::steady_clock::now());
  }
}
BENCHMARK(clock_read);

}  // namespace

BENCHMARK_MAIN();
