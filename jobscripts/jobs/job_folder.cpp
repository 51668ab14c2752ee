#include "jobscripts/jobs/job_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "core/json_value.hpp"
#include "core/regular_file.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

fs::path jobs_folder(const Archive& archive, const std::string& campaign) {
  return archive.campaign_folder(campaign) / "jobs";
}

void write_text(const fs::path& file, const std::string& text) {
  try {
    write_file(file, text, Named::by_us);
  } catch (const std::exception& error) {
    throw ArchiveError(error.what());
  }
}

json launches_json(const std::vector<JobLaunch>& launches) {
  json list = json::array();
  for (const JobLaunch& launch : launches) {
    list.push_back({launch.point_id, launch.launch});
    if (launch.retry_of) list.back().push_back(*launch.retry_of);
  }
  return list;
}

}  // namespace

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string stem_of(const JobLaunch& launch) { return fmt::format("{}-{:03}", launch.point_id, launch.launch); }

json state_json(const JobState& state) {
  return {{"phase", to_string(state.phase)},
          {"end", to_string(state.end)},
          {"state", state.word},
          {"reason", state.reason},
          {"nodes", state.nodes}};
}

JobState state_from_json(const json& value) {
  JobState state;
  state.word = value_or(value, "state", "");
  state.reason = value_or(value, "reason", "");
  state.nodes = value_or(value, "nodes", "");
  for (const JobPhase phase : {JobPhase::queued, JobPhase::running, JobPhase::ended})
    if (value_or(value, "phase", "") == to_string(phase)) state.phase = phase;
  for (const JobEnd end : all_job_ends)
    if (value_or(value, "end", "unknown") == to_string(end)) state.end = end;
  return state;
}

JobFolder::JobFolder(const Archive& archive, const std::string& campaign, std::string name)
    : name_(std::move(name)), folder_(jobs_folder(archive, campaign) / name_) {}

void JobFolder::create(const JobDescription& job, const std::string& machine_text) const {
  make_folder(folder_);
  const json content{{"schema", "fourscore.job"},
                     {"schema_version", 1},
                     {"scheduler", job.scheduler},
                     {"nodes", job.nodes},
                     {"ranks_per_node", job.ranks_per_node},
                     {"threads", job.threads},
                     {"time_limit_s", job.time_limit_s},
                     {"expected_s", job.expected_s},
                     {"launches", launches_json(job.launches)}};
  if (!machine_text.empty()) write_text(machine_file(), machine_text);
  write_text(file("job.json"), content.dump() + "\n");
}

void JobFolder::remove() const {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

JobDescription JobFolder::description() const {
  const json content = json::parse(text_or_nothing(file("job.json")), nullptr, false);
  try {
    if (content.at("schema") != "fourscore.job") throw ArchiveError("");
    JobDescription job{content.at("scheduler"),
                       content.at("nodes"),
                       content.at("ranks_per_node"),
                       content.at("threads"),
                       content.at("time_limit_s"),
                       content.at("expected_s"),
                       {}};
    for (const json& entry : content.at("launches")) {
      JobLaunch launch{entry.at(0), entry.at(1)};
      if (entry.size() > 2) launch.retry_of = entry.at(2).get<int>();
      job.launches.push_back(std::move(launch));
    }
    return job;
  } catch (const std::exception&) {
    throw ArchiveError(
        fmt::format("{} is no description of a job; remove its folder, and submit again", file("job.json").string()));
  }
}

std::string JobFolder::id() const {
  std::istringstream in(text_or_nothing(file("id")));
  std::string id;
  in >> id;
  return id.empty() ? journal().id : id;
}

void JobFolder::set_id(const std::string& id) const { write_text(file("id"), id + "\n"); }
bool JobFolder::abandoned() const { return is_there(file("abandoned")); }
void JobFolder::abandon() const { write_text(file("abandoned"), ""); }

std::optional<JobState> JobFolder::end() const {
  const json content = json::parse(text_or_nothing(file("end.json")), nullptr, false);
  if (!content.is_object()) return std::nullopt;
  return state_from_json(content);
}

void JobFolder::set_end(const JobState& state) const { write_text(file("end.json"), state_json(state).dump() + "\n"); }

JobJournal JobFolder::journal() const {
  JobJournal journal;
  std::istringstream lines(text_or_nothing(file("journal.jsonl")));
  double launch_began_s = 0;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line, nullptr, false);
    if (!event.is_object()) continue;  // the last line of a job that was killed while it wrote
    const std::string what = value_or(event, "event", "");
    const double time_s = value_or(event, "time_s", 0.0);
    if (what == "begin") {
      journal.id = value_or(event, "job", "");
      journal.began_s = time_s;
      journal.ended_s = 0;
    } else if (what == "launch") {
      journal.in_flight = value_or(event, "record", "");
      journal.cut = false;
      launch_began_s = time_s;
    } else if (what == "cut") {
      journal.cut = true;
      journal.launches_s += time_s - launch_began_s;
    } else if (what == "launched") {
      journal.in_flight.clear();
      journal.launches_s += time_s - launch_began_s;
      journal.archived += value_or(event, "archived", false) ? 1 : 0;
    } else if (what == "end") {
      journal.ended_s = time_s;
    }
  }
  return journal;
}

void JobFolder::note(json event) const {
  event["time_s"] = now_s();
  const std::string line = event.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  const int fd = ::open(file("journal.jsonl").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());
  ::close(fd);
}

std::vector<JobFolder> jobs_of(const Archive& archive, const std::string& campaign) {
  std::vector<JobFolder> jobs;
  for (const fs::path& folder : children_of(jobs_folder(archive, campaign)))
    if (is_there(folder / "job.json")) jobs.emplace_back(archive, campaign, folder.filename().string());
  return jobs;
}

std::string next_job_name(const Archive& archive, const std::string& campaign, int nodes, int skipped) {
  int number = 0;
  for (const fs::path& folder : children_of(jobs_folder(archive, campaign)))
    number = std::max(number, std::atoi(folder.filename().c_str()));
  return fmt::format("{:04}-{}-{}", number + skipped + 1, nodes, nodes == 1 ? "node" : "nodes");
}

}  // namespace fourscore
