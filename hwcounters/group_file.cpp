#include "hwcounters/group_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/did_you_mean.hpp"
#include "core/regular_file.hpp"
#include "hwcounters/formula.hpp"
#include "hwcounters/group.hpp"

namespace fourscore {
namespace fs = std::filesystem;

const std::vector<std::string>& metric_units() {
  static const std::vector<std::string> units{"bytes",    "flops",  "instructions", "cycles", "misses",
                                              "accesses", "events", "ns",           "J"};
  return units;
}

namespace {

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// One file while it is read: every mistake is reported with its line.
class GroupFile {
 public:
  explicit GroupFile(fs::path file) : file_(std::move(file)) {
    try {
      table_ = toml::parse(read_regular_file(file_).text, file_.string());
    } catch (const UnreadableFile& error) {
      fail(0, fmt::format("cannot be read: {}", error.what()));
    } catch (const toml::parse_error& error) {
      fail(error.source().begin.line, std::string(error.description()));
    }
  }

  [[nodiscard]] const toml::table& table() const { return table_; }
  [[nodiscard]] const fs::path& path() const { return file_; }

  [[noreturn]] void fail(std::uint32_t line, const std::string& message) const {
    throw CounterRequestError(line == 0 ? fmt::format("{}: {}", file_.string(), message)
                                        : fmt::format("{}:{}: {}", file_.string(), line, message));
  }
  [[noreturn]] void fail(const toml::node& at, const std::string& message) const {
    fail(at.source().begin.line, message);
  }

  void check_keys(const toml::table& table, const std::vector<std::string>& allowed, std::string_view where) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
        fail(key.source().begin.line, fmt::format("unknown key '{}' in {}{}; allowed: {}", name, where,
                                                  did_you_mean(name, allowed), fmt::join(allowed, ", ")));
    }
  }

  /// A text that must be there and must not be empty.
  [[nodiscard]] std::string text(const toml::table& table, const std::string& key, std::string_view where) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) fail(table, fmt::format("{} has no key '{}'", where, key));
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) fail(*node, fmt::format("'{}' of {} must be a text that is not empty", key, where));
    return *value;
  }

 private:
  fs::path file_;
  toml::table table_;
};

