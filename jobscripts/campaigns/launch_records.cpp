#include "jobscripts/campaigns/launch_records.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/topology.hpp"
#include "jobscripts/campaigns/launch_verdict.hpp"
#include "jobscripts/campaigns/runner.hpp"
#include "results/entry.hpp"
#include "results/own_checks.hpp"
#include "results/rank_columns.hpp"
#include "results/record_file.hpp"
#include "results/verify.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

std::string program_name(const Campaign& campaign, const Point& point) {
  if (const std::string program = campaign.suite.program_of(point); campaign.foreign.contains(program))
    return campaign.programs.at(program).filename().string();
  return point.component.empty() ? "fft_bench" : point.component;
}

json read_said(const fs::path& file) {
  std::string text = read_regular_file(file).text;
  json said = json::parse(text, nullptr, false);
  if (said.is_object() && said.contains("point") && !said.contains("point_id")) {
    said["point_id"] = point_id(said["point"]);
    text = said.dump();
  }
  json record = parse_record(text);
  read_rank_columns(record, file.parent_path());
  return record;
}

json LaunchRecords::stamp_of(const PlannedLaunch& planned) const {
  json stamp = campaign_.stamp(planned.launch, planned.order);
  if (planned.retry_of) stamp["retry_of"] = *planned.retry_of;
  return stamp;
}

Verdict LaunchRecords::failure(const PlannedLaunch& planned, const ProcessResult& result, double time_limit_s) const {
  const Point& point = campaign_.points[planned.point].point;
  return failure_of(result, time_limit_s, program_name(campaign_, point), " and left no record");
}

/// Its flags, its point and where it comes from are what this program saw.
void LaunchRecords::archive_foreign(const PlannedLaunch& planned, const std::function<json()>& said,
                                    const ProcessResult& result, const std::string& started_at) const {
  const Point& point = campaign_.points[planned.point].point;
  Verdict unusable{"failed", "", result.exit_status, result.signal, result.stderr_tail};
  try {
    const json record =
        foreign_record(said(), {point_json(point), stamp_of(planned),
                                campaign_.provenance(point, settings_.launcher->card().name, started_at),
                                Topology().identity(), settings_.launcher_options.cores, result.wall_s});
    const auto problems = problems_of(record, planned.record);
    if (problems.empty()) return store(planned.record, record);
    unusable.reason = problems.front();
  } catch (const RecordFileError&) {
    throw;
  } catch (const std::exception& error) {
    unusable.reason = error.what();
  }
  unusable.reason = fmt::format("what {} {} cannot be used: {}", program_name(campaign_, point),
                                campaign_.suite.command_of(point) != nullptr ? "printed" : "recorded", unusable.reason);
  archive_failure(planned, unusable, started_at);
}

void LaunchRecords::archive_failure(const PlannedLaunch& planned, const Verdict& verdict,
                                    const std::string& started_at) const {
  // A record that could not be stored is the archive's failure, not the point's: say that, and archive nothing.
  archive_.create_campaign(campaign_.id);
  const Point& point = campaign_.points[planned.point].point;
  store(planned.record,
        make_unlaunched_record(point, stamp_of(planned), verdict,
                               campaign_.provenance(point, settings_.launcher->card().name, started_at)));
}

fs::path LaunchRecords::checked_by(const PlannedLaunch& planned) const {
  const CampaignPoint& point = campaign_.points[planned.point];
  const std::string program = campaign_.suite.program_of(point.point);
  if (!campaign_.suite.checked_once || !program.empty() || campaign_.foreign.contains(program)) return {};
  for (int launch = 0; launch < planned.launch; ++launch) {
    const fs::path file = archive_.record_file(campaign_.id, point.id, launch);
    if (!is_there(file)) continue;
    try {
      if (!why_not_relied_on(read_record(file))) return file;
    } catch (const UnreadableRecord&) {
      continue;  // `fourscore verify` tells of it
    }
  }
  return {};
}

fs::path LaunchRecords::verified_file(const PlannedLaunch& planned) const {
  return staging() / (planned.record.stem().string() + ".verified.json");
}

fs::path LaunchRecords::staging() const {
  const fs::path folder = archive_.campaign_folder(campaign_.id) / "staging";
  return settings_.job.empty() ? folder : folder / settings_.job;
}

bool LaunchRecords::archive_verified(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress,
                                     double time_limit_s) const {
  const fs::path file = verified_file(planned);
  if (!names_something(file)) return false;
  const Point& point = campaign_.points[planned.point].point;
  const Verdict end = failure_of(result, time_limit_s, program_name(campaign_, point), "");
  try {
    const json record = ended_record(read_record(file), point, end);
    archive_.create_campaign(campaign_.id);
    store(planned.record, record);
    return true;
  } catch (const UnreadableRecord& error) {
    progress.note(fmt::format("warning: {}: {}", file.string(), error.what()));
  } catch (const std::invalid_argument& error) {
    progress.note(fmt::format("warning: {}: {}", file.string(), error.what()));
  }
  return false;
}

void LaunchRecords::store(const fs::path& file, const json& record) const {
  write_record_once(file, record, staging());
}

}  // namespace fourscore
