#include "jobscripts/jobs/submission.hpp"

#include "jobscripts/jobs/campaign_fixture.hpp"

namespace fourscore {
namespace {

/// A campaign of one point, launched twice.
class Lacking : public CampaignFixture {
 protected:
  Lacking() {
    add_point(point_on_nodes(1));
    for (int launch = 0; launch < campaign_.suite.launches; ++launch) campaign_.schedule.push_back({0, launch});
    settings_.retry = {"failed"};
  }

  /// A job that waits, or has ended.
  void add_job(std::vector<std::pair<int, std::optional<int>>> launches, JobPhase phase = JobPhase::queued) {
    const JobFolder folder(archive_, "c", next_job_name(archive_, "c", 1));
    JobDescription job{"slurm", 1, 1, 1, 60, 60, {}};
    for (const auto& [launch, retry_of] : launches) job.launches.push_back({campaign_.points[0].id, launch, retry_of});
    folder.create(job, "");
    jobs_.push_back({"c", folder, "id", {phase, JobEnd::none, "", "", ""}});
  }

  using Launches = std::vector<std::pair<int, std::optional<int>>>;
  Launches lacking() {
    submission_ = {};
    Launches found;
    for (const PlannedLaunch& launch : lacking_launches(campaign_, archive_, jobs_, settings_, submission_)) {
      EXPECT_EQ(launch.record, archive_.record_file("c", campaign_.points[0].id, launch.launch));
      found.emplace_back(launch.launch, launch.retry_of);
    }
    return found;
  }

  SubmissionSettings settings_;
  Submission submission_;
  std::vector<KnownJob> jobs_;
};

TEST_F(Lacking, IsWhatIsNeitherArchivedNorInALivingJob) {
  EXPECT_EQ(lacking(), (Launches{{0, {}}, {1, {}}}));
  archive_launch(0, 0, 1);
  add_job({{1, {}}});
  EXPECT_TRUE(lacking().empty());
  EXPECT_EQ(submission_.in_jobs, 1U);
  jobs_[0].state.phase = JobPhase::ended;
  EXPECT_EQ(lacking(), (Launches{{1, {}}}));
}

TEST_F(Lacking, ARetryInAJobIsKnownByWhatItStandsInForAndNotByItsNumber) {
  archive_launch(0, 1, 1, "failed");
  EXPECT_EQ(lacking(), (Launches{{0, {}}, {2, 1}}));
  add_job({{2, 1}});
  // Now the earlier launch fails too, and would get the number that the job has for the other.
  archive_launch(0, 0, 1, "failed");
  EXPECT_EQ(lacking(), (Launches{{3, 0}}));
  EXPECT_EQ(submission_.in_jobs, 1U);
}

TEST_F(Lacking, ARetryKeepsItsNumberFromJobToJob) {
  archive_launch(0, 1, 1, "failed");
  add_job({{2, 1}}, JobPhase::ended);
  archive_launch(0, 0, 1, "failed");
  EXPECT_EQ(lacking(), (Launches{{3, 0}, {2, 1}}));
}

TEST_F(Lacking, WhatPrecisionAsksForCountsThoseInJobs) {
  campaign_.suite.precision = 0.01;
  archive_launch(0, 0, 1);
  archive_launch(0, 1, 1.5);
  EXPECT_EQ(lacking(), (Launches{{2, {}}, {3, {}}, {4, {}}, {5, {}}})) << "six in all can tell";
  add_job({{2, {}}, {3, {}}, {4, {}}, {5, {}}});
  archive_launch(0, 5, 1.2);  // a job's order is its own
  EXPECT_TRUE(lacking().empty());
  EXPECT_EQ(submission_.in_jobs, 3U);
}

TEST_F(Lacking, RetriesAndWhatPrecisionAsksForHaveNumbersOfTheirOwn) {
  campaign_.suite.precision = 0.01;
  archive_launch(0, 0, 1);
  archive_launch(0, 1, 1, "failed");
  const Launches found = lacking();
  std::set<int> numbers;
  for (const auto& [launch, retry_of] : found) numbers.insert(launch);
  EXPECT_EQ(numbers.size(), found.size());
  EXPECT_EQ(found.front(), (std::pair<int, std::optional<int>>{2, 1}));
}

}  // namespace
}  // namespace fourscore
