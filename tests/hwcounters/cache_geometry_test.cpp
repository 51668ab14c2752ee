#include "hwcounters/cache_geometry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

constexpr CacheGeometry no_machine{};

std::string refusal_of(const std::string& text) {
  return test::message_of<CounterRequestError>([&] { return simulated_cache(parse_cache_geometry(text), no_machine); });
}

TEST(CacheGeometry, IsReadWithUnitsAndShownAsItIsRead) {
  EXPECT_EQ(parse_cache_geometry("1MiB,16,64"), (CacheGeometry{1 << 20, 16, 64}));
  EXPECT_EQ(parse_cache_geometry("512KiB"), (CacheGeometry{512 * 1024, 0, 0}));
  EXPECT_EQ(parse_cache_geometry("65536,8"), (CacheGeometry{65536, 8, 0}));
  for (const char* text : {"1MiB,16,64", "512KiB,8", "3MiB", "1000,2,10"})
    EXPECT_EQ(to_string(parse_cache_geometry(text)), text);
}

TEST(CacheGeometry, AChosenSizeIsTheSameCacheOnEveryMachine) {
  const CacheGeometry machine{36 << 20, 12, 128};
  EXPECT_EQ(simulated_cache({1 << 20, 0, 0}, machine), (CacheGeometry{1 << 20, 16, 64}));
  EXPECT_EQ(simulated_cache({1 << 20, 0, 0}, no_machine), (CacheGeometry{1 << 20, 16, 64}));
  EXPECT_EQ(simulated_cache({}, machine), (CacheGeometry{36 << 20, 18, 128})) << "16 ways leave 18432 sets";
}

TEST(CacheGeometry, WaysGrowUntilThereIsAPowerOfTwoOfSets) {
  EXPECT_EQ(simulated_cache({3 << 20, 0, 0}, no_machine).ways, 24U);
  EXPECT_EQ(simulated_cache({std::uint64_t{33} << 20, 0, 0}, no_machine).ways, 33U);
  EXPECT_EQ(simulated_cache({512, 0, 0}, no_machine).ways, 8U) << "no more ways than lines";
}

TEST(CacheGeometry, WhatIsImpossibleIsRefusedWithWhatIsPossible) {
  for (const char* text :
       {"1MiB,7", "1000000", "1MiB,16,48", "1MiB,16,8", "64,1,64", "4GiB", "1MiB,32768", "17MiB,16"}) {
    EXPECT_THAT(refusal_of(text), testing::HasSubstr("expected SIZE[,WAYS[,LINE]]")) << text;
    EXPECT_THAT(refusal_of(text), testing::HasSubstr("counter cache '")) << text;
  }
  EXPECT_EQ(refusal_of("1MiB,16,64"), "no error");
}

TEST(CacheGeometry, TextThatIsNoGeometryIsRefusedWithTheWord) {
  for (const char* text : {"", "big", "1MiB,", "1MiB,16,64,2", "0", "-1MiB", "1 MiB", "99999999999999999999", "1mib"})
    EXPECT_THROW((void)parse_cache_geometry(text), CounterRequestError) << text;
  EXPECT_THAT(refusal_of("big,16"), testing::HasSubstr("'big'"));
}

TEST(CacheGeometry, OfTheMachineIsTheOutermostDataCacheOfSysfs) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "fourscore-caches";
  const auto write = [&](const char* index, const char* level, const char* type, const char* size, const char* ways) {
    std::filesystem::create_directories(folder / index);
    for (const auto& [name, text] : {std::pair{"level", level},
                                     {"type", type},
                                     {"size", size},
                                     {"ways_of_associativity", ways},
                                     {"coherency_line_size", "64"}})
      std::ofstream(folder / index / name) << text << "\n";
  };
  write("index0", "1", "Data", "48K", "12");
  write("index1", "1", "Instruction", "32K", "8");
  write("index2", "2", "Unified", "2048K", "16");
  write("index3", "3", "Unified", "36864K", "12");
  EXPECT_EQ(machine_cache(folder), (CacheGeometry{36 << 20, 12, 64}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(machine_cache(folder), no_machine);
  EXPECT_THROW((void)simulated_cache({}, machine_cache(folder)), CounterRequestError);
  EXPECT_EQ(simulated_line_bytes({}, machine_cache(folder)), 64U) << "a group is shown by its line alone";
}

}  // namespace
}  // namespace fourscore
