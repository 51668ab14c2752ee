// Launch lines of machine files: words as a shell splits them, placeholders, variables.

#include "jobscripts/base/launch_line.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "core/errors.hpp"

namespace fourscore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// On 6 ranks of 2 nodes, with a program of three words.
Words argv_of(const std::string& line) {
  return LaunchLine(line).argv({{"ranks", "6"},
                                {"nodes", "2"},
                                {"ranks_per_node", "3"},
                                {"threads", "4"},
                                {"hosts", "n1,n2"},
                                {"placement", "cyclic"}},
                               {"fft_bench", "--record", "a file.json"});
}

std::string refusal_of(const std::string& line) {
  try {
    (void)LaunchLine(line);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(LaunchLine, FillsEveryPlaceholderAndKeepsTheProgramsWordsApart) {
  EXPECT_THAT(argv_of("run -n {ranks} -N {nodes} --ppn={ranks_per_node} -d {threads} --hosts {hosts} -m {placement}:x "
                      "{program} --last"),
              ElementsAre("run", "-n", "6", "-N", "2", "--ppn=3", "-d", "4", "--hosts", "n1,n2", "-m", "cyclic:x",
                          "fft_bench", "--record", "a file.json", "--last"));
}

TEST(LaunchLine, SplitsWordsAsAShellDoes) {
  EXPECT_THAT(argv_of(R"(  a 'b  c'"d e"f\ g  '' "" \"h "i\"j\k" {ranks}'{nodes}' {program})"),
              ElementsAre("a", "b  cd ef g", "", "", "\"h", "i\"j\\k", "62", "fft_bench", "--record", "a file.json"));
}

TEST(LaunchLine, ABraceWrittenTwiceIsOne) {
  EXPECT_THAT(argv_of("a {{ranks}} '{{}}' {ranks} {program}"),
              ElementsAre("a", "{ranks}", "{}", "6", "fft_bench", "--record", "a file.json"));
}

TEST(LaunchLine, TakesVariablesAtTheTimeOfTheLaunch) {
  const LaunchLine line(
      "run -f $FOURSCORE_TEST_FILE ${FOURSCORE_TEST_FILE}x \"$FOURSCORE_TEST_FILE\" "
      "'$FOURSCORE_TEST_FILE' \\$X {ranks} {program}");
  ::unsetenv("FOURSCORE_TEST_FILE");
  EXPECT_THAT(line.unset_variables(), ElementsAre("FOURSCORE_TEST_FILE", "FOURSCORE_TEST_FILE", "FOURSCORE_TEST_FILE"));
  ::setenv("FOURSCORE_TEST_FILE", "a b", 1);
  EXPECT_THAT(line.unset_variables(), ElementsAre());
  EXPECT_THAT(line.argv({{"ranks", "1"}}, {"p"}),
              ElementsAre("run", "-f", "a b", "a bx", "a b", "$FOURSCORE_TEST_FILE", "$X", "1", "p"));
  ::unsetenv("FOURSCORE_TEST_FILE");
}

TEST(LaunchLine, KnowsWhatItHolds) {
  const LaunchLine line("run -n {ranks} {{nodes}} {program}");
  EXPECT_TRUE(line.holds("ranks") && line.holds("program"));
  EXPECT_FALSE(line.holds("nodes"));
}

TEST(LaunchLine, RefusesWhatCannotStartAProgramAndSaysWhatIsExpected) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "without {ranks}"},
      {"run {program}", "without {ranks}"},
      {"run {{ranks}} {program}", "without {ranks}"},
      {"run {ranks}", "without {program}"},
      {"run -n {rank} {program}", "unknown placeholder {rank}, did you mean {ranks}?"},
      {"run -n {ranks} {program} {}", "unknown placeholder {}"},
      {"run -n {ranks {program}", "unknown placeholder {ranks {program}"},
      {"run -n {ranks} {program} {", "a single {"},
      {"run -n {ranks} {program} }", "a single }"},
      {"run -n {ranks} '{program}", "a quote ' does not end"},
      {"run -n {ranks} \"{program}", "a quote \" does not end"},
      {"run -n {ranks} x{program}", "{program} is several words"},
      {"run -n {ranks} '{program}'", "{program} is several words"},
      {"run -n {ranks} {program} {program}", "more than once"},
      {"run -n {ranks} {program} | tee log", "'|' is for a shell"},
      {"run -n {ranks} {program}; date",
       "'"
       ";' is for a shell"},
      {"run -n {ranks} {program} > log", "'>' is for a shell"},
      {"run -n {ranks} $(hosts) {program}", "$ stands before no name"},
      {"run -n {ranks} ${A {program}", "$ stands before no name"},
      {"run -n {ranks} {program} $", "$ stands before no name"},
      {"run -n {ranks} {program} \\", "\\ at the end"},
  };
  for (const auto& [line, words] : cases) EXPECT_THAT(refusal_of(line), HasSubstr(words)) << line;
}

}  // namespace
}  // namespace fourscore
