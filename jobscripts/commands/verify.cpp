// fourscore verify: is what the archive holds what it should hold?

#include "results/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/point_keys.hpp"
#include "core/text.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/campaigns/run_rules.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct Options : CampaignsOptions {
  bool rules = false;
};

using Judged = std::vector<std::pair<std::string, RulesVerdict>>;  ///< by campaign

json rules_json(const Judged& judged) {
  json result = json::object();
  for (const auto& [campaign, verdict] : judged) {
    json figures = json::array();
    for (const Figure& figure : verdict.figures)
      figures.push_back({{"test", figure.test},
                         {"point", figure.point},
                         {"time_s", figure.time_s},
                         {"gflops", figure.gflops},
                         {"reference_gflops", figure.reference_gflops}});
    result[campaign] = {{"kept", verdict.reasons.empty()},
                        {"reasons", verdict.reasons},
                        {"nodes", verdict.nodes},
                        {"cores", verdict.cores},
                        {"figures", figures},
                        {"gflops", verdict.gflops},
                        {"reference_gflops", verdict.reference_gflops}};
  }
  return result;
}

void print_rules(const std::string& campaign, const RulesVerdict& verdict) {
  if (!verdict.reasons.empty()) {
    fmt::print("{} does not keep the run rules:\n", printable(campaign));
    for (const auto& reason : verdict.reasons) fmt::print("  {}\n", printable(reason));
    return;
  }
  fmt::print("{} keeps the run rules, on {} of {}\n", printable(campaign), plural(verdict.nodes, "node"),
             plural(verdict.cores, "core"));
  fmt::print("  {:<8} {:<44} {:>10} {:>9} {:>9}\n", "test", "fastest", "median", "GFLOP/s", "fftw-mpi");
  for (const Figure& figure : verdict.figures)
    fmt::print("  {:<8} {:<44} {:>10} {:>9.4g} {:>9.4g}\n", figure.test,
               fmt::format("{} {}, {} ranks", point_value(figure.point, "variant"), point_value(figure.point, "shape"),
                           point_value(figure.point, "ranks")),
               shown_time(figure.time_s), figure.gflops, figure.reference_gflops);
  fmt::print("  {:<64} {:>9.4g} {:>9.4g}\n", "figure of merit, the geometric mean", verdict.gflops,
             verdict.reference_gflops);
}

int verify_archive(const Options& options) {
  const Archive archive = open_archive(options.archive);
  std::vector<std::string> names = options.campaigns;
  if (options.rules && names.empty()) names.emplace_back(rules_suite);
  if (!names.empty()) names = chosen_campaigns(archive, names);
  const VerifyResult result = verify(archive, names);
  Judged judged;
  if (options.rules)
    for (const auto& campaign : names) judged.emplace_back(campaign, judge_by_rules(archive, campaign));
  const bool kept = std::ranges::all_of(judged, [](const auto& one) { return one.second.reasons.empty(); });
  if (options.json) {
    json findings = json::array();
    for (const auto& finding : result.findings)
      findings.push_back({{"file", finding.file}, {"problem", finding.problem}});
    json unfinished = json::array();
    for (const auto& campaign : result.unfinished)
      unfinished.push_back({{"campaign", campaign.campaign}, {"missing", campaign.missing}, {"of", campaign.of}});
    json content{{"records", result.records},
                 {"without_digest", result.without_digest},
                 {"findings", findings},
                 {"unfinished", unfinished}};
    if (options.rules) content["rules"] = rules_json(judged);
    print_json(content);
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
    for (const auto& [campaign, verdict] : judged) print_rules(campaign, verdict);
  }
  return result.findings.empty() && kept ? exit_done : exit_says_no;
}

Command verify_command() {
  return {"verify", "Check every record and its digest, and that no campaign has lost one",
          "  fourscore verify\n"
          "  fourscore verify strong-1a2b3c4d --json\n"
          "  fourscore verify procurement --rules\n"
          "Exit code 1 when something is off, or a campaign does not keep the run rules.\n",
          40, with_options<Options>(verify_archive, [](CLI::App& app, Options& options) {
            app.add_option("campaign", options.campaigns, "campaigns to check (default: all)")->type_name("CAMPAIGN");
            app.add_flag("--rules", options.rules,
                         "and whether they keep the run rules of procurement, with their figures of merit; without a "
                         "name the newest campaign of that suite");
            add_archive_option(app, options.archive);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(verify_command);

}  // namespace
}  // namespace fourscore
