#include "jobscripts/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "hwcounters/cache_geometry.hpp"
#include "jobscripts/point_keys.hpp"
#include "jobscripts/suite_reader.hpp"

namespace fourscore {
namespace {

constexpr std::size_t most_points = 100000;

ValueKind kind_of(std::string_view key) {
  if (key == "ranks") return ValueKind::ranks;
  if (key == "threads" || key == "instances") return ValueKind::integer;
  if (key == "shape" || key.starts_with("parameters.")) return ValueKind::text_or_integer;
  return ValueKind::text;
}

std::vector<std::string> with(std::vector<std::string> keys, const std::vector<std::string>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// "cores" and "1..cores" as numbers.
std::vector<SuiteValue> spell_out_ranks(const std::vector<SuiteValue>& values, int cores) {
  std::vector<SuiteValue> result;
  for (const auto& value : values) {
    if (value.text == "1..cores")
      for (int ranks = 1; ranks < cores; ranks *= 2) result.push_back({std::to_string(ranks), value.line});
    const bool word = value.text == "cores" || value.text == "1..cores";
    result.push_back({word ? std::to_string(cores) : value.text, value.line});
  }
  return result;
}

/// "64*ranks x 64 x 64" becomes "128x64x64" on 2 ranks: weak scaling on any machine.
std::string spell_out_shape(const std::string& text, int ranks) {
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  static const std::string factor = "*ranks";
  for (std::size_t at = compact.find(factor); at != std::string::npos; at = compact.find(factor)) {
    std::size_t first = at;
    while (first > 0 && compact[first - 1] >= '0' && compact[first - 1] <= '9') --first;
    if (first == at || at - first > 12) return compact;  // parse_shape says what is wrong with it
    const std::int64_t extent = std::stoll(compact.substr(first, at - first)) * ranks;
    compact.replace(first, at + factor.size() - first, std::to_string(extent));
  }
  return compact;
}

/// A key with its values; the axes of a product.
struct Axis {
  std::string key;
  std::vector<SuiteValue> values;
};
/// Axes that advance together.
using AxisGroup = std::vector<Axis>;
/// Key and allowed canonical values: one { ... } of exclude or only.
using Condition = std::vector<Axis>;

/// The two kinds of table that expand to points.
struct TableForm {
  const char* name;
  const std::vector<std::string>& keys;
  std::vector<const char*> required;
  bool defaults;  ///< [defaults] stand in for what it does not say
};

class Expander {
 public:
  Expander(const SuiteReader& reader, Suite& suite, int cores) : reader_(reader), suite_(suite), cores_(cores) {}

  void read_defaults(const toml::table& table) {
    reader_.check_keys(table, with(point_keys(), {"parameters"}), "[defaults]");
    for (const auto& axis : read_axes(table, /*single=*/true)) defaults_.push_back(axis);
  }

  void read_sweep(const toml::table& table) {
    read_table(table, {"[[sweep]]", point_keys(), {"variant", "shape", "ranks"}, true});
  }
  void read_component(const toml::table& table) {
    read_table(table, {"[[component]]", component_keys(), {"program", "ranks"}, false});
  }

 private:
  void read_table(const toml::table& table, const TableForm& form) {
    reader_.check_keys(table, with(form.keys, {"parameters", "zip", "exclude", "only"}), form.name);
    std::vector<Axis> axes = read_axes(table, /*single=*/false);
    if (!form.defaults) note_component(axes);
    for (const auto& fallback : defaults_)
      if (form.defaults &&
          std::none_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == fallback.key; }))
        axes.push_back(fallback);
    for (const char* required : form.required)
      if (std::none_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == required; }))
        reader_.fail(SuiteReader::line_of(table), fmt::format("key '{}' is missing in {}{}", required, form.name,
                                                              form.defaults ? " and [defaults]" : ""));
    const auto groups = group_axes(table, std::move(axes));
    expand(groups, read_conditions(table, "exclude", form), read_conditions(table, "only", form),
           SuiteReader::line_of(table));
  }

  void note_component(const std::vector<Axis>& axes) {
    constexpr std::string_view prefix = "parameters.";
    for (const auto& programs : axes) {
      if (programs.key != "program") continue;
      for (const auto& program : programs.values) {
        suite_.component_values.push_back({program.text, "", "", program.line});
        for (const auto& axis : axes)
          if (axis.key.starts_with(prefix))
            for (const auto& value : axis.values)
              suite_.component_values.push_back({program.text, axis.key.substr(prefix.size()), value.text, value.line});
      }
    }
  }

  [[nodiscard]] std::vector<Axis> read_axes(const toml::table& table, bool single) const {
    std::vector<Axis> axes;
    for (const auto& [key, node] : SuiteReader::in_order(table)) {
      if (key == "zip" || key == "exclude" || key == "only") continue;
      if (key != "parameters") {
        axes.push_back(read_axis(key, *node, single));
        continue;
      }
      if (!node->is_table()) reader_.fail_key(*node, key, "a table: parameters = { name = [values] }");
      for (const auto& [name, value] : SuiteReader::in_order(*node->as_table()))
        axes.push_back(read_axis("parameters." + name, *value, single));
    }
    return axes;
  }

  [[nodiscard]] Axis read_axis(const std::string& key, const toml::node& node, bool single) const {
    if (single && node.is_array()) reader_.fail_key(node, key, "one value in [defaults]; lists stand in [[sweep]]");
    Axis axis{key, reader_.values(node, key, kind_of(key))};
    if (key == "ranks") {
      if (single && axis.values.front().text == "1..cores")
        reader_.fail_key(node, key, "one value in [defaults]; \"1..cores\" stands in [[sweep]]");
      axis.values = spell_out_ranks(axis.values, cores_);
    }
    for (const auto& value : axis.values) {
      Point scratch;
      set_value(scratch, key, key == "shape" ? SuiteValue{spell_out_shape(value.text, 1), value.line} : value);
    }
    return axis;
  }

  void set_value(Point& point, const std::string& key, const SuiteValue& value) const {
    try {
      set_point_value(point, key, value.text);
    } catch (const InputError& error) {
      reader_.fail(value.line, fmt::format("key '{}': {}", key, error.what()));
    }
  }

  [[nodiscard]] std::vector<AxisGroup> group_axes(const toml::table& table, std::vector<Axis> axes) const {
    std::vector<AxisGroup> groups;
    for (const auto& names : read_zips(table)) {
      AxisGroup group;
      for (const auto& name : names) {
        const auto found =
            std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == name.text; });
        if (found == axes.end())
          reader_.fail(
              name.line,
              fmt::format("key 'zip' names '{}', which is not a key of this sweep, or is zipped twice", name.text));
        group.push_back(std::move(*found));
        axes.erase(found);
        if (group.back().values.size() != group.front().values.size())
          reader_.fail(
              name.line,
              fmt::format("key 'zip': '{}' has {} values and '{}' has {}; zipped lists have the same length",
                          group.front().key, group.front().values.size(), name.text, group.back().values.size()));
      }
      groups.push_back(std::move(group));
    }
    for (auto& axis : axes) groups.push_back({std::move(axis)});
    return groups;
  }

  [[nodiscard]] std::vector<std::vector<SuiteValue>> read_zips(const toml::table& table) const {
    static constexpr auto expected = "a list of lists of keys, as [[\"shape\", \"ranks\"]]";
    std::vector<std::vector<SuiteValue>> zips;
    const toml::node* node = table.get("zip");
    if (node == nullptr) return zips;
    if (!node->is_array()) reader_.fail_key(*node, "zip", expected);
    for (const auto& names : *node->as_array()) {
      if (!names.is_array() || names.as_array()->size() < 2) reader_.fail_key(names, "zip", expected);
      zips.push_back(reader_.values(names, "zip", ValueKind::text));
    }
    return zips;
  }

  [[nodiscard]] std::vector<Condition> read_conditions(const toml::table& table, const char* key,
                                                       const TableForm& form) const {
    static constexpr auto expected = "a list of tables, as [{ variant = \"slab\", ranks = [2, 4] }]";
    std::vector<Condition> conditions;
    const toml::node* node = table.get(key);
    if (node == nullptr) return conditions;
    if (!node->is_array()) reader_.fail_key(*node, key, expected);
    for (const auto& element : *node->as_array()) {
      const auto* condition = element.as_table();
      if (condition == nullptr || condition->empty()) reader_.fail_key(element, key, expected);
      reader_.check_keys(*condition, with(form.keys, {"parameters"}), key);
      conditions.push_back(read_axes(*condition, /*single=*/false));
    }
    return conditions;
  }

  [[nodiscard]] bool matches(const Point& point, const Condition& condition) const {
    return std::all_of(condition.begin(), condition.end(), [&](const Axis& axis) {
      return std::any_of(axis.values.begin(), axis.values.end(), [&](const SuiteValue& value) {
        Point wanted;
        SuiteValue spelt = value;
        if (axis.key == "shape") spelt.text = spell_out_shape(value.text, point.ranks);
        set_value(wanted, axis.key, spelt);
        if (axis.key == "kind" && wanted.problem.direction == Direction::backward &&
            point.problem.direction == Direction::forward)
          return false;  // "c2r" is meant
        return point_value(wanted, axis.key) == point_value(point, axis.key);
      });
    });
  }

  /// c2r is r2c backward, and says so itself.
  void check_direction(const SuiteValue& kind, const SuiteValue& direction) const {
    try {
      (void)parse_kind_and_direction(kind.text, direction.text);
    } catch (const InputError& error) {
      reader_.fail(kind.line, fmt::format("key 'kind': {}", error.what()));
    }
  }

  void expand(const std::vector<AxisGroup>& groups, const std::vector<Condition>& exclude,
              const std::vector<Condition>& only, std::uint32_t line) {
    std::vector<std::size_t> position(groups.size(), 0);
    while (true) {
      add(build(groups, position), exclude, only, line);
      std::size_t axis = groups.size();
      while (axis > 0 && ++position[axis - 1] == groups[axis - 1].front().values.size()) position[--axis] = 0;
      if (axis == 0) return;
    }
  }

  [[nodiscard]] Point build(const std::vector<AxisGroup>& groups, const std::vector<std::size_t>& position) const {
    Point point;
    SuiteValue shape;
    const SuiteValue* kind = nullptr;
    const SuiteValue* direction = nullptr;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const auto& axis : groups[i]) {
        const SuiteValue& value = axis.values[position[i]];
        if (axis.key == "shape") {
          shape = value;
          continue;
        }
        if (axis.key == "kind") kind = &value;
        if (axis.key == "direction") direction = &value;
        set_value(point, axis.key, value);
      }
    if (point.component.empty()) set_value(point, "shape", {spell_out_shape(shape.text, point.ranks), shape.line});
    if (kind != nullptr && direction != nullptr) check_direction(*kind, *direction);
    return point;
  }

  void add(const Point& point, const std::vector<Condition>& exclude, const std::vector<Condition>& only,
           std::uint32_t line) {
    const auto hit = [&](const Condition& condition) { return matches(point, condition); };
    if (std::any_of(exclude.begin(), exclude.end(), hit)) return;
    if (!only.empty() && std::none_of(only.begin(), only.end(), hit)) return;
    if (!seen_.insert(point_text(point)).second) return;
    const double threads_per_core = static_cast<double>(point.ranks) * point.problem.threads / cores_;
    if (suite_.max_oversubscription > 0 && threads_per_core > suite_.max_oversubscription) {
      ++suite_.dropped_oversubscribed;
      return;
    }
    if (suite_.points.size() == most_points)
      reader_.fail(line, fmt::format("the suite has more than {} points", most_points));
    suite_.points.push_back(point);
  }

  const SuiteReader& reader_;
  Suite& suite_;
  int cores_;
  std::vector<Axis> defaults_;
  std::set<std::string> seen_;
};

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  }) && name.front() != '-';
}

