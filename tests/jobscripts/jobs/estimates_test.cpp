#include "jobscripts/jobs/estimates.hpp"

#include <gtest/gtest.h>

#include "jobscripts/jobs/campaign_fixture.hpp"

namespace fourscore {
namespace {

class EstimatesTest : public CampaignFixture {
 protected:
  EstimatesTest() {
    add_point(point_on_nodes(1));
    add_point(point_on_nodes(2));
  }
  [[nodiscard]] Estimates estimates() const { return {campaign_, archive_}; }

  /// Another campaign of the archive, on a machine.
  void add_campaign(const std::string& id, const std::string& machine_hash) {
    Campaign other = campaign_;
    other.id = id;
    other.machine_hash = machine_hash;
    archive_.create_campaign(id);
    write_campaign(other, archive_, "srun");
  }
};

TEST_F(EstimatesTest, WhatIsNotKnownTakesAsLongAsTheSuiteAllows) {
  EXPECT_DOUBLE_EQ(estimates().launch_s(0), 100);
  EXPECT_FALSE(estimates().is_known(0));
}

TEST_F(EstimatesTest, TheLongestLaunchOfThePointCountsWithAMargin) {
  archive_launch(0, 0, 20);
  archive_launch(0, 1, 40);
  EXPECT_DOUBLE_EQ(estimates().launch_s(0), 2 + 1.25 * 40);
  EXPECT_DOUBLE_EQ(estimates().launch_s(1), 100) << "of another point nothing is learnt";
}

TEST_F(EstimatesTest, ItIsNeverMoreThanTheSuiteAllows) {
  archive_launch(0, 0, 90);
  EXPECT_DOUBLE_EQ(estimates().launch_s(0), 100);
  EXPECT_TRUE(estimates().is_known(0));
}

TEST_F(EstimatesTest, LaunchesThatFailedTellNothing) {
  archive_launch(0, 0, 20, "failed");
  EXPECT_FALSE(estimates().is_known(0));
}

TEST_F(EstimatesTest, OtherCampaignsOnTheSameMachineTell) {
  add_campaign("before", "m");
  archive_launch(1, 0, 20, "ok", "before");
  EXPECT_DOUBLE_EQ(estimates().launch_s(1), 27);
}

TEST_F(EstimatesTest, CampaignsOnAnotherMachineTellNothing) {
  add_campaign("elsewhere", "another");
  archive_launch(1, 0, 20, "ok", "elsewhere");
  EXPECT_FALSE(estimates().is_known(1));
}

TEST_F(EstimatesTest, ALaunchThatTookLongerIsLearnt) {
  Estimates learning = estimates();
  learning.learn(0, 10);
  learning.learn(0, 4);
  EXPECT_DOUBLE_EQ(learning.launch_s(0), 2 + 12.5);
}

}  // namespace
}  // namespace fourscore
