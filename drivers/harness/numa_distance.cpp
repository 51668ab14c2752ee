#include "harness/numa_distance.hpp"

#include <sched.h>

#include <fstream>
#include <string>

namespace fourscore {

std::optional<int> numa_distance_between(int from, int to, const std::filesystem::path& folder) {
  if (from < 0 || to < 0) return std::nullopt;
  std::ifstream file(folder / ("node" + std::to_string(from)) / "distance");
  int distance = 0;
  for (int place = 0; place <= to; ++place)
    if (!(file >> distance)) return std::nullopt;
  return distance;
}

std::optional<int> numa_distance(int node, const std::filesystem::path& folder) {
  unsigned processor = 0;
  unsigned here = 0;
  if (::getcpu(&processor, &here) != 0) return std::nullopt;
  return numa_distance_between(static_cast<int>(here), node, folder);
}

}  // namespace fourscore
