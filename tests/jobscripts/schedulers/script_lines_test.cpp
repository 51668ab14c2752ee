#include "jobscripts/schedulers/shared/script_lines.hpp"

#include <gmock/gmock.h>

#include "core/errors.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ScriptLines, AWordIsQuotedWhereAShellWouldReadItOtherwise) {
  EXPECT_EQ(shell_word("/a/b-c_1.x=y,+%@:"), "/a/b-c_1.x=y,+%@:");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$HOME `x` \"q\" \\"), "'$HOME `x` \"q\" \\'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~"), "'~'");
}

TEST(ScriptLines, ADirectiveHoldsOneLine) {
  EXPECT_EQ(directive_word("name", "plain"), "plain");
  EXPECT_EQ(directive_word("name", R"(a "b" \ c)"), R"("a \"b\" \\ c")");
  try {
    (void)directive_word("name", "a\n#SBATCH --array=1-100");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "name is 'a\\n#SBATCH --array=1-100'; expected one line without control characters");
  }
}

TEST(ScriptLines, TimesAreRoundedUpToSeconds) {
  EXPECT_EQ(clock_time(60), "00:01:00");
  EXPECT_EQ(clock_time(0.2), "00:00:01");
  EXPECT_EQ(clock_time(3599.1), "01:00:00");
  EXPECT_EQ(clock_time(100 * 3600.0), "100:00:00");
}

TEST(ScriptLines, OptionsOfDirectivesAreFoundWithoutTheirValues) {
  EXPECT_THAT(options_of({"--time=10 --exclusive", "-l  select=1", " --gres=gpu:4"}),
              ElementsAre("--exclusive", "--gres", "--time", "-l"));
  EXPECT_THAT(options_of({}), IsEmpty());
  EXPECT_THAT(options_of({""}), IsEmpty());
}

TEST(ScriptLines, MoreTasksThanTheCoresOfANodeAreNotAskedFor) {
  Machine machine;
  JobRequest job;
  job.ranks_per_node = 16;
  job.threads = 8;
  EXPECT_EQ(tasks_per_node(machine, job), 16);  // its cores are not known
  machine.cores = 16;
  EXPECT_EQ(tasks_per_node(machine, job), 2);
  job.threads = 1;
  EXPECT_EQ(tasks_per_node(machine, job), 16);
  job.threads = 32;
  EXPECT_EQ(tasks_per_node(machine, job), 1);
}

}  // namespace
}  // namespace fourscore
