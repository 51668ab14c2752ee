// What it costs to attribute time to a phase: a Region must stay under 100 ns, and near nothing when phases are off;
// and what that makes of whole transforms, which may not be slower by more than 1 %. Under mpirun the transforms are
// distributed; only rank 0 prints.

#include <benchmark/benchmark.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "interfaces/variant.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace {

using namespace fourscore;

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

/// Seconds of one execute, of the slowest rank.
double seconds_of(Plan& plan, PhaseClock& clock) {
  FOURSCORE_MPI(MPI_Barrier(MPI_COMM_WORLD));
  const auto begin = std::chrono::steady_clock::now();
  clock.start();
  plan.execute(clock);
  clock.stop();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return seconds;
}

/// One plan with phases and without, in turns (off, on, on, off), so that what drifts meets both alike. Counters: the
/// median over the turns of time with over time without, and the 95 % interval of that median (order statistics).
void transform(benchmark::State& state, const std::string& variant_name, const std::string& exchange_name) {
  const auto& variant = VariantRegistry::instance().get(variant_name, "variant");
  Problem problem;
  problem.shape.assign(3, state.range(0));
  if (const auto reason = variant.supports(problem, mpi::size_of(MPI_COMM_WORLD))) {
    state.SkipWithError(reason->c_str());
    return;
  }
  const auto plan = variant.make_plan(
      {problem, MPI_COMM_WORLD,
       variant.takes_exchange() ? &ExchangeRegistry::instance().get(exchange_name, "exchange") : nullptr,
       LocalFftRegistry::instance().get("fftw", "local FFT")});
  const auto elements = static_cast<std::size_t>(plan->input_layout().memory_volume(mpi::rank_in(MPI_COMM_WORLD)));
  std::memset(plan->input(), 0, elements * problem.input_element_bytes());  // zeros stay zeros
  PhaseClock off(false);
  PhaseClock on(true);
  (void)seconds_of(*plan, on);
  std::vector<double> ratios;
  for (auto step : state) {
    (void)step;
    const double off_first = seconds_of(*plan, off);
    const double with = seconds_of(*plan, on) + seconds_of(*plan, on);
    const double without = off_first + seconds_of(*plan, off);
    state.SetIterationTime(with / 2);
    ratios.push_back(with / without);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double rank) {
    return ratios[static_cast<std::size_t>(std::clamp(rank, 0.0, static_cast<double>(ratios.size() - 1)))];
  };
  const auto n = static_cast<double>(ratios.size());
  state.counters["on_over_off"] = at(n / 2);
  state.counters["low"] = at(std::floor(n / 2 - 0.98 * std::sqrt(n)));
  state.counters["high"] = at(std::ceil(n / 2 + 0.98 * std::sqrt(n)));
}
// Fixed numbers of iterations: the ranks must agree.
BENCHMARK_CAPTURE(transform, slab_alltoallv, "slab", "alltoallv")->Arg(32)->Iterations(2000)->UseManualTime();
BENCHMARK_CAPTURE(transform, slab_alltoallv, "slab", "alltoallv")->Arg(64)->Iterations(1000)->UseManualTime();
BENCHMARK_CAPTURE(transform, pencil_shared, "pencil", "shared")->Arg(64)->Iterations(1000)->UseManualTime();
BENCHMARK_CAPTURE(transform, overdecomposed, "overdecomposed", "none")->Arg(64)->Iterations(500)->UseManualTime();

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  int code = benchmark::ReportUnrecognizedArguments(argc, argv) ? 2 : 0;
  if (code == 0) {
    Silent silent;
    if (fourscore::mpi::rank_in(MPI_COMM_WORLD) == 0)
      benchmark::RunSpecifiedBenchmarks();
    else
      benchmark::RunSpecifiedBenchmarks(&silent);
  }
  MPI_Finalize();
  return code;
}
