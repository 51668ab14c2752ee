#include "simulation/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "core/did_you_mean.hpp"
#include "core/errors.hpp"

namespace fourscore {
namespace {

std::int64_t product(const std::vector<int>& factors) {
  std::int64_t result = 1;
  for (const int factor : factors) {
    result *= factor;
    if (result > std::numeric_limits<int>::max()) throw InputError("a network of more than 2^31 hosts");
  }
  return result;
}

/// Torus and mesh of any dimension, with dimension-ordered routing. A link is numbered by the node that it leaves, its
/// dimension and its direction; a wire that both directions share by its lower node.
class Lattice : public NetworkTopology {
 public:
  Lattice(const NetworkShape& shape, bool wraps)
      : extents_(shape.extents),
        nodes_(product(extents_)),
        hosts_(shape.hosts_per_router),
        wraps_(wraps),
        shared_(shape.shared_by_directions) {
    strides_.resize(extents_.size());
    std::int64_t stride = 1;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      strides_[d] = stride;
      stride *= extents_[d];
    }
  }
  [[nodiscard]] std::int64_t links() const override { return nodes_ * per_node(); }
  void route(int from_host, int to_host, std::vector<std::int64_t>& links) const override {
    const int from = from_host / hosts_;
    const int to = to_host / hosts_;
    std::int64_t node = from;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      const int extent = extents_[d];
      int at = coordinate(from, d);
      const int target = coordinate(to, d);
      const bool up = goes_up(at, target, extent);
      while (at != target) {
        const int next = (at + (up ? 1 : extent - 1)) % extent;
        const std::int64_t there = node + (next - at) * strides_[d];
        links.push_back(shared_ ? (up ? node : there) * per_node() + static_cast<std::int64_t>(d)
                                : node * per_node() + static_cast<std::int64_t>(2 * d) + (up ? 0 : 1));
        node = there;
        at = next;
      }
    }
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    const std::int64_t node = link / per_node();
    std::vector<int> at;
    for (std::size_t d = 0; d < extents_.size(); ++d) at.push_back(coordinate(static_cast<int>(node), d));
    return fmt::format("{} {}", fmt::join(at, ","), kind_of(link));
  }
  [[nodiscard]] std::string kind_of(std::int64_t link) const override {
    const std::int64_t port = link % per_node();
    const std::string sign = shared_ ? "" : port % 2 == 0 ? "+" : "-";
    return fmt::format("{}{}", sign, shared_ ? port : port / 2);
  }

 private:
  [[nodiscard]] std::int64_t per_node() const { return static_cast<std::int64_t>(extents_.size()) * (shared_ ? 1 : 2); }
  [[nodiscard]] int coordinate(int node, std::size_t d) const {
    return static_cast<int>(node / strides_[d] % extents_[d]);
  }
  /// The shorter way round; where both are equal, half of the nodes take each.
  [[nodiscard]] bool goes_up(int at, int target, int extent) const {
    if (!wraps_) return target > at;
    const int ahead = (target - at + extent) % extent;
    return 2 * ahead == extent ? at % 2 == 0 : 2 * ahead < extent;
  }

  std::vector<int> extents_;
  std::int64_t nodes_;  // routers
  int hosts_;           // per router
  std::vector<std::int64_t> strides_;
  bool wraps_, shared_;
};

/// E-cube routing: the lowest bit in which the addresses differ first.
class Hypercube : public NetworkTopology {
 public:
  explicit Hypercube(const NetworkShape& shape) : nodes_(shape.hosts), shared_(shape.shared_by_directions) {
    while ((1 << dimensions_) < nodes_) ++dimensions_;
    if ((1 << dimensions_) != nodes_)
      throw InputError(fmt::format("a hypercube of {} hosts; expected a power of two", nodes_));
  }
  [[nodiscard]] std::int64_t links() const override { return std::int64_t{nodes_} * std::max(dimensions_, 1); }
  void route(int from, int to, std::vector<std::int64_t>& links) const override {
    int at = from;
    for (int d = 0; d < dimensions_; ++d) {
      if (((at ^ to) >> d & 1) == 0) continue;
      const int next = at ^ (1 << d);
      links.push_back(std::int64_t{shared_ ? std::min(at, next) : at} * dimensions_ + d);
      at = next;
    }
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    return fmt::format("{} {}", link / std::max(dimensions_, 1), kind_of(link));
  }
  [[nodiscard]] std::string kind_of(std::int64_t link) const override {
    return fmt::format("bit {}", link % std::max(dimensions_, 1));
  }

 private:
  int nodes_;
  int dimensions_ = 0;
  bool shared_;
};

