#include "jobscripts/suites/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <random>

#include "core/point_keys.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "jobscripts/suites/suite_expander.hpp"
#include "jobscripts/suites/suite_reader.hpp"
#include "jobscripts/suites/suite_size.hpp"

namespace fourscore {
namespace {

constexpr std::size_t most_launches = 1000000;

/// A paper's item, as lee2018/table-2.1.
bool is_paper_item(const std::string& text) {
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.size() <= 64 && part.front() != '.' && part.front() != '-' &&
           std::all_of(part.begin(), part.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
  };
  const std::size_t slash = text.find('/');
  return slash != std::string::npos && is_part(std::string_view(text).substr(0, slash)) &&
         is_part(std::string_view(text).substr(slash + 1));
}

/// A backend that is not here, or a group of another machine's, is no fault of the suite; a name that nobody knows is.
void read_counters(const SuiteReader& reader, const toml::table& table, CounterChoice& choice) {
  if (table.contains("counters")) choice = {};  // a group or a cache belongs to the counters it was chosen with
  choice.counters = reader.text(table, "counters", choice.counters);
  choice.group = reader.text(table, "counter_group", choice.group);
  choice.cache = reader.text(table, "counter_cache", choice.cache);
  const auto check = [&](const char* key, const std::function<void()>& work) {
    try {
      work();
    } catch (const CounterRequestError& error) {
      reader.fail(SuiteReader::line_of(*table.get(key)), fmt::format("key '{}': {}", key, error.what()));
    }
  };
  const CounterBackend* backend = nullptr;
  check("counters", [&] { backend = &counter_backend(choice.counters); });
  for (const char* key : {"counter_group", "counter_cache"})
    if (table.get(key) != nullptr && backend->default_group().empty())
      reader.fail_key(*table.get(key), key, "none without counters, as in counters = \"callgrind\"");
  if (table.get("counter_cache") == nullptr) return;
  if (!backend->simulates())
    reader.fail_key(*table.get("counter_cache"), "counter_cache",
                    fmt::format("none: counters '{}' simulate no cache", choice.counters));
  check("counter_cache", [&] {
    (void)backend->simulated_cache({choice.counters, "", {}, parse_cache_geometry(choice.cache)});
  });
}

/// true and false are what they were before there was a choice.
void read_wisdom(const SuiteReader& reader, const toml::table& table, Wisdom& wisdom) {
  const toml::node* node = table.get("wisdom");
  if (node == nullptr) return;
  if (const auto* shared = node->as_boolean()) {
    wisdom = shared->get() ? Wisdom::machine : Wisdom::none;
    return;
  }
  const std::string word = node->value_or(std::string());
  for (const auto& [name, value] :
       {std::pair{"campaign", Wisdom::campaign}, {"machine", Wisdom::machine}, {"none", Wisdom::none}}) {
    if (word != name) continue;
    wisdom = value;
    return;
  }
  reader.fail_key(*node, "wisdom", "\"campaign\", \"machine\" or \"none\"");
}

/// retries = { node_failure = 3, ... }; causes that it does not name keep theirs.
void read_retries(const SuiteReader& reader, const toml::table& table, std::map<std::string, int>& retries) {
  const toml::node* node = table.get("retries");
  if (node == nullptr) return;
  if (!node->is_table()) reader.fail_key(*node, "retries", "a table, as { node_failure = 3, out_of_memory = 0 }");
  std::vector<std::string> causes;
  for (const auto& [cause, times] : retries) causes.push_back(cause);
  reader.check_keys(*node->as_table(), causes, "retries");
  for (auto& [cause, times] : retries)
    times = static_cast<int>(reader.integer(*node->as_table(), cause, times, 0, 1000));
}

void read_setting(const SuiteReader& reader, const toml::table& table, const Setting& setting, int& value) {
  value = static_cast<int>(reader.integer(table, setting.key, value, static_cast<std::int64_t>(setting.least),
                                          static_cast<std::int64_t>(setting.most)));
}
void read_setting(const SuiteReader& reader, const toml::table& table, const Setting& setting, double& value) {
  value = reader.number(table, setting.key, value, setting.least, setting.most);
}
void read_setting(const SuiteReader& reader, const toml::table& table, const Setting& setting, bool& value) {
  value = reader.boolean(table, setting.key, value);
}
void read_setting(const SuiteReader& reader, const toml::table& table, const Setting& setting, std::string& value) {
  value = reader.text(table, setting.key, value);
  if (std::ranges::find(setting.words, value) == setting.words.end())
    reader.fail_key(*table.get(setting.key), std::string(setting.key),
                    fmt::format("\"{}\"", fmt::join(setting.words, "\" or \"")));
}

/// Keys that a table of the top and each [size.NAME] may have; what `table` lacks stays as it is.
void read_settings(const SuiteReader& reader, const toml::table& table, Suite& suite) {
  suite.launches = static_cast<int>(reader.integer(table, "launches", suite.launches, 1, 1000));
  for (const Setting& setting : all_settings())
    std::visit([&](auto member) { read_setting(reader, table, setting, suite.settings.*member); }, setting.member);
  suite.time_limit_s = reader.number(table, "time_limit_s", suite.time_limit_s, 0.1, 1e6);
  read_counters(reader, table, suite.counters);
  suite.counters_of = reader.text(table, "counters_of", suite.counters_of);
  read_wisdom(reader, table, suite.wisdom);
  const std::string checked = reader.text(table, "checked", suite.checked_once ? "once" : "every-launch");
  if (checked != "once" && checked != "every-launch")
    reader.fail_key(*table.get("checked"), "checked", "\"every-launch\" or \"once\"");
  suite.checked_once = checked == "once";
  const std::string order = reader.text(table, "order", suite.order == LaunchOrder::random ? "random" : "listed");
  if (order != "random" && order != "listed") reader.fail_key(*table.get("order"), "order", "\"random\" or \"listed\"");
  suite.order = order == "random" ? LaunchOrder::random : LaunchOrder::listed;
  suite.seed = static_cast<std::uint64_t>(
      reader.integer(table, "seed", static_cast<std::int64_t>(suite.seed), 0, std::int64_t{1} << 53));
  suite.precision = reader.number(table, "precision", suite.precision, 0.0, 1.0);
  suite.most_launches = static_cast<int>(reader.integer(table, "most_launches", suite.most_launches, 1, 1000));
  read_retries(reader, table, suite.retries);
  suite.max_oversubscription = reader.number(table, "max_oversubscription", suite.max_oversubscription, 0.0, 1e6);
}

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> all{"launches",      "time_limit_s",
                                 "counters",      "counter_group",
                                 "counter_cache", "counters_of",
                                 "wisdom",        "checked",
                                 "order",         "seed",
                                 "precision",     "most_launches",
                                 "retries",       "max_oversubscription"};
    for (const Setting& setting : all_settings()) all.emplace_back(setting.key);
    return all;
  }();
  return keys;
}

