#include "jobscripts/campaigns/run_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/errors.hpp"
#include "core/flags.hpp"
#include "core/path_kind.hpp"
#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_files.hpp"
#include "jobscripts/suites/suite_words.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// The rules that the suite's own text does not say.
constexpr std::array<std::string_view, 2> tests{"weak", "strong"};  // tags
constexpr std::string_view reference_variant = "fftw-mpi";          // every other counts
constexpr std::string_view may_be_skipped = "slab";                 // it takes no more ranks than planes
constexpr std::string_view allowed_flag = "in-cache";               // a large cache is the machine's own

/// The suite of the rules names what it measures, and no word for which a program would be asked.
class NoWords : public SuiteWords {
 public:
  std::vector<std::string> names(const std::string& key) override { refuse(key); }
  std::string default_exchange(const std::string& variant) override { refuse(variant); }
  std::vector<GridRoom> grids(const std::vector<Point>& /*points*/) override { refuse("grid"); }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw InputError(fmt::format("the suite of the run rules leaves {} open", what));
  }
};

/// "slab 256x256x256, 2 ranks"
std::string told(const json& point) {
  const std::string nodes = point_value(point, "nodes");
  const std::string on = nodes == "1" || nodes.empty() ? "" : fmt::format(" on {} nodes", nodes);
  return fmt::format("{} {}, {}{}", point_value(point, "variant"), point_value(point, "shape"),
                     plural(point.value("ranks", 0), "rank"), on);
}

class Judge {
 public:
  Judge(const json& campaign, const std::vector<json>& records) : campaign_(campaign), records_(records) {}

  RulesVerdict judge(const fs::path& suite_file) {
    if (is_of_suite()) {
      measure_machine();
      const std::string size = campaign_.value("size", "");
      NoWords words;
      suite_ = load_suite(suite_file, {verdict_.cores, verdict_.nodes}, words, size);
      check_campaign();
      check_points();
      for (const json& record : records_) check_record(record);
      check_launches();
    }
    for (const auto& [reason, where] : of_records_)
      say(where.size() == 1
              ? fmt::format("{}: {}", where.front(), reason)
              : fmt::format("{} and {}: {}", where.front(), plural(where.size() - 1, "more launch"), reason));
    if (verdict_.reasons.empty()) {
      for (const std::string_view test : tests) add_figure(test);
      verdict_.gflops = geometric_mean(&Figure::gflops);
      verdict_.reference_gflops = geometric_mean(&Figure::reference_gflops);
    }
    return std::move(verdict_);
  }

 private:
  void say(std::string reason) { verdict_.reasons.push_back(std::move(reason)); }
  void say_of(const json& record, const std::string& reason) {
    const json launch = record.value("/campaign/launch"_json_pointer, json());
    of_records_[reason].push_back(fmt::format("{}, launch {}", told(record.at("point")), launch.dump()));
  }

  bool is_of_suite() {
    const std::string suite = campaign_.value("suite", "");
    if (suite == rules_suite || suite.starts_with(fmt::format("{}-", rules_suite))) return true;
    say(fmt::format("it measures the suite '{}'; expected {}", suite, rules_suite));
    return false;
  }

  /// The suite follows the machine; which machine that was, its points say.
  void measure_machine() {
    verdict_.nodes = verdict_.cores = 1;
    for (const json& entry : campaign_.at("points")) {
      const json& point = entry.at("point");
      const int nodes = std::max(1, point.value("nodes", 1));
      verdict_.nodes = std::max(verdict_.nodes, nodes);
      verdict_.cores = std::max(verdict_.cores, (point.value("ranks", 1) + nodes - 1) / nodes);
    }
  }

