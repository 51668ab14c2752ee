#include "jobscripts/campaigns/campaign.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/components.hpp"
#include "jobscripts/programs/harness_program.hpp"
#include "jobscripts/programs/printing_program.hpp"
#include "results/campaign_file.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json counters_json(const CounterChoice& choice) {
  json result{{"backend", choice.counters}};
  if (!choice.group.empty()) result["group"] = choice.group;
  if (!choice.cache.empty()) result["cache"] = choice.cache;
  return result;
}

json read_campaign_file(const fs::path& file) {
  const auto refuse = [&file](const std::string& reason) {
    throw InputError(fmt::format("{} is not a campaign's description: {}; choose another name with --campaign",
                                 file.string(), reason));
  };
  json content;
  try {
    content = json::parse(read_regular_file(file).text, nullptr, false);
  } catch (const UnreadableFile& error) {
    refuse(error.what());
  }
  if (content.is_discarded()) refuse("not JSON");
  if (!content.is_object() || content.value("schema", json()) != "fourscore.campaign")
    refuse("\"schema\" is not \"fourscore.campaign\"");
  for (const char* key : {"suite_sha256", "size", "machine_hash", "code_hash"})
    if (content.contains(key) && !content[key].is_string()) refuse(fmt::format("key '{}' is no string", key));
  if (content.contains("seed") && !content["seed"].is_number_unsigned()) refuse("key 'seed' is no whole number");
  return content;
}

/// Where a suite says the values of its points. Comparing each point with each value would take minutes where a program
/// refuses tens of thousands of values.
class ValueLines {
 public:
  explicit ValueLines(const Suite& suite) {
    for (const auto& named : suite.values)
      if (named.key != "shape") named_[{named.program, named.key}].push_back(&named);
  }

  /// The first line that says the point's value of the key.
  [[nodiscard]] std::optional<std::uint32_t> line_of(const Point& point, const std::string& key) {
    const auto group = named_.find({point.component, key});
    if (group == named_.end()) return std::nullopt;
    const auto [lines, is_new] = lines_.try_emplace(group->first);
    if (is_new)
      for (const NamedValue* named : group->second) {
        Point scratch;
        set_point_value(scratch, key, named->value);
        lines->second.try_emplace(point_value(scratch, key), named->line);
      }
    const auto line = lines->second.find(point_value(point, key));
    if (line == lines->second.end()) return std::nullopt;
    return line->second;
  }

 private:
  using ProgramAndKey = std::pair<std::string, std::string>;
  std::map<ProgramAndKey, std::vector<const NamedValue*>> named_;
  std::map<ProgramAndKey, std::map<std::string, std::uint32_t>> lines_;  ///< by canonical value; of keys asked for
};

/// "suite.toml:12: key 'parameters.grid': " of what a program refuses: the key that it names, or else the program's or
/// the variant's line.
std::string place_of(const Suite& suite, ValueLines& lines, const PointCheck& answer) {
  const Point& point = answer.point;
  const std::string fallback = point.component.empty() ? "variant" : "program";
  const std::string refused = point.component.empty() ? answer.key : "parameters." + answer.key;
  for (const std::string& key : {refused, fallback})
    if (const auto line = lines.line_of(point, key))
      return fmt::format("{}:{}: key '{}': ", suite.file.string(), *line, key);
  return fmt::format("{}: ", suite.file.string());
}

/// Throws InputError with file, line and key for a program that no version has.
void check_programs(const Suite& suite) {
  for (const auto& named : suite.values) {
    if (named.key != "program") continue;
    try {
      (void)component_program(named.program);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: key 'program': {}", suite.file.string(), named.line, error.what()));
    }
  }
}

/// Throws InputError with the line of a simulated machine where other points are of real ones: no table has both.
void check_platforms(const Suite& suite) {
  const auto is_real = [](const Point& point) { return point.platform == "none"; };
  const auto simulated = std::ranges::find_if_not(suite.points, is_real);
  if (simulated == suite.points.end() || std::ranges::none_of(suite.points, is_real)) return;
  const auto line = ValueLines(suite).line_of(*simulated, "platform");
  throw InputError(
      fmt::format("{}:{} key 'platform': {} is simulated, and other points of the suite are not; expected "
                  "suites of their own, since a campaign is either simulated or real",
                  suite.file.string(), line ? fmt::format("{}:", *line) : "", simulated->platform));
}

