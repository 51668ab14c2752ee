#include "harness/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<double> maximum_over_ranks(const std::vector<std::vector<double>>& values) {
  if (values.empty()) return {};
  std::vector<double> result = values.front();
  for (const auto& rank : values)
    for (std::size_t i = 0; i < rank.size(); ++i) result[i] = std::max(result[i], rank[i]);
  return result;
}

}  // namespace

Sampler::Sampler(MPI_Comm comm, const SamplingOptions& options)
    : comm_(comm), rank_(mpi::rank_in(comm)), ranks_(mpi::size_of(comm)), options_(options) {
  if (options.repetitions < 1) throw InputError("repetitions must be at least 1");
  if (options.warmup < 0) throw InputError("warmup must be at least 0");
  total_.resize(static_cast<std::size_t>(options.warmup) + static_cast<std::size_t>(options.repetitions));
  phase_.resize(phase_count * static_cast<std::size_t>(options.repetitions));
}

bool Sampler::stop_now(double started) const {
  if (!options_.max_time_s) return false;
  // Ranks that each asked their own clock would disagree and hang; rank 0 decides and all follow.
  int stop = rank_ == 0 && now_s() - started >= *options_.max_time_s ? 1 : 0;
  FOURSCORE_MPI(MPI_Bcast(&stop, 1, MPI_INT, 0, comm_));
  return stop != 0;
}

int Sampler::loop(const std::function<void(int)>& prepare, const std::function<void()>& run,
                  const std::function<void(int)>& keep) {
  double started = now_s();
  for (int i = -options_.warmup; i < options_.repetitions; ++i) {
    if (i == 0) started = now_s();
    if (i > 0 && stop_now(started)) return i;
    prepare(i);
    FOURSCORE_MPI(MPI_Barrier(comm_));
    begin_ = std::chrono::steady_clock::now();
    run();
    const auto end = std::chrono::steady_clock::now();
    total_[static_cast<std::size_t>(i + options_.warmup)] = std::chrono::duration<double>(end - begin_).count();
    keep(i);
  }
  return options_.repetitions;
}

std::vector<std::vector<double>> Sampler::gather(const double* values, int runs) const {
  const auto count = static_cast<std::size_t>(runs);
  std::vector<double> all(rank_ == 0 ? count * static_cast<std::size_t>(ranks_) : 0);
  FOURSCORE_MPI(MPI_Gather(values, runs, MPI_DOUBLE, all.data(), runs, MPI_DOUBLE, 0, comm_));
  std::vector<std::vector<double>> result;
  if (rank_ != 0) return result;
  for (auto it = all.begin(); result.size() < static_cast<std::size_t>(ranks_); it += runs)
    result.emplace_back(it, it + runs);
  return result;
}

Samples Sampler::measure(const std::function<void(int)>& prepare, const std::function<void(PhaseClock&)>& run) {
  return measure_instances(0, prepare, [&](PhaseClock& clock, const Done&) { run(clock); });
}

Samples Sampler::measure_instances(std::size_t instances, const std::function<void(int)>& prepare,
                                   const std::function<void(PhaseClock&, const Done&)>& run) {
  PhaseClock clock(options_.phases);
  const auto capacity = static_cast<std::size_t>(options_.repetitions);
  std::vector<double> completed(instances);               // in the run in hand
  std::vector<double> completions(instances * capacity);  // [instance][timed run]
  const Done done = [&](std::size_t instance) {
    completed.at(instance) = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  };
  const auto timed = [&] {
    clock.start();
    run(clock, done);
    clock.stop();
  };
  const auto keep = [&](int i) {
    if (i < 0) return;
    for (std::size_t instance = 0; instance < instances; ++instance)
      completions[instance * capacity + static_cast<std::size_t>(i)] = completed[instance];
    for (std::size_t p = 0; p < phase_count; ++p)
      phase_[p * capacity + static_cast<std::size_t>(i)] = clock.seconds(static_cast<Phase>(p));
  };
  const int runs = loop(prepare, timed, keep);

  Samples samples;
  samples.warmup_s = maximum_over_ranks(gather(total_.data(), options_.warmup));
  samples.rank_total_s = gather(total_.data() + options_.warmup, runs);
  samples.time_s = maximum_over_ranks(samples.rank_total_s);
  if (instances > 0) samples.rank_instance_s.resize(samples.rank_total_s.size());
  for (std::size_t instance = 0; instance < instances; ++instance) {
    auto of_ranks = gather(completions.data() + instance * capacity, runs);
    for (std::size_t r = 0; r < of_ranks.size(); ++r) samples.rank_instance_s[r].push_back(std::move(of_ranks[r]));
  }
  if (!options_.phases) return samples;

  std::vector<std::vector<double>> sums;
  for (std::size_t p = 0; p < phase_count; ++p) {
    auto of_ranks = gather(phase_.data() + p * capacity, runs);
    if (sums.empty()) sums.assign(of_ranks.size(), std::vector<double>(static_cast<std::size_t>(runs), 0.0));
    bool occurs = false;
    for (std::size_t r = 0; r < of_ranks.size(); ++r)
      for (std::size_t i = 0; i < of_ranks[r].size(); ++i) {
        occurs = occurs || of_ranks[r][i] > 0;
        sums[r][i] += of_ranks[r][i];
      }
    if (occurs) samples.rank_phase_s.emplace(static_cast<Phase>(p), std::move(of_ranks));
  }
  if (rank_ != 0) return samples;
  samples.closure_worst = 0;
  for (std::size_t r = 0; r < sums.size(); ++r)
    for (std::size_t i = 0; i < sums[r].size(); ++i) {
      const double total = samples.rank_total_s[r][i];
      // A clock too coarse to see the run at all leaves nothing to share out.
      const double gap = total > 0 ? std::abs(sums[r][i] - total) / total : 0;
      samples.closure_worst = std::max(*samples.closure_worst, gap);
    }
  return samples;
}

ComponentSamples Sampler::measure_component(const Component& component) {
  const int runs = loop([](int) {}, component.run, [](int) {});
  ComponentSamples samples{component.name, component.phase, {}, gather(total_.data() + options_.warmup, runs)};
  samples.time_s = maximum_over_ranks(samples.rank_s);
  return samples;
}

Timeline Sampler::trace(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run,
                        int threads) {
  TimelineRecorder recorder(comm_, static_cast<std::size_t>(std::max(1, threads)));
  prepare();
  FOURSCORE_MPI(MPI_Barrier(comm_));
  const std::int64_t begin = PhaseClock::now_ns();
  recorder.clock().start();
  run(recorder.clock());
  recorder.clock().stop();
  return recorder.gather(begin, PhaseClock::now_ns());
}

double Sampler::clock_resolution_s() {
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 1000; ++i) {
    const auto first = std::chrono::steady_clock::now();
    auto next = std::chrono::steady_clock::now();
    while (next == first) next = std::chrono::steady_clock::now();
    smallest = std::min(smallest, std::chrono::duration<double>(next - first).count());
  }
  return smallest;
}

}  // namespace fourscore
