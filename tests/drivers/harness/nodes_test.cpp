#include "harness/nodes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/provenance.hpp"
#include "mpi/handles.hpp"
#include "support/pretended_nodes.hpp"
#include "support/world.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

using test::rank;
using test::size;

class PretendedNodes : public testing::Test {
  test::EachRankIsANode nodes_;
};

NodeDescription pretend(const std::string& model, const std::string& governor) {
  return {fmt::format("n{}", rank()), {{"cpu_model", model}}, {{"governor", governor}}};
}

/// The last rank of several has `value`, the others have `usual`.
std::string last_has(const std::string& value, const std::string& usual) {
  return rank() > 0 && rank() == size() - 1 ? value : usual;
}

TEST(JobNodes, OfOneMachineAreOne) {
  const JobNodes nodes = describe_nodes(MPI_COMM_WORLD);
  if (rank() != 0) {
    EXPECT_TRUE(nodes.hosts.empty() && nodes.machines.empty() && nodes.facts.empty());
    return;
  }
  ASSERT_EQ(nodes.hosts.size(), 1U);
  EXPECT_EQ(nodes.hosts[0], describe_this_node().host);
  EXPECT_EQ(nodes.node_of_rank, std::vector<int>(static_cast<std::size_t>(size()), 0));
  ASSERT_EQ(nodes.facts.size(), 1U);
  EXPECT_EQ(nodes.facts[0].ranks.size(), static_cast<std::size_t>(size()));
  EXPECT_FALSE(nodes.facts[0].ranks[0].cores.empty());
  ASSERT_EQ(nodes.machines.size(), 1U);
  EXPECT_EQ(nodes.machines[0].value, machine_identity());
  EXPECT_EQ(nodes.core_maps[0].value.size(), static_cast<std::size_t>(size()));
  EXPECT_FALSE(nodes.heterogeneous());
  EXPECT_EQ(nodes.placement(), "block");
}

TEST_F(PretendedNodes, AreDescribedOnceWhereTheyAreAlike) {
  const JobNodes nodes = describe_nodes(MPI_COMM_WORLD, [] { return pretend("A", "performance"); });
  if (rank() != 0) return;
  const auto count = static_cast<std::size_t>(size());
  ASSERT_EQ(nodes.hosts.size(), count);
  for (std::size_t node = 0; node < count; ++node) EXPECT_EQ(nodes.hosts[node], fmt::format("n{}", node));
  EXPECT_EQ(nodes.facts.size(), count);
  ASSERT_EQ(nodes.machines.size(), 1U);
  EXPECT_EQ(nodes.machines[0].nodes, count == 1 ? "0" : fmt::format("0-{}", count - 1));
  EXPECT_EQ(nodes.settings.size(), 1U);
  EXPECT_FALSE(nodes.heterogeneous());
}

TEST_F(PretendedNodes, OfOneKernelShareItsCores) {
  const JobNodes nodes = describe_nodes(MPI_COMM_WORLD, [] {
    NodeDescription mine = pretend("A", "performance");
    mine.kernel = last_has("other", "one");
    return mine;
  });
  if (rank() != 0) return;
  const auto count = static_cast<std::size_t>(size());
  EXPECT_EQ(nodes.facts.size(), count);
  EXPECT_EQ(nodes.share_a_kernel(), count > 2) << "the last of several is another machine";
  ASSERT_EQ(nodes.facts_by_kernel.size(), std::min<std::size_t>(count, 2));
  std::vector<int> kernels(count, 0);
  if (count > 1) kernels.back() = 1;
  EXPECT_EQ(nodes.kernel_of_rank, kernels);
  EXPECT_EQ(nodes.facts_by_kernel[0].ranks.size(), std::max<std::size_t>(count - 1, 1));
  EXPECT_EQ(nodes.facts_by_kernel[0].last_level_cache_bytes, nodes.facts[0].last_level_cache_bytes)
      << "a cache of all counts once";
}

TEST_F(PretendedNodes, OfUnknownKernelsAreApart) {
  const JobNodes nodes = describe_nodes(MPI_COMM_WORLD, [] { return pretend("A", "performance"); });
  if (rank() != 0) return;
  EXPECT_FALSE(nodes.share_a_kernel());
  EXPECT_EQ(nodes.kernel_of_rank, nodes.node_of_rank);
}

TEST_F(PretendedNodes, WithAnotherProcessorAreHeterogeneous) {
  const JobNodes nodes = describe_nodes(MPI_COMM_WORLD, [] { return pretend(last_has("B", "A"), "performance"); });
  if (rank() != 0) return;
  EXPECT_EQ(nodes.heterogeneous(), size() > 1);
  if (size() < 2) return;
  ASSERT_EQ(nodes.machines.size(), 2U);
  EXPECT_EQ(nodes.machines[1].nodes, fmt::to_string(size() - 1));
  EXPECT_EQ(nodes.machines[1].value["cpu_model"], "B");
  const Provenance provenance = provenance_of(nodes, json::object(), "local", 1, {});
  const json& identity = provenance.record["identity"];
  EXPECT_EQ(identity["machine"]["cpu_model"], "A");
  EXPECT_EQ(identity["other_machines"][fmt::to_string(size() - 1)]["cpu_model"], "B");
  EXPECT_EQ(identity["launch"]["nodes"], size());
  JobNodes alike = nodes;
  alike.machines.pop_back();
  EXPECT_NE(provenance_of(alike, json::object(), "local", 1, {}).record["identity_hash"],
            provenance.record["identity_hash"]);
}

TEST_F(PretendedNodes, WithAnotherGovernorAreHeterogeneous) {
  const JobNodes nodes =
      describe_nodes(MPI_COMM_WORLD, [] { return pretend("A", last_has("powersave", "performance")); });
  if (rank() != 0) return;
  EXPECT_EQ(nodes.heterogeneous(), size() > 1);
  EXPECT_EQ(nodes.machines.size(), 1U);
}

TEST_F(PretendedNodes, AreSummedUpByWhoIsLowestAndHighest) {
  const json states = states_of_nodes(MPI_COMM_WORLD, [] {
    NodeState state;
    state.load_1min = 10.0 + rank();
    if (rank() == 0) state.temperature_c = 40;
    return state;
  });
  if (rank() != 0) {
    EXPECT_TRUE(states.is_null());
    return;
  }
  EXPECT_EQ(states["load_1min"]["min"], 10.0);
  EXPECT_EQ(states["load_1min"]["max"], 9.0 + size());
  EXPECT_EQ(states["temperature_c"]["median"], 40.0);
  EXPECT_FALSE(states.contains("cpu_mhz"));
}

TEST(JobNodes, SayHowRanksArePlaced) {
  JobNodes nodes;
  nodes.hosts = {"a", "b"};
  nodes.node_of_rank = {0, 0, 1, 1};
  EXPECT_EQ(nodes.placement(), "block");
  nodes.node_of_rank = {0, 1, 0, 1};
  EXPECT_EQ(nodes.placement(), "cyclic");
  nodes.node_of_rank = {0, 1, 1, 0};
  EXPECT_EQ(nodes.placement(), json({"0,3", "1-2"}));
}

}  // namespace
}  // namespace fourscore
