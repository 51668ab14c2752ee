#pragma once
// The other work of a point: begun before anything is timed, timed alone, and told in the record.

#include <mpi.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "harness/instances.hpp"
#include "harness/load_generator.hpp"
#include "harness/sampler.hpp"

namespace fourscore::bench {

/// By rank, on rank 0.
struct WorkDone {
  std::string unit;
  std::vector<double> units;
  std::vector<double> parts;        ///< in a run, without what is left for its end
  std::vector<double> array_bytes;  ///< 0: no array
  ComponentSamples alone;           ///< all of it, with no transform
};

/// Collective. The ranks' other work, which the instances do from here on, and one run of it that is not timed; null
/// where the problem has none. `prepare` fills in the data of a run.
[[nodiscard]] std::unique_ptr<LoadGenerator> begin_work(MPI_Comm comm, const Problem& problem, Instances& instances,
                                                        const std::function<void()>& prepare);
/// Collective, after the samples.
[[nodiscard]] WorkDone work_done(MPI_Comm comm, Sampler& sampler, LoadGenerator& work);
/// The record's "other_work".
[[nodiscard]] nlohmann::json work_json(const WorkDone& work);

}  // namespace fourscore::bench
