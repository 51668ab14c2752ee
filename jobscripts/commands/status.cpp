// fourscore status: what the archive holds, campaign by campaign, and what is in the queue.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/summary.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/jobs/job_states.hpp"
#include "jobscripts/jobs/waiting.hpp"
#include "results/campaign_file.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// One job, and what it has done.
struct JobProgress {
  const KnownJob* job;
  JobDescription description;
  JobJournal journal;
};

/// Where the launches of a campaign are.
struct Standing {
  std::size_t records = 0;   ///< without those that a retry stands in for
  std::size_t further = 0;   ///< those of `records` beyond the schedule: what a comparison or `precision` asked for
  std::size_t expected = 0;  ///< in the finished campaign
  std::size_t running = 0;   ///< launches under way
  std::size_t queued = 0;    ///< in jobs that live, and not begun
  std::size_t missing = 0;   ///< in no job
  std::vector<JobProgress> jobs;
};

Standing standing_of(const Archive& archive, const std::string& name, const CampaignSummary& summary,
                     const KnownJobs& known) {
  Standing standing;
  const auto scheduled = scheduled_records(archive, name).names;
  standing.expected = scheduled.size();
  std::set<std::string> there;
  for (const auto& file : archive.record_files(name)) there.insert(file.filename().string());
  // What a retry stands in for is one record more than was planned.
  const auto superseded = summary.counts.find("superseded");
  standing.records =
      there.size() - (superseded == summary.counts.end() ? 0 : static_cast<std::size_t>(superseded->second));
  const std::size_t of_schedule = static_cast<std::size_t>(
      std::ranges::count_if(scheduled, [&](const std::string& record) { return there.contains(record); }));
  standing.further = standing.records - std::min(standing.records, of_schedule);
  std::set<std::string> held;
  for (const KnownJob& job : known.jobs) {
    if (job.campaign != name) continue;
    JobProgress progress{&job, job.folder.description(), job.folder.journal()};
    for (const JobLaunch& launch : progress.description.launches) {
      const std::string record = stem_of(launch) + ".json";
      if (!there.contains(record) && job.lives() && held.insert(record).second) ++standing.queued;
    }
    const bool at_work = job.state.phase == JobPhase::running && !progress.journal.in_flight.empty() &&
                         !there.contains(progress.journal.in_flight + ".json");
    if (at_work && standing.queued > 0) {
      ++standing.running;
      --standing.queued;
    }
    standing.jobs.push_back(std::move(progress));
  }
  standing.missing = static_cast<std::size_t>(std::ranges::count_if(
      scheduled, [&](const std::string& record) { return !there.contains(record) && !held.contains(record); }));
  return standing;
}

/// Points all of whose launches are archived, and those of which one failed.
json points_json(const Archive& archive, const std::string& name, const CampaignSummary& summary) {
  std::map<std::string, int> lacking;
  std::size_t points = 0;
  for (const std::string& record : scheduled_records(archive, name).names) {
    const std::string point = record.substr(0, record.rfind('-'));
    const auto [entry, is_new] = lacking.emplace(point, 0);
    points += is_new ? 1 : 0;
    ++entry->second;
  }
  std::size_t done = 0;
  std::size_t failed = 0;
  for (const auto& group : summary.groups)
    for (const PointSummary& point : group.points) {
      int records = 0;
      bool bad = false;
      for (const auto& [status, count] : point.statuses) {
        if (status != "superseded") records += count;
        bad = bad || status == "failed" || status == "timeout" || status == "wrong";
      }
      const auto wanted = lacking.find(point.point_id);
      if (wanted != lacking.end() && records >= wanted->second) ++done;
      failed += bad ? 1 : 0;
    }
  return {{"of", points}, {"done", done}, {"failed", failed}};
}

json job_json(const JobProgress& progress) {
  json result = state_json(progress.job->state);
  result.update({{"name", progress.job->folder.name()},
                 {"id", progress.job->id},
                 {"job_nodes", progress.description.nodes},
                 {"launches", progress.description.launches.size()},
                 {"done", progress.journal.archived},
                 {"launches_s", progress.journal.launches_s}});
  return result;
}

