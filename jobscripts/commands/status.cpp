// fourscore status: what the archive holds, campaign by campaign.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/summary.hpp"
#include "results/campaign_file.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

int status(const std::string& archive_option, const std::vector<std::string>& names, bool as_json) {
  const Archive archive = open_archive(archive_option);
  json list = json::array();
  for (const auto& name : chosen_campaigns(archive, names)) {
    const CampaignSummary summary = summarise(archive, name);
    const std::size_t expected = scheduled_records(archive, name).names.size();
    // What a retry stands in for is one record more than was planned.
    const auto superseded = summary.counts.find("superseded");
    const std::size_t records = archive.record_files(name).size() -
                                (superseded == summary.counts.end() ? 0 : static_cast<std::size_t>(superseded->second));
    if (as_json) {
      json entry = summary_json(summary);
      entry.update({{"campaign", name}, {"records", records}, {"expected", expected}});
      list.push_back(std::move(entry));
      continue;
    }
    std::string counts;
    for (const auto& [word, count] : summary.counts) counts += fmt::format(", {} {}", count, printable(word));
    fmt::print("{}: {}{} records{}{}\n", printable(name), records, expected > 0 ? fmt::format(" of {}", expected) : "",
               counts, summary.unreadable.empty() ? "" : fmt::format(", {} unreadable", summary.unreadable.size()));
    if (!names.empty()) fmt::print("{}", summary_table(summary));
  }
  if (as_json) fmt::print("{}\n", list.dump(2, ' ', false, json::error_handler_t::replace));
  return exit_done;
}

Command status_command() {
  return {"status", "Show what the archive holds and how far each campaign is",
          "  fourscore status\n"
          "  fourscore status strong-1a2b3c4d --archive results-2026\n",
          30, [](CLI::App& app) -> std::function<int()> {
            struct Options {
              std::string archive;
              std::vector<std::string> campaigns;
              bool json = false;
            };
            auto options = std::make_shared<Options>();
            app.add_option("campaign", options->campaigns, "campaigns to show in full (default: one line for each)")
                ->type_name("CAMPAIGN");
            add_archive_option(app, options->archive);
            add_json_option(app, options->json);
            return [options] { return status(options->archive, options->campaigns, options->json); };
          }};
}

FOURSCORE_REGISTER_COMMAND(status_command);

}  // namespace
}  // namespace fourscore
