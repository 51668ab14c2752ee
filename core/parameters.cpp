#include "core/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/did_you_mean.hpp"
#include "core/text.hpp"

namespace fourscore {

namespace {

constexpr const char* zfp_rate_name = "zfp-rate";
// Below, a check could not tell a wrong element from a compressed one; above, nothing is made smaller.
constexpr Index least_zfp_rate = 12;
constexpr Index most_zfp_rate = 60;
constexpr Index usual_zfp_rate = 24;
constexpr double bits_of_a_double = 64;

}  // namespace

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
  throw InputError(fmt::format("parameter '{}' is '{}'{}; allowed: {}", name, given->second,
                               did_you_mean(given->second, choices), fmt::join(choices, ", ")));
}

Parameter zfp_rate_parameter() {
  return {.name = zfp_rate_name,
          .summary = fmt::format("bits of a number in messages of wire zfp: {} to {}", least_zfp_rate, most_zfp_rate),
          .fallback = std::to_string(usual_zfp_rate),
          .samples = {"16", "32"}};
}

int zfp_rate_of(const Problem& problem) {
  return static_cast<int>(integer_parameter(problem, zfp_rate_name, usual_zfp_rate, least_zfp_rate, most_zfp_rate));
}

double wire_share(const Problem& problem) {
  switch (problem.wire) {
    case Wire::as_is:
      return 1;
    case Wire::single:
      return 0.5;
    case Wire::zfp:
      return zfp_rate_of(problem) / bits_of_a_double;
  }
  return 1;
}

}  // namespace fourscore
