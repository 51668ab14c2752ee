#include "harness/interconnect.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A folder in the form of /sys.
class Interconnect : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("FOURSCORE_INTERCONNECT");
    std::string pattern = testing::TempDir() + "fourscore-sys-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    system_ = pattern;
  }
  void TearDown() override {
    ::unsetenv("FOURSCORE_INTERCONNECT");
    fs::remove_all(system_);
  }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((system_ / file).parent_path());
    std::ofstream(system_ / file) << text << "\n";
  }
  void drive(const std::string& device, const std::string& driver) {
    fs::create_directories(system_ / device / "device");
    fs::create_symlink("/sys/bus/pci/drivers/" + driver, system_ / device / "device/driver");
  }
  void add_port(const std::string& device, const std::string& layer, const std::string& state) {
    write(device + "/ports/1/state", state);
    write(device + "/ports/1/rate", "200 Gb/sec (4X HDR)");
    write(device + "/ports/1/link_layer", layer);
  }
  void add_link(const std::string& link, const std::string& speed, const std::string& state) {
    write(link + "/operstate", state);
    write(link + "/speed", speed);
    drive(link, "ice");
  }
  [[nodiscard]] json found() const { return interconnect_identity(system_); }

  fs::path system_;
};

TEST_F(Interconnect, IsNothingWhereThereIsNone) { EXPECT_EQ(found(), json::array()); }

TEST_F(Interconnect, CountsLinksOfAKind) {
  for (const char* const device : {"class/infiniband/mlx5_0", "class/infiniband/mlx5_1"}) {
    add_port(device, "InfiniBand", "4: ACTIVE");
    drive(device, "mlx5_core");
  }
  add_port("class/infiniband/mlx5_2", "Ethernet", "4: ACTIVE");
  add_port("class/infiniband/mlx5_3", "InfiniBand", "1: DOWN");
  for (const char* const device : {"class/cxi/cxi0", "class/cxi/cxi1", "class/cxi/cxi2"}) drive(device, "cxi_ss1");
  EXPECT_EQ(found(), (json{"Ethernet 200 Gb/sec (4X HDR)", "2 x InfiniBand 200 Gb/sec (4X HDR), mlx5_core",
                           "3 x Slingshot, cxi_ss1"}));
}

TEST_F(Interconnect, KnowsEthernetThatIsUpAndReal) {
  add_link("class/net/eth0", "25000", "up");
  add_link("class/net/eth1", "-1", "up");
  add_link("class/net/eth2", "25000", "down");
  write("class/net/bridge/operstate", "up");
  EXPECT_EQ(found(), (json{"Ethernet 25000 Mbit/s, ice", "Ethernet, ice"}));
}

TEST_F(Interconnect, IsWhatTheUserSays) {
  add_link("class/net/eth0", "25000", "up");
  ::setenv("FOURSCORE_INTERCONNECT", "a torus", 1);
  EXPECT_EQ(found(), json{"a torus"});
}

}  // namespace
}  // namespace fourscore
