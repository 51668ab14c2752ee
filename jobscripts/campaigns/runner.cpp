#include "jobscripts/campaigns/runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/path_kind.hpp"
#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "core/threads.hpp"
#include "core/utc_time.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/campaigns/launch_command.hpp"
#include "jobscripts/campaigns/launch_verdict.hpp"
#include "jobscripts/campaigns/launches_of_job.hpp"
#include "jobscripts/campaigns/precision.hpp"
#include "jobscripts/campaigns/retry.hpp"
#include "jobscripts/campaigns/staged_file.hpp"
#include "jobscripts/programs/printed_times.hpp"
#include "jobscripts/suites/suite_program.hpp"
#include "results/index.hpp"
#include "results/output_file.hpp"
#include "results/printable.hpp"
#include "results/record_file.hpp"
#include "results/verify.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string short_name(const Point& point) {
  if (!point.component.empty())
    return fmt::format("{}{} {}", point.component, parameters_text(point), plural(point.ranks, "rank"));
  return fmt::format("{} {} {} {}", point.variant, point.exchange, shape_text(point.problem.shape),
                     plural(point.ranks, "rank"));
}

bool ended_badly(const ProcessResult& result) {
  return !result.interrupted && !result.timed_out && (result.signal != 0 || result.exit_status != 0);
}

/// How many repetitions a program that prints its times was asked for; 0 where it was told no number.
int asked_repetitions(const Suite& suite, const Point& point) {
  return is_told(*suite.command_of(point), "repetitions") ? suite.settings.repetitions : 0;
}

/// What a program that ends with status 1 has written.
bool says_no(const fs::path& file) {
  try {
    const json record = read_record(file);
    return record.at("verdict").value("status", "") != "ok" || record.contains("failed_parts");
  } catch (const UnreadableRecord&) {
    return true;  // show_end() tells of it
  }
}

/// A scheduler that ends a job ends its launch too, and may tell the launch first.
bool job_is_ending() {
  constexpr int longest_ms = 3000;
  constexpr int step_ms = 100;
  for (int waited_ms = 0; waited_ms < longest_ms; waited_ms += step_ms) {
    if (InterruptGuard::interrupted()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(step_ms));
  }
  return InterruptGuard::interrupted();
}

}  // namespace

LaunchRequest launch_request(const Point& point) {
  return {point.ranks, point.nodes, threads_of(point), point.placement_of_ranks, point.platform, {}, {}};
}

std::vector<PlannedLaunch> planned_launches(const Campaign& campaign, const Archive& archive) {
  std::vector<PlannedLaunch> planned;
  for (const auto& entry : campaign.schedule) {
    const fs::path record = archive.record_file(campaign.id, campaign.points[entry.point].id, entry.launch);
    planned.push_back({entry.point, entry.launch, planned.size(), record, is_there(record)});
  }
  return planned;
}

bool CampaignRunner::run() {
  if (!prepare()) return false;
  auto planned = planned_launches(campaign_, archive_);
  if (!settings_.retry.empty())
    for (auto& retry : planned_retries(campaign_, archive_, settings_.retry)) planned.push_back(std::move(retry));
  if (settings_.select) settings_.select(planned);
  std::size_t done = 0;
  for (const auto& entry : planned) done += entry.done ? 1 : 0;
  Progress progress(stderr, planned.size(), done, settings_.quiet);
  while (!planned.empty()) {
    const Went went = launch_all(planned, progress);
    if (went == Went::interrupted) return false;
    if (went == Went::stopped || settings_.watch != nullptr) break;
    planned = further_launches(campaign_, archive_);
    if (settings_.select) settings_.select(planned);
    progress.add(planned.size());
  }
  return true;
}

bool CampaignRunner::prepare() {
  for (const std::string& program : campaign_.foreign)
    warnings_.push_back(fmt::format(
        "{} is not of fourscore's harness, so that its records are flagged foreign, and no ranking takes them",
        program.empty() ? "fft_bench" : program));
  if (settings_.job.empty()) (void)record_entries(archive_, campaign_.id);
  return write_skipped();
}

CampaignRunner::Outcome CampaignRunner::launch_one(const PlannedLaunch& planned, Progress& progress, double left_s,
                                                   double left_after_s) {
  progress.begin(shown_point(planned), left_s);
  const Outcome outcome = launch(planned, progress);
  if (outcome == Outcome::archived) show_end(planned, progress, left_after_s);
  return outcome;
}

CampaignRunner::Went CampaignRunner::launch_all(const std::vector<PlannedLaunch>& planned, Progress& progress) {
  int failed_in_a_row = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (planned[i].done || is_there(planned[i].record)) continue;  // or somebody beside us has measured it
    if (settings_.max_launches > 0 && launched_ == settings_.max_launches) return Went::stopped;
    if (InterruptGuard::interrupted()) return Went::interrupted;
    if (settings_.watch != nullptr && !settings_.watch->may_start(planned[i])) continue;
    const auto group = launches_of_job(campaign_, settings_, planned, i, launched_);
    const Outcome outcome = group.size() > 1
                                ? launch_together(group, progress, left_s(planned, i))
                                : launch_one(planned[i], progress, left_s(planned, i), left_s(planned, i + 1));
    if (outcome == Outcome::interrupted) return Went::interrupted;
    if (outcome == Outcome::cut) return Went::stopped;
    failed_in_a_row = outcome == Outcome::not_started ? failed_in_a_row + 1 : 0;
    if (failed_in_a_row == patience_with_the_launcher) return Went::stopped;
    ++launched_;
  }
  // What did not start is not tried for ever.
  return not_started_.empty() ? Went::through : Went::stopped;
}

