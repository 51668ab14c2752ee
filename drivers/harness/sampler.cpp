#include "harness/sampler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "harness/gather.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

double now_s() { return 1e-9 * static_cast<double>(PhaseClock::now_ns()); }

/// [repetition], of [rank][repetition] or [instance][repetition].
std::vector<double> maximum_of(const std::vector<std::vector<double>>& values) {
  if (values.empty()) return {};
  std::vector<double> result = values.front();
  for (const auto& rank : values)
    for (std::size_t i = 0; i < rank.size(); ++i) result[i] = std::max(result[i], rank[i]);
  return result;
}

}  // namespace

Sampler::Sampler(MPI_Comm comm, const SamplingOptions& options, ReadClock now_ns)
    : comm_(comm), rank_(mpi::rank_in(comm)), options_(options), clocks_(comm, std::move(now_ns)) {
  if (options.repetitions < 1) throw InputError("repetitions must be at least 1");
  if (options.warmup < 0) throw InputError("warmup must be at least 0");
  if (options.slow_down && !options.phases) throw InputError("a phase is slowed down only where phases are timed");
  if (options.slow_down && options.charges)
    throw InputError("a phase is slowed down on real machines only; expected no simulated platform");
  const auto runs = static_cast<std::size_t>(options.warmup) + static_cast<std::size_t>(options.repetitions);
  total_.resize(runs);
  begins_ns_.resize(runs);
  ends_ns_.resize(runs);
  offsets_.resize(runs + 1);
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
  int i = -options_.warmup;
  for (; i < options_.repetitions; ++i) {
    if (i == 0) started = now_s();
    if (i > 0 && stop_now(started)) break;
    const auto number = static_cast<std::size_t>(i + options_.warmup);
    prepare(i);
    offsets_[number] = clocks_.align();
    FOURSCORE_MPI(MPI_Barrier(comm_));
    begin_ns_ = clocks_.now_ns();
    run();
    ends_ns_[number] = clocks_.now_ns();
    begins_ns_[number] = begin_ns_;
    total_[number] = 1e-9 * static_cast<double>(ends_ns_[number] - begin_ns_);
    keep(i);
  }
  offsets_[static_cast<std::size_t>(i + options_.warmup)] = clocks_.align();
  return i;
}

std::vector<std::vector<double>> Sampler::gather(const double* values, int runs) const {
  return gather_rows(comm_, std::vector<double>(values, values + runs));
}

/// On the axis of rank 0, of `runs` runs, warm-up first. Collective; right on rank 0.
Sampler::Spans Sampler::spans(std::size_t runs) const {
  std::vector<std::int64_t> first_start(runs), last_start(runs), last_end(runs), uncertainty(runs);
  for (std::size_t run = 0; run < runs; ++run) {
    const ClockOffset offset = between(offsets_[run], offsets_[run + 1]);
    first_start[run] = last_start[run] = begins_ns_[run] + offset.offset_ns;
    last_end[run] = ends_ns_[run] + offset.offset_ns;
    uncertainty[run] = offset.uncertainty_ns;
  }
  const auto reduce = [&](std::vector<std::int64_t>& values, MPI_Op op) {
    FOURSCORE_MPI(MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : values.data(), values.data(), static_cast<int>(runs),
                             MPI_INT64_T, op, 0, comm_));
  };
  reduce(first_start, MPI_MIN);
  for (auto* values : {&last_start, &last_end, &uncertainty}) reduce(*values, MPI_MAX);
  Spans spans;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max(), worst = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    spans.span_s.push_back(1e-9 * static_cast<double>(last_end[run] - first_start[run]));
    spans.start_skew_s.push_back(1e-9 * static_cast<double>(last_start[run] - first_start[run]));
    shortest = std::min(shortest, last_end[run] - first_start[run]);
    worst = std::max(worst, uncertainty[run]);
  }
  spans.uncertainty_s = 1e-9 * static_cast<double>(worst);
  spans.aligned = static_cast<double>(worst) <= max_clock_error * static_cast<double>(shortest);
  return spans;
}

