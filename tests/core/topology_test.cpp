// What is said of a machine, on machines that hwloc makes up from a line of text (HWLOC_SYNTHETIC) or reads from a file
// (HWLOC_XMLFILE).

#include "core/topology.hpp"

#include <gmock/gmock.h>
#include <sched.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace {

/// Units that the system says this thread may run on; hwloc asks by this call.
const std::vector<int> allowed_units{0, 5, 1023, 1024, 2047};

}  // namespace

extern "C" int sched_getaffinity(pid_t /*thread*/, std::size_t bytes, cpu_set_t* set) noexcept {
  if (bytes * 8 <= static_cast<std::size_t>(allowed_units.back())) {
    errno = EINVAL;  // as the kernel says of a set that is too short
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  for (const int unit : allowed_units) CPU_SET_S(static_cast<std::size_t>(unit), bytes, set);
  return 0;
}

namespace fourscore {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::Pair;

class TopologyOf : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
  }
  static void pretend(const std::string& machine) { setenv("HWLOC_SYNTHETIC", machine.c_str(), 1); }
};

/// Two sockets with a memory each, of two L3 caches of four cores, of two threads each.
constexpr const char* two_sockets = "Package:2 NUMANode:1 L3Cache:2(size=33554432) L2Cache:4(size=1048576) Core:1 PU:2";

TEST_F(TopologyOf, TwoSocketsCountsCoresThreadsMemoriesAndCaches) {
  pretend(two_sockets);
  const json identity = Topology().identity();
  EXPECT_EQ(identity.at("cores"), 16);
  EXPECT_EQ(identity.at("threads_per_core"), 2);
  EXPECT_EQ(identity.at("numa_nodes"), 2);
  EXPECT_EQ(identity.at("caches"), (json{{{"level", 2}, {"bytes", 1048576}, {"shared_by", 1}},
                                         {{"level", 3}, {"bytes", 33554432}, {"shared_by", 4}}}));
  EXPECT_FALSE(identity.contains("cpu_model"));
}

TEST_F(TopologyOf, TwoSocketsFindsWhatHoldsAUnit) {
  pretend(two_sockets);
  const Topology topology;
  EXPECT_THAT(topology.cores_of({0, 1, 2, 31}), ElementsAre(0, 1, 15));
  EXPECT_EQ(topology.package_of(15), 0);
  EXPECT_EQ(topology.package_of(16), 1);
  EXPECT_THAT(topology.last_level_caches_of({0, 7}), ElementsAre(Pair(0, 33554432.0)));
  EXPECT_THAT(topology.last_level_caches_of({7, 8, 31}),
              ElementsAre(Pair(0, 33554432.0), Pair(1, 33554432.0), Pair(3, 33554432.0)));
}

