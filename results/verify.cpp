#include "results/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "core/errors.hpp"
#include "core/plain_name.hpp"
#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "results/campaign_file.hpp"
#include "results/entry.hpp"
#include "results/index.hpp"
#include "results/rank_columns.hpp"
#include "results/record_file.hpp"
#include "results/record_shape.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool all_numbers(const json& values) {
  return values.is_array() && std::all_of(values.begin(), values.end(), [](const json& v) { return v.is_number(); });
}

class Checker {
 public:
  Checker(const json& record, const fs::path& file) : record_(record), file_(file) {}

  std::vector<std::string> run() {
    check_identity();
    check_name();
    check_status();
    if (record_.contains("samples")) check_samples(record_["samples"]);
    for (const auto& component : record_.value("isolated", json::array()))
      check_times(component, "isolated." + component.value("name", "?"));
    check_benchmarks();
    if (record_.contains("timeline"))
      for (const auto& lane : record_["timeline"].at("lanes")) check_lane(lane);
    if (problems_.empty() && has_times(record_)) check_flags();
    return std::move(problems_);
  }

 private:
  void say(std::string problem) { problems_.push_back(std::move(problem)); }

  void check_identity() {
    for (const char* key : {"record_id", "point_id", "point", "verdict"})
      if (!record_.contains(key)) say(fmt::format("\"{}\" is missing", key));
    try {
      (void)PlainName(record_.value("record_id", ""), "record_id");
    } catch (const InputError& error) {
      say(error.what());
    }
    if (!record_.contains("point") || !record_.contains("point_id")) return;
    if (const auto expected = point_id(record_["point"]); record_["point_id"] != expected)
      say(fmt::format("point_id is {}, its point's is \"{}\"", record_["point_id"].dump(), expected));
    const json provenance = record_.value("provenance", json::object());
    if (!provenance.contains("identity")) return;
    const json& identity = provenance["identity"];
    check_hash(provenance, "identity_hash", identity, "identity");
    for (const char* part : {"machine", "code", "launch"})
      if (const auto found = identity.find(part); found != identity.end())
        check_hash(provenance, fmt::format("{}_hash", part), *found, part);
  }

  /// A recorded hash matches the part that it names: records are grouped by these hashes.
  void check_hash(const json& provenance, const std::string& key, const json& value, const char* whose) {
    const auto said = provenance.find(key);
    if (said == provenance.end() || *said == short_hash(value)) return;
    say(fmt::format("{} is {}, its {}'s is \"{}\"", key, said->dump(), whose, short_hash(value)));
  }

  void check_name() {
    const json campaign = record_.value("campaign", json::object());
    if (!campaign.contains("id") || !campaign.contains("launch")) {
      say("\"campaign\" lacks id or launch, so the record cannot be told apart from another launch");
      return;
    }
    if (const std::string folder = file_.parent_path().filename().string(); campaign["id"] != folder)
      say(fmt::format("stands in the folder of campaign \"{}\", says it is of {}", folder, campaign["id"].dump()));
    if (!campaign["launch"].is_number_integer() || !record_.contains("point_id") || !record_["point_id"].is_string())
      return;
    const std::string expected =
        fmt::format("{}-{:03}.json", record_["point_id"].get<std::string>(), campaign["launch"].get<int>());
    if (file_.filename() != expected) say(fmt::format("should be named {}", expected));
  }

  void check_status() {
    const json verdict = record_.value("verdict", json::object());
    const std::string status = verdict.is_object() && verdict.contains("status") && verdict["status"].is_string()
                                   ? verdict["status"].get<std::string>()
                                   : "";
    if (std::ranges::find(verdict_statuses, status) == verdict_statuses.end()) {
      say(fmt::format("status \"{}\" is not one of {}", status, fmt::join(verdict_statuses, ", ")));
      return;
    }
    const char* const times = is_component() ? "benchmarks" : "samples";
    if ((status == "ok") != record_.contains(times))
      say(status == "ok"
              ? fmt::format("status is ok but there are no {}", times)
              : fmt::format("status is {} but there are {}: only a verified result has a time", status, times));
    const char* const others = is_component() ? "samples" : "benchmarks";
    if (record_.contains(others))
      say(fmt::format("\"{}\" does not belong to the record of a {}", others,
                      is_component() ? "component" : "transform"));
    if (status != "ok" && verdict.value("reason", "").empty())
      say(fmt::format("status is {} without a reason", status));
  }

