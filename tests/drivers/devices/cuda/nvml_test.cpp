// What NVML tells, read from a library of the tests' own that stands at its name.

#include "devices/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "hwcounters/group.hpp"

namespace fourscore::cuda {
namespace {

using nlohmann::json;

constexpr const char* bus = "0000:3B:00.0";

/// While the library lacks a function.
class Without {
 public:
  explicit Without(const char* function) { setenv("FAKE_NVML_LACKS", function, 1); }
  ~Without() { unsetenv("FAKE_NVML_LACKS"); }
  Without(const Without&) = delete;
  Without& operator=(const Without&) = delete;
};

TEST(Nvml, TellsWhatAGpuIs) {
  EXPECT_EQ(nvml_identity(bus),
            json({{"driver", "999.12.03"}, {"ecc", true}, {"pcie_generation", 5}, {"pcie_width", 16}}));
}

TEST(Nvml, TellsTheStateOfNow) {
  const json first = nvml_state(bus);
  EXPECT_EQ(first.at("sm_clock_mhz"), 1410);
  EXPECT_EQ(first.at("memory_clock_mhz"), 1215);
  EXPECT_EQ(first.at("pcie_generation"), 1);
  EXPECT_EQ(first.at("pcie_width"), 8);
  EXPECT_GE(first.at("temperature_c"), 40);
  EXPECT_GE(first.at("power_w").get<double>(), 71);
  const json second = nvml_state(bus);
  EXPECT_NEAR(second.at("power_w").get<double>() - first.at("power_w").get<double>(), 1, 1e-9) << "in watts";
  EXPECT_EQ(second.at("temperature_c").get<int>() - first.at("temperature_c").get<int>(), 1);
}

TEST(Nvml, LeavesOutWhatADeviceDoesNotHave) {
  const Without without("nvmlDeviceGetEccMode");
  EXPECT_FALSE(nvml_identity(bus).contains("ecc"));
  EXPECT_TRUE(nvml_identity(bus).contains("pcie_width"));
  const Without neither("nvmlDeviceGetPowerUsage");
  EXPECT_FALSE(nvml_state(bus).contains("power_w"));
  EXPECT_TRUE(nvml_state(bus).contains("temperature_c"));
}

TEST(Nvml, KnowsNothingOfADeviceThatItDoesNotHave) {
  EXPECT_EQ(nvml_identity("0000:FF:00.0"), json({{"driver", "999.12.03"}})) << "the driver is there";
  EXPECT_EQ(nvml_state("0000:FF:00.0"), json::object());
}

TEST(NvmlEnergy, CountsTheJoulesOfEveryGpuOfTheNode) {
  CounterBackend& backend = counter_backend("nvml");
  EXPECT_EQ(backend.unavailable(), "");
  const Group group = find_group(backend, {"nvml", "ENERGY", "", {}}, "any");
  EXPECT_EQ(group.update_s, 0.1);
  const auto session = backend.open(group.events, {});
  EXPECT_EQ(session->scope(), CounterScope::node);
  const auto begin = std::chrono::steady_clock::now();
  session->start(0, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  session->stop();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  const auto joules = evaluate(group, session->counts().front(), {}).front();
  ASSERT_TRUE(joules);
  EXPECT_GE(*joules, 70 * 0.3 - 0.01);
  EXPECT_LE(*joules, 70 * elapsed.count() + 0.01);
}

TEST(NvmlEnergy, SaysWhyItCannotCount) {
  CounterBackend& backend = counter_backend("nvml");
  EXPECT_THROW((void)backend.open({{"event", "energy"}}, {}), CounterRequestError);
  const Without without("nvmlDeviceGetTotalEnergyConsumption");
  EXPECT_EQ(backend.unavailable(),
            "nvmlDeviceGetTotalEnergyConsumption: Not Supported; GPUs count their energy from Volta on");
  EXPECT_THROW((void)backend.open({{"device", "total_energy"}}, {}), CounterError);
}

/// Once in a process: a program of its own (CMakeLists.txt) where the library does not start.
TEST(Nvml, DISABLED_ThatDoesNotStartTellsNothing) {
  EXPECT_EQ(nvml_identity(bus), json::object());
  EXPECT_EQ(nvml_state(bus), json::object());
  EXPECT_EQ(counter_backend("nvml").unavailable(), "NVML does not start (nvmlInit_v2: Not Supported)");
}

}  // namespace
}  // namespace fourscore::cuda
