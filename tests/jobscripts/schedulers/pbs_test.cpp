#include <gmock/gmock.h>

#include <ctime>

#include "jobscripts/schedulers/pbs/answers.hpp"

namespace fourscore::pbs {
namespace {

using ::testing::SizeIs;

/// As qstat of OpenPBS prints it (src/cmds/qstat.c, prt_attr): long values go on in a line that begins with a tab.
constexpr const char* two_jobs =
    "Job Id: 12.pbs\n"
    "    Job_Name = strong-nodes\n"
    "    Job_Owner = user@login\n"
    "    job_state = R\n"
    "    exec_host = n1/0*2+n2/0*2+n3/0*2+n4/0*2+n5/0*2+n6/0*2+n7/0*2+n8/0*2+n9/0*2+\n"
    "\tn10/0*2\n"
    "    Resource_List.walltime = 01:00:00\n"
    "    stime = Sun Nov 22 10:00:00 2026\n"
    "    substate = 42\n"
    "    Variable_List = PBS_O_LANG=C,PBS_O_LOGNAME=user,\n"
    "\tBASH_FUNC_f%%=() { echo hello\n"
    "    job_state = F\n"
    "}\n"
    "    comment = Job run at Sun Nov 22 at 10:00 on (n1:ncpus=2)\n"
    "\n"
    "Job Id: 13.pbs\n"
    "    job_state = Q\n"
    "    comment = Not Running: Insufficient amount of resource: ncpus \n"
    "\n";

JobState ended(Attributes job) {
  job.emplace("job_state", "F");
  return state_of(job);
}

TEST(PbsQstat, JobsAndValuesOfSeveralLinesAreRead) {
  const auto jobs = parse_qstat(two_jobs);
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs.at("12.pbs").at("Job_Name"), "strong-nodes");
  EXPECT_EQ(hosts_of(jobs.at("12.pbs").at("exec_host")), "n1,n2,n3,n4,n5,n6,n7,n8,n9,n10");
  EXPECT_EQ(jobs.at("13.pbs").at("job_state"), "Q");
}

TEST(PbsQstat, AnEnvironmentThatLooksLikeAnAttributeIsNone) {
  EXPECT_EQ(state_of(parse_qstat(two_jobs).at("12.pbs")).phase, JobPhase::running);
}

TEST(PbsStates, EveryLetterHasItsPhase) {
  for (const char* letter : {"Q", "H", "W", "T", "M"})
    EXPECT_EQ(state_of({{"job_state", letter}}).phase, JobPhase::queued) << letter;
  for (const char* letter : {"R", "E", "S", "U", "B"})
    EXPECT_EQ(state_of({{"job_state", letter}}).phase, JobPhase::running) << letter;
  for (const char* letter : {"F", "X"}) EXPECT_EQ(state_of({{"job_state", letter}}).phase, JobPhase::ended) << letter;
  EXPECT_EQ(state_of({{"job_state", "?"}}).phase, JobPhase::running);
  EXPECT_EQ(state_of({{"job_state", "H"}}).word, "H (held)");
}

TEST(PbsStates, WhatAJobWaitsForIsTheReason) {
  EXPECT_EQ(state_of(parse_qstat(two_jobs).at("13.pbs")).reason,
            "Not Running: Insufficient amount of resource: ncpus ");
}

TEST(PbsStates, WhatEndedAJobIsRead) {
  EXPECT_EQ(ended({{"Exit_status", "0"}, {"substate", "92"}}).end, JobEnd::completed);
  EXPECT_EQ(ended({{"Exit_status", "3"}, {"substate", "93"}}).end, JobEnd::failed);
  EXPECT_EQ(ended({{"Exit_status", "3"}, {"substate", "93"}}).reason, "exit status 3");
  EXPECT_EQ(ended({{"Exit_status", "265"}, {"substate", "93"}}).reason, "signal 9");
  EXPECT_EQ(ended({{"Exit_status", "-29"}, {"substate", "93"}}).end, JobEnd::timeout);
  EXPECT_EQ(ended({{"Exit_status", "-27"}, {"substate", "93"}}).end, JobEnd::out_of_memory);
  EXPECT_EQ(ended({{"Exit_status", "-14"}, {"substate", "93"}}).end, JobEnd::node_failure);
  EXPECT_EQ(ended({{"Exit_status", "-1"}, {"substate", "93"}}).end, JobEnd::failed);
}

TEST(PbsStates, AJobThatQdelEndedIsCancelledWhateverItsExitStatus) {
  EXPECT_EQ(ended({{"Exit_status", "271"}, {"substate", "91"}}).end, JobEnd::cancelled);
  EXPECT_EQ(ended({{"substate", "91"}}).end, JobEnd::cancelled);
}

TEST(PbsStates, AJobWithoutExitStatusLostItsNode) {
  EXPECT_EQ(ended({{"substate", "93"}, {"comment", "Job run at Sun"}}).end, JobEnd::node_failure);
}

TEST(PbsStates, SigtermAtTheTimeLimitIsATimeoutInOldVersions) {
  const Attributes limit{{"Resource_List.walltime", "00:02:00"}, {"substate", "93"}, {"Exit_status", "271"}};
  Attributes over = limit;
  over.emplace("resources_used.walltime", "00:02:32");
  EXPECT_EQ(ended(over).end, JobEnd::timeout);
  Attributes under = limit;
  under.emplace("resources_used.walltime", "00:01:10");
  EXPECT_EQ(ended(under).end, JobEnd::failed);
}

TEST(PbsAnswers, TheTimeLeftFollowsFromStartAndLimit) {
  std::tm begin{};
  begin.tm_year = 126;
  begin.tm_mon = 10;
  begin.tm_mday = 22;
  begin.tm_hour = 10;
  begin.tm_isdst = -1;
  const std::time_t start = std::mktime(&begin);
  const Attributes job = parse_qstat(two_jobs).at("12.pbs");
  EXPECT_EQ(left_s(job, start + 600), 3000);
  EXPECT_EQ(left_s(job, start + 9999), 0);
  EXPECT_EQ(left_s({{"Resource_List.walltime", "01:00:00"}}, start), std::nullopt);
  EXPECT_EQ(left_s({{"stime", "Sun Nov 22 10:00:00 2026"}}, start), std::nullopt);
}

TEST(PbsAnswers, TheIdIsWhatQsubPrints) {
  EXPECT_EQ(parse_qsub("1234.pbs-server\n"), "1234.pbs-server");
  EXPECT_EQ(parse_qsub("Project charged: x\n1234.pbs\n"), "1234.pbs");
  EXPECT_EQ(parse_qsub("qsub: waiting for job 1 to start\n"), std::nullopt);
}

// The messages of src/lib/Liblog/pbs_messages.c and of the programs.
TEST(PbsAnswers, NoAnswerIsDistinguishedFromARefusal) {
  for (const char* none : {"qsub: cannot connect to server pbs (errno=15010)", "Connection refused\n",
                           "qstat: cannot connect to server pbs (errno=111)"})
    EXPECT_TRUE(says_no_answer(none)) << none;
  for (const char* refusal :
       {"qsub: Unknown queue", "qsub: Invalid Account", "qsub: Job violates queue and/or server resource limits",
        "qsub: directive error: -l select=x ", "qsub: Illegal attribute or resource value"})
    EXPECT_FALSE(says_no_answer(refusal)) << refusal;
}

TEST(PbsAnswers, AJobThatIsGoneIsDistinguishedFromOneThatIsNotOurs) {
  EXPECT_TRUE(says_has_ended("qdel: Unknown Job Id 12.pbs\nqdel: Job has finished 13.pbs\n"));
  EXPECT_FALSE(says_has_ended("qdel: Unknown Job Id 12.pbs\nqdel: Unauthorized Request  13.pbs\n"));
  EXPECT_FALSE(says_has_ended(""));
  EXPECT_TRUE(says_no_history("qstat: PBS is not configured to maintain job history 12.pbs\n"));
  EXPECT_FALSE(says_no_history("qstat: Unknown Job Id 12.pbs\n"));
}

TEST(PbsAnswers, NamesAreMadeOnesThatPbsTakes) {
  EXPECT_EQ(job_name("strong-nodes_4.1+2"), "strong-nodes_4.1+2");
  EXPECT_EQ(job_name("papers/haynes2000 4"), "papers_haynes2000_4");
  EXPECT_EQ(job_name("4 nodes"), "j4_nodes");
  EXPECT_EQ(job_name(""), "j");
  EXPECT_EQ(job_name(std::string(500, 'x')).size(), 230U);
  EXPECT_EQ(job_name(std::string(500, '4')).size(), 230U);
}

}  // namespace
}  // namespace fourscore::pbs
