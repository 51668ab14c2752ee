// Counted runs of counters that move seldom, as those of energy: what is counted lasts many of their updates.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "harness/counting.hpp"
#include "mpi/error.hpp"

namespace fourscore {
namespace {

constexpr double least_updates = 100;  ///< so that what one update more or less says is 1 %
constexpr double margin = 1.25;        ///< a run is not as long as the one before it
constexpr double most_s = 60;          ///< that all runs of one count may take

double elapsed_s(std::int64_t begin_ns) { return 1e-9 * static_cast<double>(PhaseClock::now_ns() - begin_ns); }

double of_all_ranks(double value, MPI_Op op, MPI_Comm comm) {
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, comm));
  return value;
}

}  // namespace

double CountedRuns::least_s() const { return least_updates * group_.update_s; }

double CountedRuns::idle_s() const {
  if (!slow()) return request_.idle_s > 0 ? request_.idle_s : 0.2;
  if (request_.idle_s == 0) return std::max(1.0, least_s());
  if (request_.idle_s < least_s())
    throw CounterRequestError(fmt::format(
        "--idle-s is {:g}: counters '{}' move each {:g} s, so that at rest they must be read over {:g} s or more",
        request_.idle_s, request_.backend, group_.update_s, least_s()));
  return request_.idle_s;
}

std::string CountedRuns::too_short(double run_s, double refill_s, double times) const {
  return fmt::format(
      "a run takes {:.3g} s, and {:g} updates of the counter take {:g} s ({:g} s each): {:.0f} runs, and as often the "
      "input written anew in {:.3g} s, would take {:.3g} s, more than {:g} s",
      run_s, least_updates, least_s(), group_.update_s, times, refill_s, times * (run_s + 2 * refill_s), most_s);
}

void CountedRuns::count_long_enough(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run) {
  PhaseClock silent(false);
  double refill_s = 0, run_s = most_s;  // the shortest of a few: others may have been interrupted
  for (int tried = 0; tried < 5; ++tried) {
    FOURSCORE_MPI(MPI_Barrier(comm_));
    const std::int64_t begin = PhaseClock::now_ns();
    prepare();
    FOURSCORE_MPI(MPI_Barrier(comm_));
    refill_s = of_all_ranks(elapsed_s(begin), MPI_MAX, comm_);
    run(silent);
    run_s = std::min(run_s, of_all_ranks(elapsed_s(begin), MPI_MAX, comm_) - refill_s);
    if (run_s > 10 * least_s()) break;
  }
  for (double times = std::ceil(margin * least_s() / std::max(run_s, 1e-9)); failure_.empty();) {
    if (times <= 1) {
      count_by_phase(prepare, run);
      const double counted_s = of_all_ranks(reads() ? run_s_ : most_s, MPI_MIN, comm_);
      if (!failure_.empty() || counted_s >= least_s()) return;
      run_s = counted_s;
      times = 2 + std::ceil(margin * least_s() / run_s);
      phases_.clear();
      phases_refused_.clear();
    }
    if (times * (run_s + 2 * refill_s) > most_s) {
      failure_ = too_short(run_s, refill_s, times);
      return;
    }
    const Run both = repeated(times, [&] {
      prepare();
      run(silent);
    });
    const Run refills = repeated(times, prepare);
    if (!failure_.empty()) return;
    const double counted_s = of_all_ranks(both.seconds.front() - refills.seconds.front(), MPI_MIN, comm_);
    if (counted_s < least_s()) {
      run_s = std::max(counted_s, 0.1 * least_s()) / times;
      times = std::ceil(margin * least_s() / run_s);
      continue;
    }
    take_difference(both, refills, times);
    return;
  }
}

CountedRuns::Run CountedRuns::repeated(double times, const std::function<void()>& work) {
  return counted(
      1, [] {},
      [&](PhaseClock&) {
        for (double done = 0; done < times; ++done) work();
      });
}

/// The input must be written anew before each run, as numbers would grow beyond all bounds; what that took is counted
/// alone and subtracted.
void CountedRuns::take_difference(const Run& both, const Run& refills, double times) {
  runs_ = static_cast<std::size_t>(times);
  run_s_ = (both.seconds.front() - refills.seconds.front()) / times;
  phases_refused_ = fmt::format(
      "{:.0f} runs of {:.3g} s were counted together, as {:g} updates of the counter take {:g} s: their phases cannot "
      "be "
      "told apart",
      times, run_s_, least_updates, least_s());
  if (!reads()) return;
  std::vector<EventCount> counts = both.counts.front();
  for (std::size_t event = 0; event < counts.size(); ++event) {
    const EventCount& without = refills.counts.front()[event];
    counts[event] = counts[event] && without ? EventCount((*counts[event] - *without) / times) : EventCount();
  }
  with_idle_ = honest(metrics_of(counts));
  total_ = honest(without_idle(with_idle_, run_s_));
}

/// A part of a phase, from one switch to the next, must outlast as many updates as a run.
void CountedRuns::refuse_short_phases(const Run& run) {
  std::string named;
  for (auto& [phase, values] : phases_) {
    const std::size_t bucket = bucket_of(phase);
    const std::size_t parts = std::max<std::size_t>(run.parts[bucket], 1);
    if (run.seconds[bucket] >= least_s() * static_cast<double>(parts)) continue;
    for (auto& [name, value] : values) value.reset();
    named += fmt::format("{}{} ({}, {:.3g} s)", named.empty() ? "" : ", ", phase_names[static_cast<std::size_t>(phase)],
                         plural(static_cast<long>(parts), "part"), run.seconds[bucket]);
  }
  if (!named.empty())
    phases_refused_ = fmt::format("{}: a part is shorter than {:g} updates of the counter, which take {:g} s", named,
                                  least_updates, least_s());
}

void CountedRuns::count_component_long_enough(const Component& component) {
  component.run();
  Run run;
  double times = 1;
  for (double counted_s = 0; counted_s < least_s();) {
    run = repeated(times, component.run);
    if (!failure_.empty()) return;
    counted_s = of_all_ranks(run.seconds.front(), MPI_MIN, comm_);
    const double one_s = std::max(counted_s / times, 1e-9);
    if (counted_s < least_s()) times = std::max(std::ceil(margin * least_s() / one_s), 2 * times);
    if (times * one_s > most_s) return;
  }
  if (!reads()) return;
  std::vector<EventCount> counts = run.counts.front();
  for (EventCount& count : counts)
    if (count) *count /= times;
  components_.emplace_back(component.name, honest(without_idle(metrics_of(counts), run.seconds.front() / times)));
}

}  // namespace fourscore
