#include "jobscripts/suite_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/problem.hpp"

namespace fourscore {
namespace {

std::string expected_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::text:
      return "a string";
    case ValueKind::integer:
      return "an integer of at least 1";
    case ValueKind::ranks:
      return "an integer of at least 1, \"cores\" or \"1..cores\"";
    case ValueKind::nodes:
      return "an integer of at least 1, \"nodes\" or \"1..nodes\"";
    case ValueKind::text_or_integer:
      break;
  }
  return "a string, number or boolean";
}

std::string shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  std::string text = out.str();
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

}  // namespace

void SuiteReader::fail(std::uint32_t line, std::string_view message) const {
  throw InputError(line == 0 ? fmt::format("{}: {}", file_.string(), message)
                             : fmt::format("{}:{}: {}", file_.string(), line, message));
}

void SuiteReader::fail_key(const toml::node& at, std::string_view key, std::string_view expected) const {
  fail(line_of(at), fmt::format("key '{}' is {}; expected {}", key, shown(at), expected));
}

void SuiteReader::check_keys(const toml::table& table, const std::vector<std::string>& allowed,
                             std::string_view where) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    const auto nearest = nearest_name(name, allowed);
    fail(key.source().begin.line,
         fmt::format("unknown key '{}' in {}{}; allowed: {}", name, where,
                     nearest ? fmt::format(", did you mean '{}'?", *nearest) : "", fmt::join(allowed, ", ")));
  }
}

std::string SuiteReader::text(const toml::table& table, std::string_view key, std::string fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  if (!node->is_string()) fail_key(*node, key, "a string");
  return node->as_string()->get();
}

std::int64_t SuiteReader::integer(const toml::table& table, std::string_view key, std::int64_t fallback,
                                  std::int64_t low, std::int64_t high) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto* integer = node->as_integer();
  if (integer == nullptr || integer->get() < low || integer->get() > high)
    fail_key(*node, key, fmt::format("an integer from {} to {}", low, high));
  return integer->get();
}

double SuiteReader::number(const toml::table& table, std::string_view key, double fallback, double low,
                           double high) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !(*value >= low) || !(*value <= high))
    fail_key(*node, key, fmt::format("a number from {} to {}", low, high));
  return *value;
}

bool SuiteReader::boolean(const toml::table& table, std::string_view key, bool fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) fail_key(*node, key, "true or false");
  return node->as_boolean()->get();
}

SuiteValue SuiteReader::value(const toml::node& node, std::string_view key, ValueKind kind) const {
  const std::uint32_t line = line_of(node);
  if (const auto* integer = node.as_integer(); integer != nullptr && kind != ValueKind::text) {
    if (kind != ValueKind::text_or_integer && (integer->get() < 1 || integer->get() > (1 << 24)))
      fail_key(node, key, expected_of(kind));
    return {std::to_string(integer->get()), line};
  }
  if (const auto* string = node.as_string(); string != nullptr && kind != ValueKind::integer) {
    const std::string word = kind == ValueKind::ranks ? "cores" : kind == ValueKind::nodes ? "nodes" : "";
    if (!word.empty() && string->get() != word && string->get() != "1.." + word) fail_key(node, key, expected_of(kind));
    return {string->get(), line};
  }
  if (kind == ValueKind::text_or_integer && (node.is_floating_point() || node.is_boolean())) return {shown(node), line};
  fail_key(node, key, expected_of(kind));
}

std::vector<SuiteValue> SuiteReader::values(const toml::node& node, std::string_view key, ValueKind kind) const {
  const auto* list = node.as_array();
  if (list == nullptr) return {value(node, key, kind)};
  if (list->empty()) fail_key(node, key, expected_of(kind) + ", or a list of at least one of these");
  std::vector<SuiteValue> result;
  for (const auto& element : *list) result.push_back(value(element, key, kind));
  return result;
}

std::vector<std::pair<std::string, const toml::node*>> SuiteReader::in_order(const toml::table& table) {
  struct Entry {
    toml::source_position position;
    std::string key;
    const toml::node* node;
  };
  std::vector<Entry> entries;
  for (const auto& [key, node] : table) entries.push_back({key.source().begin, std::string(key.str()), &node});
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.position < b.position; });
  std::vector<std::pair<std::string, const toml::node*>> result;
  for (auto& entry : entries) result.emplace_back(std::move(entry.key), entry.node);
  return result;
}

}  // namespace fourscore
