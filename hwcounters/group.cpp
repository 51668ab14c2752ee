#include "hwcounters/group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/installed.hpp"
#include "core/path_kind.hpp"
#include "hwcounters/formula.hpp"
#include "hwcounters/group_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

/// Names of the groups in this folder that have a table for the backend.
void add_names(const fs::path& folder, const std::string& backend, std::set<std::string>& names) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml" && backends_of(entry.path()).contains(backend))
      names.insert(entry.path().stem().string());
}

[[noreturn]] void fail_unknown(const std::string& name, const CounterBackend& backend, const fs::path& folder,
                               const std::string& arch) {
  std::set<std::string> names;
  add_names(folder / arch, backend.name(), names);
  add_names(folder / "any", backend.name(), names);
  const std::vector<std::string> known(names.begin(), names.end());
  if (known.empty())
    throw CounterRequestError(fmt::format("no event group for backend {} on '{}' in {}, so no '{}'", backend.name(),
                                          arch, folder.string(), name));
  throw CounterRequestError(fmt::format("no event group '{}' for backend {} on '{}'{}; there is: {} (in {})", name,
                                        backend.name(), arch, did_you_mean(name, known), fmt::join(known, ", "),
                                        folder.string()));
}

}  // namespace

fs::path groups_folder(const CounterRequest& request) {
  for (const auto& [given, from] : {std::pair{request.groups, "the folder of event groups"},
                                    std::pair{fs::path(environment("FOURSCORE_GROUPS")), "FOURSCORE_GROUPS"}}) {
    if (given.empty()) continue;
    if (!names_folder(given))
      throw CounterRequestError(fmt::format("{} is '{}', which is no folder", from, given.string()));
    return given;
  }
  if (fs::path folder = installed_folder("groups"); !folder.empty()) return folder;
  throw CounterRequestError(fmt::format("no event groups: {} is not there; name their folder with FOURSCORE_GROUPS",
                                        installed_place("groups")));
}

Group find_group(const CounterBackend& backend, const CounterRequest& request, const std::string& arch) {
  const std::string name = request.group.empty() ? backend.default_group() : request.group;
  if (name.empty())
    throw CounterRequestError(fmt::format("backend {} counts nothing, so it has no group", backend.name()));
  const fs::path folder = groups_folder(request);
  if (name.find('/') == std::string::npos)
    for (const std::string& place : {arch, std::string("any")}) {
      const fs::path file = folder / place / (name + ".toml");
      if (fs::is_regular_file(file) && backends_of(file).contains(backend.name()))
        return load_group(file, backend.name(), backend.constants(request));
    }
  fail_unknown(name, backend, folder, arch);
}

Group find_group(const CounterBackend& backend, const CounterRequest& request) {
  return find_group(backend, request, microarchitecture());
}

std::vector<EventCount> evaluate(const Group& group, const std::vector<EventCount>& counts,
                                 const std::map<std::string, double>& constants) {
  if (counts.size() != group.events.size())
    throw std::invalid_argument(fmt::format("group {} has {} events, and {} counts were given", group.name,
                                            group.events.size(), counts.size()));
  std::map<std::string, EventCount> values(constants.begin(), constants.end());
  for (std::size_t i = 0; i < counts.size(); ++i) values[group.events[i].name] = counts[i];
  std::vector<EventCount> results;
  for (const Metric& metric : group.metrics) {
    const Formula formula(metric.formula);
    std::vector<double> given;
    for (const std::string& name : formula.names())
      if (const auto found = values.find(name); found != values.end() && found->second) given.push_back(*found->second);
    if (given.size() < formula.names().size()) {
      results.emplace_back();
      continue;
    }
    const double value = formula.value(given);
    results.push_back(std::isfinite(value) ? EventCount(value) : std::nullopt);
  }
  return results;
}

}  // namespace fourscore
