#include "jobscripts/jobs/job_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/point_keys.hpp"
#include "core/threads.hpp"
#include "jobscripts/base/progress.hpp"

namespace fourscore {
namespace {

double whole_minutes_s(double seconds) { return 60 * std::ceil(seconds / 60); }

std::string name_of(const Point& point) {
  return point.component.empty() ? fmt::format("{} {} {}, {} ranks", point.variant, point.exchange,
                                               shape_text(point.problem.shape), point.ranks)
                                 : fmt::format("{}{}, {} ranks", point.component, parameters_text(point), point.ranks);
}

}  // namespace

std::vector<JobDescription> plan_jobs(const Campaign& campaign, const std::vector<PlannedLaunch>& lacking,
                                      const Estimates& estimates, const Machine& machine, double time_limit_s) {
  std::map<int, std::vector<JobDescription>> by_nodes;
  for (const PlannedLaunch& launch : lacking) {
    const Point& point = campaign.points[launch.point].point;
    const double expected_s = estimates.launch_s(launch.point);
    if (expected_s + job_overhead_s > time_limit_s)
      throw InputError(fmt::format(
          "the time limit of a job, {}, is shorter than the longest launch needs: {} is expected to take {} ({}), and "
          "a "
          "job takes {} beside its launches; expected a longer limit (--time-limit, or time_limit in [queue] of the "
          "machine file) or a shorter time_limit_s in the suite",
          shown_duration(time_limit_s), name_of(point), shown_duration(expected_s),
          estimates.is_known(launch.point) ? "as earlier launches did" : "the suite's time_limit_s",
          shown_duration(job_overhead_s)));
    auto& jobs = by_nodes[point.nodes];
    if (jobs.empty() || jobs.back().expected_s + expected_s + job_overhead_s > time_limit_s) {
      jobs.emplace_back();
      jobs.back().scheduler = machine.scheduler;
      jobs.back().nodes = point.nodes;
    }
    JobDescription& job = jobs.back();
    job.expected_s += expected_s;
    job.ranks_per_node = std::max(job.ranks_per_node, ranks_per_node(point));
    job.threads = std::max(job.threads, threads_of(point));
    job.launches.push_back({campaign.points[launch.point].id, launch.launch, launch.retry_of});
  }
  std::vector<JobDescription> all;
  for (auto& [nodes, jobs] : by_nodes)
    for (JobDescription& job : jobs) {
      job.time_limit_s = std::min(time_limit_s, whole_minutes_s(job.expected_s + job_overhead_s));
      all.push_back(std::move(job));
    }
  return all;
}

}  // namespace fourscore
