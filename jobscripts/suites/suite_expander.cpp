#include "jobscripts/suites/suite_expander.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "core/threads.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/suites/suite_program.hpp"
#include "jobscripts/suites/suite_size.hpp"

namespace fourscore {
namespace {

constexpr std::size_t max_points = 100000;
constexpr std::size_t dropped = static_cast<std::size_t>(-1);  ///< number of a point that is not among the suite's
constexpr std::size_t most_combinations = 1000000;
constexpr std::size_t most_comparisons = 20000000;

bool has_grid_words(const std::vector<AxisGroup>& groups) {
  for (const auto& group : groups)
    for (const auto& axis : group)
      for (const auto& value : axis.values)
        if (axis.key == "grid" && is_word(axis.key, value.text)) return true;
  return false;
}

/// Else the machine decides on how many nodes its ranks are.
bool says_nodes(const SuiteTable& table) {
  for (const auto& group : table.groups)
    for (const auto& axis : group)
      if (axis.key == "nodes" || axis.key == "ranks_per_node") return true;
  return false;
}

/// 1000000000000 as it is, what is longer with its power of ten.
std::string count_text(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

}  // namespace

void Expander::read_defaults(const toml::table& table) {
  for (const auto& axis : tables_.read_defaults(table)) note("", axis);
}

void Expander::read_sweep(const toml::table& table) {
  const auto axes = read_table(table, {"[[sweep]]", point_keys(), true, "program"});
  for (const auto& axis : axes) note("", axis);
  if (const toml::node* program = table.get("program")) add_program(*program, axes);
}

/// The table's variants are names of that program's own.
void Expander::add_program(const toml::node& node, const std::vector<Axis>& axes) {
  const auto command = read_program(reader_, node, suite_.folder);
  for (const auto& axis : axes) {
    if (axis.key != "variant") continue;
    for (const auto& variant : axis.values) {
      if (!is_suite_name(variant.text))
        reader_.fail(variant.line, fmt::format("key 'variant' is '{}'; expected a name for the program, of letters, "
                                               "digits and -",
                                               variant.text));
      if (suite_.programs.try_emplace(variant.text, command).first->second != command)
        reader_.fail(variant.line, fmt::format("key 'variant': '{}' names another program in an earlier table; "
                                               "expected a name for each",
                                               variant.text));
    }
    return;
  }
  if (!axes.empty())  // a table for another size has none
    reader_.fail_key(node, "program", "a 'variant' in the same table, which names it");
}

void Expander::note(const std::string& program, const Axis& axis) {
  for (const auto& value : axis.values)
    if (!is_word(axis.key, value.text)) suite_.values.push_back({program, axis.key, value.text, value.line});
}

std::vector<Axis> Expander::read_table(const toml::table& table, const TableForm& form) {
  SuiteTable read = tables_.read(table, form);
  tags_ = read_tags(reader_, table);
  tags_.insert(tags_of_all_.begin(), tags_of_all_.end());
  // It is read all the same, so that its errors are seen in every size.
  if (!is_of_chosen_size(reader_, table, suite_)) return {};
  expand(read);
  return std::move(read.own);
}

bool Expander::matches(const Point& point, const Condition& condition) const {
  return std::all_of(condition.begin(), condition.end(), [&](const Axis& axis) {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const SuiteValue& value) {
      Point wanted;
      SuiteValue spelt = value;
      if (axis.key == "shape") spelt.text = tables_.shape_on(value, point);
      tables_.set_value(wanted, axis.key, spelt);
      if (axis.key == "kind" && wanted.problem.direction == Direction::backward &&
          point.problem.direction != Direction::backward)
        return false;  // "c2r" is meant
      return point_value(wanted, axis.key) == value_of(point, axis.key);
    });
  });
}

std::string Expander::value_of(const Point& point, const std::string& key) const {
  if (key == "exchange" && point.exchange.empty()) return words_.default_exchange(point.variant);
  return point_value(point, key);
}

/// c2r is r2c backward, and says so itself.
void Expander::check_direction(const SuiteValue& kind, const SuiteValue& direction) const {
  try {
    (void)parse_kind_and_direction(kind.text, direction.text);
  } catch (const InputError& error) {
    reader_.fail(kind.line, fmt::format("key 'kind': {}", error.what()));
  }
}

/// What is dropped costs time as well as what is kept, so the product is bounded before it is expanded.
void Expander::check_product(const SuiteTable& table) {
  double combinations = 1;
  for (const auto& group : table.groups) combinations *= static_cast<double>(group.front().values.size());
  check_combinations(combinations, table.line);
  check_comparisons(combinations, table);
}

