#include "jobscripts/base/paths.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "core/topology.hpp"

namespace fourscore {
namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

fs::path share_folder() { return own_folder().parent_path() / "share" / "fourscore"; }

fs::path analysis_folder() {
  for (const fs::path& folder : {share_folder() / "analysis", fs::path(FOURSCORE_SOURCE_FOLDER "/analysis")})
    if (names_folder(folder / "fourscore_analysis")) return folder;
  throw EnvironmentError(fmt::format("the Python package fourscore_analysis is neither in {}/analysis nor in {}",
                                     FOURSCORE_SOURCE_FOLDER, share_folder().string()));
}

fs::path shipped_folder(const std::string& name, const std::string& in_source) {
  for (const fs::path& folder : {share_folder() / name, fs::path(FOURSCORE_SOURCE_FOLDER) / in_source})
    if (names_folder(folder)) return folder;
  return {};
}

int usable_cores() {
  const Topology topology;
  const std::vector<int> units = topology.usable_units();
  const std::size_t cores = units.empty() ? std::thread::hardware_concurrency() : topology.cores_of(units).size();
  return std::max(1, static_cast<int>(cores));
}

}  // namespace fourscore
