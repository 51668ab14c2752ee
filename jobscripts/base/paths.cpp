#include "jobscripts/base/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/path_kind.hpp"
#include "core/topology.hpp"

namespace fourscore {
namespace fs = std::filesystem;

fs::path analysis_folder() {
  fs::path folder = installed_folder("analysis");
  if (names_folder(folder / "fourscore_analysis")) return folder;
  throw EnvironmentError(
      fmt::format("the Python package fourscore_analysis is not in {}", installed_place("analysis")));
}

int usable_cores() {
  const Topology topology;
  const std::vector<int> units = topology.usable_units();
  const std::size_t cores = units.empty() ? std::thread::hardware_concurrency() : topology.cores_of(units).size();
  return std::max(1, static_cast<int>(cores));
}

}  // namespace fourscore
