// The tables of papi and likwid in the group files of this tree: they load, and their formulas give what the events
// say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>

#include "hwcounters/group.hpp"
#include "hwcounters/group_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return groups_folder({}); }

/// Metrics by name, from counts by event.
std::map<std::string, double> metrics(const std::string& file, const std::string& backend,
                                      const std::map<std::string, double>& counts) {
  const Group group = load_group(folder() / file, backend);
  std::vector<EventCount> ordered;
  for (const auto& event : group.events) ordered.emplace_back(counts.at(event.name));
  const auto values = evaluate(group, ordered, {});
  std::map<std::string, double> named;
  for (std::size_t i = 0; i < values.size(); ++i) named[group.metrics[i].name] = values[i].value();
  return named;
}

TEST(CounterTables, OfEveryProcessorLoadAndAreExplained) {
  std::map<std::string, int> tables;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    if (entry.path().extension() != ".toml") continue;
    for (const std::string backend : {"papi", "likwid"}) {
      if (!backends_of(entry.path()).contains(backend)) continue;
      const Group group = load_group(entry.path(), backend);
      ++tables[backend];
      std::string text = group.explanation;
      std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      EXPECT_THAT(text, testing::HasSubstr(backend)) << entry.path();
      for (const auto& event : group.events)
        EXPECT_EQ(event.code.find(' ') == std::string::npos || event.code.find('/') != std::string::npos, true)
            << entry.path() << ": " << event.code;
    }
  }
  EXPECT_GE(tables["papi"], 10);
  EXPECT_GE(tables["likwid"], 15);
}

TEST(CounterTables, MakeBytesOfColumnAccesses) {
  for (const std::string arch :
       {"intel-skylake-sp", "intel-ice-lake-sp", "intel-sapphire-rapids", "intel-emerald-rapids"})
    for (const std::string backend : {"papi", "likwid"}) {
      const auto values = metrics(arch + "/MEM.toml", backend, {{"reads", 16777216}, {"writes", 8388608}});
      EXPECT_EQ(values.at("dram_read_bytes"), 1073741824.0) << arch << backend;
      EXPECT_EQ(values.at("dram_write_bytes"), 536870912.0) << arch << backend;
      EXPECT_EQ(values.at("dram_bytes"), 1610612736.0) << arch << backend;
    }
  const auto subchannels = metrics("intel-granite-rapids/MEM.toml", "likwid",
                                   {{"reads_0", 10}, {"reads_1", 20}, {"writes_0", 3}, {"writes_1", 4}});
  EXPECT_EQ(subchannels.at("dram_read_bytes"), 1920.0);
  EXPECT_EQ(subchannels.at("dram_write_bytes"), 448.0);
  EXPECT_EQ(subchannels.at("dram_bytes"), 2368.0);
  EXPECT_EQ(metrics("any/MEM.toml", "likwid", {{"volume", 1.5}}).at("dram_bytes"), 1.5e9);
}

TEST(CounterTables, WeighFlopsByTheWidthOfTheInstruction) {
  const auto values = metrics("intel-ice-lake-sp/CORE.toml", "papi",
                              {{"instructions", 100},
                               {"cycles", 50},
                               {"flops_1", 1},
                               {"flops_2", 10},
                               {"flops_4", 100},
                               {"flops_8", 1000},
                               {"flops_16", 10000},
                               {"misses", 7}});
  EXPECT_EQ(values.at("flops"), 1 + 20 + 400 + 8000 + 160000);
  EXPECT_EQ(values.at("llc_misses"), 7);
}

}  // namespace
}  // namespace fourscore