/// A program that prints its times is asked nothing.
PointCheck printing_point(Point point) {
  if (point.exchange.empty()) point.exchange = "none";
  return {std::move(point), false, {}, {}, {}};
}

/// fft_bench says which machine this is.
void add_printing_program(const Suite& suite, Campaign& campaign, const std::string& name, const std::string& bench,
                          const std::map<std::string, json>& identities) {
  const Bench ours(find_bench(bench), suite.plugins);
  const json list = ours.list();
  for (const json& variant : list.value("variants", json::array()))
    if (variant.value("name", "") == name)
      throw InputError(
          fmt::format("{}: key 'program': '{}' is a variant of fft_bench's own; expected another name for "
                      "the program",
                      suite.file.string(), name));
  const auto known = identities.find("");
  const std::vector<std::string>& command = suite.programs.at(name);
  campaign.programs[name] = command.front();
  campaign.identities[name] = printing_identity(command, known == identities.end() ? ours.identity() : known->second);
  campaign.foreign.insert(name);
}

/// A foreign program's answer, with this machine as fourscore's own program sees it, where that is here.
json seen_here(json answer) {
  const fs::path own = shipped_bench();
  if (own.empty()) return answer;
  const json seen = Bench(own).identity();
  answer["identity"]["machine"] = seen.value("/identity/machine"_json_pointer, json::object());
  answer["machine_hash"] = seen.value("machine_hash", "");
  return answer;
}

/// The programs of the points, each asked once: answers in the order of the points.
std::vector<PointCheck> ask_programs(const Suite& suite, Campaign& campaign, const std::string& bench,
                                     const std::map<std::string, json>& identities) {
  std::map<std::string, std::vector<std::size_t>> by_program;
  for (std::size_t i = 0; i < suite.points.size(); ++i) by_program[suite.program_of(suite.points[i])].push_back(i);
  std::vector<PointCheck> answers(suite.points.size());
  for (const auto& [name, places] : by_program) {
    if (suite.programs.contains(name)) {
      for (const std::size_t place : places) answers[place] = printing_point(suite.points[place]);
      add_printing_program(suite, campaign, name, bench, identities);
      continue;
    }
    std::vector<Point> points;
    for (const std::size_t place : places) points.push_back(suite.points[place]);
    std::vector<PointCheck> said;
    const ComponentProgram component = name.empty() ? ComponentProgram{} : component_program(name);
    if (component.missing.empty()) {
      const Bench program = name.empty() ? Bench(find_bench(bench), suite.plugins) : Bench(component.file);
      said = program.check(points);
      campaign.programs[name] = program.program();
      const auto known = identities.find(name);
      campaign.identities[name] = known == identities.end() ? program.identity() : known->second;
      if (!is_of_harness(campaign.identities[name])) {
        campaign.foreign.insert(name);
        if (known == identities.end()) campaign.identities[name] = seen_here(campaign.identities[name]);
      }
    } else {
      for (auto& point : points) said.push_back({std::move(point), false, component.missing});
    }
    for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(said[i]);
  }
  return answers;
}

/// Points that their program takes for one (a variant without exchanges ignores the exchange) are kept once.
void check_points(const Suite& suite, Campaign& campaign, const std::string& bench,
                  const std::map<std::string, json>& identities) {
  check_programs(suite);
  check_platforms(suite);
  std::set<std::string> errors;
  std::map<std::string, std::size_t> seen;
  ValueLines lines(suite);
  auto answers = ask_programs(suite, campaign, bench, identities);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    InterruptGuard::check();
    PointCheck& answer = answers[i];
    if (answer.error) errors.insert(place_of(suite, lines, answer) + answer.reason);
    if (const auto unplaced = suite.unplaced.find(i); unplaced != suite.unplaced.end())
      answer.reason = unplaced->second;
    const std::string id = point_id(answer.point);
    const auto [known, is_new] = seen.try_emplace(id, campaign.points.size());
    if (is_new) campaign.points.push_back({std::move(answer.point), id, answer.reason});
    campaign.points[known->second].tags.insert(suite.tags[i].begin(), suite.tags[i].end());
  }
  if (!errors.empty()) throw InputError(fmt::format("{}", fmt::join(errors, "\n")));
}

