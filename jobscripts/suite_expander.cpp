#include "jobscripts/suite_expander.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/threads.hpp"
#include "jobscripts/process.hpp"
#include "jobscripts/suite_size.hpp"
#include "jobscripts/suite_tags.hpp"

namespace fourscore {
namespace {

constexpr std::size_t max_points = 100000;
constexpr std::size_t dropped = static_cast<std::size_t>(-1);  ///< number of a point that is not among the suite's
constexpr std::size_t longest_shape = 200;
constexpr std::size_t most_combinations = 1000000;
constexpr std::size_t most_comparisons = 20000000;

ValueKind kind_of(std::string_view key) {
  if (key == "ranks" || key == "ranks_per_node") return ValueKind::ranks;
  if (key == "nodes") return ValueKind::nodes;
  const PointKey* known = find_point_key(key);
  if (known == nullptr || known->form == Form::extents) return ValueKind::text_or_integer;  // a parameter, or a shape
  return known->form == Form::integer ? ValueKind::integer : ValueKind::text;
}

std::vector<std::string> names_with(const std::vector<PointKey>& keys, const std::vector<std::string>& more) {
  std::vector<std::string> names = names_of(keys);
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

/// "cores" and "1..cores" as numbers; `word` is "cores" or "nodes", and `most` how many there are.
std::vector<SuiteValue> spell_out_count(const std::vector<SuiteValue>& values, const std::string& word, int most) {
  std::vector<SuiteValue> result;
  for (const auto& value : values) {
    const bool range = value.text == "1.." + word;
    if (range)
      for (int count = 1; count < most; count *= 2) result.push_back({std::to_string(count), value.line});
    result.push_back({range || value.text == word ? std::to_string(most) : value.text, value.line});
  }
  return result;
}

/// "64*ranks x 64 x 64" becomes "128x64x64" on 2 ranks, and "64*nodes" goes by the nodes: weak scaling on any machine.
/// Throws InputError for an extent beyond 64 bits.
std::string spell_out_shape(const std::string& text, const Point& point) {
  if (text.size() > longest_shape) return text;  // parse_shape says what is wrong with it
  std::string compact;
  for (const char c : text)
    if (c != ' ') compact += c;
  for (const auto& [factor, count] : {std::pair<std::string, int>{"*ranks", point.ranks}, {"*nodes", point.nodes}}) {
    for (std::size_t at = compact.find(factor); at != std::string::npos; at = compact.find(factor)) {
      std::size_t first = at;
      while (first > 0 && compact[first - 1] >= '0' && compact[first - 1] <= '9') --first;
      if (first == at || at - first > 12) return compact;  // parse_shape says what is wrong with it
      std::int64_t extent = 0;
      if (__builtin_mul_overflow(std::stoll(compact.substr(first, at - first)), std::int64_t{count}, &extent))
        throw InputError(
            fmt::format("shape '{}' on {} {} has an extent beyond 64 bits", text, count, factor.substr(1)));
      compact.replace(first, at + factor.size() - first, std::to_string(extent));
    }
  }
  return compact;
}

bool has_grid_words(const std::vector<AxisGroup>& groups) {
  for (const auto& group : groups)
    for (const auto& axis : group)
      for (const auto& value : axis.values)
        if (axis.key == "grid" && is_word(axis.key, value.text)) return true;
  return false;
}

/// 1000000000000 as it is, what is longer with its power of ten.
std::string count_text(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : fmt::format("{:.3g}", count);
}

}  // namespace

void Expander::read_defaults(const toml::table& table) {
  reader_.check_keys(table, names_with(point_keys(), {"parameters"}), "[defaults]");
  for (const auto& axis : read_axes(table, /*single=*/true)) {
    defaults_.push_back(axis);
    note("", axis);
  }
}

void Expander::read_sweep(const toml::table& table) {
  for (const auto& axis : read_table(table, {"[[sweep]]", point_keys(), true})) note("", axis);
}

void Expander::note(const std::string& program, const Axis& axis) {
  for (const auto& value : axis.values)
    if (!is_word(axis.key, value.text)) suite_.values.push_back({program, axis.key, value.text, value.line});
}

std::vector<Axis> Expander::read_table(const toml::table& table, const TableForm& form) {
  reader_.check_keys(table, names_with(form.keys, {"parameters", "zip", "exclude", "only", "size", "tags"}), form.name);
  const bool chosen = is_of_chosen_size(reader_, table, suite_);
  tags_ = read_tags(reader_, table);
  tags_.insert(tags_of_all_.begin(), tags_of_all_.end());
  std::vector<Axis> axes = read_axes(table, /*single=*/false);
  const std::vector<Axis> own = axes;
  for (const auto& fallback : defaults_)
    if (form.defaults &&
        std::none_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == fallback.key; }))
      axes.push_back(fallback);
  const auto says = [&](std::string_view key) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == key; });
  };
  for (const PointKey& key : form.keys)
    if (key.required && !says(key.name) && !(key.name == "ranks" && says("ranks_per_node")))
      reader_.fail(SuiteReader::line_of(table), fmt::format("key '{}' is missing in {}{}", key.name, form.name,
                                                            form.defaults ? " and [defaults]" : ""));
  const auto groups = group_axes(table, std::move(axes));
  const auto exclude = read_conditions(table, "exclude", form);
  const auto only = read_conditions(table, "only", form);
  if (!chosen) return {};  // it is read all the same, so that its errors are seen in every size
  expand(groups, exclude, only, SuiteReader::line_of(table));
  return own;
}

