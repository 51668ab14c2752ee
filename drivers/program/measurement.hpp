#pragma once
// Plans, checks and measures one point.

#include <mpi.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/agreement.hpp"
#include "harness/instances.hpp"
#include "harness/sampler.hpp"
#include "harness/verifier.hpp"
#include "program/options.hpp"
#include "program/resolve.hpp"
#include "program/wisdom.hpp"
#include "program/work_beside.hpp"

namespace fourscore::bench {

/// Wall seconds of the harness's own steps on this rank; absent: the step was not made.
struct StepTimes {
  std::optional<double> launch_s, init_s, tune_s, plan_s, verify_s, measure_s, timeline_s, isolate_s, count_s;
};

/// One launch's results. Per-rank vectors are in rank order and filled on rank 0.
struct Measurement {
  bool ok = false;
  std::vector<Check> checks;
  Samples samples;                     ///< only meaningful when ok
  std::optional<Timeline> timeline;    ///< where it was asked for
  std::optional<WorkDone> other_work;  ///< where it was asked for
  std::vector<ComponentSamples> isolated;
  nlohmann::json counters;                         ///< the record's object, without the qualification; null: none
  std::map<Phase, std::vector<double>> min_bytes;  ///< by rank; only phases of which every rank knows it
  std::vector<double> plan_s;
  std::vector<int> grid;
  std::string input_layout, output_layout;
  std::vector<std::string> local_ffts;  ///< rank 0's
  std::string plan_hash;                ///< over the local FFTs of all ranks
  int distinct_plans = 0;
  std::vector<double> local_data_bytes, plan_bytes, workspace_bytes, peak_rss_bytes, huge_bytes;
  std::vector<MessageVolume> declared;                     ///< by rank, all instances
  std::vector<DeviceWork> device;                          ///< likewise
  nlohmann::json failed_parts = nlohmann::json::object();  ///< among core/record.hpp's optional_parts, by name
  StepTimes steps;
};

/// The record's "harness" without write_s: the steps that were made.
[[nodiscard]] nlohmann::json harness_json(const StepTimes& steps);

/// Whether something is asked for that comes after the samples, and may fail when these are verified.
[[nodiscard]] bool has_optional_parts(const Options& options);

/// What the rank's own work in a run is charged on a simulated machine; nothing on a real one. Collective.
[[nodiscard]] std::optional<Charges> charges_here(const ResolvedPoint& resolved, Instances& instances);

/// Collective. `before`: the steps that were made by now. `wisdom`, which may be null, is saved as soon as there is a
/// plan. Throws LeaveTogether when planning or a timed run fails on
/// some rank. A timeline, components alone and counters come when the samples are verified: before each of them `keep`
/// is called on rank 0 with what there is, the parts that are still to come among failed_parts. Where one of them
/// fails, it and the later ones stay there.
[[nodiscard]] Measurement measure(MPI_Comm comm, Agreement& agreement, const Options& options,
                                  const ResolvedPoint& resolved, Wisdom* wisdom, const StepTimes& before,
                                  const std::function<void(const Measurement&)>& keep);

}  // namespace fourscore::bench
