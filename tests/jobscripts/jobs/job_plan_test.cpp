#include "jobscripts/jobs/job_plan.hpp"

#include <gmock/gmock.h>

#include "core/errors.hpp"
#include "jobscripts/jobs/campaign_fixture.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;

class JobPlan : public CampaignFixture {
 protected:
  [[nodiscard]] std::vector<JobDescription> plan(int launches, double time_limit_s) const {
    return plan_jobs(campaign_, lacking(launches), Estimates(campaign_, archive_), machine_, time_limit_s);
  }
};

TEST_F(JobPlan, JobsAreOfOneNumberOfNodesFewestFirst) {
  for (const int nodes : {4, 1, 2}) add_point(point_on_nodes(nodes));
  const auto jobs = plan(2, 3600);
  ASSERT_EQ(jobs.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs[i].nodes, 1 << i);
    EXPECT_EQ(jobs[i].launches.size(), 2U);
    EXPECT_EQ(jobs[i].scheduler, "slurm");
  }
}

TEST_F(JobPlan, LaunchesStayInTheOrderOfTheSchedule) {
  add_point(point_on_nodes(2, 1));
  add_point(point_on_nodes(2, 2));
  const auto jobs = plan(2, 3600);
  ASSERT_EQ(jobs.size(), 1U);
  std::vector<std::string> stems;
  for (const JobLaunch& launch : jobs[0].launches) stems.push_back(stem_of(launch));
  const auto& [one, two] = std::pair(campaign_.points[0].id, campaign_.points[1].id);
  EXPECT_EQ(stems, (std::vector<std::string>{one + "-000", two + "-000", one + "-001", two + "-001"}));
}

TEST_F(JobPlan, AJobIsOfTheMostRanksAndThreadsOfItsLaunches) {
  add_point(point_on_nodes(2, 4));
  Point threaded = point_on_nodes(2, 1);
  threaded.problem.threads = 8;
  add_point(threaded);
  const auto jobs = plan(1, 3600);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].ranks_per_node, 4);
  EXPECT_EQ(jobs[0].threads, 8);
}

TEST_F(JobPlan, ItFitsTheTimeLimitAndAsksForWholeMinutes) {
  add_point(point_on_nodes(1));
  const auto jobs = plan(7, 400);  // launches of 100 s, and 90 s beside them: three a job
  ASSERT_EQ(jobs.size(), 3U);
  for (const auto& job : jobs) {
    EXPECT_LE(job.expected_s + job_overhead_s, 400);
    EXPECT_LE(job.time_limit_s, 400);
    EXPECT_GE(job.time_limit_s, job.expected_s + job_overhead_s);
  }
  EXPECT_EQ(jobs[0].launches.size(), 3U);
  EXPECT_EQ(jobs[2].launches.size(), 1U);
  EXPECT_EQ(jobs[2].time_limit_s, 240);
}

TEST_F(JobPlan, ALaunchThatFitsExactlyIsTaken) {
  add_point(point_on_nodes(1));
  EXPECT_EQ(plan(1, 100 + job_overhead_s).size(), 1U);
  EXPECT_THROW((void)plan(1, 99 + job_overhead_s), InputError);
}

TEST_F(JobPlan, ALimitShorterThanALaunchNamesThePointAndWhereItsTimeIsFrom) {
  add_point(point_on_nodes(2));
  const auto message = [&] {
    try {
      (void)plan(1, 120);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message(), HasSubstr("slab alltoallv 8x8x8, 4 ranks"));
  EXPECT_THAT(message(), HasSubstr("the suite's time_limit_s"));
  archive_launch(0, 7, 70);
  EXPECT_THAT(message(), HasSubstr("as earlier launches did"));
}

TEST_F(JobPlan, NothingLackingIsNoJob) { EXPECT_TRUE(plan(0, 3600).empty()); }

}  // namespace
}  // namespace fourscore
