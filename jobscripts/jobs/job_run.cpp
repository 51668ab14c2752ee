#include "jobscripts/jobs/job_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/regular_file.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {
namespace {

/// Between the end of the last launch and that of the job. Slurm's warning comes up to 50 s before the end, and would
/// interrupt what runs then.
constexpr double reserve_s = 55.0;

/// Throws InputError.
void require_wanted(const JobFolder& job) {
  if (job.abandoned())
    throw InputError(fmt::format(
        "job {} was given up by `fourscore submit`, which did not see it submitted; its launches are in another job",
        job.name()));
}

JobFolder existing(const Archive& archive, const std::string& campaign, const std::string& name) {
  for (const JobFolder& job : jobs_of(archive, campaign)) {
    if (job.name() != name) continue;
    require_wanted(job);
    return job;
  }
  throw InputError(
      fmt::format("campaign {} has no job '{}'; expected one that `fourscore submit` made", campaign, name));
}

}  // namespace

JobRun::JobRun(const Campaign& campaign, const Archive& archive, const std::string& name)
    : campaign_(campaign),
      archive_(archive),
      folder_(existing(archive, campaign.id, name)),
      description_(folder_.description()),
      estimates_(campaign, archive),
      allocation_(current_allocation()),
      random_(std::random_device{}()) {
  if (allocation_ && allocation_->left_s) deadline_s_ = now_s() + *allocation_->left_s - reserve_s;
}

void JobRun::begin() {
  begun_ = true;
  folder_.note({{"event", "begin"},
                {"job", allocation_ ? allocation_->job : ""},
                {"hosts", allocation_ ? allocation_->hosts : std::vector<std::string>{}}});
  require_wanted(folder_);  // again: it may have been given up before it could say that it began
}

JobRun::~JobRun() {
  if (begun_) folder_.note({{"event", "end"}, {"left_alone", left_alone_}});
}

void JobRun::select(std::vector<PlannedLaunch>& planned) const {
  std::map<std::string, const JobLaunch*> mine;
  for (const JobLaunch& launch : description_.launches) mine.emplace(stem_of(launch), &launch);
  std::erase_if(planned, [&](const PlannedLaunch& launch) { return mine.erase(launch.record.stem().string()) == 0; });
  if (mine.empty()) return;
  // What is left are launches beyond the schedule: retries, and those that the suite's precision asks for.
  std::map<std::string, std::size_t> points;
  for (std::size_t i = 0; i < campaign_.points.size(); ++i) points.emplace(campaign_.points[i].id, i);
  for (const auto& [stem, launch] : mine) {
    const auto point = points.find(launch->point_id);
    if (point == points.end()) continue;
    const auto record = archive_.record_file(campaign_.id, launch->point_id, launch->launch);
    planned.push_back({point->second, launch->launch, campaign_.schedule.size() + planned.size(), record,
                       is_there(record), launch->retry_of});
  }
}

std::optional<double> JobRun::left_s() const {
  if (deadline_s_ == 0) return std::nullopt;
  return std::max(0.0, deadline_s_ - now_s());
}

bool JobRun::may_start(const PlannedLaunch& launch) {
  const auto left = left_s();
  if (!left || estimates_.launch_s(launch.point) <= *left) return true;
  ++left_alone_;
  return false;
}

/// Fewer than the job has are drawn, so that no node is always with the same points.
std::vector<std::string> JobRun::hosts(const Point& point) {
  if (!allocation_) return {};
  std::vector<std::string> drawn = allocation_->hosts;
  if (static_cast<int>(drawn.size()) <= point.nodes) return {};
  std::ranges::shuffle(drawn, random_);
  drawn.resize(static_cast<std::size_t>(point.nodes));
  std::ranges::sort(drawn);
  return drawn;
}

void JobRun::begins(const PlannedLaunch& launch) {
  folder_.note({{"event", "launch"}, {"record", launch.record.stem().string()}});
}

void JobRun::cut(const PlannedLaunch& launch) {
  folder_.note({{"event", "cut"}, {"record", launch.record.stem().string()}});
}

void JobRun::ended(const PlannedLaunch& launch, double wall_s, bool archived) {
  if (archived) estimates_.learn(launch.point, wall_s);
  folder_.note(
      {{"event", "launched"}, {"record", launch.record.stem().string()}, {"wall_s", wall_s}, {"archived", archived}});
}

}  // namespace fourscore
