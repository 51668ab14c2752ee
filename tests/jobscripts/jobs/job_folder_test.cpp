#include "jobscripts/jobs/job_folder.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "jobscripts/jobs/campaign_fixture.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;

const JobDescription description{"slurm", 2, 4, 1, 300, 200.5, {{"aaaa", 0}, {"bbbb", 3, 1}}};

class JobFolderTest : public CampaignFixture {
 protected:
  JobFolderTest() : folder_(archive_, "c", "0001-2-nodes") { folder_.create(description, "name = \"m\"\n"); }
  void write(const std::string& file, const std::string& text, bool append = false) const {
    std::ofstream(folder_.file(file), append ? std::ios::app : std::ios::trunc) << text;
  }
  JobFolder folder_;
};

TEST_F(JobFolderTest, ADescriptionComesBackAsItWasWritten) {
  const JobDescription back = folder_.description();
  EXPECT_EQ(back.scheduler, "slurm");
  EXPECT_EQ(back.nodes, 2);
  EXPECT_EQ(back.ranks_per_node, 4);
  EXPECT_EQ(back.time_limit_s, 300);
  EXPECT_EQ(back.expected_s, 200.5);
  EXPECT_EQ(back.launches, description.launches);
  EXPECT_EQ(stem_of(back.launches[1]), "bbbb-003");
}

TEST_F(JobFolderTest, WhatIsNoDescriptionIsNamed) {
  for (const char* text : {"", "{", "[]", R"({"schema":"fourscore.job"})"}) {
    write("job.json", text);
    try {
      (void)folder_.description();
      FAIL() << text;
    } catch (const ArchiveError& error) {
      EXPECT_THAT(error.what(), HasSubstr("job.json is no description of a job"));
    }
  }
}

TEST_F(JobFolderTest, TheIdIsTheSubmittersAndElseTheJobsOwnWord) {
  EXPECT_EQ(folder_.id(), "");
  folder_.note({{"event", "begin"}, {"job", "41"}});
  EXPECT_EQ(folder_.id(), "41");
  folder_.set_id("42");
  EXPECT_EQ(folder_.id(), "42");
}

TEST_F(JobFolderTest, TheJournalTellsWhatIsUnderWayAndWhatWasArchived) {
  folder_.note({{"event", "begin"}, {"job", "7"}});
  folder_.note({{"event", "launch"}, {"record", "aaaa-000"}});
  EXPECT_EQ(folder_.journal().in_flight, "aaaa-000");
  folder_.note({{"event", "launched"}, {"record", "aaaa-000"}, {"archived", true}});
  folder_.note({{"event", "launch"}, {"record", "bbbb-003"}});
  folder_.note({{"event", "launched"}, {"record", "bbbb-003"}, {"archived", false}});
  EXPECT_EQ(folder_.journal().in_flight, "");
  EXPECT_EQ(folder_.journal().archived, 1U);
  EXPECT_EQ(folder_.journal().ended_s, 0);
  folder_.note({{"event", "end"}});
  EXPECT_GE(folder_.journal().ended_s, folder_.journal().began_s);
  EXPECT_GE(folder_.journal().launches_s, 0);
}

TEST_F(JobFolderTest, ALineThatWasCutOffIsLeftOut) {
  folder_.note({{"event", "begin"}, {"job", "7"}});
  folder_.note({{"event", "launch"}, {"record", "aaaa-000"}});
  write("journal.jsonl", R"({"event":"launched","rec)", true);
  EXPECT_EQ(folder_.journal().in_flight, "aaaa-000");
}

TEST_F(JobFolderTest, AJobThatWasStartedAgainHasNotEnded) {
  for (const char* event : {"begin", "end", "begin"}) folder_.note({{"event", event}});
  EXPECT_EQ(folder_.journal().ended_s, 0);
}

TEST_F(JobFolderTest, AnEndIsKept) {
  EXPECT_FALSE(folder_.end());
  folder_.set_end({JobPhase::ended, JobEnd::node_failure, "NODE_FAIL", "why", "n[1-2]"});
  const JobState end = folder_.end().value();
  EXPECT_EQ(end.phase, JobPhase::ended);
  EXPECT_EQ(end.end, JobEnd::node_failure);
  EXPECT_EQ(end.word, "NODE_FAIL");
  EXPECT_EQ(end.reason, "why");
  EXPECT_EQ(end.nodes, "n[1-2]");
}

TEST_F(JobFolderTest, EveryEndAndPhaseComesBackFromJson) {
  for (const JobPhase phase : {JobPhase::queued, JobPhase::running, JobPhase::ended})
    for (const JobEnd end : all_job_ends) {
      const JobState back = state_from_json(state_json({phase, end, "W", "r", "n"}));
      EXPECT_EQ(back.phase, phase);
      EXPECT_EQ(back.end, end) << to_string(end);
    }
}

TEST_F(JobFolderTest, JobsAreNumberedOnAfterAllThatThereWere) {
  EXPECT_EQ(next_job_name(archive_, "c", 1), "0002-1-node");
  EXPECT_EQ(next_job_name(archive_, "c", 4, 2), "0004-4-nodes");
  std::filesystem::create_directories(archive_.campaign_folder("c") / "jobs" / "0007-1-node");
  EXPECT_EQ(next_job_name(archive_, "c", 4), "0008-4-nodes") << "of a submitter that died before it wrote the job";
  ASSERT_EQ(jobs_of(archive_, "c").size(), 1U);
  EXPECT_EQ(jobs_of(archive_, "c")[0].name(), "0001-2-nodes");
}

TEST_F(JobFolderTest, AJobThatWasGivenUpSaysSo) {
  EXPECT_FALSE(folder_.abandoned());
  folder_.abandon();
  EXPECT_TRUE(folder_.abandoned());
}

}  // namespace
}  // namespace fourscore
