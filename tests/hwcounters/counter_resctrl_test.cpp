#include <gmock/gmock.h>

#include "hwcounters/resctrl.hpp"
#include "support/message_of.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

/// Two sockets with two last-level caches each, and resctrl mounted.
class ResctrlOfAMachine : public ::testing::Test {
 protected:
  ResctrlOfAMachine() : tree_("sysfs/zen4.txt") {
    for (const std::string domain : {"00", "01", "02", "03"}) count(domain, "1000", "500");
    tree_.write("fs/resctrl/info/L3_MON/mon_features", "mbm_total_bytes\nmbm_local_bytes");
    tree_.write("self/cpu_resctrl_groups", "res:/\nmon:");
    backend_ = make_resctrl_backend({tree_.root(), tree_.root(), [this] { return cpu_; }});
  }
  void count(const std::string& domain, const std::string& total, const std::string& local,
             const std::string& group = "fs/resctrl") {
    tree_.write(group + "/mon_data/mon_L3_" + domain + "/mbm_total_bytes", total);
    tree_.write(group + "/mon_data/mon_L3_" + domain + "/mbm_local_bytes", local);
  }
  std::unique_ptr<CounterSession> open() {
    return backend_->open({{"total", "mbm_total_bytes"}, {"local", "mbm_local_bytes"}}, {});
  }
  template <class Error>
  std::string error_of(const std::string& code = "mbm_total_bytes") {
    return test::message_of<Error>([&] { return backend_->open({{"event", code}}, {}); });
  }

  RecordedTree tree_;
  int cpu_ = 5;
  std::unique_ptr<CounterBackend> backend_;
};

TEST_F(ResctrlOfAMachine, CachesOfOurSocketAreSummed) {
  EXPECT_EQ(backend_->unavailable(), "");
  const auto session = open();
  EXPECT_EQ(session->scope(), CounterScope::socket);
  session->start(0, 2);
  count("00", "999999", "999999");
  count("02", "1600", "550");
  session->switch_to(1);
  count("02", "1700", "550");
  count("03", "1030", "510");
  session->stop();
  EXPECT_THAT(session->counts(),
              ElementsAre(ElementsAre(Optional(600.0), Optional(50.0)), ElementsAre(Optional(130.0), Optional(10.0))));
  EXPECT_FALSE(session->multiplexed());
}

TEST_F(ResctrlOfAMachine, WhatTheHardwareDoesNotTellIsAbsent) {
  const auto session = open();
  session->start(0, 2);
  count("03", "Unavailable", "Error");
  session->switch_to(1);
  session->stop();
  EXPECT_THAT(session->counts()[0], ElementsAre(Eq(std::nullopt), Eq(std::nullopt)));
  count("03", "1000", "500");
  session->start(0, 1);
  count("03", "1001", "502");
  session->stop();
  EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(1.0), Optional(2.0))));
}

TEST_F(ResctrlOfAMachine, CountersWrapAtTheirEnd) {
  count("02", "18446744073709551600", "500");
  const auto session = open();
  session->start(0, 1);
  count("02", "84", "500");
  session->stop();
  EXPECT_THAT(session->counts()[0][0], Optional(100.0));
}

TEST_F(ResctrlOfAMachine, TheGroupThatWeAreInIsRead) {
  for (const std::string domain : {"02", "03"}) count(domain, "10", "5", "fs/resctrl/jobs/mon_groups/ours");
  tree_.write("self/cpu_resctrl_groups", "res:jobs\nmon:ours");
  const auto session = open();
  session->start(0, 1);
  count("02", "12", "6", "fs/resctrl/jobs/mon_groups/ours");
  count("03", "500", "400");
  session->stop();
  EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(2.0), Optional(1.0))));
}

TEST_F(ResctrlOfAMachine, ItSaysWhyItCannotCount) {
  EXPECT_THAT(error_of<CounterRequestError>("mbm_total_byte"), HasSubstr("did you mean 'mbm_total_bytes'?"));
  tree_.remove("fs/resctrl/mon_data/mon_L3_02/mbm_total_bytes");
  EXPECT_THAT(error_of<CounterError>(), AllOf(HasSubstr("mon_L3_02/mbm_total_bytes"), HasSubstr("does not count")));
  tree_.remove("fs/resctrl/info/L3_MON");
  EXPECT_THAT(error_of<CounterError>(), HasSubstr("does not monitor memory bandwidth"));
  tree_.remove("fs/resctrl/info");
  EXPECT_THAT(error_of<CounterError>(), HasSubstr("mount -t resctrl resctrl /sys/fs/resctrl"));
  tree_.remove("fs/resctrl");
  EXPECT_THAT(backend_->unavailable(), HasSubstr("the kernel has no resctrl"));
}

TEST_F(ResctrlOfAMachine, ACacheWithoutANumberIsReported) {
  for (int cpu = 4; cpu < 8; ++cpu) tree_.remove("devices/system/cpu/cpu" + std::to_string(cpu) + "/cache");
  EXPECT_THAT(error_of<CounterError>(), HasSubstr("the last-level cache of processor 5 has no number"));
}

}  // namespace
}  // namespace fourscore