  /// values must be `ranks` arrays of `repetitions` numbers.
  bool check_matrix(const json& values, const std::string& name, std::size_t repetitions) {
    if (!values.is_array() || values.empty()) {
      say(fmt::format("{} is not an array over ranks", name));
      return false;
    }
    // A program that prints its times has those of one rank.
    const bool is_printed = record_.value("/samples/time_is"_json_pointer, "") == "printed";
    const json ranks = is_printed ? json(1) : record_.value("/point/ranks"_json_pointer, json());
    if (ranks.is_number_integer() && values.size() != ranks.get<std::size_t>()) {
      say(fmt::format("{} has {} ranks, the point has {}", name, values.size(), ranks.dump()));
      return false;
    }
    for (const auto& row : values)
      if (!all_numbers(row) || row.size() != repetitions) {
        say(fmt::format("{} has a rank without {} numbers", name, repetitions));
        return false;
      }
    return true;
  }

  void check_maximum(const json& times, const json& per_rank, const std::string& name) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      double worst = 0;
      for (const auto& rank : per_rank) worst = std::max(worst, rank[i].get<double>());
      const double time = times[i].get<double>();
      if (!(std::abs(time - worst) <= 1e-12 * worst)) {
        say(fmt::format("{}[{}] is {}, the maximum over ranks is {}", name, i, time, worst));
        return;
      }
    }
  }

  /// The time from first start to last end: no less than the longest rank takes, and no more than that and the skew.
  void check_spans(const json& samples, const json& times, const json& per_rank) {
    const json skews = samples.value("start_skew_s", json());
    if (!all_numbers(skews) || skews.size() != times.size()) {
      say("samples.start_skew_s is not an array of as many numbers as samples.time_s");
      return;
    }
    const double clock = 2 * samples.value("/clock/uncertainty_s"_json_pointer, 0.0) + 1e-9;
    for (std::size_t i = 0; i < times.size(); ++i) {
      double worst = 0;
      for (const auto& rank : per_rank) worst = std::max(worst, rank[i].get<double>());
      const double time = times[i].get<double>();
      const double skew = skews[i].get<double>();
      if (!(skew >= 0 && time >= worst - clock && time <= worst + skew + clock)) {
        say(fmt::format("samples.time_s[{}] is {}, the longest rank takes {} and the ranks start within {}", i, time,
                        worst, skew));
        return;
      }
    }
  }

  void check_samples(const json& samples) {
    const json times = samples.value("time_s", json());
    if (!all_numbers(times) || times.empty()) {
      say("samples.time_s is not an array of numbers");
      return;
    }
    for (const auto& time : times)
      if (!(time.get<double>() > 0)) {
        say(fmt::format("samples.time_s has {}, which is no duration", time.dump()));
        return;
      }
    const json asked = record_.value("/sampling/repetitions"_json_pointer, json());
    if (asked.is_number_integer() && times.size() > asked.get<std::size_t>())
      say(fmt::format("{} samples, {} repetitions were asked for", times.size(), asked.dump()));
    const json totals = samples.value("rank_total_s", json());
    if (check_matrix(totals, "samples.rank_total_s", times.size())) {
      if (samples.value("time_is", "") == "span")
        check_spans(samples, times, totals);
      else
        check_maximum(times, totals, "samples.time_s");
    }
    const json phases = samples.value("rank_phase_s", json::object());
    for (const auto& [phase, values] : phases.items())
      check_matrix(values, "samples.rank_phase_s." + phase, times.size());
  }

  /// The flags that follow from its content, and the one of an import that nobody vouched for.
  void check_flags() {
    FlagFacts facts = facts_of(record_);
    facts.foreign = !record_.value("/campaign/imported/vouched"_json_pointer, true);
    const auto said = record_.value("flags", std::vector<std::string>{});
    for (const std::string& flag : validity_flags(facts))
      if (std::ranges::find(said, flag) == said.end())
        say(fmt::format("it is not flagged {}, which follows from what it holds: {}", flag,
                        find_flag(flag)->holds_when));
    const bool is_foreign = std::ranges::find(said, "foreign") != said.end();
    const auto expected = is_foreign ? verifier_of(record_, false) : by_harness;
    if (record_.value("verified_by", expected) != expected)
      say(fmt::format("verified_by is {}, which does not go with its flags and its verification; expected {}",
                      record_["verified_by"].dump(), expected));
  }

  [[nodiscard]] bool is_component() const { return record_.contains("/point/component"_json_pointer); }

  /// Each with its own name and its own repetitions, none of them zero or more than were asked for.
  void check_benchmarks() {
    const json benchmarks = record_.value("benchmarks", json::array());
    if (record_.contains("benchmarks") && benchmarks.empty()) say("\"benchmarks\" is empty");
    std::set<std::string> names;
    const json asked = record_.value("/sampling/repetitions"_json_pointer, json());
    for (const auto& benchmark : benchmarks) {
      const std::string name = "benchmarks." + benchmark.at("name").get<std::string>();
      if (!names.insert(name).second) say(name + " is there twice");
      check_times(benchmark, name, record_.value("/sampling/synchronised"_json_pointer, false));
      const json times = benchmark.value("time_s", json::array());
      if (std::any_of(times.begin(), times.end(), [](const json& t) { return t.is_number() && !(t > 0); }))
        say(name + ".time_s has a value that is no duration");
      if (asked.is_number_integer() && times.size() > asked.get<std::size_t>())
        say(fmt::format("{} has {} samples, {} repetitions were asked for", name, times.size(), asked.dump()));
      if (!(benchmark.value("iterations", 0.0) >= 1)) say(name + " has no iterations");
    }
  }

  /// The mean of each iteration's maximum is no less than the maximum of the means, and no more than their sum.
  void check_mean_of_maxima(const json& times, const json& per_rank, const std::string& name) {
    for (std::size_t i = 0; i < times.size(); ++i) {
      double worst = 0;
      double sum = 0;
      for (const auto& rank : per_rank) {
        worst = std::max(worst, rank[i].get<double>());
        sum += rank[i].get<double>();
      }
      const double time = times[i].get<double>();
      if (!(time >= worst * (1 - 1e-9) && time <= sum * (1 + 1e-9))) {
        say(fmt::format("{}[{}] is {}, the slowest rank of each iteration takes {} to {}", name, i, time, worst, sum));
        return;
      }
    }
  }

  /// time_s is the maximum over ranks of rank_s, or where iterations were synchronised the mean of their maxima.
  void check_times(const json& component, const std::string& name, bool synchronised = false) {
    const json times = component.value("time_s", json());
    const json ranks = component.value("rank_s", json());
    if (!all_numbers(times) || times.empty()) {
      say(name + ".time_s is not an array of numbers");
      return;
    }
    if (!check_matrix(ranks, name + ".rank_s", times.size())) return;
    if (synchronised)
      check_mean_of_maxima(times, ranks, name + ".time_s");
    else
      check_maximum(times, ranks, name + ".time_s");
  }

  /// Columns of one length, in time order, within what the rank says it ran.
  void check_lane(const json& lane) {
    const std::string name =
        fmt::format("timeline of rank {}, lane {}", lane.at("rank").dump(), lane.at("lane").dump());
    const json& begin_s = lane.at("begin_s");
    const json& end_s = lane.at("end_s");
    if (!all_numbers(begin_s) || !all_numbers(end_s) || begin_s.size() != end_s.size() ||
        lane.at("phase").size() != end_s.size() || lane.value("piece", end_s).size() != end_s.size()) {
      say(name + ": its columns differ in length");
      return;
    }
    double now = 0;
    for (std::size_t i = 0; i < end_s.size(); ++i) {
      if (begin_s[i].get<double>() < now || end_s[i].get<double>() < begin_s[i].get<double>()) {
        say(fmt::format("{}: event {} begins before the one before it ends, or ends before it begins", name, i));
        return;
      }
      now = end_s[i].get<double>();
    }
  }

  const json& record_;
  const fs::path& file_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems_of(const json& record, const fs::path& file) {
  try {
    return Checker(record, file).run();
  } catch (const json::exception& error) {
    return {fmt::format("not of the schema: {}", error.what())};
  }
}