std::vector<Axis> Expander::read_axes(const toml::table& table, bool single) const {
  std::vector<Axis> axes;
  for (const auto& [key, node] : SuiteReader::in_order(table)) {
    if (key == "zip" || key == "exclude" || key == "only" || key == "size" || key == "tags") continue;
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

Axis Expander::read_axis(const std::string& key, const toml::node& node, bool single) const {
  if (single && node.is_array()) reader_.fail_key(node, key, "one value in [defaults]; lists stand in [[sweep]]");
  Axis axis{key, reader_.values(node, key, kind_of(key))};
  const std::string& first = axis.values.front().text;
  const bool several = first == "1..cores" || first == "1..nodes" || (is_word(key, first) && first == every_value);
  if (single && several)
    reader_.fail_key(node, key, fmt::format("one value in [defaults]; \"{}\" stands in [[sweep]]", first));
  axis.values = spell_out(key, axis.values);
  for (const auto& value : axis.values) {
    if (is_word(key, value.text)) continue;
    Point scratch;
    set_value(scratch, key, key == "shape" ? SuiteValue{shape_on(value, scratch), value.line} : value);
    if (scratch.placement_of_ranks == RankPlacement::irregular)
      reader_.fail(value.line,
                   fmt::format("key '{}': nobody can ask for 'irregular'; expected block, cyclic, socket", key));
  }
  return axis;
}

std::vector<SuiteValue> Expander::spell_out(const std::string& key, const std::vector<SuiteValue>& values) const {
  if (key == "ranks" || key == "ranks_per_node") return spell_out_count(values, "cores", machine_.cores);
  if (key == "nodes") return spell_out_count(values, "nodes", machine_.nodes);
  if (key == "grid") return values;  // the point says which there are
  std::vector<SuiteValue> result;
  for (const auto& value : values) {
    if (!is_word(key, value.text)) {
      result.push_back(value);
      continue;
    }
    for (const auto& name : words_.names(key)) result.push_back({name, value.line});
  }
  return result;
}

void Expander::set_value(Point& point, const std::string& key, const SuiteValue& value) const {
  try {
    set_point_value(point, key, value.text);
  } catch (const InputError& error) {
    const char* words = key == "grid" ? "; a suite also takes \"square\" and \"all\"" : "";
    reader_.fail(value.line, fmt::format("key '{}': {}{}", key, error.what(), words));
  }
}

std::string Expander::shape_on(const SuiteValue& shape, const Point& point) const {
  try {
    return spell_out_shape(shape.text, point);
  } catch (const InputError& error) {
    reader_.fail(shape.line, fmt::format("key 'shape': {}", error.what()));
  }
}

std::vector<AxisGroup> Expander::group_axes(const toml::table& table, std::vector<Axis> axes) const {
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

std::vector<std::vector<SuiteValue>> Expander::read_zips(const toml::table& table) const {
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

std::vector<Condition> Expander::read_conditions(const toml::table& table, const char* key,
                                                 const TableForm& form) const {
  static constexpr auto expected = "a list of tables, as [{ variant = \"slab\", ranks = [2, 4] }]";
  std::vector<Condition> conditions;
  const toml::node* node = table.get(key);
  if (node == nullptr) return conditions;
  if (!node->is_array()) reader_.fail_key(*node, key, expected);
  for (const auto& element : *node->as_array()) {
    const auto* condition = element.as_table();
    if (condition == nullptr || condition->empty()) reader_.fail_key(element, key, expected);
    reader_.check_keys(*condition, names_with(form.keys, {"parameters"}), key);
    conditions.push_back(read_axes(*condition, /*single=*/false));
    for (const auto& axis : conditions.back())
      for (const auto& value : axis.values)
        if (is_word(axis.key, value.text))
          reader_.fail(value.line, fmt::format("key '{}': '{}' names no grid in '{}'; expected auto, or its extents",
                                               axis.key, value.text, key));
  }
  return conditions;
}

bool Expander::matches(const Point& point, const Condition& condition) const {
  return std::all_of(condition.begin(), condition.end(), [&](const Axis& axis) {
    return std::any_of(axis.values.begin(), axis.values.end(), [&](const SuiteValue& value) {
      Point wanted;
      SuiteValue spelt = value;
      if (axis.key == "shape") spelt.text = shape_on(value, point);
      set_value(wanted, axis.key, spelt);
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
void Expander::check_product(const std::vector<AxisGroup>& groups, const std::vector<Condition>& exclude,
                             const std::vector<Condition>& only, std::uint32_t line) {
  double combinations = 1;
  for (const auto& group : groups) combinations *= static_cast<double>(group.front().values.size());
  check_combinations(combinations, line);
  check_comparisons(combinations, exclude, only, line);
}

void Expander::check_combinations(double of_table, std::uint32_t line) {
  combinations_ += of_table;
  if (combinations_ > most_combinations)
    reader_.fail(line, fmt::format("the lists of this table multiply to {} combinations, and the suite has {} with it; "
                                   "a suite has at most {}, those that are dropped or equal included",
                                   count_text(of_table), count_text(combinations_), most_combinations));
}

void Expander::check_comparisons(double combinations, const std::vector<Condition>& exclude,
                                 const std::vector<Condition>& only, std::uint32_t line) {
  double values = 0;
  for (const auto* conditions : {&exclude, &only})
    for (const auto& condition : *conditions)
      for (const auto& axis : condition) values += static_cast<double>(axis.values.size());
  comparisons_ += combinations * values;
  if (comparisons_ > most_comparisons)
    reader_.fail(line, fmt::format("{} combinations are to be compared with {} values of 'exclude' and 'only'; a suite "
                                   "makes at most {} comparisons",
                                   count_text(combinations), values, most_comparisons));
}

void Expander::expand(const std::vector<AxisGroup>& groups, const std::vector<Condition>& exclude,
                      const std::vector<Condition>& only, std::uint32_t line) {
  check_product(groups, exclude, only, line);
  const bool grid_words = has_grid_words(groups);
  std::vector<Draft> drafts;
  std::vector<std::size_t> position(groups.size(), 0);
  while (true) {
    InterruptGuard::check();
    Draft draft = build(groups, position, line);
    if (!grid_words)
      add(draft.point, exclude, only, line);
    else if (drafts.size() == max_points)
      reader_.fail(line, fmt::format("the lists of this table multiply to more than {} combinations, of which each is "
                                     "asked for its grids",
                                     max_points));
    else
      drafts.push_back(std::move(draft));
    std::size_t axis = groups.size();
    while (axis > 0 && ++position[axis - 1] == groups[axis - 1].front().values.size()) position[--axis] = 0;
    if (axis == 0) break;
  }
  if (grid_words) add_with_grids(std::move(drafts), exclude, only, line);
}

/// The program is asked once for all points of a table.
void Expander::add_with_grids(std::vector<Draft> drafts, const std::vector<Condition>& exclude,
                              const std::vector<Condition>& only, std::uint32_t line) {
  std::vector<Point> asked;
  for (const auto& draft : drafts)
    if (!draft.grid_word.empty()) asked.push_back(draft.point);
  const auto rooms = words_.grids(asked);
  std::size_t answer = 0;
  for (auto& [point, word] : drafts) {
    InterruptGuard::check();
    if (word.empty()) {
      add(point, exclude, only, line);
      continue;
    }
    const auto grids = spell_out_grid(word, rooms.at(answer++));
    check_combinations(static_cast<double>(grids.size()) - 1, line);
    check_comparisons(static_cast<double>(grids.size()) - 1, exclude, only, line);
    for (const auto& grid : grids) {
      point.problem.grid = grid;
      add(point, exclude, only, line);
    }
  }
}

/// Two of ranks, nodes and ranks_per_node decide the third. ranks alone goes on the fewest nodes of the machine that
/// have a core for each thread.
void Expander::place_ranks(Point& point, const std::map<std::string, const SuiteValue*>& said,
                           std::uint32_t line) const {
  const auto value = [&](const char* key) {
    const auto found = said.find(key);
    if (found == said.end()) return 0;
    Point scratch;
    set_value(scratch, key, *found->second);
    return std::stoi(point_value(scratch, key));
  };
  const int ranks = value("ranks");
  const int nodes = value("nodes");
  const int each = value("ranks_per_node");
  const auto parts = [](std::int64_t whole, std::int64_t part) { return static_cast<int>((whole + part - 1) / part); };
  point.nodes = nodes;
  if (nodes == 0) {
    point.nodes = each > 0 && ranks > 0 ? parts(ranks, each) : 1;
    if (each == 0)
      point.nodes = std::clamp(parts(std::int64_t{ranks} * threads_of(point), machine_.cores), 1,
                               std::min(machine_.nodes, ranks));
  }
  if (ranks > 0)
    point.ranks = ranks;
  else
    set_value(point, "ranks_per_node", *said.at("ranks_per_node"));
  if (each > 0 && ranks_per_node(point) != each)
    reader_.fail(line, fmt::format("{} ranks on {} nodes are {} a node, and ranks_per_node is {}; say two of the three",
                                   point.ranks, point.nodes, ranks_per_node(point), each));
  normalise_placement(point);
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
      set_value(point, axis.key, value);
    }
  place_ranks(point, counts, line);
  if (point.component.empty()) set_value(point, "shape", {shape_on(shape, point), shape.line});
  if (kind != nullptr && direction != nullptr) check_direction(*kind, *direction);
  return draft;
}

void Expander::add(const Point& point, const std::vector<Condition>& exclude, const std::vector<Condition>& only,
                   std::uint32_t line) {
  const auto hit = [&](const Condition& condition) { return matches(point, condition); };
  if (std::any_of(exclude.begin(), exclude.end(), hit)) return;
  if (!only.empty() && std::none_of(only.begin(), only.end(), hit)) return;
  const auto [known, is_new] = seen_.try_emplace(point_text(point), suite_.points.size());
  if (!is_new) {
    if (known->second < suite_.points.size()) suite_.tags[known->second].insert(tags_.begin(), tags_.end());
    return;
  }
  if (point.nodes > point.ranks)
    reader_.fail(line, fmt::format("{} ranks cannot be on {} nodes: each node has at least one; leave the combination "
                                   "out with exclude",
                                   point.ranks, point.nodes));
  const double threads_per_core = static_cast<double>(ranks_per_node(point)) * threads_of(point) / machine_.cores;
  if (suite_.max_oversubscription > 0 && threads_per_core > suite_.max_oversubscription) {
    ++suite_.dropped_oversubscribed;
    known->second = dropped;
    return;
  }
  if (suite_.points.size() == max_points)
    reader_.fail(line, fmt::format("the suite has more than {} points", max_points));
  suite_.points.push_back(point);
  suite_.tags.push_back(tags_);
}

}  // namespace fourscore