  void check_campaign() {
    const std::string expected = sha256_hex(suite_.text);
    const std::string text = sha256_hex(campaign_.value("suite_text", ""));
    const std::string said = campaign_.value("suite_sha256", "");
    if (said != expected || text != expected)
      say(fmt::format("its suite is another text (SHA-256 {}); expected {} as shipped ({})",
                      (text == expected ? said : text).substr(0, 12), rules_suite, expected.substr(0, 12)));
    if (const int launches = campaign_.value("launches", 0); launches < suite_.launches)
      say(fmt::format("it has {} a point; expected {}", plural(launches, "launch"), suite_.launches));
    if (const json backend = campaign_.value("/counters/backend"_json_pointer, json()); backend != json("none"))
      say(fmt::format("its counters are {}; expected \"none\"", backend.dump()));
  }

  /// A variant without exchanges takes none, whatever the suite says.
  void check_points() {
    std::map<std::string, const json*> there;
    for (const json& entry : campaign_.at("points")) there[point_text(point_from_json(entry.at("point")))] = &entry;
    for (std::size_t i = 0; i < suite_.points.size(); ++i) {
      Point point = suite_.points[i];
      auto found = there.find(point_text(point));
      if (found == there.end() && point.variant == reference_variant) {
        point.exchange = "none";
        found = there.find(point_text(point));
      }
      if (found == there.end()) {
        say(fmt::format("it lacks the point {}", told(point_json(point))));
        continue;
      }
      const json& entry = *found->second;
      there.erase(found);
      Expected& expected = expected_[entry.at("point_id").get<std::string>()];
      expected.point = entry.at("point");
      expected.tags = suite_.tags[i];
      expected.skipped = entry.contains("skipped");
      if (expected.skipped && point.variant != may_be_skipped)
        say(fmt::format("{} is skipped: {}", told(expected.point), entry["skipped"].get<std::string>()));
    }
    for (const auto& [text, entry] : there)
      say(fmt::format("it has the point {}, and the suite does not", told(entry->at("point"))));
    for (const json& record : records_)
      if (const json retry_of = record.value("/campaign/retry_of"_json_pointer, json()); retry_of.is_number_integer())
        tried_again_.emplace(record.at("point_id"), retry_of);
  }

  void check_record(const json& record) {
    const auto found = expected_.find(record.at("point_id").get<std::string>());
    if (found == expected_.end() || found->second.skipped) return;
    const std::string status = record.at("verdict").at("status");
    if (status != "ok") {
      const bool stood_in_for = tried_again_.contains({record.at("point_id"), record.at("campaign").at("launch")});
      if (status == "wrong" || !stood_in_for)
        say_of(record, fmt::format("{}: {}", status, record["verdict"].value("reason", "")));
      return;
    }
    check_trust(record);
    const json sampling = record.value("sampling", json::object());
    if (sampling.contains("launches_before"))
      say_of(record, "its MPI job had measured other launches before it; expected a job of its own");
    const json asked = settings_json(suite_.settings, false);
    for (const auto& [key, value] : asked.items())
      if (const json said = sampling.value(key, json()); said != value)
        say_of(record, fmt::format("{} is {}; expected {}", key, said.dump(), value.dump()));
    Expected& expected = found->second;
    const std::vector<double> times = record.at("samples").at("time_s");
    if (times.empty()) return;
    expected.launch_medians_s.push_back(median(times));
    expected.flops = record.value("credited_flops", 0.0);
  }

  void check_trust(const json& record) {
    for (const std::string flag : record.value("flags", json::array()))
      if (flag != allowed_flag) {
        const Flag* known = find_flag(flag);
        say_of(record, fmt::format("flagged {}: {}", flag, known == nullptr ? "unknown" : known->holds_when));
      }
    if (record.value("/verification/ok"_json_pointer, json()) != json(true))
      say_of(record, "its result was not verified");
    if (record.contains("/verification/checked_by"_json_pointer))
      say_of(record, "it relies on the checks of another launch; expected its own");
    if (const json by = record.value("verified_by", json(by_harness)); by != json(by_harness))
      say_of(record, fmt::format("verified_by is {}; expected \"{}\"", by.dump(), by_harness));
    if (!record.value("failed_parts", json::object()).empty()) say_of(record, "a part of it failed");
    for (const auto& [key, what] : {std::pair{"code_hash", "program"}, std::pair{"machine_hash", "machine"}})
      if (const json said = record.at("provenance").value(key, json()); said != campaign_.value(key, json()))
        say_of(record, fmt::format("another {} than the campaign's ({})", what, said.dump()));
    const json changed = record.value("/provenance/identity/code/dirty_sha256"_json_pointer, json(""));
    if (changed != json("")) say_of(record, "its program was built of changed sources");
  }