/// An extended generalised fat tree: level l (from 1) has down[l-1] nodes below each switch and up[l-1] switches above
/// each node. The switches on the way up are chosen by the destination (d-mod-k), so that one destination's messages
/// come down one way.
class FatTree : public NetworkTopology {
 public:
  explicit FatTree(const NetworkShape& shape) : down_(shape.down), up_(shape.up), shared_(shape.shared_by_directions) {
    const std::int64_t hosts = product(down_);
    std::int64_t below = 1, planes = 1;
    for (std::size_t level = 0; level < down_.size(); ++level) {
      below_.push_back(below);
      planes_.push_back(planes);
      first_.push_back(wires_);
      wires_ += hosts / below * planes * up_[level];
      below *= down_[level];
      planes *= up_[level];
    }
  }
  [[nodiscard]] std::int64_t links() const override { return wires_ * (shared_ ? 1 : 2); }
  void route(int from, int to, std::vector<std::int64_t>& links) const override {
    std::size_t top = 0;
    for (std::int64_t a = from, b = to; a != b; ++top) {
      a /= down_[top];
      b /= down_[top];
    }
    std::vector<std::int64_t> planes(top + 1);
    for (std::size_t level = 0; level < top; ++level) {
      const std::int64_t choice = to / planes_[level] % up_[level];
      links.push_back(wire(level, from, planes[level], choice, 0));
      planes[level + 1] = planes[level] * up_[level] + choice;
    }
    for (std::size_t level = top; level-- > 0;)
      links.push_back(wire(level, to, planes[level], to / planes_[level] % up_[level], 1));
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    const std::size_t level = level_of(link);
    return fmt::format("level {} wire {}{}", level + 1, wire_of(link) - first_[level], direction_of(link));
  }
  [[nodiscard]] std::string kind_of(std::int64_t link) const override {
    return fmt::format("level {}{}", level_of(link) + 1, direction_of(link));
  }

 private:
  [[nodiscard]] std::int64_t wire_of(std::int64_t link) const { return shared_ ? link : link / 2; }
  [[nodiscard]] const char* direction_of(std::int64_t link) const {
    return shared_ ? "" : link % 2 == 0 ? " up" : " down";
  }
  [[nodiscard]] std::size_t level_of(std::int64_t link) const {
    std::size_t level = down_.size() - 1;
    while (wire_of(link) < first_[level]) --level;
    return level;
  }
  [[nodiscard]] std::int64_t wire(std::size_t level, int host, std::int64_t plane, std::int64_t choice,
                                  int direction) const {
    const std::int64_t node = host / below_[level] * planes_[level] + plane;
    const std::int64_t number = first_[level] + node * up_[level] + choice;
    return shared_ ? number : 2 * number + direction;
  }

  std::vector<int> down_, up_;
  std::vector<std::int64_t> below_, planes_, first_;  // [level]: hosts of a node, nodes of a subtree, first wire
  std::int64_t wires_ = 0;
  bool shared_;
};

/// Every router of a group is wired to every other, and every group to every other, by one wire each. Minimal routing.
class Dragonfly : public NetworkTopology {
 public:
  explicit Dragonfly(const NetworkShape& shape)
      : groups_(shape.groups),
        routers_(shape.routers),
        hosts_(shape.hosts_per_router),
        wires_of_router_((std::max(groups_ - 1, 1) + routers_ - 1) / routers_) {}
  [[nodiscard]] std::int64_t links() const override { return first_global() + std::int64_t{groups_} * groups_; }
  void route(int from, int to, std::vector<std::int64_t>& links) const override {
    const int source = from / hosts_, target = to / hosts_;
    links.push_back(2 * std::int64_t{from});
    if (source / routers_ == target / routers_) {
      step(source, target, links);
    } else {
      const int here = source / routers_, there = target / routers_;
      step(source, gateway(here, there), links);
      links.push_back(first_global() + std::int64_t{here} * groups_ + there);
      step(gateway(there, here), target, links);
    }
    links.push_back(2 * std::int64_t{to} + 1);
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    if (link < first_local()) return fmt::format("host {} {}", link / 2, link % 2 == 0 ? "out" : "in");
    if (link < first_global()) {
      const std::int64_t local = link - first_local();
      return fmt::format("router {} to {} of its group", local / routers_, local % routers_);
    }
    return fmt::format("group {} to {}", (link - first_global()) / groups_, (link - first_global()) % groups_);
  }
  [[nodiscard]] std::string kind_of(std::int64_t link) const override {
    if (link < first_local()) return link % 2 == 0 ? "hosts out" : "hosts in";
    return link < first_global() ? "within groups" : "between groups";
  }

 private:
  [[nodiscard]] std::int64_t first_local() const { return 2 * std::int64_t{groups_} * routers_ * hosts_; }
  [[nodiscard]] std::int64_t first_global() const {
    return first_local() + std::int64_t{groups_} * routers_ * routers_;
  }
  /// The router of group `here` that has the wire to group `there`.
  [[nodiscard]] int gateway(int here, int there) const {
    return here * routers_ + ((there - here - 1 + groups_) % groups_) / wires_of_router_;
  }
  void step(int source, int target, std::vector<std::int64_t>& links) const {
    if (source != target) links.push_back(first_local() + std::int64_t{source} * routers_ + target % routers_);
  }

  int groups_, routers_, hosts_, wires_of_router_;
};