void Expander::check_combinations(double of_table, std::uint32_t line) {
  combinations_ += of_table;
  if (combinations_ > most_combinations)
    reader_.fail(line, fmt::format("the lists of this table multiply to {} combinations, and the suite has {} with it; "
                                   "a suite has at most {}, those that are dropped or equal included",
                                   count_text(of_table), count_text(combinations_), most_combinations));
}

void Expander::check_comparisons(double combinations, const SuiteTable& table) {
  double values = 0;
  for (const auto* conditions : {&table.exclude, &table.only})
    for (const auto& condition : *conditions)
      for (const auto& axis : condition) values += static_cast<double>(axis.values.size());
  comparisons_ += combinations * values;
  if (comparisons_ > most_comparisons)
    reader_.fail(table.line,
                 fmt::format("{} combinations are to be compared with {} values of 'exclude' and 'only'; a suite "
                             "makes at most {} comparisons",
                             count_text(combinations), values, most_comparisons));
}

void Expander::expand(const SuiteTable& table) {
  check_product(table);
  const auto& groups = table.groups;
  const bool grid_words = has_grid_words(groups);
  std::vector<Draft> drafts;
  std::vector<std::size_t> position(groups.size(), 0);
  while (true) {
    InterruptGuard::check();
    Draft draft = build(groups, position, table.line);
    if (!grid_words)
      add(draft.point, table);
    else if (drafts.size() == max_points)
      reader_.fail(table.line,
                   fmt::format("the lists of this table multiply to more than {} combinations, of which each is "
                               "asked for its grids",
                               max_points));
    else
      drafts.push_back(std::move(draft));
    std::size_t axis = groups.size();
    while (axis > 0 && ++position[axis - 1] == groups[axis - 1].front().values.size()) position[--axis] = 0;
    if (axis == 0) break;
  }
  if (grid_words) add_with_grids(std::move(drafts), table);
}

/// The program is asked once for all points of a table.
void Expander::add_with_grids(std::vector<Draft> drafts, const SuiteTable& table) {
  std::vector<Point> asked;
  for (const auto& draft : drafts)
    if (!draft.grid_word.empty()) asked.push_back(draft.point);
  const auto rooms = words_.grids(asked);
  std::size_t answer = 0;
  for (auto& [point, word] : drafts) {
    InterruptGuard::check();
    if (word.empty()) {
      add(point, table);
      continue;
    }
    const auto grids = spell_out_grid(word, rooms.at(answer++));
    check_combinations(static_cast<double>(grids.size()) - 1, table.line);
    check_comparisons(static_cast<double>(grids.size()) - 1, table);
    for (const auto& grid : grids) {
      point.problem.grid = grid;
      add(point, table);
    }
  }
}

double Expander::threads_per_core(const Point& point) const {
  return static_cast<double>(ranks_per_node(point)) * threads_of(point) / machine_.cores;
}

bool Expander::is_oversubscribed(const Point& point) const {
  return suite_.max_oversubscription > 0 && threads_per_core(point) > suite_.max_oversubscription;
}

/// Why the machine of a file cannot have the nodes that a table says; empty where it can. A table that says ranks alone
/// leaves the nodes to the machine.
std::string Expander::unplaced(const Point& point) const {
  if (!machine_.is_named || point.platform != "none") return {};
  if (point.nodes > machine_.nodes)
    return fmt::format("it needs {}, and the machine has {} (key 'count' of [nodes]); --repack takes fewer",
                       plural(point.nodes, "node"), machine_.nodes);
  if (is_oversubscribed(point))
    return fmt::format(
        "it needs {} of {} on each node, which has {} (key 'cores' of [nodes]); --repack takes other nodes",
        plural(ranks_per_node(point), "rank"), plural(threads_of(point), "thread"), plural(machine_.cores, "core"));
  return {};
}

/// The fewest nodes of the machine that have a core for each thread.
int Expander::fewest_nodes(const Point& point, int ranks) const {
  const std::int64_t threads = std::int64_t{ranks} * threads_of(point);
  return std::clamp(static_cast<int>((threads + machine_.cores - 1) / machine_.cores), 1,
                    std::min(machine_.nodes, ranks));
}