/// A backend that is not here, or a group of another machine's, is no fault of the suite; a name that nobody knows is.
void read_counters(const SuiteReader& reader, const toml::table& table, CounterChoice& choice) {
  choice.counters = reader.text(table, "counters", choice.counters);
  choice.group = reader.text(table, "counter_group", "");
  choice.cache = reader.text(table, "counter_cache", "");
  const auto check = [&](const char* key, const std::function<void()>& work) {
    try {
      work();
    } catch (const CounterRequestError& error) {
      reader.fail(SuiteReader::line_of(*table.get(key)), fmt::format("key '{}': {}", key, error.what()));
    }
  };
  const CounterBackend* backend = nullptr;
  check("counters", [&] { backend = &CounterRegistry::instance().at(choice.counters); });
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

void read_header(const SuiteReader& reader, const toml::table& table, Suite& suite) {
  reader.check_keys(table,
                    {"name",          "description",   "launches", "repetitions", "warmup",   "max_time_s",
                     "min_time_s",    "time_limit_s",  "isolate",  "phases",      "timeline", "counters",
                     "counter_group", "counter_cache", "wisdom",   "order",       "seed",     "max_oversubscription",
                     "defaults",      "sweep",         "component"},
                    "the suite");
  const toml::node* name = table.get("name");
  if (name == nullptr) reader.fail(1, "key 'name' is missing; a suite has a name of letters, digits and -");
  suite.name = reader.text(table, "name", "");
  if (!valid_name(suite.name)) reader.fail_key(*name, "name", "1 to 64 letters, digits and -, not starting with -");
  suite.description = reader.text(table, "description", "");
  suite.launches = static_cast<int>(reader.integer(table, "launches", suite.launches, 1, 1000));
  suite.repetitions = static_cast<int>(reader.integer(table, "repetitions", suite.repetitions, 1, 1000000));
  suite.warmup = static_cast<int>(reader.integer(table, "warmup", suite.warmup, 0, 1000000));
  suite.max_time_s = reader.number(table, "max_time_s", suite.max_time_s, 0.001, 1e6);
  suite.min_time_s = reader.number(table, "min_time_s", suite.min_time_s, 1e-6, 1e6);
  suite.time_limit_s = reader.number(table, "time_limit_s", suite.time_limit_s, 0.1, 1e6);
  suite.isolate = reader.boolean(table, "isolate", suite.isolate);
  suite.phases = reader.boolean(table, "phases", suite.phases);
  suite.timeline = reader.boolean(table, "timeline", suite.timeline);
  read_counters(reader, table, suite.counters);
  suite.wisdom = reader.boolean(table, "wisdom", suite.wisdom);
  const std::string order = reader.text(table, "order", "random");
  if (order != "random" && order != "listed") reader.fail_key(*table.get("order"), "order", "\"random\" or \"listed\"");
  suite.order = order == "random" ? LaunchOrder::random : LaunchOrder::listed;
  suite.seed = static_cast<std::uint64_t>(reader.integer(table, "seed", 0, 0, std::int64_t{1} << 53));
  suite.max_oversubscription = reader.number(table, "max_oversubscription", 0.0, 0.0, 1e6);
}

void for_each_table(const SuiteReader& reader, const toml::node* tables, const std::string& key,
                    const std::function<void(const toml::table&)>& read) {
  if (tables == nullptr) return;
  if (!tables->is_array_of_tables()) reader.fail_key(*tables, key, "tables: [[" + key + "]]");
  for (const auto& table : *tables->as_array()) read(*table.as_table());
}

}  // namespace