  void check_launches() {
    for (const auto& [id, expected] : expected_)
      if (const std::size_t launches = expected.launch_medians_s.size();
          !expected.skipped && launches < static_cast<std::size_t>(suite_.launches))
        say(fmt::format("{}: {} with a result; expected {}", told(expected.point), plural(launches, "launch"),
                        suite_.launches));
  }

  void add_figure(std::string_view test) {
    Figure figure{.test = std::string(test), .point = {}};
    int most = 0;
    for (const auto& [id, expected] : expected_)
      if (expected.tags.contains(figure.test)) most = std::max(most, expected.point.value("ranks", 0));
    for (const auto& [id, expected] : expected_) {
      if (!expected.tags.contains(figure.test) || expected.skipped || expected.point.value("ranks", 0) != most)
        continue;
      const double time_s = median(expected.launch_medians_s);
      const double gflops = expected.flops / time_s / 1e9;
      if (point_value(expected.point, "variant") == reference_variant)
        figure.reference_gflops = gflops;
      else if (gflops > figure.gflops)
        std::tie(figure.point, figure.time_s, figure.gflops) = std::tuple(expected.point, time_s, gflops);
    }
    verdict_.figures.push_back(std::move(figure));
  }

  [[nodiscard]] double geometric_mean(double Figure::*value) const {
    double product = 1;
    for (const Figure& figure : verdict_.figures) product *= figure.*value;
    return std::pow(product, 1.0 / static_cast<double>(verdict_.figures.size()));
  }

  struct Expected {
    json point;
    std::set<std::string> tags;
    bool skipped = false;
    std::vector<double> launch_medians_s;
    double flops = 0;
  };

  const json& campaign_;
  const std::vector<json>& records_;
  Suite suite_;
  std::map<std::string, Expected> expected_;                    ///< by point_id
  std::set<std::pair<json, json>> tried_again_;                 ///< point_id and launch
  std::map<std::string, std::vector<std::string>> of_records_;  ///< reason -> launches
  RulesVerdict verdict_;
};

}  // namespace

RulesVerdict judge_by_rules(const json& campaign, const std::vector<json>& records, const fs::path& suite_file) {
  try {
    return Judge(campaign, records).judge(suite_file);
  } catch (const json::exception& error) {
    return {.reasons = {fmt::format("campaign.json or a record is not of the schema: {}", error.what())}};
  } catch (const InputError& error) {
    return {.reasons = {error.what()}};
  }
}

RulesVerdict judge_by_rules(const Archive& archive, const std::string& campaign) {
  fs::path suite_file;
  for (const fs::path& folder : suite_folders()) suite_file = folder / fmt::format("{}.toml", rules_suite);
  if (!names_file(suite_file))
    throw EnvironmentError(fmt::format("no suite {}.toml in {}; expected the suites that are installed with fourscore",
                                       rules_suite, suite_file.parent_path().string()));
  json content;
  try {
    content = json::parse(read_regular_file(archive.campaign_folder(campaign) / "campaign.json").text);
  } catch (const std::exception& error) {
    return {.reasons = {fmt::format("its campaign.json cannot be read: {}", error.what())}};
  }
  std::vector<json> records;
  for (const fs::path& file : archive.record_files(campaign)) {
    try {
      records.push_back(read_record(file));
    } catch (const UnreadableRecord&) {
      continue;
    }
  }
  return judge_by_rules(content, records, suite_file);
}

}  // namespace fourscore
