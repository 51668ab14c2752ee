// Simulated networks: routes, platforms and orders of hosts, by arithmetic alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "simulation/host_order.hpp"
#include "simulation/platform.hpp"
#include "simulation/topology.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using test::message_of;
using testing::HasSubstr;

NetworkShape lattice(const std::string& topology, std::vector<int> extents) {
  NetworkShape shape;
  shape.topology = topology;
  shape.extents = std::move(extents);
  shape.hosts = hosts_of(shape);
  return shape;
}

std::vector<NetworkShape> shapes() {
  NetworkShape cube{.topology = "hypercube", .hosts = 16};
  NetworkShape tree{.topology = "fat-tree", .down = {4, 3, 2}, .up = {1, 2, 2}, .hosts = 24};
  NetworkShape dragonfly{.topology = "dragonfly", .groups = 5, .routers = 2, .hosts_per_router = 3, .hosts = 30};
  NetworkShape full{.topology = "full", .hosts = 7};
  NetworkShape star{.topology = "star", .hosts = 9};
  return {lattice("torus", {4, 3, 2}),
          lattice("mesh", {5, 4}),
          lattice("torus", {2, 3, 2, 2}),
          cube,
          tree,
          dragonfly,
          full,
          star};
}

std::vector<std::int64_t> route(const NetworkTopology& topology, int from, int to) {
  std::vector<std::int64_t> links;
  topology.route(from, to, links);
  return links;
}

TEST(Topology, EveryRouteTakesLinksThatThereAreAndNoneTwice) {
  for (NetworkShape shape : shapes())
    for (const bool shared : {false, true}) {
      shape.shared_by_directions = shared;
      const auto topology = make_topology(shape);
      for (int from = 0; from < shape.hosts; ++from)
        for (int to = 0; to < shape.hosts; ++to) {
          if (from == to) continue;
          const auto links = route(*topology, from, to);
          ASSERT_FALSE(links.empty()) << shape.topology;
          EXPECT_EQ(std::set(links.begin(), links.end()).size(), links.size()) << shape.topology;
          for (const std::int64_t link : links) EXPECT_TRUE(link >= 0 && link < topology->links()) << shape.topology;
        }
    }
}

TEST(Topology, ARouteHasAsManyLinksAsTheHostsAreApart) {
  const auto torus = make_topology(lattice("torus", {8, 8}));
  EXPECT_EQ(route(*torus, 0, 7).size(), 1U);   // round the edge
  EXPECT_EQ(route(*torus, 0, 36).size(), 8U);  // (0,0) to (4,4)
  const auto mesh = make_topology(lattice("mesh", {8, 8}));
  EXPECT_EQ(route(*mesh, 0, 7).size(), 7U);
  EXPECT_EQ(route(*make_topology({.topology = "hypercube", .hosts = 16}), 0b0101, 0b1010).size(), 4U);
  const auto tree = make_topology({.topology = "fat-tree", .down = {4, 3, 2}, .up = {1, 2, 2}, .hosts = 24});
  EXPECT_EQ(route(*tree, 0, 3).size(), 2U);   // one switch
  EXPECT_EQ(route(*tree, 0, 23).size(), 6U);  // over the top
}

TEST(Topology, TheTwoDirectionsOfASharedWireAreOneLink) {
  NetworkShape shape = lattice("mesh", {4});
  auto topology = make_topology(shape);
  EXPECT_NE(route(*topology, 0, 1), route(*topology, 1, 0));
  shape.shared_by_directions = true;
  topology = make_topology(shape);
  EXPECT_EQ(route(*topology, 0, 1), route(*topology, 1, 0));
}

/// eleftheriou2005: of an all-to-all within a line of p, the most loaded link carries p/4 hops' worth a direction pair.
TEST(Topology, AnAllToAllLoadsTheLinksOfATorusEvenly) {
  const auto torus = make_topology(lattice("torus", {8}));
  std::vector<int> loads(static_cast<std::size_t>(torus->links()));
  for (int from = 0; from < 8; ++from)
    for (int to = 0; to < 8; ++to)
      if (from != to)
        for (const std::int64_t link : route(*torus, from, to)) ++loads[static_cast<std::size_t>(link)];
  EXPECT_LE(*std::max_element(loads.begin(), loads.end()) - *std::min_element(loads.begin(), loads.end()), 2);
}

TEST(Topology, WhatCannotBeIsRefused) {
  NetworkShape torus = lattice("torus", {4, 4});
  torus.hosts = 20;
  EXPECT_THAT(message_of([&] { (void)make_topology(torus); }), HasSubstr("4x4 has 16 hosts, and not the 20 asked for"));
  EXPECT_THAT(message_of([] { (void)make_topology({.topology = "hypercube", .hosts = 12}); }),
              HasSubstr("expected a power of two"));
  EXPECT_THAT(message_of([] { (void)make_topology({.topology = "tours", .hosts = 2}); }),
              HasSubstr("did you mean 'torus'?"));
}