/// How much of a job's time launches took; empty while it runs.
std::string use_text(const JobJournal& journal) {
  const double wall_s = journal.ended_s - journal.began_s;
  if (journal.ended_s == 0 || wall_s <= 0) return {};
  return fmt::format(", {:.0f} % of {} in launches", 100 * std::min(1.0, journal.launches_s / wall_s),
                     shown_duration(wall_s));
}

void print_jobs(const Standing& standing) {
  for (const JobProgress& progress : standing.jobs)
    fmt::print("  job {:<8} {:<14} {} of {} launches, {}{}: {}\n", progress.job->id.empty() ? "-" : progress.job->id,
               progress.job->folder.name(), progress.journal.archived, progress.description.launches.size(),
               plural(progress.description.nodes, "node"), use_text(progress.journal),
               printable(state_text_of(progress.job->state)));
}

void print_line(const std::string& name, const Standing& standing, const CampaignSummary& summary) {
  std::string counts;
  for (const auto& [word, count] : summary.counts) counts += fmt::format(", {} {}", count, printable(word));
  const auto add = [&counts](std::size_t count, const char* what) {
    if (count > 0) counts += fmt::format(", {} {}", count, what);
  };
  add(standing.running, "running");
  add(standing.queued, "queued");
  if (!standing.jobs.empty()) add(standing.missing, "missing");
  add(summary.unreadable.size(), "unreadable");
  const std::string records =
      standing.expected == 0
          ? fmt::format("{} records", standing.records)
          : fmt::format("{} of {} records{}", standing.records - standing.further, standing.expected,
                        standing.further > 0 ? fmt::format(" and {} further", standing.further) : "");
  fmt::print("{}: {}{}\n", printable(name), records, counts);
}

int status(const CampaignsOptions& options) {
  const Archive archive = open_archive(options.archive);
  const auto chosen = chosen_campaigns(archive, options.campaigns);
  // Jobs of all campaigns, so that one question answers the next command too.
  const KnownJobs known = known_jobs(archive, archive.campaigns());
  if (!known.problem.empty())
    say("warning: {}; states are those of {} ago\n", printable(known.problem), shown_duration(known.age_s));
  json list = json::array();
  for (const auto& name : chosen) {
    const CampaignSummary summary = summarise(archive, name);
    const Standing standing = standing_of(archive, name, summary, known);
    if (options.json) {
      json entry = summary_json(summary);
      json jobs = json::array();
      for (const JobProgress& job : standing.jobs) jobs.push_back(job_json(job));
      entry.update({{"campaign", name},
                    {"records", standing.records},
                    {"expected", standing.expected},
                    {"further", standing.further},
                    {"running", standing.running},
                    {"queued", standing.queued},
                    {"missing", standing.missing},
                    {"points_done", points_json(archive, name, summary)},
                    {"jobs", jobs},
                    {"states_age_s", known.age_s}});
      list.push_back(std::move(entry));
      continue;
    }
    print_line(name, standing, summary);
    if (options.campaigns.empty()) continue;
    const json points = points_json(archive, name, summary);
    fmt::print("  points: {} of {} done, {} with a failure\n", points["done"].dump(), points["of"].dump(),
               points["failed"].dump());
    print_jobs(standing);
    fmt::print("{}", summary_table(summary));
  }
  if (options.json) print_json(list);
  return exit_done;
}

Command status_command() {
  return {"status", "Show what the archive holds, how far each campaign is, and its jobs",
          "  fourscore status\n"
          "  fourscore status strong-1a2b3c4d --archive results-2026\n"
          "  fourscore status strong                               # its newest campaign\n"
          "The scheduler is asked at most every 30 s, for all jobs at once.\n",
          30, with_options<CampaignsOptions>(status, [](CLI::App& app, CampaignsOptions& options) {
            app.add_option("campaign", options.campaigns,
                           "campaigns to show in full, or suites for their newest (default: one line for each)")
                ->type_name("CAMPAIGN");
            add_archive_option(app, options.archive);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(status_command);

}  // namespace
}  // namespace fourscore
