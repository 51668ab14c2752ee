// fourscore compare: whether a candidate is slower than its base. Builds are measured here, in pairs; the Python
// package judges records.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/comparing.hpp"
#include "jobscripts/programs/bench.hpp"

namespace fourscore {
namespace {

struct CompareOptions : CampaignOptions {
  std::string base;
  std::string candidate;
  int pairs = 0;
  int most_pairs = 160;
  std::string repository;
  std::vector<std::string> cmake;
  std::vector<std::string> two_plugins, two_programs;
  std::string build, artifact;
  bool quiet = false;
};

/// Both plugins or both programs, or none.
std::vector<ComparedBuild> files_of(const CompareOptions& options) {
  std::vector<ComparedBuild> builds;
  if (!options.two_plugins.empty() && !options.two_programs.empty())
    throw InputError("--plugin and --program exclude each other: two builds of one thing are compared");
  for (const auto& file : options.two_plugins) builds.push_back(plugin_build(file, find_bench(options.bench)));
  for (const auto& file : options.two_programs) builds.push_back(program_build(file, find_bench(options.bench)));
  return builds;
}

/// Records: a campaign or a suite of the archive, or a path.
bool names_records(const std::string& side, const Archive& archive) {
  const auto is_of = [&](const std::string& campaign) { return campaign == side || campaign.starts_with(side + "-"); };
  return names_something(side) || (is_there(archive.root()) && std::ranges::any_of(archive.campaigns(), is_of));
}

RevisionRequest revisions_of(const CompareOptions& options) {
  RevisionRequest request{options.repository, options.cmake, usable_cores(), options.build, options.artifact};
  if (options.artifact.empty()) return request;
  request.bench = find_bench(options.bench);
  request.makes_program = options.artifact.find(".so") == std::string::npos;
  return request;
}

/// The side as a build, or as a revision, which may not be built yet; nothing where it is records.
std::optional<RevisionBuild> find_side(const std::string& side, const CompareOptions& options, const Archive& archive) {
  if (options.artifact.empty()) {
    if (const auto build = installed_build(side)) return RevisionBuild{*build, {}, true};
    if (names_records(side, archive)) return std::nullopt;
  }
  const RevisionRequest request = revisions_of(options);
  if (const auto commit = find_revision(side, request)) return find_build(side, *commit, request);
  throw InputError(fmt::format(
      "'{}' is {}no revision of the repository{}", side,
      options.artifact.empty()
          ? fmt::format("no fft_bench or folder with one, no campaign of {}, no path, and ", archive.root().string())
          : "",
      options.repository.empty() ? " here (--repo)" : " " + options.repository));
}

void build_side(const std::string& side, const CompareOptions& options, RevisionBuild& found) {
  if (found.is_built) return;
  const RevisionRequest request = revisions_of(options);
  found.build = build_revision(side, find_revision(side, request).value(), request);
  found.is_built = true;
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
  app.add_option("--plugin", options.two_plugins,
                 "two builds of a plugin, in place of BASE and CAND: measured by one fft_bench")
      ->expected(2)
      ->type_name("FILE");
  app.add_option("--program", options.two_programs,
                 "two builds of the suite's program that prints its times, in place of BASE and CAND")
      ->expected(2)
      ->type_name("FILE");
  app.add_option("--build", options.build,
                 "the command that builds a revision of a plugin or program, in its sources; with --artifact, and "
                 "--repo for its repository")
      ->type_name("COMMAND");
  app.add_option("--artifact", options.artifact,
                 "the plugin that --build makes, as lib/libmine.so, or the program that the suite names")
      ->type_name("FILE");
  add_bench_option(app, options.bench, "measure plugins with");
  app.add_flag("--quiet", options.quiet, "no progress");
}

/// Two builds, or two revisions, which are built here.
int compare_two(const CompareOptions& options, const SharedCommand& shared, const RevisionBuild& base,
                const RevisionBuild& candidate) {
  if (shared.has("plan") || shared.has("comparison"))
    throw InputError("--plan and --comparison are of records, not of builds");
  if (!base.is_built || !candidate.is_built) {
    print_if_read([&] { show_unbuilt_plan(options, base, candidate); });
    return exit_done;
  }
  MeasuredRequest request;
  request.campaign = options;
  request.base = base.build;
  request.candidate = candidate.build;
  request.pairs = options.pairs;
  request.most_pairs = options.most_pairs;
  request.quiet = options.quiet;
  if (const auto share = number_from<double>(shared.value("detect")))
    request.rules.push_back(fmt::format("--detect={:g}%", 100 * *share));
  return compare_builds(request, shared.words);
}

int compare(std::vector<std::string> words) {
  CompareOptions options;
  CLI::App app("", "compare");
  add_measuring_options(app, options);
  add_build_options(app, options);
  const SharedCommand shared = parse_shared(app, std::move(words), options.place.machine);
  options.base = shared.value("base");
  options.candidate = shared.value("candidate");
  options.archive = shared.value("archive");
  if (options.build.empty() != options.artifact.empty())
    throw InputError("--build and --artifact go together: a command, and what it makes");
  if (const auto files = files_of(options); !files.empty()) {
    if (!options.base.empty())
      throw InputError("--plugin and --program name both sides; expected no BASE and CAND beside them");
    const InterruptGuard guard;
    return compare_two(options, shared, {files[0], {}, true}, {files[1], {}, true});
  }
  if (!options.candidate.empty()) {
    const Archive archive(options.archive);
    const InterruptGuard guard;
    auto base = find_side(options.base, options, archive);
    auto candidate = find_side(options.candidate, options, archive);
    if (base.has_value() != candidate.has_value())
      throw InputError(fmt::format("'{}' is a build and '{}' is records; expected two of a kind",
                                   base ? options.base : options.candidate, base ? options.candidate : options.base));
    if (base && !options.dry_run) {
      build_side(options.base, options, *base);
      build_side(options.candidate, options, *candidate);
    }
    if (base) return compare_two(options, shared, *base, *candidate);
  }
  if (options.dry_run) throw InputError("--dry-run is of builds that are measured; records are only read");
  run_analysis(shared.words);
}

Command compare_command() {
  return {"compare", "Say whether a candidate is slower than its base, and which phase is to blame", "", 76, {},
          compare};
}

FOURSCORE_REGISTER_COMMAND(compare_command);

}  // namespace
}  // namespace fourscore
