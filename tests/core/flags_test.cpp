#include "core/flags.hpp"

#include <gtest/gtest.h>

namespace fourscore {
namespace {

using Flags = std::vector<std::string>;

/// Two bound ranks on a node of two cores, with more data than cache, warm, well timed.
FlagFacts sound() {
  FlagFacts facts;
  facts.nodes = {{{{{0}}, {{1}}}, 2e9, 1e8}};
  facts.clock_source = "tsc";
  facts.clock_resolution_s = 3e-8;
  facts.smallest_sample_s = 1e-2;
  facts.closure_worst = 1e-3;
  return facts;
}

TEST(Flags, ASoundMeasurementHasNone) { EXPECT_EQ(validity_flags(sound()), Flags{}); }

TEST(Flags, MoreThreadsThanCoresIsOversubscribed) {
  FlagFacts facts = sound();
  facts.nodes[0].ranks.push_back({{0}});
  EXPECT_EQ(validity_flags(facts), Flags{"oversubscribed"});
  facts = sound();
  facts.threads = 2;
  EXPECT_EQ(validity_flags(facts), Flags{"oversubscribed"});
}

TEST(Flags, SeveralRanksThatMayWanderAreUnbound) {
  FlagFacts facts = sound();
  facts.nodes[0].ranks = {{{0, 1}}, {{0, 1}}};
  EXPECT_EQ(validity_flags(facts), Flags{"unbound"});
  facts.nodes[0].ranks = {{{0, 1}}};
  EXPECT_EQ(validity_flags(facts), Flags{});
}

TEST(Flags, APlanThatFitsTheCachesOfEveryNodeIsInCache) {
  FlagFacts facts = sound();
  facts.nodes[0].plan_bytes = 1e8;
  EXPECT_EQ(validity_flags(facts), Flags{"in-cache"});
  facts.nodes.push_back(sound().nodes[0]);
  EXPECT_EQ(validity_flags(facts), Flags{});
  facts = sound();
  facts.nodes[0].last_level_cache_bytes = 0;
  facts.nodes[0].plan_bytes = 0;
  EXPECT_EQ(validity_flags(facts), Flags{}) << "an unknown cache claims nothing";
}

TEST(Flags, SamplesUnderFiftyTimesTheSkewOfTheirStartAreSkewed) {
  FlagFacts facts = sound();
  facts.sample_s = {1.0, 1.0, 1.0, 1.0};
  facts.start_skew_s = {0.021, 0.001, 0.001, 0.001};
  EXPECT_EQ(validity_flags(facts), Flags{}) << "one of four was held up";
  facts.start_skew_s = {0.021, 0.021, 0.001, 0.001};
  EXPECT_EQ(validity_flags(facts), Flags{"skewed"});
  facts.start_skew_s = {0.020, 0.020, 0.020, 0.020};
  EXPECT_EQ(validity_flags(facts), Flags{});
}

TEST(Flags, NodesThatDifferAreHeterogeneous) {
  FlagFacts facts = sound();
  facts.heterogeneous = true;
  EXPECT_EQ(validity_flags(facts), Flags{"heterogeneous"});
}

TEST(Flags, RanksOnCoresOfSeveralKindsAreOnUnlikeCores) {
  FlagFacts facts = sound();
  facts.nodes.front().core_kinds = {1};
  EXPECT_EQ(validity_flags(facts), Flags{});
  facts.nodes.front().core_kinds = {0, 1};
  EXPECT_EQ(validity_flags(facts), Flags{"unlike-cores"});
}

TEST(Flags, NoWarmUpIsCold) {
  FlagFacts facts = sound();
  facts.warmup = 0;
  EXPECT_EQ(validity_flags(facts), Flags{"cold"});
}

TEST(Flags, ASlowClockSourceOrTooShortASampleIsSuspect) {
  FlagFacts facts = sound();
  facts.clock_source = "hpet";
  EXPECT_EQ(validity_flags(facts), Flags{"clock-suspect"});
  facts = sound();
  facts.smallest_sample_s = 2.9e-5;
  EXPECT_EQ(validity_flags(facts), Flags{"clock-suspect"});
  facts = sound();
  facts.clock_source = "";
  EXPECT_EQ(validity_flags(facts), Flags{});
}

TEST(Flags, PhasesThatDoNotAddUpLeaveTheBreakdownOpen) {
  FlagFacts facts = sound();
  facts.closure_worst = 0.021;
  EXPECT_EQ(validity_flags(facts), Flags{"open-breakdown"});
  facts.closure_worst.reset();
  EXPECT_EQ(validity_flags(facts), Flags{});
}

TEST(Flags, WhatRanUnderASimulatorOrOnAStandInSaysSo) {
  FlagFacts facts = sound();
  facts.simulated = true;
  EXPECT_EQ(validity_flags(facts), Flags{"simulated"});
  facts = sound();
  facts.emulated = true;
  EXPECT_EQ(validity_flags(facts), Flags{"emulated"});
}

}  // namespace
}  // namespace fourscore
