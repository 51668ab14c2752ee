// fourscore compare: whether a candidate is slower than its base. Builds are measured here, in pairs; the Python
// package judges records.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/comparing.hpp"
#include "jobscripts/machines/archive_folder.hpp"

namespace fourscore {
namespace {

struct CompareOptions : CampaignOptions {
  std::string base;
  std::string candidate;
  std::optional<std::string> comparison;
  std::vector<std::string> allowed;
  std::optional<std::string> json_file;
  std::optional<std::string> markdown;
  std::optional<std::string> junit;
  std::optional<std::string> html;
  std::optional<std::string> detect;
  bool strict = false;
  bool require_detectable = false;
  bool plan = false;
  int pairs = 0;
  int most_pairs = 160;
  std::string repository;
  std::vector<std::string> cmake;
  bool quiet = false;
};

/// What the analysis is to write, and what it is to allow.
std::vector<std::string> outputs_of(const CompareOptions& options) {
  std::vector<std::string> outputs;
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) outputs.push_back(std::string(name) + "=" + *value);
  };
  add("--json", options.json_file);
  add("--markdown", options.markdown);
  add("--junit", options.junit);
  add("--html", options.html);
  add("--detect", options.detect);
  if (options.strict) outputs.emplace_back("--strict");
  if (options.require_detectable) outputs.emplace_back("--require-detectable");
  for (const auto& field : options.allowed) outputs.push_back("--allow-different=" + field);
  return outputs;
}

/// Records: a campaign or a suite of the archive, or a path.
bool names_records(const std::string& side, const Archive& archive) {
  const auto is_of = [&](const std::string& campaign) { return campaign == side || campaign.starts_with(side + "-"); };
  return names_something(side) || (is_there(archive.root()) && std::ranges::any_of(archive.campaigns(), is_of));
}

/// The side as a build, or as a revision, which a dry run does not build; nothing where it is records.
std::optional<RevisionBuild> build_of(const std::string& side, const CompareOptions& options, const Archive& archive) {
  if (const auto build = installed_build(side)) return RevisionBuild{*build, {}, true};
  if (names_records(side, archive)) return std::nullopt;
  const RevisionRequest request{options.repository, options.cmake, usable_cores()};
  const auto commit = find_revision(side, request);
  if (!commit)
    throw InputError(fmt::format(
        "'{}' is no fft_bench or folder with one, no campaign of {}, no path, and no revision "
        "of the repository{}",
        side, archive.root().string(), options.repository.empty() ? " here (--repo)" : " " + options.repository));
  if (options.dry_run) return find_build(side, *commit, request);
  return RevisionBuild{build_revision(side, *commit, request), {}, true};
}

/// A dry run of revisions that are not built: only their programs know which points they can measure.
void show_unbuilt_plan(CompareOptions options, const RevisionBuild& base, const RevisionBuild& candidate) {
  for (const auto* side : {&base, &candidate}) {
    if (!side->is_built) fmt::print("{} would be built in {}\n", side->build.label, side->folder.string());
    if (side->is_built) options.bench = side->build.bench.string();
  }
  const Place place = find_place(options.place);
  const Suite suite = chosen_suite(options, place.size);
  fmt::print(
      "Suite {}: {} points, at least {} pairs of each that both builds can measure. Which ones these are is known once "
      "both are built. Nothing was written.\n",
      suite.name, suite.points.size(), std::max(options.pairs > 0 ? options.pairs : suite.launches, fewest_pairs));
}

int compare(const CompareOptions& options) {
  const Archive archive(archive_folder(options.archive));
  if (!options.candidate.empty()) {
    const InterruptGuard guard;
    const auto base = build_of(options.base, options, archive);
    const auto candidate = build_of(options.candidate, options, archive);
    if (base.has_value() != candidate.has_value())
      throw InputError(fmt::format("'{}' is a build and '{}' is records; expected two of a kind",
                                   base ? options.base : options.candidate, base ? options.candidate : options.base));
    if (base) {
      if (options.plan || options.comparison) throw InputError("--plan and --comparison are of records, not of builds");
      if (!base->is_built || !candidate->is_built) {
        print_if_read([&] { show_unbuilt_plan(options, *base, *candidate); });
        return exit_done;
      }
      MeasuredRequest request;
      request.campaign = options;
      request.base = base->build;
      request.candidate = candidate->build;
      request.pairs = options.pairs;
      request.most_pairs = options.most_pairs;
      request.quiet = options.quiet;
      if (options.detect) request.rules.push_back("--detect=" + *options.detect);
      return compare_builds(request, outputs_of(options));
    }
  }
  if (options.dry_run) throw InputError("--dry-run is of builds that are measured; records are only read");
  std::vector<std::string> command{"compare", "--archive=" + archive.root().string()};
  if (options.comparison) command.push_back("--comparison=" + *options.comparison);
  for (auto& output : outputs_of(options)) command.push_back(std::move(output));
  if (options.plan) command.emplace_back("--plan");
  command.emplace_back("--");
  for (const auto* side : {&options.base, &options.candidate})
    if (!side->empty()) command.push_back(*side);
  run_analysis(command);
}

