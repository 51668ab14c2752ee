#include "jobscripts/base/toml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/did_you_mean.hpp"
#include "core/problem.hpp"
#include "core/regular_file.hpp"

namespace fourscore {
namespace {

constexpr std::size_t max_bytes = 4 << 20;
constexpr std::size_t most_key_parts = 16;

/// toml++ nests a table for each part of a dotted key, and leaves them by recursion: thousands overflow the stack.
void check_key_depth(const TomlReader& reader, std::string_view text) {
  std::uint32_t line = 1;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const std::size_t quotes = text.substr(i, 3) == std::string(3, c) ? 3 : 1;
      for (i += quotes; i < text.size() && text.substr(i, quotes) != std::string(quotes, c); ++i) {
        if (text[i] == '\n') ++line;
        if (quotes == 1 && text[i] == '\n') break;  // the parser says that it does not end
        if (c == '"' && text[i] == '\\') ++i;
      }
      i += quotes - 1;
    } else if (c == '.') {
      if (++dots >= most_key_parts)
        reader.fail(line,
                    fmt::format("a dotted key has more than {} parts; keys of ours have at most 2", most_key_parts));
    } else if (std::string_view("=,{}[]\n").find(c) != std::string_view::npos) {
      dots = 0;
    }
  }
}

}  // namespace

std::string TomlReader::shown(const toml::node& node) {
  std::ostringstream out;
  node.visit([&out](const auto& value) { out << value; });
  std::string text = out.str();
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return text;
}

std::string TomlReader::content() const {
  try {
    return read_regular_file(file_).text;
  } catch (const UnreadableFile& error) {
    throw InputError(fmt::format("{} {}: cannot be read: {}", what_, file_.string(), error.what()));
  }
}

toml::table TomlReader::parse(const std::string& text) const {
  if (text.size() > max_bytes) fail(0, fmt::format("the {} has {} bytes; at most {}", what_, text.size(), max_bytes));
  check_key_depth(*this, text);
  try {
    return toml::parse(text, file_.string());
  } catch (const toml::parse_error& error) {
    fail(error.source().begin.line, fmt::format("not TOML: {}", error.description()));
  }
}

void TomlReader::fail(std::uint32_t line, std::string_view message) const {
  throw InputError(line == 0 ? fmt::format("{}: {}", file_.string(), message)
                             : fmt::format("{}:{}: {}", file_.string(), line, message));
}

void TomlReader::fail_key(const toml::node& at, std::string_view key, std::string_view expected) const {
  fail(line_of(at), fmt::format("key '{}' is {}; expected {}", key, shown(at), expected));
}

void TomlReader::check_keys(const toml::table& table, const std::vector<std::string>& allowed,
                            std::string_view where) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    fail(key.source().begin.line, fmt::format("unknown key '{}' in {}{}; allowed: {}", name, where,
                                              did_you_mean(name, allowed), fmt::join(allowed, ", ")));
  }
}

std::string TomlReader::text(const toml::table& table, std::string_view key, std::string fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  if (!node->is_string()) fail_key(*node, key, "a string");
  return node->as_string()->get();
}

std::vector<std::string> TomlReader::texts(const toml::table& table, std::string_view key) const {
  std::vector<std::string> result;
  const toml::node* node = table.get(key);
  if (node == nullptr) return result;
  if (!node->is_array()) fail_key(*node, key, "a list of strings");
  for (const auto& element : *node->as_array()) {
    if (!element.is_string()) fail_key(element, key, "a list of strings");
    result.push_back(element.as_string()->get());
  }
  return result;
}

std::int64_t TomlReader::integer(const toml::table& table, std::string_view key, std::int64_t fallback,
                                 std::int64_t low, std::int64_t high) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto* integer = node->as_integer();
  if (integer == nullptr || integer->get() < low || integer->get() > high)
    fail_key(*node, key, fmt::format("an integer from {} to {}", low, high));
  return integer->get();
}

double TomlReader::number(const toml::table& table, std::string_view key, double fallback, double low,
                          double high) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !(*value >= low) || !(*value <= high))
    fail_key(*node, key, fmt::format("a number from {} to {}", low, high));
  return *value;
}

bool TomlReader::boolean(const toml::table& table, std::string_view key, bool fallback) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) fail_key(*node, key, "true or false");
  return node->as_boolean()->get();
}

const toml::table* TomlReader::section(const toml::table& table, std::string_view key) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) fail_key(*node, key, fmt::format("a table: [{}]", key));
  return node->as_table();
}

std::vector<std::pair<std::string, const toml::node*>> TomlReader::in_order(const toml::table& table) {
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
