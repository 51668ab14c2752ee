#include <gmock/gmock.h>

#include "core/errors.hpp"
#include "jobscripts/schedulers/slurm/answers.hpp"
#include "jobscripts/schedulers/slurm/hosts.hpp"

namespace fourscore::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SlurmHosts, AListIsExpandedInItsOrder) {
  EXPECT_THAT(expand_hosts("n1"), ElementsAre("n1"));
  EXPECT_THAT(expand_hosts("n[1-3]"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(expand_hosts("gpu[2,7-8],login"), ElementsAre("gpu2", "gpu7", "gpu8", "login"));
  EXPECT_THAT(expand_hosts(""), IsEmpty());
}

TEST(SlurmHosts, LeadingZerosAndWhatFollowsABracketAreKept) {
  EXPECT_THAT(expand_hosts("a[08-11]-ib"), ElementsAre("a08-ib", "a09-ib", "a10-ib", "a11-ib"));
  EXPECT_THAT(expand_hosts("a[9-10]"), ElementsAre("a9", "a10"));
}

// What `scontrol show hostnames` of Slurm 22.05 prints.
TEST(SlurmHosts, SeveralBracketsAreAProductInWhichTheFirstIsSlowest) {
  EXPECT_THAT(expand_hosts("a[01-03,7]b[1-2],c"),
              ElementsAre("a01b1", "a01b2", "a02b1", "a02b2", "a03b1", "a03b2", "a7b1", "a7b2", "c"));
}

TEST(SlurmHosts, WhatIsNoListIsRefused) {
  for (const char* list : {"n[1-", "n1]", "n[2-1]", "n[a]", "n[]", "n[1-2", ",n1", "n1,,n2", "n[1-99999999999]",
                           "n[1-1000]m[1-1000]p[1-1000]", "n[99999999999999999999]"})
    EXPECT_THROW((void)expand_hosts(list), InputError) << list;
}

struct Case {
  const char* word;
  JobPhase phase;
  JobEnd end;
};

// The states of squeue(1) and sacct(1), each with what becomes of the job's points.
TEST(SlurmStates, EveryWordOfSlurmHasItsMeaning) {
  const std::vector<Case> cases{
      {"PENDING", JobPhase::queued, JobEnd::none},          {"REQUEUED", JobPhase::queued, JobEnd::none},
      {"REQUEUE_HOLD", JobPhase::queued, JobEnd::none},     {"SPECIAL_EXIT", JobPhase::queued, JobEnd::none},
      {"CONFIGURING", JobPhase::running, JobEnd::none},     {"RUNNING", JobPhase::running, JobEnd::none},
      {"COMPLETING", JobPhase::running, JobEnd::none},      {"SUSPENDED", JobPhase::running, JobEnd::none},
      {"STOPPED", JobPhase::running, JobEnd::none},         {"COMPLETED", JobPhase::ended, JobEnd::completed},
      {"FAILED", JobPhase::ended, JobEnd::failed},          {"TIMEOUT", JobPhase::ended, JobEnd::timeout},
      {"DEADLINE", JobPhase::ended, JobEnd::timeout},       {"NODE_FAIL", JobPhase::ended, JobEnd::node_failure},
      {"BOOT_FAIL", JobPhase::ended, JobEnd::node_failure}, {"OUT_OF_MEMORY", JobPhase::ended, JobEnd::out_of_memory},
      {"PREEMPTED", JobPhase::ended, JobEnd::preempted},    {"CANCELLED", JobPhase::ended, JobEnd::cancelled},
  };
  for (const auto& [word, phase, end] : cases) {
    const JobState state = state_of(word);
    EXPECT_EQ(state.phase, phase) << word;
    EXPECT_EQ(state.end, end) << word;
    EXPECT_EQ(state.word, word);
  }
}

TEST(SlurmStates, WhoCancelledIsTheReason) {
  const JobState state = state_of("CANCELLED by 0");
  EXPECT_EQ(state.end, JobEnd::cancelled);
  EXPECT_EQ(state.word, "CANCELLED");
  EXPECT_EQ(state.reason, "by 0");
}

TEST(SlurmStates, AWordThatAColumnCutIsKnown) {
  EXPECT_EQ(state_of("OUT_OF_ME+").end, JobEnd::out_of_memory);
  EXPECT_EQ(state_of("CANCELLED+").end, JobEnd::cancelled);
}

TEST(SlurmStates, AJobOfAnUnknownStateIsNotTakenForEnded) {
  const JobState state = state_of("HIBERNATING");
  EXPECT_EQ(state.phase, JobPhase::running);
  EXPECT_EQ(state.word, "HIBERNATING");
}

// Captured from Slurm 22.05, with a reason that holds the separator added.
TEST(SlurmStates, SqueueIsRead) {
  const auto jobs = parse_squeue(
      "1|COMPLETED|n[1-2]|None\n"
      "9|FAILED||BadConstraints\n"
      "37|PENDING||ReqNodeNotAvail, UnavailableNodes:n4\n"
      "41|PENDING||Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions\n"
      "44|RUNNING|n1|None\n"
      "45|PENDING||a|b\n"
      "slurm_load_jobs error: something\n");
  ASSERT_THAT(jobs, SizeIs(6));
  EXPECT_EQ(jobs.at("1").nodes, "n[1-2]");
  EXPECT_EQ(jobs.at("1").reason, "");
  EXPECT_EQ(jobs.at("9").reason, "BadConstraints");
  EXPECT_EQ(jobs.at("37").reason, "ReqNodeNotAvail, UnavailableNodes:n4");
  EXPECT_EQ(jobs.at("41").phase, JobPhase::queued);
  EXPECT_EQ(jobs.at("44").phase, JobPhase::running);
  EXPECT_EQ(jobs.at("45").reason, "a|b");
}

// Captured from sacct of Slurm 22.05.
TEST(SlurmStates, SacctIsRead) {
  const auto jobs = parse_sacct(
      "3|COMPLETED|0:0|me|n1\n"
      "4|FAILED|3:0|me|n[1-2]\n"
      "5|FAILED|0:9|me|n1\n"
      "6|CANCELLED by 1000|0:0|me|None assigned\n"
      "7|OUT_OF_MEMORY|0:125|me|n1\n"
      "8|RUNNING|0:0|other|n1\n",
      "me");
  ASSERT_THAT(jobs, SizeIs(6));
  EXPECT_EQ(jobs.at("3").end, JobEnd::completed);
  EXPECT_EQ(jobs.at("4").reason, "exit status 3");
  EXPECT_EQ(jobs.at("5").reason, "signal 9");
  EXPECT_EQ(jobs.at("6").nodes, "");
  EXPECT_EQ(jobs.at("6").reason, "by 1000");
  EXPECT_EQ(jobs.at("7").end, JobEnd::out_of_memory);
  EXPECT_EQ(jobs.at("8").phase, JobPhase::running);
}

// squeue knows all jobs of one's own that live; the accounting may have missed an end.
TEST(SlurmStates, AJobOfOnesOwnThatOnlyTheAccountingTakesForAliveHasEnded) {
  const JobState state = parse_sacct("8|RUNNING|0:0|me|n1\n", "me").at("8");
  EXPECT_EQ(state.phase, JobPhase::ended);
  EXPECT_EQ(state.end, JobEnd::unknown);
  EXPECT_EQ(state.reason, "Slurm has forgotten it, and sacct says RUNNING");
}

TEST(SlurmAnswers, TheIdIsReadWithAndWithoutACluster) {
  EXPECT_EQ(parse_sbatch("123\n"), "123");
  EXPECT_EQ(parse_sbatch("Welcome to this cluster\n123;rig\n"), "123");
  EXPECT_EQ(parse_sbatch("Submitted batch job\n"), std::nullopt);
  EXPECT_EQ(parse_sbatch(""), std::nullopt);
}

// Captured from Slurm 22.05.
TEST(SlurmAnswers, NoAnswerIsDistinguishedFromARefusal) {
  for (const char* none :
       {"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "slurm_load_jobs error: Socket timed out on send/recv operation",
        "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received",
        "scancel: error: Kill job error on job id 44: Unable to contact slurm controller (connect failure)"})
    EXPECT_TRUE(says_no_answer(none)) << none;
  for (const char* refusal :
       {"sbatch: error: invalid partition specified: nosuch\n"
        "sbatch: error: Batch job submission failed: Invalid partition name specified",
        "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
        "sbatch: error: Batch job submission failed: Node count specification invalid",
        "sbatch: error: Batch job submission failed: More processors requested than permitted",
        "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
        "sbatch: error: Batch job submission failed: Invalid feature specification",
        "sbatch: fatal: Could not establish a configuration source"})
    EXPECT_FALSE(says_no_answer(refusal)) << refusal;
}

TEST(SlurmAnswers, AJobThatHasEndedIsDistinguishedFromOneThatIsNotOurs) {
  EXPECT_TRUE(says_has_ended("scancel: error: Kill job error on job id 9999: Invalid job id specified\n"));
  EXPECT_TRUE(says_has_ended("scancel: error: Kill job error on job id 3: Job/step already completing or completed\n"));
  EXPECT_FALSE(says_has_ended("scancel: error: Kill job error on job id 3: Access/permission denied\n"));
  EXPECT_FALSE(
      says_has_ended("scancel: error: Kill job error on job id 9: Invalid job id specified\n"
                     "scancel: error: Kill job error on job id 3: Access/permission denied\n"));
  EXPECT_FALSE(says_has_ended(""));
}

TEST(SlurmAnswers, LimitsOfAPartitionAreRead) {
  const auto limited = parse_sinfo("4|1-2|10:00\n");
  ASSERT_TRUE(limited);
  EXPECT_EQ(limited->nodes, 4);
  EXPECT_EQ(limited->most_nodes, 2);
  EXPECT_EQ(limited->time_limit_s, 600);
  const auto unlimited = parse_sinfo("16|1-infinite|infinite\n");
  ASSERT_TRUE(unlimited);
  EXPECT_EQ(unlimited->nodes, 16);
  EXPECT_EQ(unlimited->most_nodes, std::nullopt);
  EXPECT_EQ(unlimited->time_limit_s, std::nullopt);
  EXPECT_EQ(parse_sinfo("16|2|1-00:00:00")->most_nodes, 2);
  EXPECT_FALSE(parse_sinfo(""));
  EXPECT_FALSE(parse_sinfo("all|up"));
}

TEST(SlurmAnswers, TimesAreReadInAllOfSlurmsForms) {
  EXPECT_EQ(seconds_of("10:00"), 600);
  EXPECT_EQ(seconds_of("5"), 300);
  EXPECT_EQ(seconds_of("2:00:01"), 7201);
  EXPECT_EQ(seconds_of("1-00:00:00"), 86400);
  EXPECT_EQ(seconds_of("2-12"), 2 * 86400 + 12 * 3600);
  EXPECT_EQ(seconds_of("1-02:30"), 86400 + 9000);
  for (const char* none : {"UNLIMITED", "infinite", "", "1:2:3:4", "-", "1-", "a:b"})
    EXPECT_EQ(seconds_of(none), std::nullopt) << none;
}

}  // namespace
}  // namespace fourscore::slurm
