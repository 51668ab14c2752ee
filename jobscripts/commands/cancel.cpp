// fourscore cancel: takes a campaign's jobs from the queue.

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/path_kind.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/campaigns/campaign_lock.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/jobs/job_states.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

int cancel(const CampaignsOptions& options) {
  const Archive archive = open_archive(options.archive);
  json cancelled = json::array();
  for (const std::string& name : chosen_campaigns(archive, options.campaigns)) {
    // Nobody submits meanwhile what is being cancelled.
    if (!names_folder(archive.campaign_folder(name))) continue;  // imported: it has no jobs
    const CampaignLock lock(archive, name, CampaignLock::Kind::submitting);
    const KnownJobs known = known_jobs(archive, {name}, 0);
    if (!known.problem.empty()) throw EnvironmentError(known.problem);
    std::map<std::string, std::vector<std::string>> by_scheduler;
    for (const KnownJob& job : known.jobs) {
      if (!job.lives()) continue;
      by_scheduler[job.folder.description().scheduler].push_back(job.id);
      cancelled.push_back({{"campaign", name}, {"job", job.id}, {"name", job.folder.name()}});
    }
    for (const auto& [scheduler, ids] : by_scheduler)
      SchedulerRegistry::instance().get(scheduler, "scheduler").cancel(ids);
    if (!by_scheduler.empty()) forget_states(archive);
    std::size_t count = 0;
    for (const auto& [scheduler, ids] : by_scheduler) count += ids.size();
    if (!options.json) fmt::print("{}: {} jobs cancelled\n", printable(name), count);
  }
  if (options.json) print_json(cancelled);
  return exit_done;
}

Command cancel_command() {
  return {"cancel", "Cancel the jobs of campaigns, queued and running",
          "  fourscore cancel strong-nodes-1a2b3c4d\n"
          "What was measured stays; `fourscore submit` goes on with the rest.\n",
          26, with_options<CampaignsOptions>(cancel, [](CLI::App& app, CampaignsOptions& options) {
            app.add_option("campaign", options.campaigns,
                           "campaigns whose jobs are cancelled, or suites for their newest")
                ->required()
                ->type_name("CAMPAIGN");
            add_archive_option(app, options.archive);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(cancel_command);

}  // namespace
}  // namespace fourscore