std::string CampaignRunner::shown_point(const PlannedLaunch& planned) const {
  const std::string name = short_name(campaign_.points[planned.point].point);
  return settings_.side.empty() ? name : settings_.side + ": " + name;
}

void CampaignRunner::show_end(const PlannedLaunch& planned, Progress& progress, double left_s) {
  std::string status = "unreadable";
  std::string detail;
  try {
    const json record = read_record(planned.record);
    status = record.at("verdict").value("status", "?");
    warn_of_failed_parts(planned, record, progress);
    warn_of_wisdom(planned, record, progress);
    const auto times = record.value("/samples/time_s"_json_pointer, std::vector<double>{});
    if (!times.empty())
      detail = shown_time(median(times));
    else if (record.contains("benchmarks"))
      detail = fmt::format("{} benchmarks", record["benchmarks"].size());
    else
      detail = record.at("verdict").value("reason", "");
  } catch (const std::exception& error) {
    detail = error.what();
  }
  progress.end(fmt::format("{:<7} {}, launch {}: {}", printable(status), shown_point(planned), planned.launch,
                           printable(detail)),
               left_s);
}

/// False when interrupted: each record is synced, which takes its time.
bool CampaignRunner::write_skipped() {
  std::vector<fs::path> written;
  for (const auto& point : campaign_.points) {
    if (InterruptGuard::interrupted()) break;
    if (point.skip_reason.empty()) continue;
    const fs::path file = archive_.record_file(campaign_.id, point.id, 0);
    if (is_there(file)) continue;
    json stamp = campaign_.stamp(0, 0);
    stamp.erase("order");  // never launched
    records_.store(
        file, make_unlaunched_record(point.point, stamp, {"skipped", point.skip_reason, 0, 0, ""},
                                     campaign_.provenance(point.point, settings_.launcher->card().name, now_utc())));
    written.push_back(file);
  }
  index(written);
  return !InterruptGuard::interrupted();
}

void CampaignRunner::require_launcher_started(const ProcessSpec& spec, const ProcessResult& result) {
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("{} cannot be started: {}", spec.argv.front(), result.start_problem()));
}

ProcessSpec CampaignRunner::spec_of(const Point& point, std::vector<std::string> program) const {
  LaunchRequest request = launch_request(point);
  request.program = std::move(program);
  if (settings_.watch != nullptr) request.hosts = settings_.watch->hosts(point);
  // One that cannot choose among the job's nodes takes its own.
  if (settings_.launcher->refuses(settings_.launcher_options, request)) request.hosts.clear();
  auto command = settings_.launcher->command(settings_.launcher_options, request);
  ProcessSpec spec;
  spec.argv = std::move(command.argv);
  spec.environment = std::move(command.environment);
  spec.time_limit_s = campaign_.suite.time_limit_s;
  return spec;
}

CampaignRunner::Outcome CampaignRunner::launch(const PlannedLaunch& planned, Progress& progress) {
  const Point& point = campaign_.points[planned.point].point;
  const fs::path staged = records_.staging() / planned.record.stem();
  const StagedFile stamp(staged.string() + ".campaign.json");
  const StagedFile started(staged.string() + ".started");
  const StagedFile verified(records_.verified_file(planned));
  // What is not of the harness does not write into the archive itself.
  const bool foreign = campaign_.foreign.contains(campaign_.suite.program_of(point));
  const bool prints = campaign_.suite.command_of(point) != nullptr;
  PrintedTimes printed;
  const StagedFile said(staged.string() + ".said.json");
  const fs::path& written = foreign ? said.path() : planned.record;
  write_file(stamp.path(), records_.stamp_of(planned).dump(), Named::by_us);
  const std::string started_at = now_utc();
  ProcessSpec spec = spec_of(
      point, program_command(campaign_, archive_, settings_, point,
                             {written, verified.path(), started.path(), stamp.path(), records_.checked_by(planned)}));
  if (prints) spec.takes_output = [&printed](std::string_view piece) { printed.take(piece); };
  const auto left = settings_.watch == nullptr ? std::nullopt : settings_.watch->left_s();
  const bool cut = left && *left < spec.time_limit_s;  // by the end of everything, before its own time is up
  if (cut) spec.time_limit_s = std::max(0.1, *left);
  if (settings_.watch != nullptr) settings_.watch->begins(planned);
  ProcessResult result = run_process(spec);
  if (settings_.watch != nullptr && !names_something(written) && ended_badly(result) && job_is_ending())
    result.interrupted = true;
  wall_s_[planned.point] = result.wall_s;

  // One that prints its times has printed all of them only if it ended well.
  const bool recorded = prints ? result.succeeded() : names_something(written);
  if (!recorded && result.interrupted) return Outcome::interrupted;
  if (!recorded && cut && result.timed_out) {
    settings_.watch->cut(planned);
    return Outcome::cut;
  }
  if (settings_.watch != nullptr) settings_.watch->ended(planned, result.wall_s, recorded);
  require_launcher_started(spec, result);
  if (!recorded && !prints && !names_something(started.path())) {
    note_not_started(planned, result, progress);
    return Outcome::not_started;
  }
  if (recorded && prints)
    records_.archive_foreign(
        planned, [&] { return printed.record(point, asked_repetitions(campaign_.suite, point)); }, result, started_at);
  else if (recorded && foreign)
    records_.archive_foreign(
        planned, [&] { return read_said(written); }, result, started_at);
  else if (!recorded &&
           (foreign || !records_.archive_verified(planned, result, progress, campaign_.suite.time_limit_s)))
    records_.archive_failure(planned, records_.failure(planned, result, campaign_.suite.time_limit_s), started_at);
  if (recorded && !prints) warn_of_end(planned, result, progress);
  index({planned.record});
  return result.interrupted ? Outcome::interrupted : Outcome::archived;
}