namespace {

/// Its program is another's, and says what it knows.
bool is_foreign(const json& record) {
  const json flags = record.value("flags", json::array());
  return std::ranges::find(flags, "foreign") != flags.end();
}

struct Checked {
  std::vector<std::string> problems;
  std::string record_id;
  std::string columns;  ///< name of the file that has the record's per-rank values; empty: the record itself
  bool without_digest = false;
  bool retry = false;  ///< repeats a launch of the schedule, and so stands beside it
};

Checked check_file(const fs::path& file) {
  Checked result;
  try {
    const std::string content = read_regular_file(file).text;
    json record = parse_record(content);
    result.columns = record.value("/rank_columns/file"_json_pointer, "");
    try {
      read_rank_columns(record, file.parent_path());
    } catch (const std::runtime_error& error) {
      result.problems.push_back(fmt::format("its columns cannot be read: {}", error.what()));
    }
    auto problems = problems_of(record, file);
    if (problems.empty() && !is_foreign(record))
      if (std::string problem = schema_problem(record); !problem.empty()) problems.push_back(std::move(problem));
    std::ranges::move(problems, std::back_inserter(result.problems));
    result.record_id = record.value("record_id", "");
    result.retry = record.contains("/campaign/retry_of"_json_pointer);
    const Digest digest = check_digest(content, record);
    result.without_digest = digest == Digest::absent;
    if (digest == Digest::wrong)
      result.problems.emplace_back(
          "its digest \"sha256\" is that of another content: it was changed after it was written");
  } catch (const std::runtime_error& error) {
    result.problems.push_back(fmt::format("unreadable: {}", error.what()));
  }
  return result;
}

std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 3;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + std::min<std::ptrdiff_t>(shown, std::ssize(names)));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > shown ? ", ..." : "");
}

