#include "jobscripts/suites/suite_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/point_keys.hpp"
#include "core/text.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_extents = 3;

bool is_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

/// The text with each {name} replaced; other braces stay as they are.
std::string replaced(const std::string& text, const std::function<std::string(const std::string&)>& value_of) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '{' ? text.find('}', at) : std::string::npos;
    const std::string name = end == std::string::npos ? "" : text.substr(at + 1, end - at - 1);
    if (is_name(name)) {
      result += value_of(name);
      at = end + 1;
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string setting_text(const Setting& setting, const Settings& settings) {
  const nlohmann::json value =
      std::visit([&](auto member) { return nlohmann::json(settings.*member); }, setting.member);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The names that stand for something, in every point.
std::vector<std::string> placeholder_names() {
  std::vector<std::string> names = names_of(point_keys());
  for (std::size_t i = 1; i <= most_extents; ++i) names.push_back(fmt::format("extent{}", i));
  for (const Setting& setting : all_settings())
    if (is_taken(setting, false)) names.emplace_back(setting.key);
  return names;
}

/// One is 1 where a shape has fewer.
std::string extent_text(const Point& point, std::size_t number) {
  return std::to_string(number <= point.problem.shape.size() ? point.problem.shape[number - 1] : 1);
}

std::string value_of(const std::string& name, const Point& point, const Settings& settings) {
  for (std::size_t i = 1; i <= most_extents; ++i)
    if (name == fmt::format("extent{}", i)) return extent_text(point, i);
  for (const Setting& setting : all_settings())
    if (name == setting.key) return setting_text(setting, settings);
  return point_value(point, name);
}

fs::path found_program(const std::string& word, const fs::path& folder) {
  if (word.find('/') == std::string::npos) return find_program(word);
  const fs::path file = (folder / word).lexically_normal();
  return is_program(file) ? file : fs::path();
}

}  // namespace

std::vector<std::string> found_command(const std::vector<std::string>& words, const fs::path& folder) {
  const auto known = placeholder_names();
  for (const std::string& word : words)
    (void)replaced(word, [&](const std::string& name) {
      if (name.starts_with("parameters.") || std::ranges::find(known, name) != known.end()) return std::string();
      const auto nearest = nearest_name(name, known);
      throw InputError(fmt::format("{{{}}} stands for nothing{}; expected one of {}", name,
                                   nearest ? fmt::format(", did you mean {{{}}}?", *nearest) : "",
                                   fmt::join(known, ", ")));
    });
  const std::string& name = words.front();
  const fs::path program = found_program(name, folder);
  if (program.empty())
    throw InputError(fmt::format("'{}' is no program{}", name,
                                 name.find('/') == std::string::npos
                                     ? " in PATH; one of the suite's folder has a slash, as ./" + name
                                     : " (" + (folder / name).lexically_normal().string() + ")"));
  std::vector<std::string> command{program.string()};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool may_be_file = words[i].find_first_of("./") != std::string::npos;
    const fs::path file = (folder / words[i]).lexically_normal();
    command.push_back(may_be_file && names_file(file) ? file.string() : words[i]);
  }
  return command;
}

std::vector<std::string> read_program(const SuiteReader& reader, const toml::node& node, const fs::path& folder) {
  std::vector<std::string> words;
  for (const SuiteValue& word : reader.values(node, "program", ValueKind::text)) words.push_back(word.text);
  try {
    return found_command(words, folder);
  } catch (const InputError& error) {
    reader.fail(SuiteReader::line_of(node), fmt::format("key 'program': {}", error.what()));
  }
}

std::vector<std::string> filled_in(const std::vector<std::string>& command, const Point& point,
                                   const Settings& settings) {
  std::vector<std::string> words;
  for (const std::string& word : command)
    words.push_back(replaced(word, [&](const std::string& name) { return value_of(name, point, settings); }));
  return words;
}

bool is_told(const std::vector<std::string>& command, const std::string& name) {
  bool told = false;
  for (const std::string& word : command)
    (void)replaced(word, [&](const std::string& found) {
      told = told || found == name;
      return std::string();
    });
  return told;
}

}  // namespace fourscore
