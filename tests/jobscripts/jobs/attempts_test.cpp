#include "jobscripts/jobs/attempts.hpp"

#include <gmock/gmock.h>

#include "jobscripts/jobs/campaign_fixture.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AttemptsTest : public CampaignFixture {
 protected:
  /// A job that began a launch, which left nothing, and then ended so.
  KnownJob broken_off(const std::string& name, JobEnd end, JobPhase phase = JobPhase::ended) {
    const JobFolder folder(archive_, "c", name);
    folder.create({"slurm", 1, 1, 1, 60, 60, {{"aaaa", 0}}}, "");
    folder.note({{"event", "begin"}, {"job", name}});
    folder.note({{"event", "launch"}, {"record", "aaaa-000"}});
    return {"c", folder, "id" + name, {phase, end, "", "", ""}};
  }
};

TEST_F(AttemptsTest, EndsAreCountedByCause) {
  const auto attempts = attempts_of({broken_off("1", JobEnd::node_failure), broken_off("2", JobEnd::node_failure),
                                     broken_off("3", JobEnd::preempted)});
  ASSERT_EQ(attempts.size(), 1U);
  const Attempts& of_launch = attempts.at("aaaa-000");
  EXPECT_EQ(of_launch.ends.at(JobEnd::node_failure), 2);
  EXPECT_EQ(of_launch.ends.at(JobEnd::preempted), 1);
  EXPECT_EQ(of_launch.last_job, "id3 (3)");
}

TEST_F(AttemptsTest, AJobThatLivesHasNotEnded) {
  EXPECT_TRUE(attempts_of({broken_off("1", JobEnd::none, JobPhase::running)}).empty());
}

TEST_F(AttemptsTest, ALaunchThatCameToItsEndIsNoAttempt) {
  const KnownJob job = broken_off("1", JobEnd::failed);
  job.folder.note({{"event", "launched"}, {"record", "aaaa-000"}, {"archived", false}});
  EXPECT_TRUE(attempts_of({job}).empty());
}

TEST(Exhausted, IsWhatWasTriedMoreOftenThanTheSuiteSays) {
  const std::map<std::string, int> retries{{"node_failure", 1}, {"out_of_memory", 0}, {"unknown", 1}};
  EXPECT_EQ(exhausted({{{JobEnd::node_failure, 1}}, "12 (a)"}, retries), std::nullopt);
  EXPECT_THAT(
      exhausted({{{JobEnd::node_failure, 2}}, "12 (a)"}, retries).value_or(""),
      AllOf(StartsWith("node failure: job 12 (a)"), HasSubstr("2 times"), HasSubstr("retries.node_failure is 1")));
  EXPECT_THAT(exhausted({{{JobEnd::out_of_memory, 1}}, "12 (a)"}, retries).value_or(""), HasSubstr("1 time; "));
  EXPECT_EQ(exhausted({{{JobEnd::completed, 1}}, "12 (a)"}, retries), std::nullopt) << "counts as unknown";
  EXPECT_THAT(exhausted({{{JobEnd::completed, 2}}, "12 (a)"}, retries).value_or(""), HasSubstr("retries.unknown is 1"));
}

TEST(Exhausted, ACancelledJobSaysNothing) {
  EXPECT_EQ(exhausted({{{JobEnd::cancelled, 100}}, "12 (a)"}, Suite().retries), std::nullopt);
}

}  // namespace
}  // namespace fourscore
