// fourscore verify: is what the archive holds what it should hold?

#include "results/verify.hpp"

#include <fmt/format.h>

#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

int verify_archive(const std::string& archive_option, const std::vector<std::string>& names, bool as_json) {
  const Archive archive = open_archive(archive_option);
  const VerifyResult result = verify(archive, names.empty() ? names : chosen_campaigns(archive, names));
  if (as_json) {
    json findings = json::array();
    for (const auto& finding : result.findings)
      findings.push_back({{"file", finding.file}, {"problem", finding.problem}});
    json unfinished = json::array();
    for (const auto& campaign : result.unfinished)
      unfinished.push_back({{"campaign", campaign.campaign}, {"missing", campaign.missing}, {"of", campaign.of}});
    fmt::print("{}\n", json{{"records", result.records},
                            {"without_digest", result.without_digest},
                            {"findings", findings},
                            {"unfinished", unfinished}}
                           .dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    for (const auto& finding : result.findings)
      fmt::print("{}: {}\n", printable(finding.file), printable(finding.problem));
    for (const auto& campaign : result.unfinished)
      fmt::print("{}: {} of its {} records are not there yet; `fourscore run` goes on with them\n",
                 printable(campaign.campaign), campaign.missing, campaign.of);
    const char* const praise = result.unfinished.empty() ? "all as they should be" : "sound as far as they go";
    fmt::print("{} records, {}\n", result.records,
               result.findings.empty() ? praise : fmt::format("{} findings", result.findings.size()));
    if (result.without_digest > 0)
      fmt::print("{} of them have no digest, so a changed value in them cannot be noticed\n", result.without_digest);
  }
  return result.findings.empty() ? exit_done : exit_says_no;
}

Command verify_command() {
  return {"verify", "Check every record and its digest, and that no campaign has lost one",
          "  fourscore verify\n"
          "  fourscore verify strong-1a2b3c4d --json\n"
          "Exit code 1 when something is off.\n",
          40, [](CLI::App& app) -> std::function<int()> {
            struct Options {
              std::string archive;
              std::vector<std::string> campaigns;
              bool json = false;
            };
            auto options = std::make_shared<Options>();
            app.add_option("campaign", options->campaigns, "campaigns to check (default: all)")->type_name("CAMPAIGN");
            add_archive_option(app, options->archive);
            add_json_option(app, options->json);
            return [options] { return verify_archive(options->archive, options->campaigns, options->json); };
          }};
}

FOURSCORE_REGISTER_COMMAND(verify_command);

}  // namespace
}  // namespace fourscore
