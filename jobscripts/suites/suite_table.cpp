#include "jobscripts/suites/suite_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fourscore {
namespace {

constexpr std::size_t longest_shape = 200;

ValueKind kind_of(std::string_view key) {
  if (key == "ranks" || key == "ranks_per_node") return ValueKind::ranks;
  if (key == "nodes") return ValueKind::nodes;
  const PointKey* known = find_point_key(key);
  // A parameter, a shape, or a count.
  if (known == nullptr || known->form == Form::extents || known->form == Form::count) return ValueKind::text_or_integer;
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

}  // namespace

std::vector<Axis> TableReader::read_defaults(const toml::table& table) {
  reader_.check_keys(table, names_with(point_keys(), {"parameters"}), "[defaults]");
  defaults_ = read_axes(table, /*single=*/true);
  return defaults_;
}

SuiteTable TableReader::read(const toml::table& table, const TableForm& form) const {
  auto keys = names_with(form.keys, {"parameters", "zip", "exclude", "only", "size", "tags"});
  if (form.further != nullptr) keys.emplace_back(form.further);
  reader_.check_keys(table, keys, form.name);
  SuiteTable read;
  read.line = SuiteReader::line_of(table);
  read.own = read_axes(table, /*single=*/false, form.further);
  std::vector<Axis> axes = read.own;
  const auto says = [&](std::string_view key) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.key == key; });
  };
  if (form.defaults)
    for (const auto& fallback : defaults_)
      if (!says(fallback.key)) axes.push_back(fallback);
  for (const PointKey& key : form.keys)
    if (key.required && !says(key.name) && !(key.name == "ranks" && says("ranks_per_node")))
      reader_.fail(read.line, fmt::format("key '{}' is missing in {}{}", key.name, form.name,
                                          form.defaults ? " and [defaults]" : ""));
  read.groups = group_axes(table, std::move(axes));
  read.exclude = read_conditions(table, "exclude", form);
  read.only = read_conditions(table, "only", form);
  return read;
}

std::vector<Axis> TableReader::read_axes(const toml::table& table, bool single, const char* further) const {
  std::vector<Axis> axes;
  for (const auto& [key, node] : SuiteReader::in_order(table)) {
    if (key == "zip" || key == "exclude" || key == "only" || key == "size" || key == "tags") continue;
    if (further != nullptr && key == further) continue;
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

Axis TableReader::read_axis(const std::string& key, const toml::node& node, bool single) const {
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

std::vector<SuiteValue> TableReader::spell_out(const std::string& key, const std::vector<SuiteValue>& values) const {
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

void TableReader::set_value(Point& point, const std::string& key, const SuiteValue& value) const {
  try {
    set_point_value(point, key, value.text);
  } catch (const InputError& error) {
    const char* words = key == "grid" ? "; a suite also takes \"square\" and \"all\"" : "";
    reader_.fail(value.line, fmt::format("key '{}': {}{}", key, error.what(), words));
  }
}

std::string TableReader::shape_on(const SuiteValue& shape, const Point& point) const {
  try {
    return spell_out_shape(shape.text, point);
  } catch (const InputError& error) {
    reader_.fail(shape.line, fmt::format("key 'shape': {}", error.what()));
  }
}

std::vector<AxisGroup> TableReader::group_axes(const toml::table& table, std::vector<Axis> axes) const {
  std::vector<std::string> written;
  for (const Axis& axis : axes) written.push_back(axis.key);
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
  const auto first_written = [&](const AxisGroup& group) {
    return std::find_first_of(written.begin(), written.end(), group.begin(), group.end(),
                              [](const std::string& key, const Axis& axis) { return axis.key == key; });
  };
  std::ranges::sort(groups, {}, first_written);
  return groups;
}

std::vector<std::vector<SuiteValue>> TableReader::read_zips(const toml::table& table) const {
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

std::vector<Condition> TableReader::read_conditions(const toml::table& table, const char* key,
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

}  // namespace fourscore