/// The libraries of key 'plugin'.
void read_plugins(const SuiteReader& reader, const toml::table& table, Suite& suite) {
  const toml::node* node = table.get("plugin");
  if (node == nullptr) return;
  for (const auto& item : reader.values(*node, "plugin", ValueKind::text)) {
    const std::filesystem::path file = suite.folder / item.text;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      reader.fail(item.line, fmt::format("key 'plugin' is '{}'; there is no such file ({})", item.text, file.string()));
    suite.plugins.push_back(file.lexically_normal());
  }
}

void read_header(const SuiteReader& reader, const toml::table& table, const std::string& size, Suite& suite) {
  std::vector<std::string> keys{"name", "description", "sizes", "size",      "paper",
                                "tags", "defaults",    "sweep", "component", "plugin"};
  keys.insert(keys.end(), setting_keys().begin(), setting_keys().end());
  reader.check_keys(table, keys, "the suite");
  const toml::node* name = table.get("name");
  if (name == nullptr) reader.fail(1, "key 'name' is missing; a suite has a name of letters, digits and -");
  suite.name = reader.text(table, "name", "");
  if (!is_suite_name(suite.name)) reader.fail_key(*name, "name", "1 to 64 letters, digits and -, not starting with -");
  suite.description = reader.text(table, "description", "");
  if (const toml::node* paper = table.get("paper")) {
    for (const auto& item : reader.values(*paper, "paper", ValueKind::text)) {
      if (!is_paper_item(item.text))
        reader.fail(item.line, fmt::format("key 'paper' is '{}'; expected a paper and its table or figure, as "
                                           "\"lee2018/table-2.1\"",
                                           item.text));
      suite.paper.push_back(item.text);
    }
  }
  read_plugins(reader, table, suite);
  read_sizes(reader, table, size, suite);
  read_settings(reader, table, suite);
  const Suite of_all_sizes = suite;
  for_each_size(reader, table, suite, setting_keys(), [&](const toml::table& settings, bool chosen) {
    Suite checked = of_all_sizes;
    read_settings(reader, settings, chosen ? suite : checked);
  });
}