Samples Sampler::measure(const std::function<void(int)>& prepare, const std::function<void(PhaseClock&)>& run) {
  return measure_instances(0, prepare, [&](PhaseClock& clock, const Done&) { run(clock); });
}

Samples Sampler::measure_instances(std::size_t instances, const std::function<void(int)>& prepare,
                                   const std::function<void(PhaseClock&, const Done&)>& run, bool round_trips) {
  std::optional<SlowDownObserver> slow_down;
  if (options_.slow_down) slow_down.emplace(*options_.slow_down);
  PhaseClock clock = slow_down ? PhaseClock(*slow_down) : PhaseClock(options_.phases);
  std::optional<ChargingObserver> charging;
  if (options_.charges)
    clock.observe(charging.emplace(*simulated_machine(), *options_.charges, options_.keeps_link_loads));
  const auto capacity = static_cast<std::size_t>(options_.repetitions);
  const std::size_t turns = round_trips ? std::max<std::size_t>(1, instances) : 0;
  const std::size_t moments = instances + turns;
  std::vector<double> completed(moments);               // in the run in hand
  std::vector<double> completions(moments * capacity);  // [instance, then the turn of each][timed run]
  const bool tells_phases = round_trips && instances == 0 && options_.phases;
  std::array<double, phase_count> turned{};  // the phases' times then; what runs now counts from its next switch on
  if (tells_phases) turn_phase_.resize(phase_.size());
  const Done done = [&](std::size_t instance) {
    completed.at(instance) = 1e-9 * static_cast<double>(clocks_.now_ns() - begin_ns_);
    if (!tells_phases) return;
    for (std::size_t p = 0; p < phase_count; ++p) turned[p] = clock.seconds(static_cast<Phase>(p));
  };
  const auto timed = [&] {
    if (slow_down) slow_down->begin_run();
    if (charging) charging->begin_run();
    clock.start();
    run(clock, done);
    clock.stop();
    if (charging) charging->end_run();
    if (slow_down) slow_down->end_run();
  };
  // With the charges of a run that counts no Regions yet the first would be shorter than the others.
  if (charging && options_.warmup == 0) {
    prepare(-1);
    timed();
  }
  const auto keep = [&](int i) {
    if (i < 0) return;
    for (std::size_t instance = 0; instance < moments; ++instance)
      completions[instance * capacity + static_cast<std::size_t>(i)] = completed[instance];
    for (std::size_t p = 0; p < phase_count; ++p) {
      phase_[p * capacity + static_cast<std::size_t>(i)] = clock.seconds(static_cast<Phase>(p));
      if (tells_phases) turn_phase_[p * capacity + static_cast<std::size_t>(i)] = turned[p];
    }
  };
  const int runs = loop(prepare, timed, keep);

  Samples samples;
  samples.warmup_s = maximum_of(gather(total_.data(), options_.warmup));
  samples.rank_total_s = gather(total_.data() + options_.warmup, runs);
  samples.time_s = maximum_of(samples.rank_total_s);
  keep_spans(spans(static_cast<std::size_t>(options_.warmup + runs)), samples);
  const auto gather_moments = [&](std::size_t first, std::size_t last) {
    std::vector<std::vector<std::vector<double>>> of_moments(samples.rank_total_s.size());
    for (std::size_t moment = first; moment < last; ++moment) {
      auto of_ranks = gather(completions.data() + moment * capacity, runs);
      for (std::size_t r = 0; r < of_ranks.size(); ++r) of_moments[r].push_back(std::move(of_ranks[r]));
    }
    return of_moments;
  };
  if (instances > 0) samples.rank_instance_s = gather_moments(0, instances);
  if (round_trips) {
    auto of_turns = gather_moments(instances, moments);
    for (const auto& of_rank : of_turns) samples.rank_turn_s.push_back(maximum_of(of_rank));
    if (instances > 0) samples.rank_instance_turn_s = std::move(of_turns);
  }
  samples.turn_s = maximum_of(samples.rank_turn_s);
  if (!options_.phases) return samples;

  samples.rank_phase_s = gather_phases(phase_, runs);
  if (tells_phases) samples.rank_turn_phase_s = gather_phases(turn_phase_, runs);
  if (rank_ == 0) keep_closure(samples);
  return samples;
}

