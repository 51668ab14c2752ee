#include "jobscripts/gate/acknowledgements.hpp"

#include <fmt/format.h>

#include <string>

#include "jobscripts/base/toml_reader.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// A string with something in it. Throws InputError.
std::string required_text(const TomlReader& reader, const toml::table& change, const char* key) {
  const toml::node* node = change.get(key);
  if (node == nullptr) reader.fail(TomlReader::line_of(change), fmt::format("[[change]] lacks '{}', a string", key));
  const std::string text = reader.text(change, key, "");
  if (text.find_first_not_of(" \t\n") == std::string::npos) reader.fail_key(*node, key, "a string that is not empty");
  return text;
}

json patterns_of(const TomlReader& reader, const toml::table& change) {
  constexpr auto expected = "a table of patterns, as { variant = \"pencil\", ranks = 4 }";
  const toml::node* node = change.get("series");
  if (node == nullptr)
    reader.fail(TomlReader::line_of(change),
                fmt::format("[[change]] lacks 'series', {}; {{}} is every series", expected));
  if (!node->is_table()) reader.fail_key(*node, "series", expected);
  json patterns = json::object();
  for (const auto& [key, value] : *node->as_table()) {
    const std::string name(key.str());
    if (value.is_string())
      patterns[name] = value.as_string()->get();
    else if (value.is_integer())
      patterns[name] = std::to_string(value.as_integer()->get());
    else
      reader.fail_key(value, "series." + name, "a string or an integer");
  }
  return patterns;
}

json change_of(const TomlReader& reader, const std::filesystem::path& file, const toml::table& change) {
  reader.check_keys(change, {"series", "first", "last", "reason"}, "[[change]]");
  const std::string first = required_text(reader, change, "first");
  return {{"file", file.string()},
          {"line", TomlReader::line_of(change)},
          {"series", patterns_of(reader, change)},
          {"first", first},
          {"last", change.contains("last") ? required_text(reader, change, "last") : first},
          {"reason", required_text(reader, change, "reason")}};
}

}  // namespace

json read_acknowledgements(const std::filesystem::path& file) {
  const TomlReader reader(file, "acknowledgements");
  const toml::table root = reader.parse(reader.content());
  reader.check_keys(root, {"change"}, "the file");
  json changes = json::array();
  const toml::node* node = root.get("change");
  if (node == nullptr) return changes;
  if (!node->is_array_of_tables()) reader.fail_key(*node, "change", "tables: [[change]]");
  for (const auto& change : *node->as_array()) changes.push_back(change_of(reader, file, *change.as_table()));
  return changes;
}

}  // namespace fourscore