/// Two of ranks, nodes and ranks_per_node decide the third. ranks alone goes on the fewest nodes of the machine that
/// have a core for each thread.
void Expander::place_ranks(Point& point, const std::map<std::string, const SuiteValue*>& said,
                           std::uint32_t line) const {
  const auto value = [&](const char* key) {
    const auto found = said.find(key);
    if (found == said.end()) return 0;
    Point scratch;
    tables_.set_value(scratch, key, *found->second);
    return std::stoi(point_value(scratch, key));
  };
  const int ranks = value("ranks");
  const int nodes = value("nodes");
  const int each = value("ranks_per_node");
  const auto parts = [](std::int64_t whole, std::int64_t part) { return static_cast<int>((whole + part - 1) / part); };
  point.nodes = nodes;
  if (nodes == 0) {
    point.nodes = each > 0 && ranks > 0 ? parts(ranks, each) : 1;
    if (each == 0) point.nodes = fewest_nodes(point, ranks);
  }
  if (ranks > 0)
    point.ranks = ranks;
  else
    tables_.set_value(point, "ranks_per_node", *said.at("ranks_per_node"));
  if (each > 0 && ranks_per_node(point) != each)
    reader_.fail(line, fmt::format("{} ranks on {} nodes are {} a node, and ranks_per_node is {}; say two of the three",
                                   point.ranks, point.nodes, ranks_per_node(point), each));
  if (machine_.repacks && point.platform == "none" && (point.nodes > machine_.nodes || threads_per_core(point) > 1))
    point.nodes = fewest_nodes(point, point.ranks);
  normalise_placement(point);
  normalise_fields(point.problem);
}

Expander::Draft Expander::build(const std::vector<AxisGroup>& groups, const std::vector<std::size_t>& position,
                                std::uint32_t line) const {
  Draft draft;
  Point& point = draft.point;
  SuiteValue shape;
  const SuiteValue* kind = nullptr;
  const SuiteValue* direction = nullptr;
  std::map<std::string, const SuiteValue*> counts;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const auto& axis : groups[i]) {
      const SuiteValue& value = axis.values[position[i]];
      if (axis.key == "shape") {
        shape = value;
        continue;
      }
      if (axis.key == "ranks" || axis.key == "nodes" || axis.key == "ranks_per_node") {
        counts[axis.key] = &value;
        continue;
      }
      if (axis.key == "kind") kind = &value;
      if (axis.key == "direction") direction = &value;
      if (is_word(axis.key, value.text)) {
        draft.grid_word = value.text;
        continue;
      }
      tables_.set_value(point, axis.key, value);
    }
  place_ranks(point, counts, line);
  if (point.component.empty()) tables_.set_value(point, "shape", {tables_.shape_on(shape, point), shape.line});
  if (kind != nullptr && direction != nullptr) check_direction(*kind, *direction);
  return draft;
}

void Expander::add(const Point& point, const SuiteTable& table) {
  const auto hit = [&](const Condition& condition) { return matches(point, condition); };
  if (std::any_of(table.exclude.begin(), table.exclude.end(), hit)) return;
  if (!table.only.empty() && std::none_of(table.only.begin(), table.only.end(), hit)) return;
  const auto [known, is_new] = seen_.try_emplace(point_text(point), suite_.points.size());
  if (!is_new) {
    if (known->second < suite_.points.size()) suite_.tags[known->second].insert(tags_.begin(), tags_.end());
    return;
  }
  if (point.nodes > point.ranks)
    reader_.fail(table.line,
                 fmt::format("{} ranks cannot be on {} nodes: each node has at least one; leave the combination "
                             "out with exclude",
                             point.ranks, point.nodes));
  const std::string reason = says_nodes(table) ? unplaced(point) : "";
  const bool is_elsewhere = !machine_.is_named && point.nodes > machine_.nodes;  // whose cores nobody said
  if (reason.empty() && !is_elsewhere && is_oversubscribed(point)) {
    ++suite_.dropped_oversubscribed;
    known->second = dropped;
    return;
  }
  if (suite_.points.size() == max_points)
    reader_.fail(table.line, fmt::format("the suite has more than {} points", max_points));
  if (!reason.empty()) suite_.unplaced.emplace(suite_.points.size(), reason);
  suite_.points.push_back(point);
  suite_.tags.push_back(tags_);
}

std::set<std::string> read_tags(const SuiteReader& reader, const toml::table& table) {
  std::set<std::string> tags;
  const toml::node* node = table.get("tags");
  if (node == nullptr) return tags;
  for (const auto& value : reader.values(*node, "tags", ValueKind::text)) {
    if (!is_suite_name(value.text))
      reader.fail(value.line, fmt::format("key 'tags' is '{}'; expected names of 1 to 64 letters, digits and -, not "
                                          "starting with -",
                                          value.text));
    if (!tags.insert(value.text).second) reader.fail(value.line, fmt::format("key 'tags' says '{}' twice", value.text));
  }
  return tags;
}

}  // namespace fourscore