std::map<Phase, std::vector<std::vector<double>>> Sampler::gather_phases(const std::vector<double>& times,
                                                                         int runs) const {
  std::map<Phase, std::vector<std::vector<double>>> phases;
  for (std::size_t p = 0; p < phase_count; ++p) {
    auto of_ranks = gather(times.data() + p * static_cast<std::size_t>(options_.repetitions), runs);
    const auto takes_time = [](const auto& of_rank) {
      return std::ranges::any_of(of_rank, [](double s) { return s > 0; });
    };
    if (std::ranges::any_of(of_ranks, takes_time)) phases.emplace(static_cast<Phase>(p), std::move(of_ranks));
  }
  return phases;
}

void Sampler::keep_closure(Samples& samples) const {
  samples.closure_worst = 0;
  for (std::size_t r = 0; r < samples.rank_total_s.size(); ++r)
    for (std::size_t i = 0; i < samples.rank_total_s[r].size(); ++i) {
      double sum = 0;
      for (const auto& [phase, of_ranks] : samples.rank_phase_s) sum += of_ranks[r][i];
      const double total = samples.rank_total_s[r][i];
      // A clock too coarse to see the run at all leaves nothing to share out.
      const double gap = total > 0 ? std::abs(sum - total) / total : 0;
      samples.closure_worst = std::max(*samples.closure_worst, gap);
    }
}

/// On rank 0.
void Sampler::keep_spans(const Spans& spans, Samples& samples) const {
  if (rank_ != 0) return;
  const auto first = static_cast<std::ptrdiff_t>(options_.warmup);
  samples.start_skew_s.assign(spans.start_skew_s.begin() + first, spans.start_skew_s.end());
  samples.clock_alignment = clocks_.shares_a_clock() ? "shared clock" : "ping-pong";
  samples.clock_uncertainty_s = spans.uncertainty_s;
  samples.are_spans = spans.aligned;
  if (!spans.aligned) return;
  samples.warmup_s.assign(spans.span_s.begin(), spans.span_s.begin() + first);
  samples.time_s.assign(spans.span_s.begin() + first, spans.span_s.end());
}

ComponentSamples Sampler::measure_component(const Component& component) {
  const int runs = loop([](int) {}, component.run, [](int) {});
  ComponentSamples samples{component.name, component.phase, {}, gather(total_.data() + options_.warmup, runs)};
  samples.time_s = maximum_of(samples.rank_s);
  return samples;
}

Timeline Sampler::trace(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run,
                        int threads) {
  TimelineRecorder recorder(comm_, static_cast<std::size_t>(std::max(1, threads)));
  std::optional<ChargingObserver> charging;
  if (options_.charges) {
    charging.emplace(*simulated_machine(), *options_.charges, false);
    PhaseClock counting(*charging);
    prepare();
    charging->begin_run();
    counting.start();
    run(counting);
    counting.stop();
    charging->end_run();
    recorder.clock().observe(*charging);
  }
  prepare();
  recorder.align();
  FOURSCORE_MPI(MPI_Barrier(comm_));
  const std::int64_t begin = PhaseClock::now_ns();
  if (charging) charging->begin_run();
  recorder.clock().start();
  run(recorder.clock());
  recorder.clock().stop();
  if (charging) charging->end_run();
  return recorder.gather(begin, PhaseClock::now_ns());
}

double Sampler::clock_resolution_s() {
  if (simulated_machine() != nullptr) return 1e-9;  // what now_ns() rounds to
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
