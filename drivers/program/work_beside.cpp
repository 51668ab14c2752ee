#include "program/work_beside.hpp"

#include "harness/gather.hpp"

namespace fourscore::bench {

std::unique_ptr<LoadGenerator> begin_work(MPI_Comm comm, const Problem& problem, Instances& instances,
                                          const std::function<void()>& prepare) {
  if (!problem.other_work.any()) return nullptr;
  auto work = std::make_unique<LoadGenerator>(comm, problem.other_work);
  instances.work_beside(work.get());
  prepare();
  PhaseClock silent(false);
  instances.execute(silent, [](std::size_t) {});
  return work;
}

WorkDone work_done(MPI_Comm comm, Sampler& sampler, LoadGenerator& work) {
  WorkDone done;
  done.unit = work.unit();
  done.units = gather_values(comm, work.units());
  done.parts = gather_values(comm, static_cast<double>(work.parts()));
  done.array_bytes = gather_values(comm, static_cast<double>(work.array_bytes()));
  done.alone = sampler.measure_component({"work", Phase::work, [&work] { work.work_alone(); }});
  return done;
}

nlohmann::json work_json(const WorkDone& work) {
  nlohmann::json result{{"unit", work.unit},
                        {"rank_units", work.units},
                        {"rank_parts", work.parts},
                        {"time_s", work.alone.time_s},
                        {"rank_s", work.alone.rank_s}};
  if (!work.array_bytes.empty() && work.array_bytes.front() > 0) result["rank_array_bytes"] = work.array_bytes;
  return result;
}

}  // namespace fourscore::bench
