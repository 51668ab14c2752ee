#include "jobscripts/suites/suite_reader.hpp"

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

}  // namespace

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

}  // namespace fourscore