/// A [[component]]: adds its points, and notes its values under each of its programs. Throws as Expander.
void read_component(const toml::table& table, Expander& expander) {
  const auto axes = expander.read_table(table, {"[[component]]", component_keys(), false});
  for (const auto& programs : axes) {
    if (programs.key != "program") continue;
    for (const auto& program : programs.values) {
      expander.note(program.text, {"program", {program}});
      for (const auto& axis : axes)
        if (axis.key.starts_with("parameters.")) expander.note(program.text, axis);
    }
  }
}

void for_each_table(const SuiteReader& reader, const toml::node* tables, const std::string& key,
                    const std::function<void(const toml::table&)>& read) {
  if (tables == nullptr) return;
  if (!tables->is_array_of_tables()) reader.fail_key(*tables, key, "tables: [[" + key + "]]");
  for (const auto& table : *tables->as_array()) read(*table.as_table());
}

}  // namespace

bool is_suite_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  }) && name.front() != '-';
}

Suite parse_suite(const std::string& text, const std::filesystem::path& file, MachineSize machine, SuiteWords& words,
                  const std::string& size, const std::filesystem::path& folder) {
  Suite suite;
  suite.file = file;
  suite.folder = folder.empty() ? std::filesystem::absolute(file).parent_path() : folder;
  suite.text = text;
  const SuiteReader reader(file);
  const toml::table table = reader.parse(text);
  read_header(reader, table, size, suite);
  words.use_plugins(suite.plugins);
  Expander expander(reader, suite, machine, words, read_tags(reader, table));
  if (const toml::node* defaults = table.get("defaults")) {
    if (!defaults->is_table()) reader.fail_key(*defaults, "defaults", "a table: [defaults]");
    expander.read_defaults(*defaults->as_table());
  }
  const toml::node* sweeps = table.get("sweep");
  const toml::node* components = table.get("component");
  if (sweeps == nullptr && components == nullptr)
    reader.fail(0, "no [[sweep]] and no [[component]]: a suite has at least one");
  for_each_table(reader, sweeps, "sweep", [&](const toml::table& sweep) { expander.read_sweep(sweep); });
  for_each_table(reader, components, "component", [&](const toml::table& part) { read_component(part, expander); });
  if (suite.points.empty())
    reader.fail(SuiteReader::line_of(sweeps != nullptr ? *sweeps : *components),
                fmt::format("no point is left{}: {} dropped by max_oversubscription, the others by exclude and only{}",
                            suite.sizes.empty() ? "" : fmt::format(" of size '{}'", suite.size),
                            suite.dropped_oversubscribed, suite.sizes.empty() ? "" : ", or of another size"));
  if (suite.points.size() * static_cast<std::size_t>(suite.launches) > most_launches)
    reader.fail(table.contains("launches") ? SuiteReader::line_of(*table.get("launches")) : 0,
                fmt::format("key 'launches' is {}: with {} points these are {} launches; a suite has at most {}",
                            suite.launches, suite.points.size(),
                            suite.points.size() * static_cast<std::size_t>(suite.launches), most_launches));
  return suite;
}

Suite load_suite(const std::filesystem::path& file, MachineSize machine, SuiteWords& words, const std::string& size,
                 const std::filesystem::path& folder) {
  const std::string text = SuiteReader(file).content();
  return parse_suite(text, file, machine, words, size, folder);
}

const std::vector<std::string>* Suite::command_of(const Point& point) const {
  const auto found = programs.find(point.variant);
  return point.component.empty() && found != programs.end() ? &found->second : nullptr;
}

std::string Suite::program_of(const Point& point) const {
  return command_of(point) != nullptr ? point.variant : point.component;
}

std::vector<ScheduledLaunch> schedule_launches(std::size_t points, int launches, LaunchOrder order,
                                               std::uint64_t seed) {
  // std::shuffle and std::uniform_int_distribution differ between libraries; the order must not.
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t bound) {
    const std::uint64_t limit = std::mt19937_64::max() - std::mt19937_64::max() % bound;
    std::uint64_t drawn = random();
    while (drawn >= limit) drawn = random();
    return static_cast<std::size_t>(drawn % bound);
  };
  std::vector<ScheduledLaunch> schedule;
  for (int launch = 0; launch < launches; ++launch) {
    const std::size_t begin = schedule.size();
    for (std::size_t point = 0; point < points; ++point) schedule.push_back({point, launch});
    if (order == LaunchOrder::listed || points < 2) continue;
    for (std::size_t i = points - 1; i > 0; --i) std::swap(schedule[begin + i], schedule[begin + below(i + 1)]);
    if (launch > 0 && schedule[begin].point == schedule[begin - 1].point)
      std::swap(schedule[begin], schedule[begin + 1]);
  }
  return schedule;
}

}  // namespace fourscore
