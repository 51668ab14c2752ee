#include "jobscripts/campaigns/launches_of_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/utc_time.hpp"
#include "jobscripts/campaigns/launch_command.hpp"
#include "jobscripts/campaigns/staged_file.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool can_share(const Campaign& campaign, const Point& point) {
  const std::string program = campaign.suite.program_of(point);
  return program.empty() && !campaign.foreign.contains(program) && !campaign.counts(point);
}

bool on_the_same_ranks(const Point& one, const Point& other) {
  const LaunchRequest a = launch_request(one), b = launch_request(other);
  return std::tie(a.ranks, a.nodes, a.threads, a.placement, a.platform) ==
         std::tie(b.ranks, b.nodes, b.threads, b.placement, b.platform);
}

/// What one launch of the job reads and writes beside its record.
struct Files {
  explicit Files(const fs::path& base, const fs::path& verified_file)
      : stamp(base.string() + ".campaign.json"), started(base.string() + ".started"), verified(verified_file) {}
  StagedFile stamp, started, verified;
};

}  // namespace

Reason why_one_launch_a_job(const Campaign& campaign, const RunSettings& settings) {
  if (campaign.suite.wisdom == Wisdom::none) return "its wisdom is \"none\": each launch plans anew";
  if (!campaign.suite.plugins.empty()) return "it has plugins";
  if (settings.launcher->simulates()) return "its launcher simulates";
  return {};
}

std::vector<PlannedLaunch> launches_of_job(const Campaign& campaign, const RunSettings& settings,
                                           const std::vector<PlannedLaunch>& planned, std::size_t from,
                                           std::size_t launched) {
  std::vector<PlannedLaunch> group{planned[from]};
  const Point& point = campaign.points[planned[from].point].point;
  std::size_t most = settings.launches_per_job;
  if (settings.max_launches > 0) most = std::min(most, settings.max_launches - launched);
  if (!can_share(campaign, point)) return group;
  for (std::size_t i = from + 1; i < planned.size() && group.size() < most; ++i) {
    const PlannedLaunch& other = planned[i];
    if (other.done || other.launch != planned[from].launch || other.retry_of || is_there(other.record)) continue;
    const Point& its = campaign.points[other.point].point;
    if (can_share(campaign, its) && on_the_same_ranks(point, its)) group.push_back(other);
  }
  return group;
}

CampaignRunner::Outcome CampaignRunner::launch_together(const std::vector<PlannedLaunch>& group, Progress& progress,
                                                        double left_s) {
  progress.begin(fmt::format("{} launches, {} and others", group.size(), shown_point(group.front())), left_s);
  std::list<Files> files;
  json lines = json::array();
  std::vector<std::string> program;
  for (const PlannedLaunch& planned : group) {
    const Point& point = campaign_.points[planned.point].point;
    const Files& own = files.emplace_back(records_.staging() / planned.record.stem(), records_.verified_file(planned));
    write_file(own.stamp.path(), records_.stamp_of(planned).dump(), Named::by_us);
    program = program_command(
        campaign_, archive_, settings_, point,
        {planned.record, own.verified.path(), own.started.path(), own.stamp.path(), records_.checked_by(planned)});
    lines.push_back(std::vector<std::string>(program.begin() + 1, program.end()));
  }
  const StagedFile list(records_.staging() / (group.front().record.stem().string() + ".launches.json"));
  write_file(list.path(), lines.dump(), Named::by_us);
  ProcessSpec spec =
      spec_of(campaign_.points[group.front().point].point, {program.front(), "--launches", list.path().string()});
  spec.time_limit_s *= static_cast<double>(group.size());
  const std::string started_at = now_utc();
  const ProcessResult result = run_process(spec);
  require_launcher_started(spec, result);

  Outcome outcome = Outcome::not_started;
  auto own = files.begin();
  for (const PlannedLaunch& planned : group) {
    const Files& of_launch = *own++;
    const bool recorded = names_something(planned.record);
    if (!recorded && (result.interrupted || !names_something(of_launch.started.path()))) continue;
    if (!recorded && !records_.archive_verified(planned, result, progress, spec.time_limit_s))
      records_.archive_failure(planned, records_.failure(planned, result, spec.time_limit_s), started_at);
    wall_s_[planned.point] = result.wall_s / static_cast<double>(group.size());
    index({planned.record});
    show_end(planned, progress, left_s);
    if (outcome == Outcome::archived) ++launched_;  // the caller counts the first
    outcome = Outcome::archived;
  }
  if (result.interrupted) return Outcome::interrupted;
  if (outcome == Outcome::not_started) note_not_started(group.front(), result, progress);
  return outcome;
}

}  // namespace fourscore