/// One program's hash is its own; of several, all count.
void hash_programs(Campaign& campaign) {
  std::string codes;
  for (const auto& [name, identity] : campaign.identities) {
    campaign.machine_hash = identity.value("machine_hash", "");
    codes += name + '=' + identity.value("code_hash", "") + ';';
  }
  campaign.code_hash = campaign.identities.size() == 1 ? campaign.identities.begin()->second.value("code_hash", "")
                                                       : sha256_hex(codes).substr(0, 16);
}

/// BASE, BASE-2, BASE-3 ...: the last one there is, or the next.
std::string choose_name(const Archive& archive, const std::string& base, bool fresh) {
  const auto exists = [&](const std::string& name) {
    return is_there(archive.campaign_folder(name) / "campaign.json") || is_there(archive.records_folder(name));
  };
  if (!exists(base)) return base;
  std::string last = base;
  for (int number = 2;; ++number) {
    const std::string name = fmt::format("{}-{}", base, number);
    if (!exists(name)) return fresh ? name : last;
    last = name;
  }
}

/// "" for what the suite says itself, so that campaigns of suites keep their names.
std::string override_text(const Suite& suite, const CampaignRequest& request) {
  if (!request.counters || *request.counters == suite.counters) return {};
  return fmt::format("counters {} {} {}", request.counters->counters, request.counters->group, request.counters->cache);
}

/// An existing campaign goes on only with what it began with.
void adopt(Campaign& campaign, const json& stored) {
  std::string differing;
  const auto compare = [&](const char* what, const std::string& key, const std::string& now) {
    if (stored.value(key, "") != now)
      differing += fmt::format("{}{} ({}, now {})", differing.empty() ? "" : ", ", what, stored.value(key, "?"), now);
  };
  compare("suite", "suite_sha256", campaign.suite_sha256);
  compare("size", "size", campaign.suite.size);
  compare("machine", "machine_hash", campaign.machine_hash);
  compare("program", "code_hash", campaign.code_hash);
  if (!campaign.revision.empty()) compare("revision", "revision", campaign.revision);
  const json counters = counters_json(campaign.suite.counters);
  if (const json before = stored.value("counters", counters_json({})); before != counters)
    differing +=
        fmt::format("{}choice of counters ({}, now {})", differing.empty() ? "" : ", ", before.dump(), counters.dump());
  if (!differing.empty())
    throw InputError(
        fmt::format("campaign {} was begun with another {}; choose another name with --campaign, or --fresh",
                    campaign.id, differing));
  campaign.seed = stored.value("seed", campaign.seed);
  campaign.exists = true;
}

}  // namespace

json size_json(const Suite& suite) {
  json result = json::object();
  if (!suite.sizes.empty()) result["size"] = suite.size;
  if (!suite.paper.empty()) result["paper"] = suite.paper;
  return result;
}

json Campaign::stamp(int launch, std::size_t order) const {
  return {{"id", id},         {"suite", suite.name}, {"suite_sha256", suite_sha256},
          {"launch", launch}, {"order", order},      {"of", schedule.size()},
          {"seed", seed}};
}

json Campaign::provenance(const Point& point, const std::string& launcher, const std::string& started_at) const {
  const auto found = identities.find(suite.program_of(point));
  const json known = found == identities.end() ? json::object() : found->second;
  json identity = known.value("identity", json::object());
  identity["launch"] = {{"launcher", launcher}};
  json said{{"identity", identity}, {"volatile", {{"started_at", started_at}}}};
  for (const char* key : {"machine_hash", "code_hash"})
    if (known.contains(key)) said[key] = known[key];  // a program that is not built has none
  return said;
}

bool Campaign::counts(const Point& point) const {
  if (suite.command_of(point) != nullptr) return false;
  if (suite.counters.counters == "none" || suite.counters_of.empty()) return suite.counters.counters != "none";
  const auto of_point = [&point](const CampaignPoint& one) { return one.point == point; };
  const auto found = std::ranges::find_if(points, of_point);
  return found != points.end() && found->tags.contains(suite.counters_of);
}