void add_build_options(CLI::App& app, CompareOptions& options) {
  options.suite = "gate";
  app.add_option("--suite", options.suite, "what of two builds is measured")->capture_default_str()->type_name("SUITE");
  app.add_option("--pairs", options.pairs,
                 "of launches of each point, in the first stage (default: the suite's launches, 6 at least)")
      ->check(CLI::Range(fewest_pairs, 1000));
  app.add_option("--most-pairs", options.most_pairs, "of the second stage, which measures anew what the first flags")
      ->check(CLI::Range(fewest_pairs, 1000))
      ->capture_default_str();
  app.add_option("--repo", options.repository, "the repository of revisions (default: that of the current folder)")
      ->type_name("DIR");
  app.add_option("--cmake", options.cmake, "one more argument of cmake for revisions, as -DFOURSCORE_MPI=mpich")
      ->type_name("ARGUMENT");
  app.add_flag("--quiet", options.quiet, "no progress");
}

Command compare_command() {
  return {
      "compare", "Say whether a candidate is slower than its base, and which phase is to blame",
      "  fourscore compare main HEAD                              (two revisions, built and measured in pairs)\n"
      "  fourscore compare /opt/before/bin/fft_bench build/release/bin --suite strong --markdown pull-request.md\n"
      "  fourscore compare strong-1a2b3c4d strong-5e6f7a8b        (two campaigns of the archive)\n"
      "  fourscore compare old-archive new-archive --markdown pull-request.md --junit gate.xml\n"
      "  fourscore compare --comparison fourscore-archive/comparisons/NAME/comparison.json\n"
      "A side is a build (fft_bench, or a folder with one) or a revision, which are measured; or what was measured:\n"
      "a campaign, a suite for its newest campaign, an archive, records, or Google Benchmark's JSON.\n"
      "Exit code 0: no regression; 1: a regression or a wrong result; 2: unusable input;\n"
      "3: the environment failed; 4: nothing was measured, no series has both sides; 5: --strict, and a series could\n"
      "hide a slowdown of --detect.\n",
      76, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<CompareOptions>();
        app.add_option("base", options->base, "what is compared with")->type_name("BASE");
        app.add_option("candidate", options->candidate, "what may be slower")->type_name("CAND");
        app.add_option("--comparison", options->comparison, "comparison.json of a comparison measured in pairs")
            ->type_name("FILE");
        app.add_option("--allow-different", options->allowed,
                       "fields of the identity that may differ, as machine.memory; the result says so")
            ->type_name("FIELD");
        app.add_option("--json", options->json_file, "write the result as JSON; - for standard output")
            ->type_name("FILE");
        app.add_option("--markdown", options->markdown, "write it for a pull request")->type_name("FILE");
        app.add_option("--junit", options->junit, "write it as JUnit XML")->type_name("FILE");
        app.add_option("--html", options->html, "write it as a page, with the scatter of its pairs")->type_name("FILE");
        app.add_option("--detect", options->detect,
                       "the slowdown that must not go unseen (default: 5%); NOT DECIDED where one could")
            ->type_name("PERCENT");
        app.add_flag("--strict", options->strict, "exit code 5, not 0, where it says NOT DECIDED");
        app.add_flag("--require-detectable", options->require_detectable,
                     "as --strict, also of series that a slowdown of --detect would not have shown in (80 %), though "
                     "their intervals exclude it");
        app.add_flag("--plan", options->plan,
                     "of a screen: say as JSON which points to measure again, and in how many pairs");
        add_measuring_options(app, *options);
        add_build_options(app, *options);
        return [options] { return compare(*options); };
      }};
}

FOURSCORE_REGISTER_COMMAND(compare_command);

}  // namespace
}  // namespace fourscore