void CampaignRunner::warn_of_end(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress) {
  const bool ended = !result.timed_out && result.signal == 0;
  if (ended && (result.exit_status == 0 || (result.exit_status == 1 && says_no(planned.record)))) return;
  const std::string end = result.timed_out ? fmt::format("did not end within {} s", campaign_.suite.time_limit_s)
                                           : fmt::format("ended with {} {}", result.signal != 0 ? "signal" : "status",
                                                         result.signal != 0 ? result.signal : result.exit_status);
  warnings_.push_back(fmt::format("{}: the record is complete, but the launch then {}{}",
                                  archive_.name_of(planned.record), end,
                                  last_words(result, program_name(campaign_, campaign_.points[planned.point].point))));
  progress.note("warning: " + warnings_.back());
}

void CampaignRunner::note_not_started(const PlannedLaunch& planned, const ProcessResult& result, Progress& progress) {
  const Point& point = campaign_.points[planned.point].point;
  std::string ended = fmt::format("ended with status {}", result.exit_status);
  if (result.timed_out)
    ended = fmt::format("had not started it after the time limit of {} s", campaign_.suite.time_limit_s);
  else if (result.signal != 0)
    ended = fmt::format("was ended by signal {} ({})", result.signal, ::strsignal(result.signal));
  std::string said = result.stderr_tail;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  not_started_.push_back(fmt::format("{}, launch {}: {} did not run: the launcher {}{}{}", short_name(point),
                                     planned.launch, program_name(campaign_, point), ended,
                                     said.empty() ? " and said nothing" : " and said:\n", said));
  progress.note("not started: " + not_started_.back());
}

void CampaignRunner::warn_of_failed_parts(const PlannedLaunch& planned, const json& record, Progress& progress) {
  const json failed = record.value("failed_parts", json::object());  // items() must not outlive what it looks at
  for (const auto& [part, end] : failed.items()) {
    warnings_.push_back(fmt::format("{}: {} {}: {}", archive_.name_of(planned.record), part,
                                    end.value("status", "failed"), end.value("reason", "")));
    progress.note("warning: " + warnings_.back());
  }
}

void CampaignRunner::warn_of_wisdom(const PlannedLaunch& planned, const json& record, Progress& progress) {
  const std::string ignored = record.value("/plan/wisdom_ignored"_json_pointer, "");
  if (ignored.empty()) return;
  warnings_.push_back(fmt::format("{}: wisdom file {}: {}; ignored, and planned anew", archive_.name_of(planned.record),
                                  record.value("/plan/wisdom_file"_json_pointer, ""), printable(ignored)));
  progress.note("warning: " + warnings_.back());
}

void CampaignRunner::index(const std::vector<fs::path>& files) {
  if (files.empty() || !settings_.job.empty()) return;  // a job writes records alone; whoever reads indexes them
  try {
    add_to_index(archive_, files);
  } catch (const IndexError& error) {
    if (warnings_.empty() || warnings_.back().find(error.what()) == std::string::npos)
      warnings_.push_back(
          fmt::format("{}; the records are safe, `fourscore reindex` rebuilds the index", error.what()));
  }
}

double CampaignRunner::left_s(const std::vector<PlannedLaunch>& planned, std::size_t from) const {
  if (wall_s_.empty()) return -1;
  double mean = 0;
  for (const auto& [point, seconds] : wall_s_) mean += seconds / static_cast<double>(wall_s_.size());
  double left = 0;
  for (std::size_t i = from; i < planned.size(); ++i) {
    if (planned[i].done) continue;
    const auto known = wall_s_.find(planned[i].point);
    left += known == wall_s_.end() ? mean : known->second;
  }
  return left;
}

}  // namespace fourscore
