#include "simulation/link_loads.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace fourscore {
namespace {

constexpr std::size_t most_links_named = 8;

struct Kind {
  std::int64_t links = 0;
  double bytes = 0, most_bytes = 0;
};

std::map<std::string, Kind> kinds_of(const ExchangeLoads& load, const NetworkTopology& topology) {
  std::map<std::string, Kind> kinds;
  for (std::size_t link = 0; link < load.bytes.size(); ++link) {
    Kind& kind = kinds[topology.kind_of(static_cast<std::int64_t>(link))];
    ++kind.links;
    kind.bytes += load.bytes[link];
    kind.most_bytes = std::max(kind.most_bytes, load.bytes[link]);
  }
  return kinds;
}

/// The most loaded first; the first of equal ones.
std::vector<std::size_t> busiest_links(const ExchangeLoads& load) {
  std::vector<std::size_t> links(load.bytes.size());
  std::iota(links.begin(), links.end(), std::size_t{0});
  const std::size_t named = std::min(most_links_named, links.size());
  std::partial_sort(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(named), links.end(),
                    [&load](std::size_t a, std::size_t b) {
                      return load.bytes[a] != load.bytes[b] ? load.bytes[a] > load.bytes[b] : a < b;
                    });
  links.resize(named);
  std::erase_if(links, [&load](std::size_t link) { return load.bytes[link] <= 0; });
  return links;
}

}  // namespace

nlohmann::json link_loads_json(const Backlogs& backlogs) {
  nlohmann::json exchanges = nlohmann::json::array();
  for (const ExchangeLoads& load : backlogs.loads()) {
    const double seconds = load.last_arrival_s - load.first_begin_s;
    if (seconds <= 0) continue;
    const double capacity_bytes = seconds * backlogs.link_bandwidth_bytes_per_s();
    nlohmann::json kinds = nlohmann::json::array(), busiest = nlohmann::json::array();
    for (const auto& [name, kind] : kinds_of(load, backlogs.topology()))
      kinds.push_back({{"kind", name},
                       {"links", kind.links},
                       {"mean_busy", kind.bytes / static_cast<double>(kind.links) / capacity_bytes},
                       {"most_busy", kind.most_bytes / capacity_bytes}});
    for (const std::size_t link : busiest_links(load))
      busiest.push_back({{"link", backlogs.topology().name_of(static_cast<std::int64_t>(link))},
                         {"bytes", load.bytes[link]},
                         {"busy", load.bytes[link] / capacity_bytes}});
    exchanges.push_back({{"seconds", seconds}, {"kinds", std::move(kinds)}, {"busiest", std::move(busiest)}});
  }
  return exchanges;
}

}  // namespace fourscore
