#include "simulation/host_order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "core/errors.hpp"
#include "core/field.hpp"

namespace fourscore {
namespace {

void require_lattice(const NetworkShape& network, const char* order) {
  if (network.hosts_per_router > 1)
    throw InputError(
        fmt::format("host order {} with {} hosts a router; expected one", order, network.hosts_per_router));
  if (network.topology == "torus" || network.topology == "mesh") return;
  throw InputError(fmt::format("host order {} on a {}; expected a torus or a mesh", order, network.topology));
}

int number_of(const std::vector<int>& at, const std::vector<int>& extents) {
  int number = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) number = number * extents[d] + at[d];
  return number;
}

/// Skilling (AIP Conf. Proc. 707, 2004): from the curve's position, as bits dealt to the axes, to the coordinates.
std::vector<int> hilbert_point(std::int64_t position, int bits, int dimensions) {
  std::vector<std::uint32_t> x(static_cast<std::size_t>(dimensions));
  for (int bit = 0; bit < bits * dimensions; ++bit) {
    const int of_axis = (bits * dimensions - 1 - bit) % dimensions;
    x[static_cast<std::size_t>(of_axis)] |= static_cast<std::uint32_t>(position >> bit & 1) << (bit / dimensions);
  }
  const std::size_t n = x.size();
  const std::uint32_t carry = x[n - 1] >> 1;
  for (std::size_t i = n - 1; i > 0; --i) x[i] ^= x[i - 1];
  x[0] ^= carry;
  for (std::uint32_t q = 2; q != std::uint32_t{1} << bits; q <<= 1) {
    for (std::size_t i = n; i-- > 0;) {
      if ((x[i] & q) != 0) {
        x[0] ^= q - 1;
      } else {
        const std::uint32_t t = (x[0] ^ x[i]) & (q - 1);
        x[0] ^= t;
        x[i] ^= t;
      }
    }
  }
  return {x.begin(), x.end()};
}

std::vector<int> along_hilbert_curve(const NetworkShape& network, int nodes) {
  require_lattice(network, "hilbert");
  int bits = 0;
  while ((1 << bits) < network.extents.front()) ++bits;
  for (const int extent : network.extents)
    if (extent != 1 << bits)
      throw InputError(fmt::format("host order hilbert on extents {}; expected one power of two for all",
                                   fmt::join(network.extents, "x")));
  std::vector<int> hosts;
  const auto dimensions = static_cast<int>(network.extents.size());
  for (int node = 0; node < nodes; ++node)
    hosts.push_back(bits == 0 ? 0 : number_of(hilbert_point(node, bits, dimensions), network.extents));
  return hosts;
}

/// czechowski2012, Eq. 4: node = row * sqrt(P) + column of the pencils' grid. A row, which is one all-to-all, has a
/// cube of its own; the column is the place within it.
std::vector<int> in_sub_cubes(const NetworkShape& network, int nodes) {
  require_lattice(network, "sub-cube");
  int side = 1;
  const auto sixth_power = [](int base) {
    const std::int64_t cube = std::int64_t{base} * base * base;
    return cube * cube;
  };
  while (sixth_power(side) < nodes) ++side;
  if (sixth_power(side) != nodes)
    throw InputError(
        fmt::format("host order sub-cube of {} nodes; expected a sixth power: 1, 64, 729, 4096, 15625 ...", nodes));
  const int extent = side * side;
  if (network.extents != std::vector<int>{extent, extent, extent})
    throw InputError(fmt::format("host order sub-cube of {} nodes on extents {}; expected {}x{}x{}", nodes,
                                 fmt::join(network.extents, "x"), extent, extent, extent));
  const int of_a_cube = side * side * side;
  std::vector<int> hosts;
  for (int node = 0; node < nodes; ++node) {
    const int cube = node / of_a_cube, inside = node % of_a_cube;
    std::vector<int> at;
    for (const int power : {side * side, side, 1}) at.push_back(cube / power % side * side + inside / power % side);
    hosts.push_back(number_of(at, network.extents));
  }
  return hosts;
}

/// Fisher and Yates, with numbers that are the same on every machine.
std::vector<int> shuffled(int hosts, std::uint64_t seed) {
  std::vector<int> all(static_cast<std::size_t>(hosts));
  std::iota(all.begin(), all.end(), 0);
  std::uint64_t state = seed;
  for (std::size_t left = all.size(); left > 1; --left) {
    state = mix(state + left);
    std::swap(all[left - 1], all[state % left]);
  }
  return all;
}

}  // namespace

std::vector<int> host_order(const NetworkShape& network, int nodes, HostOrder order, std::uint64_t seed) {
  if (order == HostOrder::hilbert) return along_hilbert_curve(network, nodes);
  if (order == HostOrder::sub_cube) return in_sub_cubes(network, nodes);
  std::vector<int> hosts;
  if (order == HostOrder::random) {
    hosts = shuffled(network.hosts, seed);
    hosts.resize(static_cast<std::size_t>(nodes));
    return hosts;
  }
  hosts.resize(static_cast<std::size_t>(nodes));
  std::iota(hosts.begin(), hosts.end(), 0);
  return hosts;
}

}  // namespace fourscore
