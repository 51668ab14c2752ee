#include "program/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>

#include "core/text.hpp"
#include "harness/instances.hpp"
#include "harness/provenance.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "program/may_run.hpp"
#include "program/measurement.hpp"
#include "program/verifiers.hpp"

namespace fourscore::bench {
namespace {

/// The shortest of so many runs, as rank 0 has it.
double least_time(MPI_Comm comm, SamplingOptions sampling, int runs, bool round_trips, Instances& instances,
                  Verifiers& verifiers) {
  sampling.repetitions = runs;
  Sampler sampler(comm, sampling);
  const Samples samples = sampler.measure_instances(
      instances.completions(), [&](int run) { verifiers.fill(run); },
      [&](PhaseClock& clock, const Sampler::Done& done) { instances.execute(clock, done); }, round_trips);
  double least = samples.time_s.empty() ? 0 : *std::ranges::min_element(samples.time_s);
  FOURSCORE_MPI(MPI_Bcast(&least, 1, MPI_DOUBLE, 0, comm));
  return least;
}

void time_candidate(MPI_Comm comm, const Options& options, const ResolvedPoint& candidate, Instances& instances,
                    double best_s, Tried& tried) {
  Verifiers verifiers(candidate.point.problem, instances, options.seed);
  verifiers.keep_data_in_place();
  SamplingOptions sampling = options.sampling;
  sampling.warmup = 1;
  sampling.max_time_s.reset();
  sampling.charges = charges_here(candidate, instances);
  sampling.keeps_link_loads = false;
  const bool round_trips = goes_back(candidate.point.problem.direction);
  tried.time_s = least_time(comm, sampling, 1, round_trips, instances, verifiers);
  tried.runs = 1;
  if (tried.time_s >= hopeless * best_s) return;
  tried.time_s = std::min(tried.time_s, least_time(comm, sampling, tuning_runs - 1, round_trips, instances, verifiers));
  tried.runs = tuning_runs;
}

Tried try_candidate(MPI_Comm comm, Agreement& agreement, const Options& options, const ResolvedPoint& candidate,
                    double best_s, std::optional<Refusal>& refusal) {
  Tried tried{candidate.point.exchange, candidate.point.problem.grid};
  Problem problem = candidate.point.problem;
  problem.contract.effort = Effort::estimate;
  std::unique_ptr<Instances> instances;
  try {
    refusal = may_run_here(comm, candidate, options.extent);
    if (!refusal)
      agreement.run([&] {
        instances = std::make_unique<Instances>(*candidate.variant,
                                                PlanContext{problem, comm, candidate.exchange, *candidate.local_fft});
      });
  } catch (const LeaveTogether& failure) {
    refusal = Refusal{Refusal::Kind::placement, "exchange", failure.message};
  }
  if (refusal) {
    tried.left_out = refusal->reason;
    return tried;
  }
  // As in measure(): where one rank fails, no other may lose the arrays that it puts or sends into.
  agreement.run_or_end_job([&] { time_candidate(comm, options, candidate, *instances, best_s, tried); });
  tried.grid = instances->here().front().plan->facts().grid;
  return tried;
}

}  // namespace

Tuned tune(MPI_Comm comm, Agreement& agreement, const Options& options, const std::vector<ResolvedPoint>& candidates) {
  Tuned tuned;
  double best_s = std::numeric_limits<double>::infinity();
  for (const ResolvedPoint& candidate : candidates) {
    std::optional<Refusal> refusal;
    tuned.tried.push_back(try_candidate(comm, agreement, options, candidate, best_s, refusal));
    if (refusal) {
      if (!tuned.refusal) tuned.refusal = std::move(refusal);
      continue;
    }
    if (tuned.tried.back().time_s >= best_s) continue;
    best_s = tuned.tried.back().time_s;
    tuned.best = tuned.tried.size() - 1;
    tuned.resolved = candidate;
  }
  if (tuned.resolved) tuned.refusal.reset();
  if (simulated_machine() == nullptr) forget_peak_memory();
  return tuned;
}

nlohmann::json tuning_json(const ResolvedPoint& chosen, const Tuned& tuned) {
  const auto named = [&](const Tried& tried) {
    nlohmann::json one{{"grid", tried.grid}};
    if (chosen.exchange != nullptr) one["exchange"] = tried.exchange;
    return one;
  };
  nlohmann::json tuning = named(tuned.tried.at(tuned.best));
  tuning["candidates"] = nlohmann::json::array();
  for (const Tried& tried : tuned.tried) {
    nlohmann::json one = named(tried);
    if (tried.runs > 0)
      one.update({{"time_s", tried.time_s}, {"runs", tried.runs}});
    else
      one["left_out"] = tried.left_out;
    tuning["candidates"].push_back(std::move(one));
  }
  return tuning;
}

std::string tuning_text(const nlohmann::json& tuning) {
  std::string chosen = tuning.contains("exchange") ? "exchange " + tuning["exchange"].get<std::string>() : "";
  if (const auto grid = tuning.at("grid").get<std::vector<int>>(); !grid.empty())
    chosen += fmt::format("{}grid {}", chosen.empty() ? "" : ", ", grid_text(grid));
  const auto& all = tuning.at("candidates");
  const auto timed = std::ranges::count_if(all, [](const auto& one) { return one.contains("time_s"); });
  const auto left_out = static_cast<std::ptrdiff_t>(all.size()) - timed;
  return fmt::format("{}: the fastest of {}{}", chosen, plural(timed, "candidate"),
                     left_out > 0 ? fmt::format(", {} left out", left_out) : "");
}

}  // namespace fourscore::bench
