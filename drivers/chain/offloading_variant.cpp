#include "chain/offloading_variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace fourscore {

namespace {

constexpr std::array<std::string_view, 3> of_the_device{"device", "host-memory", "share-device"};

}  // namespace

std::vector<Parameter> OffloadingVariant::offload_parameters() const {
  std::vector<std::string> values{"no"};
  std::string summary = "local transforms on a device, with copies there and back;";
  for (const Launch& launch : launches()) {
    summary += fmt::format("{} {}: {}", values.size() > 1 ? ";" : "", launch.value, launch.summary);
    values.push_back(launch.value);
  }
  std::vector<Parameter> list{{"offload", summary, "no", values}};
  for (Parameter& parameter : device_parameters())
    if (std::ranges::find(of_the_device, parameter.name) != of_the_device.end()) {
      parameter.summary = "with offload: " + parameter.summary;
      list.push_back(std::move(parameter));
    }
  return list;
}

std::optional<std::string> OffloadingVariant::offloads(const Problem& problem) const {
  std::vector<std::string> values{"no"};
  for (const Launch& launch : launches()) values.push_back(launch.value);
  const std::string value = choice_parameter(problem, "offload", values);
  return value == "no" ? std::nullopt : std::optional(value);
}

Reason OffloadingVariant::device_in_the_way(const Problem& problem) const {
  if (!offloads(problem)) {
    std::string values;
    for (const Launch& launch : launches())
      values += fmt::format("{}offload={}", values.empty() ? "" : " or ", launch.value);
    for (const std::string_view name : of_the_device)
      if (problem.parameters.contains(std::string(name))) return fmt::format("{} takes {}", name, values);
    return std::nullopt;
  }
  const DeviceBackend& backend = *device_request(problem).backend;
  if (const std::string missing = backend.unavailable(); !missing.empty())
    return fmt::format("no device '{}' can be used: {}", backend.card().name, missing);
  return std::nullopt;
}

LocalFftUse OffloadingVariant::local_fft(const Problem& problem) const {
  if (!offloads(problem)) return Variant::local_fft(problem);
  return {device_request(problem).backend->local_fft(), problem.threads};
}

}  // namespace fourscore
