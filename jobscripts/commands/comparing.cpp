#include "jobscripts/commands/comparing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/campaigns/campaign_lock.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/gate/paired_run.hpp"
#include "jobscripts/jobs/estimates.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/printing_program.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// All that a comparison needs before its first launch.
struct Prepared {
  Place place;
  Archive archive;
  Comparison comparison;
  Campaign base, candidate;
};

/// The suite without its components: another build's programs of these are not asked for.
void leave_components_out(Suite& suite) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < suite.points.size(); ++i) {
    if (!suite.points[i].component.empty()) continue;
    if (kept != i) {
      suite.points[kept] = std::move(suite.points[i]);
      suite.tags[kept] = std::move(suite.tags[i]);
    }
    ++kept;
  }
  if (kept == 0)
    throw InputError(fmt::format("{} has components alone; builds are compared by their fft_bench, as [[sweep]] says",
                                 suite.file.string()));
  if (kept < suite.points.size()) say("components are left out: builds are compared by their fft_bench\n");
  suite.points.resize(kept);
  suite.tags.resize(kept);
}

/// Before anything is measured: fft_bench --slow-down would refuse each launch.
void require_slowable(const Suite& suite) {
  if (suite.settings.warmup == 0)
    throw InputError(fmt::format("{}: warmup is 0; a slowed phase wants 1 or more, by which its time is known",
                                 suite.file.string()));
  if (!suite.settings.phases)
    throw InputError(
        fmt::format("{}: phases is false; a phase is slowed down only where phases are timed", suite.file.string()));
}

/// Hashes everything that the side measures with.
std::string code_hash_of(const ComparedBuild& build, Suite suite) {
  const json bench = Bench(build.bench, build.plugins).identity();
  use_program(suite, build.program);
  std::string hash = bench.value("code_hash", "");
  for (const auto& [variant, command] : suite.programs)
    hash += "+" + printing_identity(command, bench).value("code_hash", "");
  return hash;
}

/// SUITE-vs-<8 hex>, the hash of everything that decides the measurement, or --campaign; --fresh takes the next free
/// one.
std::string comparison_name(const MeasuredRequest& request, const Suite& suite, const Comparison& comparison,
                            const Archive& archive) {
  const CampaignRequest& asked = request.campaign.campaign;
  std::string text = suite.text + suite.size + asked.machine.dump() + asked.counters->counters + asked.counters->group +
                     asked.counters->cache + comparison.base.code_hash + comparison.candidate.code_hash;
  for (const auto& argument : request.candidate_arguments) text += '\n' + argument;
  for (const auto& only : request.campaign.only) text += '\n' + only;
  for (const auto& rule : request.rules) text += '\n' + rule;  // other stages are planned by them
  const std::string first =
      asked.name.empty() ? fmt::format("{}-vs-{}", suite.name, sha256_hex(text).substr(0, 8)) : asked.name;
  std::string name = first;
  for (int number = 2; asked.fresh && is_there(comparison_file(archive, name)); ++number)
    name = fmt::format("{}-{}", first, number);
  return name;
}

Campaign side_campaign(Suite suite, ComparedSide& side, const Prepared& prepared, CampaignRequest request,
                       const std::string& what) {
  request.name = prepared.comparison.name + what;
  request.fresh = false;
  request.open_ended = true;
  request.revision = side.revision;
  suite.plugins = side.plugins.empty() ? suite.plugins : side.plugins;
  use_program(suite, side.program);
  Campaign campaign = plan_campaign(suite, side.bench.string(), prepared.archive, request);
  side.campaign = campaign.id;
  return campaign;
}