std::vector<std::string> without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(), std::back_inserter(rest));
  return rest;
}

/// Files of columns that no record names: a run was killed between the two, or a record was removed.
void find_orphans(const Archive& archive, const std::string& campaign, const std::vector<Checked>& checked,
                  VerifyResult& result) {
  std::set<std::string> named;
  for (const Checked& record : checked) named.insert(record.columns);
  for (const fs::path& file : children_of(archive.records_folder(campaign)))
    if (const std::string name = file.filename().string();
        name.ends_with(columns_suffix) && !name.starts_with('.') && !named.contains(name))
      result.findings.push_back({archive.name_of(file), "no record names this file of per-rank values"});
}

/// What the schedule and the index say that there should be, against the files that there are.
void compare_with_schedule(const Archive& archive, const std::string& campaign, const std::vector<fs::path>& files,
                           const std::vector<Checked>& checked, VerifyResult& result) {
  const std::string folder = archive.name_of(archive.records_folder(campaign));
  std::vector<std::string> names;
  std::vector<std::string> planned;  // what the schedule need not have
  for (std::size_t i = 0; i < files.size(); ++i) {
    names.push_back(archive.name_of(files[i]));
    if (checked[i].retry || names.back() == folder) planned.push_back(names.back());
  }
  std::sort(names.begin(), names.end());
  const std::set<std::string> indexed = indexed_files(archive, campaign);
  const auto lost = without({indexed.begin(), indexed.end()}, names);
  if (!lost.empty())
    result.findings.push_back(
        {folder, fmt::format("{} of its records were there and are gone (`fourscore reindex` forgets them): {}",
                             lost.size(), first_names(lost))});

  const ScheduledRecords scheduled = scheduled_records(archive, campaign);
  if (!scheduled.problem.empty())
    result.findings.push_back(
        {archive.name_of(archive.campaign_folder(campaign) / "campaign.json"), "unreadable: " + scheduled.problem});
  if (!scheduled.known) return;
  if (!is_there(archive.records_folder(campaign)))
    result.findings.push_back({folder, "this folder of the campaign is gone"});
  for (const auto& name : scheduled.names) planned.push_back(folder + '/' + name);
  std::sort(planned.begin(), planned.end());
  for (const auto& name : without(names, planned))
    if (!scheduled.may_follow(fs::path(name).filename().string()))
      result.findings.push_back({name, "not in the campaign's schedule"});
  if (const auto missing = without(without(planned, names), lost); !missing.empty())
    result.unfinished.push_back({campaign, missing.size(), scheduled.names.size()});
}

}  // namespace

VerifyResult verify(const Archive& archive, const std::vector<std::string>& campaigns) {
  VerifyResult result;
  std::map<std::string, std::string> file_of_id;
  std::error_code error;
  const fs::directory_iterator records(archive.root() / "records", error);
  if (error) result.findings.push_back({"records", "unreadable: " + error.message()});
  for (const auto& campaign : campaigns.empty() ? archive.campaigns() : campaigns) {
    const auto files = archive.record_files(campaign);
    const auto checked = parallel_map(files, check_file);
    result.records += files.size();
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string name = archive.name_of(files[i]);
      for (const auto& problem : checked[i].problems) result.findings.push_back({name, problem});
      result.without_digest += checked[i].without_digest ? 1 : 0;
      if (checked[i].record_id.empty()) continue;
      const auto [first, is_new] = file_of_id.emplace(checked[i].record_id, name);
      if (!is_new) result.findings.push_back({name, "has the record_id of " + first->second});
    }
    find_orphans(archive, campaign, checked, result);
    compare_with_schedule(archive, campaign, files, checked, result);
  }
  return result;
}

}  // namespace fourscore
