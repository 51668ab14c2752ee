#include <fcntl.h>
#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "hwcounters/group.hpp"
#include "hwcounters/powercap.hpp"
#include "support/message_of.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

/// Two packages of 1000 joules of range, the first with DRAM; and zones that are none of them.
class PowercapOfAMachine : public ::testing::Test {
 protected:
  PowercapOfAMachine() {
    zone("intel-rapl:0", "package-0", "900");
    zone("intel-rapl:0:0", "core", "5");
    zone("intel-rapl:0:1", "dram", "10");
    zone("intel-rapl:1", "package-1", "0");
    zone("intel-rapl:2", "psys", "3");
    zone("intel-rapl-mmio:0", "package-0", "900");
    tree_.write("intel-rapl/enabled", "1");
    backend_ = make_powercap_backend({tree_.root(), [this](const char* file) { return open_file(file); }});
  }
  void zone(const std::string& folder, const std::string& name, const std::string& energy) {
    tree_.write(folder + "/name", name);
    tree_.write(folder + "/max_energy_range_uj", "999999999");
    tree_.write(folder + "/energy_uj", energy);
  }
  int open_file(const char* file) const {
    if (denied_ && std::string(file).ends_with("energy_uj")) return -EACCES;
    const int descriptor = ::open(file, O_RDONLY);
    return descriptor < 0 ? -errno : descriptor;
  }
  std::unique_ptr<CounterSession> open() { return backend_->open({{"package", "package"}, {"dram", "dram"}}, {}); }
  template <class Error>
  std::string error_of(const std::string& code = "package") {
    return test::message_of<Error>([&] { return backend_->open({{"event", code}}, {}); });
  }

  RecordedTree tree_;
  bool denied_ = false;
  std::unique_ptr<CounterBackend> backend_;
};

TEST_F(PowercapOfAMachine, PackagesAndTheirDramAreSummedOnceAndNothingElseIs) {
  EXPECT_EQ(backend_->unavailable(), "");
  const auto session = open();
  EXPECT_EQ(session->scope(), CounterScope::node);
  session->start(0, 1);
  zone("intel-rapl:0", "package-0", "950");
  zone("intel-rapl:0:0", "core", "45");
  zone("intel-rapl:0:1", "dram", "17");
  zone("intel-rapl:1", "package-1", "200");
  zone("intel-rapl:2", "psys", "300");
  zone("intel-rapl-mmio:0", "package-0", "950");
  session->stop();
  EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(250.0), Optional(7.0))));
  EXPECT_FALSE(session->multiplexed());
}

TEST_F(PowercapOfAMachine, ACounterStartsAgainAtItsOwnRange) {
  zone("intel-rapl:0", "package-0", "999999900");
  const auto session = open();
  session->start(0, 2);
  zone("intel-rapl:0", "package-0", "20");  // to 999999999 it is 99, to 0 one more, to 20
  session->switch_to(1);
  zone("intel-rapl:0", "package-0", "25");
  session->stop();
  EXPECT_THAT(session->counts()[0][0], Optional(120.0));
  EXPECT_THAT(session->counts()[1][0], Optional(5.0));
}

TEST_F(PowercapOfAMachine, ReadingsBetweenWhichItMayHaveStartedAgainTwiceAreAnError) {
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:1", "intel-rapl:1"})
    tree_.write(std::string(zone) + "/max_energy_range_uj", "20000000");  // 20 J: at 1 kW 20 ms
  const auto session = open();
  session->start(0, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  session->stop();
  EXPECT_THAT(test::message_of<CounterError>([&] { return session->counts(); }),
              HasSubstr("nobody could tell how often it did"));
  session->start(0, 1);
  session->stop();
  EXPECT_NO_THROW((void)session->counts()) << "each run begins with a reading";
}

TEST_F(PowercapOfAMachine, ProcessorsWithoutADramZoneHaveNoDram) {
  tree_.remove("intel-rapl:0:1");
  const auto session = open();
  session->start(0, 1);
  zone("intel-rapl:1", "package-1", "30");
  session->stop();
  EXPECT_THAT(session->counts()[0], ElementsAre(Optional(30.0), Eq(std::nullopt)));
}

TEST_F(PowercapOfAMachine, AZoneThatVanishesIsAnError) {
  const auto session = open();
  session->start(0, 1);
  tree_.remove("intel-rapl:1");
  session->stop();
  EXPECT_THAT(test::message_of<CounterError>([&] { return session->counts(); }),
              AllOf(HasSubstr("intel-rapl:1/energy_uj"), HasSubstr("the zone is gone")));
}

TEST_F(PowercapOfAMachine, ItSaysWhyItCannotCount) {
  EXPECT_THAT(error_of<CounterRequestError>("packages"), HasSubstr("did you mean 'package'?"));
  denied_ = true;
  EXPECT_THAT(backend_->unavailable(), AllOf(HasSubstr("Permission denied"), HasSubstr("CVE-2020-8694"),
                                             HasSubstr("sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj")));
  EXPECT_THAT(error_of<CounterError>(), HasSubstr("chmod a+r"));
  denied_ = false;
  tree_.write("intel-rapl:0/energy_uj", "no number");
  EXPECT_THAT(backend_->unavailable(), HasSubstr("intel-rapl:0/energy_uj"));
  tree_.write("intel-rapl:0/energy_uj", "1");
  tree_.remove("intel-rapl:1/max_energy_range_uj");
  EXPECT_THAT(error_of<CounterError>(), HasSubstr("says no range"));
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:1", "intel-rapl:1"}) tree_.remove(zone);
  EXPECT_THAT(backend_->unavailable(), AllOf(HasSubstr("no RAPL"), HasSubstr("modprobe intel_rapl_msr")));
}

TEST_F(PowercapOfAMachine, AFolderThatSomebodyNamedIsAStandIn) {
  EXPECT_TRUE(backend_->emulated());
  const auto here = make_powercap_backend();
  EXPECT_FALSE(here->emulated());
  ::setenv("FOURSCORE_POWERCAP", tree_.root().c_str(), 1);
  EXPECT_TRUE(here->emulated());
  EXPECT_EQ(here->unavailable(), "");
  ::unsetenv("FOURSCORE_POWERCAP");
}

TEST(EnergyGroup, SaysHowOftenItsCountersMove) {
  for (const std::string backend : {"powercap", "perf"})
    EXPECT_EQ(find_group(counter_backend(backend), {backend, "ENERGY", "", {}}, "any").update_s, 0.001) << backend;
  EXPECT_EQ(find_group(counter_backend("perf"), {"perf", "SOFTWARE", "", {}}, "any").update_s, 0);
}

}  // namespace
}  // namespace fourscore