/// A link for each pair of hosts.
class Full : public NetworkTopology {
 public:
  explicit Full(const NetworkShape& shape) : hosts_(shape.hosts), shared_(shape.shared_by_directions) {
    constexpr int most = 1024;
    if (hosts_ > most)
      throw InputError(fmt::format("a full network of {} hosts; allowed: up to {}, or topology star", hosts_, most));
  }
  [[nodiscard]] std::int64_t links() const override { return std::int64_t{hosts_} * hosts_; }
  void route(int from, int to, std::vector<std::int64_t>& links) const override {
    const int a = shared_ ? std::min(from, to) : from, b = shared_ ? std::max(from, to) : to;
    links.push_back(std::int64_t{a} * hosts_ + b);
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    return fmt::format("{} to {}", link / hosts_, link % hosts_);
  }
  [[nodiscard]] std::string kind_of(std::int64_t /*link*/) const override { return "pairs"; }

 private:
  int hosts_;
  bool shared_;
};

/// One switch that blocks nothing: each host has a link to it and one from it.
class Star : public NetworkTopology {
 public:
  explicit Star(const NetworkShape& shape) : hosts_(shape.hosts), shared_(shape.shared_by_directions) {}
  [[nodiscard]] std::int64_t links() const override { return std::int64_t{hosts_} * (shared_ ? 1 : 2); }
  void route(int from, int to, std::vector<std::int64_t>& links) const override {
    links.push_back(shared_ ? from : 2 * std::int64_t{from});
    links.push_back(shared_ ? to : 2 * std::int64_t{to} + 1);
  }
  [[nodiscard]] std::string name_of(std::int64_t link) const override {
    return shared_ ? fmt::format("host {}", link) : fmt::format("host {} {}", link / 2, link % 2 == 0 ? "out" : "in");
  }
  [[nodiscard]] std::string kind_of(std::int64_t link) const override {
    return shared_ ? "hosts" : link % 2 == 0 ? "hosts out" : "hosts in";
  }

 private:
  int hosts_;
  bool shared_;
};

using Make = std::function<std::unique_ptr<NetworkTopology>(const NetworkShape&)>;

const std::map<std::string, Make>& makers() {
  static const std::map<std::string, Make> all{
      {"torus", [](const NetworkShape& shape) { return std::make_unique<Lattice>(shape, true); }},
      {"mesh", [](const NetworkShape& shape) { return std::make_unique<Lattice>(shape, false); }},
      {"hypercube", [](const NetworkShape& shape) { return std::make_unique<Hypercube>(shape); }},
      {"fat-tree", [](const NetworkShape& shape) { return std::make_unique<FatTree>(shape); }},
      {"dragonfly", [](const NetworkShape& shape) { return std::make_unique<Dragonfly>(shape); }},
      {"full", [](const NetworkShape& shape) { return std::make_unique<Full>(shape); }},
      {"star", [](const NetworkShape& shape) { return std::make_unique<Star>(shape); }},
  };
  return all;
}

}  // namespace

const std::vector<std::string>& topology_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers()) all.push_back(name);
    return all;
  }();
  return names;
}

namespace {

int hosts_of_lattice(const NetworkShape& shape) {
  std::vector<int> factors = shape.extents;
  factors.push_back(shape.hosts_per_router);
  return static_cast<int>(product(factors));
}

}  // namespace

int hosts_of(const NetworkShape& shape) {
  if (shape.topology == "torus" || shape.topology == "mesh") return hosts_of_lattice(shape);
  if (shape.topology == "fat-tree") return static_cast<int>(product(shape.down));
  if (shape.topology == "dragonfly")
    return static_cast<int>(product({shape.groups, shape.routers, shape.hosts_per_router}));
  return 0;
}

std::unique_ptr<NetworkTopology> make_topology(const NetworkShape& shape) {
  const auto entry = makers().find(shape.topology);
  if (entry == makers().end()) {
    throw InputError(fmt::format("unknown topology '{}'{}; expected {}", shape.topology,
                                 did_you_mean(shape.topology, topology_names()), fmt::join(topology_names(), ", ")));
  }
  if (const int own = hosts_of(shape); own != 0 && own != shape.hosts)
    throw InputError(fmt::format(
        "a {} {} has {} hosts, and not the {} asked for", shape.topology,
        shape.extents.empty() ? std::string("of these levels") : fmt::format("{}", fmt::join(shape.extents, "x")), own,
        shape.hosts));
  return entry->second(shape);
}

std::vector<int> most_cubic_extents(int hosts, int dimensions) {
  std::vector<int> extents;
  for (int left = dimensions; left > 0; --left) {
    // The smallest divisor that is at least the left-th root, so that the largest extent comes first.
    int extent = 1;
    const auto reaches = [&](int candidate) {
      std::int64_t power = 1;
      for (int i = 0; i < left && power < hosts; ++i) power *= candidate;
      return power >= hosts;
    };
    while (hosts % extent != 0 || !reaches(extent)) ++extent;
    extents.push_back(extent);
    hosts /= extent;
  }
  std::ranges::sort(extents, std::greater<>());
  return extents;
}

}  // namespace fourscore
