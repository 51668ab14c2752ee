#include "components/component_parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "core/did_you_mean.hpp"
#include "core/text.hpp"

namespace fourscore::component {
namespace {

struct Unit {
  std::string_view name;
  Index bytes;
};
constexpr std::array<Unit, 9> units{{{"", 1},
                                     {"B", 1},
                                     {"KiB", Index{1} << 10},
                                     {"MiB", Index{1} << 20},
                                     {"GiB", Index{1} << 30},
                                     {"TiB", Index{1} << 40},
                                     {"KB", 1000},
                                     {"MB", 1'000'000},
                                     {"GB", 1'000'000'000}}};

void check_value(const Parameter& parameter, const std::string& part, const std::string& text) {
  if (parameter.values.empty()) return;
  if (std::ranges::find(parameter.values, part) != parameter.values.end()) return;
  throw ParameterError(parameter.name,
                       fmt::format("parameter '{}' is '{}': no '{}'{}; allowed: {}{}", parameter.name, text, part,
                                   did_you_mean(part, parameter.values), fmt::join(parameter.values, ", "),
                                   parameter.many ? "; several joined by commas, or all" : ""));
}

}  // namespace

Parameters::Parameters(const std::string& program, std::vector<Parameter> known,
                       std::map<std::string, std::string> given)
    : known_(std::move(known)), given_(std::move(given)) {
  const auto names = names_of(known_);
  for (const auto& [name, value] : given_) {
    if (std::ranges::find(names, name) == names.end())
      throw ParameterError(
          name, fmt::format("{} has no parameter '{}'{}; it has: {}", program, name, did_you_mean(name, names),
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    const Parameter& parameter = this->known(name);
    if (value.empty())
      throw ParameterError(name, fmt::format("parameter '{}' is empty; expected {}", name, parameter.summary));
    if (parameter.many)
      (void)list(name);
    else
      check_value(parameter, value, value);
  }
}

const Parameter& Parameters::known(const std::string& name) const {
  const auto it = std::ranges::find(known_, name, &Parameter::name);
  if (it == known_.end()) throw std::logic_error("a parameter that the program does not declare: " + name);
  return *it;
}

const std::string& Parameters::text(const std::string& name) const {
  const auto it = given_.find(name);
  return it == given_.end() ? known(name).fallback : it->second;
}

std::vector<std::string> Parameters::list(const std::string& name) const {
  const Parameter& parameter = known(name);
  const std::string& asked = text(name);
  if (asked == "all" && !parameter.values.empty()) return parameter.values;
  const auto parts = split(asked, ',');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_value(parameter, parts[i], asked);
    if (parts[i].empty()) refuse(name, "a part between commas is empty");
    if (std::find(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i), parts[i]) !=
        parts.begin() + static_cast<std::ptrdiff_t>(i))
      refuse(name, fmt::format("'{}' is there twice", parts[i]));
  }
  return parts;
}

std::vector<Index> Parameters::integers(const std::string& name, Index least, Index most) const {
  std::vector<Index> values;
  for (const std::string& part : list(name)) {
    const auto value = number_from<Index>(part);
    if (!value || *value < least || *value > most)
      refuse(name, fmt::format("allowed: whole numbers from {} to {}", least, most));
    values.push_back(*value);
  }
  return values;
}

Index Parameters::integer(const std::string& name, Index least, Index most) const {
  const auto values = integers(name, least, most);
  if (values.size() != 1) refuse(name, fmt::format("allowed: one whole number from {} to {}", least, most));
  return values.front();
}

std::vector<Index> Parameters::sizes(const std::string& name, Index least, Index most) const {
  std::vector<Index> values;
  for (const std::string& part : list(name)) {
    Index value = 0;
    try {
      value = parse_size(part, fmt::format("parameter '{}'", name));
    } catch (const InputError& error) {
      throw ParameterError(name, error.what());
    }
    if (value < least || value > most)
      refuse(name, fmt::format("allowed: {} to {}", size_text(static_cast<double>(least)),
                               size_text(static_cast<double>(most))));
    values.push_back(value);
  }
  return values;
}

std::vector<Index> Parameters::shape(const std::string& name) const {
  try {
    return parse_shape(text(name), fmt::format("parameter '{}'", name));
  } catch (const InputError& error) {
    throw ParameterError(name, error.what());
  }
}

void Parameters::refuse(const std::string& name, const std::string& why) const {
  throw ParameterError(name, fmt::format("parameter '{}' is '{}'; {}", name, text(name), why));
}

Index parse_size(const std::string& text, const std::string& what) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto known = std::ranges::find(units, unit, &Unit::name);
  if (error != std::errc() || value < 1 || known == units.end() ||
      value > std::numeric_limits<Index>::max() / known->bytes)
    throw InputError(fmt::format("{}: '{}' is no size; expected bytes as 4096, 16KiB, 64MiB or 1GiB", what, text));
  return value * known->bytes;
}

std::string size_text(double bytes) {
  const std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  for (; i + 1 < names.size() && bytes >= 1024; ++i) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, names[i]);
}

}  // namespace fourscore::component
