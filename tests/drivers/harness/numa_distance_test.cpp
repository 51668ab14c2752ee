// How far a device is from a thread, by a table of the firmware's as the kernel shows it.

#include "harness/numa_distance.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace fourscore {
namespace {

namespace fs = std::filesystem;

class NumaDistances : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<std::string> table{"10 21 32\n", "21 10 23\n", "32 23 10\n"};
    for (std::size_t node = 0; node < table.size(); ++node) {
      const fs::path folder = folder_ / ("node" + std::to_string(node));
      fs::create_directories(folder);
      std::ofstream(folder / "distance") << table[node];
    }
  }
  void TearDown() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::temp_directory_path() / ("fourscore-numa-" + std::to_string(::getpid()));
};

TEST_F(NumaDistances, AreTheFirmwares) {
  EXPECT_EQ(numa_distance_between(0, 0, folder_), 10);
  EXPECT_EQ(numa_distance_between(0, 2, folder_), 32);
  EXPECT_EQ(numa_distance_between(2, 1, folder_), 23);
}

TEST_F(NumaDistances, AreUnknownWhereADomainIs) {
  EXPECT_FALSE(numa_distance_between(0, -1, folder_)) << "a device on no domain";
  EXPECT_FALSE(numa_distance_between(0, 3, folder_));
  EXPECT_FALSE(numa_distance_between(7, 0, folder_));
  EXPECT_FALSE(numa_distance(-1, folder_));
}

}  // namespace
}  // namespace fourscore