TEST(Topology, ExtentsAreAsEqualAsTheHostsAllow) {
  EXPECT_EQ(most_cubic_extents(512, 3), (std::vector<int>{8, 8, 8}));
  EXPECT_EQ(most_cubic_extents(1024, 3), (std::vector<int>{16, 8, 8}));
  EXPECT_EQ(most_cubic_extents(7, 2), (std::vector<int>{7, 1}));
}

TEST(HostOrder, EachIsAPermutation) {
  const NetworkShape cube = lattice("torus", {4, 4, 4});
  for (const HostOrder order : {HostOrder::row_major, HostOrder::random, HostOrder::hilbert, HostOrder::sub_cube}) {
    const std::vector<int> hosts = host_order(cube, 64, order, 7);
    EXPECT_EQ(std::set(hosts.begin(), hosts.end()).size(), 64U) << to_string(order);
    EXPECT_EQ(hosts, host_order(cube, 64, order, 7)) << to_string(order);
  }
  EXPECT_NE(host_order(cube, 64, HostOrder::random, 7), host_order(cube, 64, HostOrder::random, 8));
}

TEST(HostOrder, NeighboursOnTheHilbertCurveAreNeighboursInTheMesh) {
  for (const auto& extents : {std::vector<int>{8, 8}, std::vector<int>{4, 4, 4}}) {
    const auto mesh = make_topology(lattice("mesh", extents));
    const std::vector<int> hosts = host_order(lattice("mesh", extents), 64, HostOrder::hilbert, 1);
    for (std::size_t i = 1; i < hosts.size(); ++i) EXPECT_EQ(route(*mesh, hosts[i - 1], hosts[i]).size(), 1U) << i;
  }
}

/// czechowski2012, Eq. 4: a row of sqrt(P) = 8 ranks is a cube of 2x2x2, so no two of them are over three links apart.
TEST(HostOrder, ARowOfSubCubesIsACube) {
  const auto torus = make_topology(lattice("torus", {4, 4, 4}));
  const std::vector<int> hosts = host_order(lattice("torus", {4, 4, 4}), 64, HostOrder::sub_cube, 1);
  for (std::size_t row = 0; row < 64; row += 8)
    for (std::size_t i = 1; i < 8; ++i) EXPECT_LE(route(*torus, hosts[row], hosts[row + i]).size(), 3U);
}

TEST(HostOrder, WhatTheNetworkDoesNotAllowIsRefused) {
  const NetworkShape torus = lattice("torus", {4, 4, 4});
  EXPECT_THAT(message_of([&] { (void)host_order(torus, 32, HostOrder::sub_cube, 1); }),
              HasSubstr("expected a sixth power"));
  EXPECT_THAT(message_of([] {
                (void)host_order(lattice("torus", {16, 4}), 64, HostOrder::sub_cube, 1);
              }),
              HasSubstr("expected 4x4x4"));
  EXPECT_THAT(message_of([] {
                (void)host_order(lattice("torus", {6, 6}), 36, HostOrder::hilbert, 1);
              }),
              HasSubstr("one power of two"));
  EXPECT_THAT(message_of([] { (void)host_order({.topology = "star", .hosts = 8}, 8, HostOrder::hilbert, 1); }),
              HasSubstr("expected a torus or a mesh"));
}

class PlatformFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& network, const std::string& rest = "") {
    std::ofstream(file_) << "summary = \"s\"\nsource = \"t\"\n[network]\n"
                         << network << "\n"
                         << "[host]\nspeed_flops_per_s = 1e9\nmemory_bandwidth_bytes_per_s = 1e10\n"
                         << rest;
    return file_;
  }
  std::string error(const std::string& network, const std::string& rest = "") {
    return message_of([&] { (void)read_platform(write(network, rest)); });
  }
  void TearDown() override { std::filesystem::remove(file_); }
  std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("fourscore-platform-" + std::to_string(::getpid()) + ".toml");
  static constexpr const char* rates = "link_bandwidth_bytes_per_s = 1e9\nlink_latency_s = 1e-6\n";
};

TEST_F(PlatformFile, IsReadWithAllItSays) {
  const Platform platform = read_platform(write(std::string("topology = \"mesh\"\nextents = [4, 2]\n") + rates,
                                                "[messages]\nsend_overhead_s = 2e-6\neager_limit_bytes = 1024\n"));
  EXPECT_EQ(platform.network.hosts, 8);
  EXPECT_EQ(platform.link_bandwidth_bytes_per_s, 1e9);
  EXPECT_EQ(platform.send_overhead_s, 2e-6);
  EXPECT_EQ(platform.eager_limit_bytes, 1024);
}

