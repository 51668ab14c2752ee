// When messages and collectives arrive on a simulated network, against what can be computed by hand.

#include "simulation/backlogs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "simulation/collective_times.hpp"
#include "simulation/link_loads.hpp"

namespace fourscore {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

/// 100 bytes a second and a second of latency for each link.
Platform line_of(int hosts) {
  Platform platform;
  platform.network = {.topology = "mesh", .extents = {hosts}, .hosts = hosts};
  platform.link_bandwidth_bytes_per_s = 100;
  platform.link_latency_s = 1;
  platform.memory_bandwidth_bytes_per_s = 1000;
  return platform;
}

TEST(Backlogs, AMessageTakesItsBytesAndTheLatencyOfEachLink) {
  Backlogs backlogs(line_of(4));
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({10, 200, 0, 3}), 10 + 2 + 3);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({10, 200, 2, 2}), 10 + 2 * 0.2) << "within a host: read and written";
}

TEST(Backlogs, MessagesOnOneLinkWaitForEachOther) {
  Backlogs backlogs(line_of(4));
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 300, 1, 2}), 3 + 1);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({1, 100, 0, 3}), 4 + 3) << "behind the first";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({1, 100, 2, 1}), 1 + 1 + 1) << "the other direction has its own bandwidth";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({9, 100, 1, 2}), 10 + 1) << "idle again";
}

TEST(Backlogs, AHostsInjectionLimitsWhatItsLinksWouldTake) {
  Platform platform = line_of(3);
  platform.injection_bandwidth_bytes_per_s = 50;
  Backlogs backlogs(platform);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 100, 1, 0}), 2 + 1);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 100, 1, 2}), 4 + 1);
}

Platform storing_line_of(int hosts) {
  Platform platform = line_of(hosts);
  platform.stores_and_forwards = true;
  return platform;
}

TEST(Backlogs, AStoredMessageTakesItsBytesOnEachLink) {
  Backlogs backlogs(storing_line_of(4));
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({10, 200, 0, 3}), 10 + 3 * (2 + 1));
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({10, 200, 2, 2}), 10 + 2 * 0.2) << "within a host: read and written";
}

TEST(Backlogs, AStoredMessageTakesTheFirstGapOfALink) {
  Backlogs backlogs(storing_line_of(4));
  // On the link from 2 to 3 from 6 s to 8 s, and on that from 1 to 2 from 3 s to 5 s.
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 200, 0, 3}), 9);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({1, 500, 2, 3}), 1 + 5 + 1) << "before the first comes there";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({2, 100, 1, 2}), 2 + 1 + 1);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({2, 100, 1, 2}), 5 + 1 + 1) << "behind both";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({3, 100, 2, 3}), 8 + 1 + 1) << "no gap is left before 8 s";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({20, 100, 2, 3}), 20 + 1 + 1) << "idle again";
}

TEST(Backlogs, AStoredMessageWaitsForItsHostsInjectionToo) {
  Platform platform = storing_line_of(3);
  platform.injection_bandwidth_bytes_per_s = 50;
  Backlogs backlogs(platform);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 100, 1, 0}), 2 + 1 + 1 + 2);
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({0, 100, 1, 2}), 4 + 1 + 1 + 2);
}

TEST(Backlogs, WhatIsAnnouncedGoesInTheOrderOfItsBeginning) {
  Backlogs backlogs(line_of(2));
  double late_s = -1, early_s = -1;
  backlogs.announce({5, 100, 0, 1}, &late_s);
  backlogs.announce({2, 400, 0, 1}, &early_s);
  backlogs.begun_until(1);
  EXPECT_EQ(early_s, -1) << "not begun yet";
  EXPECT_DOUBLE_EQ(backlogs.arrival_s({6, 100, 0, 1}), 8 + 1) << "behind both";
  EXPECT_DOUBLE_EQ(early_s, 6 + 1);
  EXPECT_DOUBLE_EQ(late_s, 7 + 1);
}

TEST(LinkLoads, AMapSaysHowLongEachKindOfLinkWasBusyInEachExchange) {
  Backlogs backlogs(line_of(3));
  (void)backlogs.arrival_s({0, 500, 0, 1});  // belongs to no exchange
  (void)backlogs.arrival_s({10, 100, 0, 2, 0});
  (void)backlogs.arrival_s({10, 300, 1, 2, 0});
  (void)backlogs.arrival_s({20, 100, 2, 1, 1});
  const nlohmann::json loads = link_loads_json(backlogs);
  ASSERT_EQ(loads.size(), 2U);
  // To the last arrival: behind 100 bytes, which come after the 400 at once, and a link further.
  EXPECT_DOUBLE_EQ(loads[0]["seconds"], 4 + 1);
  EXPECT_EQ(loads[0]["kinds"][0]["kind"], "+0");
  EXPECT_DOUBLE_EQ(loads[0]["kinds"][0]["most_busy"], 400.0 / 500);
  EXPECT_DOUBLE_EQ(loads[0]["kinds"][0]["mean_busy"], (100 + 400) / 3.0 / 500);
  EXPECT_DOUBLE_EQ(loads[0]["kinds"][1]["most_busy"], 0);
  EXPECT_EQ(loads[0]["busiest"][0]["link"], "1 +0");
  EXPECT_DOUBLE_EQ(loads[0]["busiest"][0]["bytes"], 400);
  EXPECT_EQ(loads[0]["busiest"].size(), 2U);
  EXPECT_EQ(loads[1]["busiest"][0]["link"], "2 -0");
}

std::vector<Comer> comers_of(int hosts) {
  std::vector<Comer> comers;
  for (int host = 0; host < hosts; ++host) comers.push_back({static_cast<std::size_t>(host), 0});
  return comers;
}

Platform full_of(int hosts) {
  Platform platform = line_of(hosts);
  platform.network = {.topology = "full", .hosts = hosts};
  return platform;
}

TEST(CollectiveTimes, DisseminationTakesTheRoundsThatItNeeds) {
  const MessageOverheads overheads{.send_s = 0.5, .receive_s = 0.25};
  for (const auto& [ranks, rounds] : {std::pair{1, 0}, {2, 1}, {3, 2}, {5, 3}, {8, 3}}) {
    Backlogs backlogs(full_of(ranks));
    EXPECT_THAT(dissemination_s(comers_of(ranks), 100, overheads, backlogs),
                Each(DoubleEq(rounds * (0.5 + 1 + 1 + 0.25))))
        << ranks;
  }
}

TEST(CollectiveTimes, NobodyLeavesADisseminationBeforeTheLastHasCome) {
  Backlogs backlogs(full_of(7));
  std::vector<Comer> comers = comers_of(7);
  comers[4].came_s = 50;
  EXPECT_THAT(dissemination_s(comers, 0, {}, backlogs), Each(testing::Gt(50)));
}

TEST(CollectiveTimes, ATreeGivesTheLeavesTheirsLast) {
  Backlogs backlogs(full_of(5));
  // 0 to 4, 0 to 2, then 0 to 1 and 2 to 3; a message takes 1 + 1 s, of which its sender waits for all.
  EXPECT_THAT(binomial_tree_s(comers_of(5), 0, 100, {}, backlogs), ElementsAre(6, 6, 6, 6, 2));
  Backlogs idle(full_of(5));
  EXPECT_THAT(binomial_tree_s(comers_of(5), 3, 100, {}, idle), ElementsAre(6, 6, 2, 6, 6)) << "the same from rank 3";
}

}  // namespace
}  // namespace fourscore
