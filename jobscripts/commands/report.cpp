// fourscore report: the Python package writes it.

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "jobscripts/base/paths.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"

namespace fourscore {
namespace {

constexpr int most_plot_points = 1'000'000;

struct ReportOptions {
  std::string archive;
  std::vector<std::string> campaigns;
  std::vector<std::string> papers;
  std::string output = "report.html";
  std::optional<std::string> plots;
  std::optional<unsigned> plot_points;
  std::optional<std::string> efficiency;
  bool json = false;
};

/// Becomes the interpreter, which alone knows campaigns, suites and papers by name. A paper's page needs no archive.
int report(const ReportOptions& options) {
  std::vector<std::string> command{"report", "--output=" + options.output};
  for (const std::string& paper : options.papers) command.push_back("--paper=" + paper);
  const std::filesystem::path folder = archive_folder(options.archive);
  if (options.papers.empty() || !options.archive.empty()) (void)open_archive(options.archive);  // it is there
  if (options.papers.empty() || std::filesystem::exists(folder)) command.push_back("--archive=" + folder.string());
  if (options.plots) command.push_back("--plots=" + *options.plots);
  if (options.plot_points) command.push_back(fmt::format("--plot-points={}", *options.plot_points));
  if (options.efficiency) command.push_back("--efficiency=" + *options.efficiency);
  if (options.json) command.emplace_back("--json");
  if (!options.campaigns.empty()) command.emplace_back("--");
  command.insert(command.end(), options.campaigns.begin(), options.campaigns.end());
  run_analysis(command);
}

Command report_command() {
  return {"report", "Write one self-contained page of what the campaigns found, or of the papers' numbers",
          "  fourscore report -o report.html\n"
          "  fourscore report strong weak -o scaling.html   (the newest campaign of each of these suites)\n"
          "  fourscore report strong-1a2b3c4d\n"
          "  fourscore report --paper all -o papers.html   (every number of the papers, with verdicts)\n",
          70, [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<ReportOptions>();
            app.add_option("campaign", options->campaigns,
                           "campaigns, or suites for the newest campaign of each (default: the newest of each suite)")
                ->type_name("CAMPAIGN");
            app.add_option("-o,--output", options->output, "the page; plots stand in a folder beside it")
                ->capture_default_str()
                ->type_name("FILE");
            app.add_option("--paper", options->papers,
                           "a page of a paper's numbers instead: by its equations, and beside ours from the whole\n"
                           "archive, where there is one; a key of docs/bibliography.md, or all; may be repeated")
                ->type_name("NAME")
                ->allow_extra_args(false);
            app.add_option("--plots", options->plots,
                           "folder of the plots as PNG, SVG and PDF (default: beside the page)")
                ->type_name("DIR");
            app.add_option("--plot-points", options->plot_points,
                           "the most points of a campaign in its plots, the largest problems first; tables show all\n"
                           "(0: no limit; default: 150, fewer in reports of more than 4000 records)")
                ->check(CLI::Range(0, most_plot_points));
            app.add_option("--efficiency", options->efficiency,
                           "of which the report says the size that keeps them: up to 5 numbers between 0 and 1\n"
                           "(default: 0.5,0.66,0.83)")
                ->type_name("E,...");
            app.add_flag("--json", options->json, "print the findings as JSON for machines");
            add_archive_option(app, options->archive);
            return [options] { return report(*options); };
          }};
}

FOURSCORE_REGISTER_COMMAND(report_command);

}  // namespace
}  // namespace fourscore