/// Tables of TOML are sorted by key; what a file says first comes first here.
std::vector<EventSpec> read_events(const GroupFile& file, const toml::table& backend, const std::string& where,
                                   const std::map<std::string, double>& constants) {
  const toml::node* node = backend.get("events");
  if (node == nullptr) file.fail(backend, fmt::format("{} has no key 'events'", where));
  const toml::table* table = node->as_table();
  if (table == nullptr || table->empty())
    file.fail(*node,
              fmt::format("'events' of {} must be a table: name = \"the backend's own name of the event\"", where));
  std::vector<std::pair<toml::source_position, EventSpec>> found;
  for (const auto& [key, code] : *table) {
    const std::string name(key.str());
    if (!is_identifier(name))
      file.fail(key.source().begin.line, fmt::format("event '{}' must be named with letters, digits and _", name));
    if (constants.contains(name))
      file.fail(key.source().begin.line, fmt::format("event '{}' has the name of a constant of the backend", name));
    found.emplace_back(key.source().begin, EventSpec{name, file.text(*table, name, "'events' of " + where), 0});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::vector<EventSpec> events;
  for (auto& [position, event] : found) events.push_back(std::move(event));
  return events;
}

/// Throws where the formula cannot be evaluated from `known`; what it uses goes into `used`.
void check_formula(const GroupFile& file, const toml::node& at, const Metric& metric, const std::string& where,
                   const std::vector<std::string>& known, std::set<std::string>& used) {
  try {
    const Formula formula(metric.formula);
    for (const std::string& name : formula.names()) {
      used.insert(name);
      if (std::find(known.begin(), known.end(), name) == known.end())
        file.fail(at, fmt::format("the formula of '{}' uses '{}', which is no event of {}{}; there is: {}", metric.name,
                                  name, where, did_you_mean(name, known), fmt::join(known, ", ")));
    }
  } catch (const FormulaError& error) {
    file.fail(at, fmt::format("the formula of '{}', \"{}\": {}", metric.name, metric.formula, error.what()));
  }
}

Metric read_metric(const GroupFile& file, const toml::node& node, const std::string& where) {
  const toml::table* table = node.as_table();
  if (table == nullptr) file.fail(node, fmt::format("a metric of {} must be a table: name, unit, formula", where));
  file.check_keys(*table, {"name", "unit", "formula"}, "a metric of " + where);
  const std::string whose = "a metric of " + where;
  const Metric metric{file.text(*table, "name", whose), file.text(*table, "unit", whose),
                      file.text(*table, "formula", whose)};
  if (!is_identifier(metric.name))
    file.fail(*table->get("name"), fmt::format("metric '{}' must be named with letters, digits and _", metric.name));
  const auto& units = metric_units();
  if (std::find(units.begin(), units.end(), metric.unit) == units.end())
    file.fail(*table->get("unit"), fmt::format("'{}' is no unit{}; expected one of {}", metric.unit,
                                               did_you_mean(metric.unit, units), fmt::join(units, ", ")));
  return metric;
}

/// Nothing where the metrics stand in the group file itself, else the file of the folder `metrics`, beside those of the
/// microarchitectures, that they name: groups whose events have the same names share it.
std::optional<GroupFile> shared_metrics(const GroupFile& file, const toml::node& metrics, const std::string& where) {
  const auto name = metrics.value_exact<std::string>();
  if (!name) return std::nullopt;
  const fs::path folder = file.path().parent_path().parent_path() / "metrics";
  std::vector<std::string> known;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
  std::sort(known.begin(), known.end());
  if (std::find(known.begin(), known.end(), *name) == known.end())
    file.fail(metrics, fmt::format("'metrics' of {} is '{}'{}; expected a list of tables (name, unit, formula), or a "
                                   "name in {}: {}",
                                   where, *name, did_you_mean(*name, known), folder.string(),
                                   known.empty() ? "there is none" : fmt::format("{}", fmt::join(known, ", "))));
  GroupFile shared(folder / (*name + ".toml"));
  shared.check_keys(shared.table(), {"metrics"}, "a file of shared metrics");
  return shared;
}

/// `list` of the metrics of `where` stands in the file `source`.
std::vector<Metric> read_list(const GroupFile& source, const toml::node* list, const std::string& where,
                              const std::vector<std::string>& known, std::set<std::string>& used) {
  const toml::array* array = list == nullptr ? nullptr : list->as_array();
  if (array == nullptr || array->empty())
    source.fail(list == nullptr ? 0 : list->source().begin.line,
                fmt::format("'metrics' of {} must be a list of tables: name, unit, formula", where));
  std::vector<Metric> metrics;
  for (const toml::node& element : *array) {
    metrics.push_back(read_metric(source, element, where));
    for (std::size_t i = 0; i + 1 < metrics.size(); ++i)
      if (metrics[i].name == metrics.back().name)
        source.fail(element, fmt::format("metric '{}' of {} is there twice", metrics.back().name, where));
    check_formula(source, *element.as_table()->get("formula"), metrics.back(), where, known, used);
  }
  return metrics;
}

std::vector<Metric> read_metrics(const GroupFile& file, const toml::table& backend, const std::string& where,
                                 const std::vector<EventSpec>& events, const std::map<std::string, double>& constants) {
  const toml::node* node = backend.get("metrics");
  if (node == nullptr) file.fail(backend, fmt::format("{} has no key 'metrics'", where));
  std::vector<std::string> known;
  for (const EventSpec& event : events) known.push_back(event.name);
  for (const auto& [name, value] : constants) known.push_back(name);
  std::set<std::string> used;
  const std::optional<GroupFile> shared = shared_metrics(file, *node, where);
  const std::vector<Metric> metrics = shared
                                          ? read_list(*shared, shared->table().get("metrics"),
                                                      fmt::format("{} of {}", where, file.path().string()), known, used)
                                          : read_list(file, node, where, known, used);
  for (const EventSpec& event : events)
    if (!used.contains(event.name))
      file.fail(*backend.get("events"), fmt::format("no metric of {} uses event '{}'", where, event.name));
  return metrics;
}

/// Deals the events out over as many runs of the work as it takes when only `at_once` of them can be counted in one.
void deal_out(const GroupFile& file, const toml::table& table, const std::string& backend,
              std::vector<EventSpec>& events) {
  const toml::node* node = table.get("at_once");
  if (node == nullptr) return;
  const CounterBackend* const known = CounterRegistry::instance().find(backend);
  if (known != nullptr && !known->counts_in_passes())
    file.fail(*node, fmt::format("backend {} counts all events in one run, so 'at_once' means nothing to it", backend));
  const auto at_once = node->value_exact<std::int64_t>();
  if (!at_once || *at_once < 1)
    file.fail(*node, "'at_once' must be how many events can be counted in one run, at least 1");
  for (std::size_t i = 0; i < events.size(); ++i) events[i].pass = i / static_cast<std::size_t>(*at_once);
}

}  // namespace

std::set<std::string> backends_of(const fs::path& file) {
  const GroupFile parsed(file);
  std::set<std::string> names;
  for (const auto& [key, node] : parsed.table())
    if (node.is_table()) names.emplace(key.str());
  return names;
}

Group load_group(const fs::path& path, const std::string& backend, const std::map<std::string, double>& constants) {
  const GroupFile file(path);
  std::vector<std::string> allowed = CounterRegistry::instance().names();
  allowed.insert(allowed.begin(), {"description", "explanation"});
  file.check_keys(file.table(), allowed, "a group file");
  Group group;
  group.name = path.stem().string();
  group.arch = path.parent_path().filename().string();
  group.backend = backend;
  group.file = path;
  group.description = file.text(file.table(), "description", "the file");
  group.explanation = file.text(file.table(), "explanation", "the file");
  const toml::node* node = file.table().get(backend);
  if (node == nullptr) file.fail(0, fmt::format("it has no table [{}]", backend));
  const toml::table* table = node->as_table();
  const std::string where = fmt::format("[{}]", backend);
  if (table == nullptr) file.fail(*node, fmt::format("'{}' must be a table", backend));
  file.check_keys(*table, {"events", "metrics", "at_once", "update_s"}, where);
  group.events = read_events(file, *table, where, constants);
  deal_out(file, *table, backend, group.events);
  if (const toml::node* update = table->get("update_s")) {
    group.update_s = update->value_exact<double>().value_or(0);
    if (!(group.update_s > 0 && group.update_s <= 10))
      file.fail(*update, "'update_s' must be the seconds between two moves of the counters, above 0 and at most 10.0");
  }
  group.metrics = read_metrics(file, *table, where, group.events, constants);
  return group;
}

}  // namespace fourscore