namespace {

/// Where a suite counts some of its points alone: these are skipped where the program cannot count, and the others are
/// as useful as ever. Returns why; empty where all can be measured.
std::string skip_uncountable(Campaign& campaign, const Suite& suite) {
  if (suite.counters_of.empty() || suite.counters.counters == "none") return {};
  const auto counted = [&](const CampaignPoint& one) { return one.tags.contains(suite.counters_of); };
  if (std::ranges::none_of(campaign.points, counted))
    throw InputError(fmt::format("{}: counters_of is '{}', a tag of no point", suite.file.string(), suite.counters_of));
  if (!campaign.programs.contains(""))
    throw InputError(fmt::format("{}: counters_of is '{}', and programs that print their times are not counted",
                                 suite.file.string(), suite.counters_of));
  std::string reason =
      Bench(campaign.programs.at(""), suite.plugins).listed_unavailable(suite.counters.counters).value_or("");
  if (reason.empty()) return {};
  reason = fmt::format("counters '{}' are not available here: {}", suite.counters.counters, reason);
  for (CampaignPoint& one : campaign.points)
    if (counted(one) && one.skip_reason.empty()) one.skip_reason = reason;
  return reason;
}

}  // namespace

Campaign plan_campaign(Suite suite, const std::string& bench, const Archive& archive, const CampaignRequest& request) {
  Campaign campaign;
  campaign.suite_sha256 = sha256_hex(suite.text);
  check_points(suite, campaign, bench, request.identities);
  campaign.machine = request.machine;
  campaign.revision = request.revision;
  campaign.open_ended = request.open_ended || suite.precision > 0;
  hash_programs(campaign);
  campaign.seed = suite.seed;
  while (campaign.seed == 0) campaign.seed = std::random_device{}();
  if (!request.name.empty()) require_campaign_name(request.name);
  const std::string counters = override_text(suite, request);
  if (request.counters) suite.counters = *request.counters;
  const std::string uncounted = skip_uncountable(campaign, suite).empty() ? "" : "without its counters";
  const std::string digits = sha256_hex(campaign.suite_sha256 + counters + uncounted +
                                        (request.machine.is_null() ? "" : request.machine.dump()) +
                                        campaign.machine_hash + campaign.code_hash + request.revision)
                                 .substr(0, 8);
  const std::string base = request.name.empty() ? suite.name + "-" + digits : request.name;
  campaign.id = choose_name(archive, base, request.fresh);
  campaign.suite = std::move(suite);
  if (const fs::path file = archive.campaign_folder(campaign.id) / "campaign.json"; is_there(file))
    adopt(campaign, read_campaign_file(file));

  std::vector<std::size_t> launched;
  for (std::size_t i = 0; i < campaign.points.size(); ++i)
    if (campaign.points[i].skip_reason.empty()) launched.push_back(i);
  campaign.schedule = schedule_launches(launched.size(), campaign.suite.launches, campaign.suite.order, campaign.seed);
  for (auto& entry : campaign.schedule) entry.point = launched[entry.point];
  return campaign;
}

void write_campaign(const Campaign& campaign, const Archive& archive, const std::string& launcher) {
  if (campaign.exists) return;
  json points = json::array();
  for (const auto& point : campaign.points) {
    points.push_back({{"point_id", point.id}, {"point", point_json(point.point)}});
    if (!point.skip_reason.empty()) points.back()["skipped"] = point.skip_reason;
    if (!point.tags.empty()) points.back()["tags"] = point.tags;
  }
  json schedule = json::array();
  for (const auto& entry : campaign.schedule) schedule.push_back({campaign.points[entry.point].id, entry.launch});
  json programs = json::object();
  for (const auto& [name, identity] : campaign.identities) programs[name.empty() ? "fft_bench" : name] = identity;
  const Suite& suite = campaign.suite;
  json content{{"schema", "fourscore.campaign"},
               {"schema_version", 1},
               {"id", campaign.id},
               {"suite", suite.name},
               {"description", suite.description},
               {"suite_sha256", campaign.suite_sha256},
               {"suite_text", suite.text},
               {"launches", suite.launches},
               {"counters", counters_json(suite.counters)},
               {"order", suite.order == LaunchOrder::random ? "random" : "listed"},
               {"seed", campaign.seed},
               {"dropped_oversubscribed", suite.dropped_oversubscribed},
               {"launcher", launcher},
               {"machine_hash", campaign.machine_hash},
               {"code_hash", campaign.code_hash},
               {"identities", programs},
               {"points", points},
               {"schedule", schedule}};
  content.update(size_json(suite));
  if (!campaign.machine.is_null()) content["machine"] = campaign.machine;
  if (campaign.open_ended) content["open_ended"] = true;
  if (!campaign.revision.empty()) content["revision"] = campaign.revision;
  const fs::path folder = archive.campaign_folder(campaign.id);
  write_record_once(folder / "campaign.json", content, folder / "staging");
}

}  // namespace fourscore
