#include "core/memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// "/a/b" below the root.
fs::path below(const fs::path& root, const fs::path& path) { return root / path.relative_path(); }

/// The number that the file holds; nothing for "max" and for what is not there.
std::optional<double> number_in(const fs::path& file) {
  std::ifstream stream(file);
  double number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

/// The number behind `key` in lines of "key number".
std::optional<double> entry_of(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string name; stream >> name;) {
    double number = 0;
    if (name == key && stream >> number) return number;
    stream.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// How the two versions name the same things.
struct Version {
  const char* limit;
  const char* usage;
  const char* inactive_file;
  const char* active_file;
};
constexpr Version version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                            "total_active_file"};
constexpr Version version_2{"memory.max", "memory.current", "inactive_file", "active_file"};

bool lists(const std::string& words, const std::string& word) {
  return ("," + words + ",").find("," + word + ",") != std::string::npos;
}

/// A mounted hierarchy of control groups that limits memory.
struct Hierarchy {
  const Version* version = nullptr;
  fs::path mount;  ///< where its folder `top` lies
  fs::path top;    ///< "/", or what of it a container may see
};

/// proc(5), mountinfo: id parent device root mount-point options [optional]... - type source super-options
std::vector<Hierarchy> hierarchies(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream stream(below(root, "/proc/self/mountinfo"));
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string id, parent, device, top, mount, word, type, source, options;
    words >> id >> parent >> device >> top >> mount;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    if (type == "cgroup2") found.push_back({&version_2, mount, top});
    if (type == "cgroup" && lists(options, "memory")) found.push_back({&version_1, mount, top});
  }
  return found;
}

/// This process's group in the hierarchy: "0::/a/b" for version 2, "7:cpu,memory:/a/b" for version 1.
std::optional<fs::path> own_group(const fs::path& root, const Version& version) {
  std::ifstream stream(below(root, "/proc/self/cgroup"));
  for (std::string line; std::getline(stream, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool own = &version == &version_2 ? line.starts_with("0::") : lists(controllers, "memory");
    if (own) return fs::path(line.substr(second + 1));
  }
  return std::nullopt;
}

std::optional<double> available_in(const fs::path& folder, const Version& version) {
  const auto limit = number_in(folder / version.limit);
  const auto usage = number_in(folder / version.usage);
  if (!limit || !usage) return std::nullopt;
  const fs::path statistics = folder / "memory.stat";
  const double cache =
      entry_of(statistics, version.inactive_file).value_or(0) + entry_of(statistics, version.active_file).value_or(0);
  return std::max(0.0, *limit - std::max(0.0, *usage - cache));
}

/// Version 1 says "no limit" by the largest multiple of a page.
constexpr double no_limit_bytes = 4e18;

void add_groups(const fs::path& root, const Hierarchy& hierarchy, std::vector<MemoryScope>& scopes) {
  const auto group = own_group(root, *hierarchy.version);
  if (!group) return;
  // A container may be told its group by a name from outside, of which it sees only the end.
  fs::path inside = group->lexically_relative(hierarchy.top);
  if (inside.empty() || *inside.begin() == "..") inside = ".";
  const fs::path mount = below(root, hierarchy.mount);
  while (true) {
    const bool at_top = inside == "." || inside.empty();
    const auto available = available_in(at_top ? mount : mount / inside, *hierarchy.version);
    if (available && *available < no_limit_bytes)
      scopes.push_back(
          {"cgroup " + (at_top ? hierarchy.top : hierarchy.top / inside).lexically_normal().string(), *available});
    if (at_top) return;
    inside = inside.parent_path();
  }
}

}  // namespace

std::vector<MemoryScope> memory_scopes(const fs::path& root) {
  std::vector<MemoryScope> scopes;
  if (const auto kib = entry_of(below(root, "/proc/meminfo"), "MemAvailable:"))
    scopes.push_back({"the machine", 1024 * *kib});
  for (const Hierarchy& hierarchy : hierarchies(root)) add_groups(root, hierarchy, scopes);
  return scopes;
}

}  // namespace fourscore