Prepared prepare(MeasuredRequest& request) {
  CampaignOptions& options = request.campaign;
  Place place = find_place(options.place);
  Archive archive(fs::absolute(archive_folder(options.archive, place.options.machine.archive)), options.access());
  options.campaign.machine = campaign_machine_json(place.options.machine, place.size);
  options.bench = request.candidate.bench.string();
  options.plugins = request.candidate.plugins;
  options.program = request.candidate.program;
  Suite suite = chosen_suite(options, place.size);
  leave_components_out(suite);
  if (request.pairs > 0) suite.launches = request.pairs;
  if (request.slows_down) require_slowable(suite);
  suite.launches = std::max(suite.launches, fewest_pairs);
  suite.precision = 0;  // the second stage asks for what is missing
  Prepared prepared{std::move(place), std::move(archive), {}, {}, {}};
  Comparison& comparison = prepared.comparison;
  comparison.suite = suite.name;
  const auto side_of = [&suite](const ComparedBuild& build, const std::vector<std::string>& arguments) {
    return ComparedSide{build.label,   build.bench,   code_hash_of(build, suite), "", arguments, build.plugins,
                        build.program, build.revision};
  };
  comparison.base = side_of(request.base, {});
  comparison.candidate = side_of(request.candidate, request.candidate_arguments);
  comparison.name = comparison_name(request, suite, comparison, prepared.archive);
  while (comparison.seed == 0) comparison.seed = suite.seed != 0 ? suite.seed : std::random_device{}();
  comparison.stages = {{"screen", 0, suite.launches, {}}};
  go_on_with(comparison, prepared.archive);
  prepared.base = side_campaign(suite, comparison.base, prepared, options.campaign, "-base");
  prepared.candidate = side_campaign(suite, comparison.candidate, prepared, options.campaign, "-candidate");
  const Selection selection(options.only, options.launches);
  selection.require_points(prepared.candidate);
  if (selection.takes_all()) return prepared;
  const int suite_pairs = comparison.stages.front().launches;
  std::map<std::string, int> wanted;
  for (const CampaignPoint& point : prepared.candidate.points)
    if (point.skip_reason.empty() && selection.takes(point, 0)) wanted[point.id] = suite_pairs;
  if (wanted.empty()) throw InputError("--only takes no point that can be measured here");
  if (comparison.stages.size() == 1) comparison.stages.front().points = wanted;
  return prepared;
}

void require_place(const Prepared& prepared) {
  for (const Campaign* campaign : {&prepared.base, &prepared.candidate}) {
    require_launchable(prepared.place, *campaign, planned_launches(*campaign, prepared.archive));
    require_launcher(prepared.place, *campaign);
  }
}

/// "about 3:20", of what its launches took so far, else of what the archive knows; "at most 1:00:00" where it knows
/// nothing. `launch_s` is negative where there were none.
std::string expected_time(const Prepared& prepared, const ComparisonStage& stage, std::size_t missing,
                          double launch_s) {
  if (launch_s > 0) return "about " + shown_duration(launch_s * static_cast<double>(missing));
  double sum_s = 0;
  std::size_t points = 0;
  bool known = true;
  const Estimates estimates(prepared.candidate, prepared.archive);
  for (std::size_t i = 0; i < prepared.candidate.points.size(); ++i) {
    const CampaignPoint& point = prepared.candidate.points[i];
    const bool taken = stage.pairs_of(point.id) > 0;
    if (!point.skip_reason.empty() || !taken) continue;
    sum_s += estimates.launch_s(i);
    known = known && estimates.is_known(i);
    ++points;
  }
  if (points == 0) return "no time";
  const double total_s = sum_s / static_cast<double>(points) * static_cast<double>(missing);
  return fmt::format("{} {}", known ? "about" : "at most", shown_duration(total_s));
}

/// What the comparison will be able to see, by the noise of earlier launches of its points here.
std::string expected_detection(const Prepared& prepared, const PairedRun& pairs, const MeasuredRequest& request) {
  const ComparisonStage& screen = prepared.comparison.stages.front();
  std::string points;
  for (const std::string& id : pairs.points())
    if (screen.pairs_of(id) > 0) points += (points.empty() ? "" : ",") + id;
  const std::string machine = Bench(prepared.comparison.base.bench).identity().value("machine_hash", "");
  std::vector<std::string> question{"gate",
                                    "beforehand",
                                    "--archive=" + prepared.archive.root().string(),
                                    "--points=" + points,
                                    "--machine-hash=" + machine,
                                    fmt::format("--most-pairs={}", request.most_pairs)};
  question.insert(question.end(), request.rules.begin(), request.rules.end());
  return ask_analysis(question).value("text", "");
}

/// What the analysis says of the launches so far: what to measure again, what is decided.
json plan_of(const fs::path& file, const MeasuredRequest& request) {
  std::vector<std::string> question{"compare", "--measured=" + file.string(), "--plan"};
  question.insert(question.end(), request.rules.begin(), request.rules.end());
  return ask_analysis(question);
}

/// Which points the screen flags, and how many fresh pairs of them the analysis asks for.
void add_confirmation(Comparison& comparison, const fs::path& file, const MeasuredRequest& request) {
  const json plan = plan_of(file, request);
  const auto flagged = plan.value("flagged", std::vector<std::string>{});
  if (flagged.empty()) return;
  const json needed = plan.value("pairs_needed", json::object());
  std::map<std::string, int> points;
  int most = 0;
  for (const std::string& id : flagged) {
    points[id] = std::clamp(needed.value(id, fewest_pairs), fewest_pairs, request.most_pairs);
    most = std::max(most, points[id]);
  }
  const ComparisonStage& screen = comparison.stages.front();
  comparison.stages.push_back(
      {"confirm", screen.first_launch + screen.launches, most, points, plan.value("looks", std::vector<int>{}), {}});
}

