#include "core/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace fourscore {

const std::vector<std::string>& tried_values(const Parameter& parameter) {
  return parameter.values.empty() ? parameter.samples : parameter.values;
}

nlohmann::json parameters_json(const std::vector<Parameter>& parameters) {
  nlohmann::json result = nlohmann::json::array();
  for (const Parameter& parameter : parameters) {
    nlohmann::json entry{{"name", parameter.name},
                         {"summary", parameter.summary},
                         {"default", parameter.fallback},
                         {"many", parameter.many}};
    if (!parameter.values.empty()) entry["values"] = parameter.values;
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

Index integer_parameter(const Problem& problem, std::string_view name, Index fallback, Index least, Index most) {
  const auto given = problem.parameters.find(std::string(name));
  if (given == problem.parameters.end()) return fallback;
  const std::string& text = given->second;
  const auto value = number_from<Index>(text);
  if (!value || *value < least || *value > most)
    throw InputError(fmt::format("parameter '{}' is '{}'; allowed: {}", name, text,
                                 least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
  return *value;
}

std::string choice_parameter(const Problem& problem, std::string_view name, const std::vector<std::string>& choices) {
  const auto given = problem.parameters.find(std::string(name));
  if (given == problem.parameters.end()) return choices.front();
  if (std::ranges::find(choices, given->second) != choices.end()) return given->second;
  const auto nearest = nearest_name(given->second, choices);
  throw InputError(fmt::format("parameter '{}' is '{}'{}; allowed: {}", name, given->second,
                               nearest ? fmt::format(", did you mean '{}'?", *nearest) : "", fmt::join(choices, ", ")));
}

}  // namespace fourscore