/// Linux as a rule numbers the first thread of every core first.
TEST_F(TopologyOf, ThreadsOfACoreAreFoundWhateverTheirNumbers) {
  pretend("Package:2 L3Cache:1(size=1000) Core:2 PU:2(indexes=0,4,1,5,2,6,3,7)");
  const Topology topology;
  EXPECT_THAT(topology.cores_of({0, 4}), ElementsAre(0));
  EXPECT_THAT(topology.cores_of({0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(topology.cores_of({3, 7}), ElementsAre(3));
  EXPECT_EQ(topology.package_of(5), 0);
  EXPECT_EQ(topology.package_of(6), 1);
  EXPECT_THAT(topology.last_level_caches_of({6}), ElementsAre(Pair(1, 1000.0)));
}

TEST_F(TopologyOf, SeveralMemoriesInASocketAreEachANode) {
  pretend("Package:2 NUMANode:4 Core:2 PU:1");
  const json identity = Topology().identity();
  EXPECT_EQ(identity.at("numa_nodes"), 8);
  EXPECT_EQ(identity.at("cores"), 16);
  EXPECT_EQ(identity.at("threads_per_core"), 1);
  EXPECT_THAT(identity.at("caches"), IsEmpty());
}

TEST_F(TopologyOf, MoreUnitsThanAFixedSetHolds) {
  pretend("Package:16 NUMANode:1 L3Cache:1(size=67108864) Core:64 PU:2");
  const Topology topology;
  const json identity = topology.identity();
  EXPECT_EQ(identity.at("cores"), 1024);
  EXPECT_EQ(identity.at("threads_per_core"), 2);
  EXPECT_THAT(topology.usable_units(), ElementsAreArray(allowed_units));
  EXPECT_THAT(topology.cores_of(topology.usable_units()), ElementsAre(0, 2, 511, 512, 1023));
  EXPECT_EQ(topology.package_of(1023), 7);
  EXPECT_EQ(topology.package_of(1024), 8);
  EXPECT_EQ(topology.package_of(2047), 15);
  EXPECT_THAT(topology.last_level_caches_of({1024, 2047}), ElementsAre(Pair(8, 67108864.0), Pair(15, 67108864.0)));
}

TEST_F(TopologyOf, WhatTheMachineDoesNotHaveIsNowhere) {
  pretend("Package:2 Core:2 PU:1");
  const Topology topology;
  EXPECT_THAT(topology.cores_of({4, 100}), IsEmpty());
  EXPECT_THAT(topology.last_level_caches_of({0, 4}), IsEmpty());
  EXPECT_EQ(topology.package_of(4), 0);
  EXPECT_EQ(topology.package_of(-1), 0);
}

TEST_F(TopologyOf, AnotherMachineThanThisOneSaysByWhichVariable) {
  EXPECT_EQ(Topology().described_by(), "");
  EXPECT_FALSE(Topology().identity().contains("described_by"));
  pretend(two_sockets);
  EXPECT_EQ(Topology().identity().at("described_by"), "HWLOC_SYNTHETIC");
  unsetenv("HWLOC_SYNTHETIC");
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_FSROOT", "HWLOC_CPUID_PATH"}) {
    const Topology topology;  // before: there is no such file
    setenv(name, "/a/file", 1);
    EXPECT_EQ(topology.described_by(), name);
    unsetenv(name);
  }
  setenv("HWLOC_THISSYSTEM", "0", 1);
  EXPECT_EQ(Topology().described_by(), "hwloc");
  unsetenv("HWLOC_THISSYSTEM");
}

/// A file of data/topologies, and what must be said of it.
struct Described {
  std::string name;
  json identity;
  std::map<std::vector<int>, std::set<int>> kinds;  ///< kinds of the cores of these units
};

constexpr int mib = 1 << 20;

json cache(int level, int bytes, int shared_by) {
  return {{"level", level}, {"bytes", bytes}, {"shared_by", shared_by}};
}

std::vector<Described> descriptions() {
  const json fast{cache(1, 48 << 10, 1), cache(2, 5 * mib / 4, 1), cache(3, 24 * mib, 14)};
  const json slow{cache(1, 32 << 10, 1), cache(2, 2 * mib, 4), cache(3, 24 * mib, 14)};
  const auto of = [](json caches, int threads, int cores, const std::string& type) {
    json kind{{"caches", std::move(caches)}, {"threads_per_core", threads}, {"cores", cores}};
    if (!type.empty()) kind["type"] = type;
    return kind;
  };
  const json none = json::array();
  return {
      {"two-kinds-of-core",
       {{"cores", 14},
        {"threads_per_core", 2},
        {"caches", fast},
        {"cpu_model", "fast and slow"},
        {"core_kinds", {of(fast, 2, 6, "IntelCore"), of(slow, 1, 8, "IntelAtom")}}},
       {{{0, 1, 11}, {0}}, {{12, 19}, {1}}, {{11, 12}, {0, 1}}, {{}, {}}}},
      {"partly-offline",
       {{"cores", 6},
        {"threads_per_core", 2},
        {"caches", {cache(1, 32 << 10, 1), cache(2, mib, 1), cache(3, 16 * mib, 4)}}},
       {{{0, 8, 11}, {0}}}},
      {"first-core-half-offline",
       {{"cores", 2},
        {"threads_per_core", 2},
        {"caches", {cache(1, 32 << 10, 1), cache(2, mib, 1), cache(3, 8 * mib, 2)}}},
       {{{0, 3}, {0}}}},
      {"partly-disallowed",
       {{"cores", 4}, {"threads_per_core", 2}, {"caches", {cache(1, 32 << 10, 1), cache(3, 8 * mib, 4)}}},
       {{{0, 7}, {0}}}},
      {"no-cores",
       {{"cores", 4}, {"caches", {cache(1, 32 << 10, 1), cache(2, mib, 1), cache(3, 8 * mib, 4)}}},
       {{{0, 3}, {0}}}},
      {"no-cores-and-no-caches", {{"cores", 3}, {"caches", none}}, {{{0, 2}, {0}}}},
      {"some-units-without-core", {{"cores", 4}, {"threads_per_core", 2}, {"caches", none}}, {{{0, 5}, {0}}}},
      {"unlike-by-capacity",
       {{"cores", 6},
        {"threads_per_core", 1},
        {"caches", none},
        {"core_kinds", {of(none, 1, 4, "446"), of(none, 1, 2, "1024")}}},
       {{{3}, {0}}, {{3, 4}, {0, 1}}}},
      // Their frequencies make no other cores of them.
      {"favoured-cores",
       {{"cores", 4}, {"threads_per_core", 1}, {"caches", {cache(1, 32 << 10, 1), cache(3, 8 * mib, 4)}}},
       {{{0, 3}, {0}}}},
      {"unlike-last-level-caches",
       {{"cores", 4},
        {"threads_per_core", 1},
        {"caches", {cache(1, 32 << 10, 1), cache(3, 96 * mib, 2)}},
        {"core_kinds",
         {of({cache(1, 32 << 10, 1), cache(3, 96 * mib, 2)}, 1, 2, ""),
          of({cache(1, 32 << 10, 1), cache(3, 32 * mib, 2)}, 1, 2, "")}}},
       {{{1, 2}, {0, 1}}}},
      {"one-unit", {{"cores", 1}, {"threads_per_core", 1}, {"caches", none}}, {{{0}, {0}}}},
  };
}

TEST_F(TopologyOf, EveryMachineOfAFileIsDescribedRightly) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(FOURSCORE_TEST_DATA "/topologies"))
    if (entry.path().extension() == ".xml") files.insert(entry.path().stem());
  for (const Described& expected : descriptions()) {
    SCOPED_TRACE(expected.name);
    EXPECT_EQ(files.erase(expected.name), 1U);
    setenv("HWLOC_XMLFILE", (FOURSCORE_TEST_DATA "/topologies/" + expected.name + ".xml").c_str(), 1);
    const Topology topology;
    json identity = topology.identity();
    EXPECT_EQ(identity.at("numa_nodes"), 1);
    EXPECT_EQ(identity.at("described_by"), "HWLOC_XMLFILE");
    identity.erase("numa_nodes");
    identity.erase("described_by");
    EXPECT_EQ(identity, expected.identity);
    std::vector<int> units(64);
    std::iota(units.begin(), units.end(), 0);
    EXPECT_EQ(topology.cores_of(units).size(), identity.at("cores").get<std::size_t>());
    for (const auto& [some, kinds] : expected.kinds) EXPECT_EQ(topology.kinds_of(topology.cores_of(some)), kinds);
  }
  EXPECT_THAT(files, IsEmpty()) << "without a description";
}

}  // namespace
}  // namespace fourscore
