// Every group file that is shipped: it loads for each backend it has a table for, its events are ones that the backend
// understands, and its formulas give what data/groups.json says (worked out by hand).
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "hwcounters/group.hpp"
#include "hwcounters/group_file.hpp"
#include "hwcounters/perf_event.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

const nlohmann::json& expected() {
  static const nlohmann::json file =
      nlohmann::json::parse(std::ifstream(fs::path(FOURSCORE_TEST_DATA) / "groups.json"));
  return file;
}

std::vector<fs::path> shipped() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(groups_folder({})))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string key_of(const Group& group) { return group.arch + "/" + group.name + "/" + group.backend; }

/// A constant that a formula may use has a value for any request.
std::map<std::string, double> constants_of(const std::string& backend) {
  return counter_backend(backend).constants(CounterRequest{backend, "", "", {1 << 20, 16, 64}});
}

/// Backends whose groups these tests hold to; others may name what only they know.
bool counts_events_itself(const std::string& backend) {
  return backend == "perf" || backend == "resctrl" || backend == "powercap";
}

TEST(ShippedGroups, EveryMicroarchitectureHasMemoryAndCore) {
  for (const std::string arch : {"intel-skylake-sp", "intel-ice-lake-sp", "intel-sapphire-rapids",
                                 "intel-emerald-rapids", "intel-granite-rapids", "amd-zen2", "amd-zen3", "amd-zen4",
                                 "amd-zen5", "arm-neoverse-n1", "arm-neoverse-v1", "arm-neoverse-v2"})
    for (const std::string group : {"MEM", "CORE"})
      EXPECT_EQ(find_group(counter_backend("perf"), {"perf", group, "", {}}, arch).arch, arch);
}

TEST(ShippedGroups, LoadAndHaveFixedNames) {
  const std::map<std::string, std::string> units{{"dram_read_bytes", "bytes"},
                                                 {"dram_write_bytes", "bytes"},
                                                 {"dram_bytes", "bytes"},
                                                 {"flops", "flops"},
                                                 {"cycles", "cycles"},
                                                 {"instructions", "instructions"},
                                                 {"llc_misses", "misses"},
                                                 {"page_faults", "events"},
                                                 {"context_switches", "events"},
                                                 {"last_level_accesses", "accesses"},
                                                 {"task_clock_ns", "ns"},
                                                 {"package_j", "J"},
                                                 {"dram_j", "J"},
                                                 {"device_j", "J"}};
  ASSERT_GT(shipped().size(), 20U);
  for (const fs::path& file : shipped())
    for (const std::string& backend : backends_of(file)) {
      const Group group = load_group(file, backend, constants_of(backend));
      EXPECT_EQ(group.description.find('\n'), std::string::npos) << file;
      for (const Metric& metric : group.metrics) {
        const auto unit = units.find(metric.name);
        EXPECT_TRUE(unit != units.end() || !counts_events_itself(backend)) << file << " " << metric.name;
        EXPECT_EQ(metric.unit, unit == units.end() ? metric.unit : unit->second) << file << " " << metric.name;
      }
    }
}

TEST(ShippedGroups, FormulasGiveWhatIsWorkedOutByHand) {
  std::set<std::string> met;
  for (const fs::path& file : shipped())
    for (const std::string& backend : backends_of(file)) {
      const auto constants = constants_of(backend);
      const Group group = load_group(file, backend, constants);
      if (!counts_events_itself(backend) && !expected().contains(key_of(group))) continue;
      ASSERT_TRUE(expected().contains(key_of(group))) << key_of(group) << " has no numbers in groups.json";
      const auto& numbers = expected()[key_of(group)];
      met.insert(key_of(group));
      std::vector<EventCount> counts;
      ASSERT_EQ(numbers["events"].size(), group.events.size()) << key_of(group);
      for (const EventSpec& event : group.events) counts.emplace_back(numbers["events"].at(event.name).get<double>());
      const auto metrics = evaluate(group, counts, constants);
      ASSERT_EQ(numbers["metrics"].size(), metrics.size()) << key_of(group);
      for (std::size_t i = 0; i < metrics.size(); ++i)
        EXPECT_THAT(metrics[i], ::testing::Optional(numbers["metrics"].at(group.metrics[i].name).get<double>()))
            << key_of(group) << " " << group.metrics[i].name;
    }
  EXPECT_EQ(met.size(), expected().size()) << "groups.json has numbers for groups that are not there";
}

/// What one table alone uses belongs in that table.
TEST(ShippedGroups, SharedMetricsAreUsedByAtLeastTwo) {
  for (const auto& entry : fs::directory_iterator(groups_folder({}) / "metrics")) {
    int users = 0;
    const std::string line = "metrics = \"" + entry.path().stem().string() + "\"";
    for (const fs::path& file : shipped()) {
      std::ifstream in(file);
      for (std::string text; std::getline(in, text);) users += text == line ? 1 : 0;
    }
    EXPECT_GE(users, 2) << entry.path();
  }
}

TEST(ShippedGroups, EightChannelsOfFourCountersTakeTwoRuns) {
  for (const std::string arch : {"amd-zen2", "amd-zen3"}) {
    const Group group = find_group(counter_backend("perf"), {"perf", "MEM", "", {}}, arch);
    EXPECT_EQ(std::count_if(group.events.begin(), group.events.end(), [](const EventSpec& e) { return e.pass == 0; }),
              4);
    EXPECT_EQ(std::count_if(group.events.begin(), group.events.end(), [](const EventSpec& e) { return e.pass == 1; }),
              4);
  }
}

/// On the machines whose sysfs we have written down, the events can be encoded.
TEST(ShippedGroups, EventsAreEncodedOnTheirMachines) {
  const auto& perf = counter_backend("perf");
  for (const auto& [tree, arch] :
       {std::pair{"sysfs/skylake-sp.txt", "intel-skylake-sp"}, std::pair{"sysfs/zen4.txt", "amd-zen4"}}) {
    const RecordedTree machine(tree);
    const SysfsPmus pmus(machine.root());
    for (const std::string group : {"MEM", "CORE", "SOFTWARE"})
      for (const EventSpec& event : find_group(perf, {"perf", group, "", {}}, arch).events) {
        const PerfEvent resolved = resolve_perf_event(event.code, pmus, 0);
        EXPECT_EQ(resolved.uncore, group == "MEM") << event.code;
        EXPECT_FALSE(resolved.counters.empty()) << event.code;
      }
  }
}

}  // namespace
}  // namespace fourscore