TEST_F(PlatformFile, SaysWhatThreadsOfAHostShareAndCost) {
  const std::string star = std::string("topology = \"star\"\n") + rates;
  const Platform without = read_platform(write(star));
  EXPECT_EQ(without.cores, 0);
  EXPECT_EQ(without.host_memory_bandwidth_bytes_per_s, 0);
  EXPECT_EQ(without.barrier_s_per_thread, 0);
  const Platform platform = read_platform(write(
      star, "cores = 68\nhost_memory_bandwidth_bytes_per_s = 3e11\nbarrier_s_per_thread = 1e-7\nhand_over_s = 2e-7\n"));
  EXPECT_EQ(platform.cores, 68);
  EXPECT_EQ(platform.host_memory_bandwidth_bytes_per_s, 3e11);
  EXPECT_EQ(platform.barrier_s_per_thread, 1e-7);
  EXPECT_EQ(platform.hand_over_s, 2e-7);
  EXPECT_THAT(error(star, "hand_over = 2e-7\n"), HasSubstr("expected 'hand_over_s'"));
}

TEST_F(PlatformFile, AQuantityWithoutAUnitIsRefused) {
  EXPECT_THAT(error("topology = \"star\"\nlink_bandwidth = 1e9\nlink_latency_s = 0\n"),
              HasSubstr("'link_bandwidth' of [network] has no unit; expected 'link_bandwidth_bytes_per_s'"));
}

TEST_F(PlatformFile, ExtentsAndHostsMustAgree) {
  EXPECT_THAT(error(std::string("topology = \"torus\"\nextents = [4, 4]\nhosts = 20\n") + rates),
              HasSubstr("is 20, and its extents give 16"));
}

TEST_F(PlatformFile, HostsOfOneRouterShareItsLinks) {
  const std::string pairs = std::string("topology = \"mesh\"\nextents = [2, 2]\nhosts_per_router = 2\n") + rates;
  const Platform platform = read_platform(write(pairs));
  EXPECT_EQ(platform.network.hosts, 8);
  const auto topology = make_topology(platform.network);
  EXPECT_TRUE(route(*topology, 0, 1).empty());
  EXPECT_EQ(route(*topology, 0, 7), route(*topology, 1, 6));
  EXPECT_THAT(message_of([&] { (void)host_order(platform.network, 4, HostOrder::hilbert, 1); }),
              HasSubstr("2 hosts a router; expected one"));
  EXPECT_THAT(error(std::string("topology = \"mesh\"\ndimensions = 2\nhosts_per_router = 2\n") + rates),
              HasSubstr("expected extents with it"));
}

TEST_F(PlatformFile, RoutingIsCutThroughUnlessItSaysOtherwise) {
  const std::string star = std::string("topology = \"star\"\n") + rates;
  EXPECT_FALSE(read_platform(write(star)).stores_and_forwards);
  EXPECT_TRUE(read_platform(write(star + "routing = \"store-and-forward\"\n")).stores_and_forwards);
  EXPECT_THAT(error(star + "routing = \"wormhole\"\n"),
              HasSubstr("routing of [network]: 'wormhole'; expected \"cut-through\" or \"store-and-forward\""));
}

TEST_F(PlatformFile, APutTakesWhatASendTakesUnlessItSaysOtherwise) {
  const std::string star = std::string("topology = \"star\"\n") + rates;
  EXPECT_EQ(read_platform(write(star, "[messages]\nsend_overhead_s = 2e-6\n")).put_overhead_s, 2e-6);
  EXPECT_EQ(read_platform(write(star, "[messages]\nsend_overhead_s = 2e-6\nput_overhead_s = 1e-7\n")).put_overhead_s,
            1e-7);
}

TEST_F(PlatformFile, MoreHostsThanThereAreAreRefused) {
  const Platform platform = read_platform(write(std::string("topology = \"torus\"\nextents = [4, 4]\n") + rates));
  EXPECT_THAT(message_of([&] { (void)fitted(platform, 17); }), HasSubstr("has 16 hosts, and 17 are asked for"));
  const Platform open = read_platform(write(std::string("topology = \"torus\"\ndimensions = 3\n") + rates));
  EXPECT_EQ(fitted(open, 64).network.extents, (std::vector<int>{4, 4, 4}));
}

TEST(Platforms, AllThatAreShippedCanBeRead) {
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FOURSCORE_SOURCE_DIR "/jobscripts/platforms")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_EQ(message_of([&] { (void)make_topology(fitted(read_platform(entry.path()), 1).network); }), "no error")
        << entry.path();
    ++read;
  }
  EXPECT_GE(read, 8);
}

}  // namespace
}  // namespace fourscore