Suite parse_suite(const std::string& text, const std::filesystem::path& file, int cores) {
  Suite suite;
  suite.file = file;
  suite.text = text;
  const SuiteReader reader(file);
  toml::table table;
  try {
    table = toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    reader.fail(error.source().begin.line, fmt::format("not TOML: {}", error.description()));
  }
  read_header(reader, table, suite);
  Expander expander(reader, suite, std::max(1, cores));
  if (const toml::node* defaults = table.get("defaults")) {
    if (!defaults->is_table()) reader.fail_key(*defaults, "defaults", "a table: [defaults]");
    expander.read_defaults(*defaults->as_table());
  }
  const toml::node* sweeps = table.get("sweep");
  const toml::node* components = table.get("component");
  if (sweeps == nullptr && components == nullptr)
    reader.fail(0, "no [[sweep]] and no [[component]]: a suite has at least one");
  for_each_table(reader, sweeps, "sweep", [&](const toml::table& sweep) { expander.read_sweep(sweep); });
  for_each_table(reader, components, "component", [&](const toml::table& part) { expander.read_component(part); });
  if (suite.points.empty())
    reader.fail(SuiteReader::line_of(sweeps != nullptr ? *sweeps : *components),
                fmt::format("no point is left: {} dropped by max_oversubscription, the others by exclude and only",
                            suite.dropped_oversubscribed));
  return suite;
}

Suite load_suite(const std::filesystem::path& file, int cores) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw InputError(fmt::format("suite {}: cannot be read", file.string()));
  return parse_suite(text.str(), file, cores);
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