bool run_stage(PairedRun& pairs, const Prepared& prepared, const ComparisonStage& stage) {
  const std::size_t missing = pairs.missing(stage);
  if (missing == 0) return true;
  const std::size_t points = stage.points.empty() ? pairs.points().size() : stage.points.size();
  say("{}: {} series, up to {} pairs of each; {} launches are missing: {}\n", stage.name, points, stage.launches,
      missing, expected_time(prepared, stage, missing, pairs.launch_s()));
  return pairs.run(stage);
}

/// The second stage. A look at it ends the points whose effect is so large that further pairs could not undo it. False
/// when interrupted.
bool run_confirmation(PairedRun& pairs, Prepared& prepared, const fs::path& file, const MeasuredRequest& request) {
  ComparisonStage& stage = prepared.comparison.stages.back();
  for (const int look : stage.looks) {
    if (look >= stage.launches || pairs.missing(stage) == 0) break;
    if (!run_stage(pairs, prepared, stage.up_to(look))) return false;
    const auto decided = plan_of(file, request).value("decided", std::map<std::string, int>{});
    for (const auto& [id, at] : decided)
      if (at <= look && stage.points.contains(id)) stage.stopped.emplace(id, at);
    write_comparison(prepared.comparison, prepared.archive);
  }
  return run_stage(pairs, prepared, stage);
}

}  // namespace

MeasuredComparison measure_comparison(MeasuredRequest request) {
  Prepared prepared = prepare(request);
  Comparison& comparison = prepared.comparison;
  const Archive& archive = prepared.archive;
  tell_interconnect(prepared.place);
  require_place(prepared);
  const CampaignFolders base_folders(archive, prepared.base.id);
  const CampaignFolders candidate_folders(archive, prepared.candidate.id);
  const CampaignLock base_lock(archive, prepared.base.id, CampaignLock::Kind::alone);
  const CampaignLock candidate_lock(archive, prepared.candidate.id, CampaignLock::Kind::alone);
  for (Campaign* campaign : {&prepared.base, &prepared.candidate}) {
    sweep(archive, campaign->id);
    write_campaign(*campaign, archive, prepared.place.launcher->card().name);
  }
  write_comparison(comparison, archive);
  const fs::path file = comparison_file(archive, comparison.name);
  RunSettings settings;
  settings.launcher = prepared.place.launcher;
  settings.launcher_options = prepared.place.options;
  settings.quiet = request.quiet;
  PairedRun pairs(comparison, prepared.base, prepared.candidate, archive, settings);
  if (pairs.points().empty()) throw InputError("the two builds have no point in common that both can measure");
  say("comparison {}: base {}, candidate {}\n", comparison.name, printable(comparison.base.label),
      printable(comparison.candidate.label));
  if (pairs.missing(comparison.stages.front()) > 0) say("{}\n", expected_detection(prepared, pairs, request));
  if (!run_stage(pairs, prepared, comparison.stages.front())) return {file, false};
  if (comparison.stages.size() == 1) {
    add_confirmation(comparison, file, request);
    write_comparison(comparison, archive);
  }
  if (comparison.stages.size() > 1 && !run_confirmation(pairs, prepared, file, request)) return {file, false};
  for (const auto& warning : pairs.warnings()) say("warning: {}\n", printable(warning));
  return {file, true};
}

int compare_builds(const MeasuredRequest& request, std::vector<std::string> words) {
  if (request.campaign.dry_run) {
    print_if_read([&] { show_comparison_plan(request); });
    return exit_done;
  }
  const MeasuredComparison measured = measure_comparison(request);
  if (!measured.finished) {
    say("Interrupted; the same command goes on.\n");
    return exit_interrupted;
  }
  words.insert(words.begin() + 1, "--measured=" + measured.file.string());
  run_analysis(words);
}

void show_comparison_plan(MeasuredRequest request) {
  const Prepared prepared = prepare(request);
  RunSettings settings;
  settings.quiet = true;
  const PairedRun pairs(prepared.comparison, prepared.base, prepared.candidate, prepared.archive, settings);
  const ComparisonStage& screen = prepared.comparison.stages.front();
  for (const CampaignPoint& point : prepared.candidate.points)
    if (std::ranges::find(pairs.points(), point.id) != pairs.points().end() && screen.pairs_of(point.id) > 0)
      fmt::print("{}\n", one_line(point.point));
  const std::size_t missing = pairs.missing(screen);
  fmt::print("{}\n", expected_detection(prepared, pairs, request));
  fmt::print(
      "Comparison {}: {} pairs of each, {} launches are missing: {}. Then up to {} fresh pairs of what this "
      "flags. Nothing was written.\n",
      prepared.comparison.name, screen.launches, missing, expected_time(prepared, screen, missing, pairs.launch_s()),
      request.most_pairs);
}

}  // namespace fourscore
