#include "harness/interconnect.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "harness/system_files.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  return entries;
}

/// ", mlx5_core": the kernel's driver of a device.
std::string driver_of(const fs::path& entry) {
  std::error_code error;
  const fs::path driver = fs::read_symlink(entry / "device" / "driver", error);
  return error ? "" : ", " + driver.filename().string();
}

/// InfiniBand, Omni-Path and RDMA over Ethernet.
void add_ports(const fs::path& device, std::map<std::string, int>& links) {
  for (const fs::path& port : entries_of(device / "ports")) {
    if (first_line(port / "state").value_or("").find("ACTIVE") == std::string::npos) continue;
    ++links[fmt::format("{} {}{}", first_line(port / "link_layer").value_or("InfiniBand"),
                        first_line(port / "rate").value_or("of unknown rate"), driver_of(device))];
  }
}

/// Adds only real devices: bridges, tunnels and containers' links come and go.
void add_ethernet(const fs::path& link, std::map<std::string, int>& links) {
  std::error_code error;
  if (!fs::exists(link / "device", error) || first_line(link / "operstate").value_or("") != "up") return;
  const long speed = std::strtol(first_line(link / "speed").value_or("-1").c_str(), nullptr, 10);
  ++links[fmt::format("Ethernet{}{}", speed > 0 ? fmt::format(" {} Mbit/s", speed) : "", driver_of(link))];
}

}  // namespace

json interconnect_identity(const fs::path& system) {
  if (const std::string said = environment("FOURSCORE_INTERCONNECT"); !said.empty()) return json::array({said});
  std::map<std::string, int> links;
  for (const fs::path& device : entries_of(system / "class" / "infiniband")) add_ports(device, links);
  for (const fs::path& device : entries_of(system / "class" / "cxi")) ++links["Slingshot" + driver_of(device)];
  for (const fs::path& link : entries_of(system / "class" / "net")) add_ethernet(link, links);
  json result = json::array();
  for (const auto& [link, count] : links) result.push_back(count == 1 ? link : fmt::format("{} x {}", count, link));
  return result;
}

}  // namespace fourscore
