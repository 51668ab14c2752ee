// main() of every MPI test: each rank runs the same tests, a failure on any rank fails the program on all, and only
// rank 0 shows progress while every rank shows its own failures. A program of several files has a name for each: by
// that name it runs the tests of this file.

#include <errno.h>  // program_invocation_short_name
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "support/skips.hpp"

// A program whose tests need more says so when it is built.
#ifndef FOURSCORE_TEST_THREAD_LEVEL
#define FOURSCORE_TEST_THREAD_LEVEL MPI_THREAD_FUNNELED
#endif

namespace {

/// Leaves out the tests of other files, of those that --gtest_filter chooses. None where the program has no such file.
void choose_file(const std::string& name) {
  const auto& program = *testing::UnitTest::GetInstance();
  std::vector<std::string> others;
  int chosen = 0;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const auto& suite = *program.GetTestSuite(i);
    const std::size_t before = others.size();
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const auto& test = *suite.GetTestInfo(j);
      if (!std::string_view(test.file()).ends_with("/" + name + ".cpp"))
        others.push_back(std::string(suite.name()) + "." + test.name());
    }
    const int left_out = static_cast<int>(others.size() - before);
    chosen += suite.total_test_count() - left_out;
    if (left_out == suite.total_test_count()) {  // one word for all of them
      others.resize(before);
      others.push_back(std::string(suite.name()) + ".*");
    }
  }
  if (chosen == 0) return;
  std::string filter = GTEST_FLAG_GET(filter);
  for (const std::string& test : others) filter += (filter.find('-') == std::string::npos ? "-" : ":") + test;
  GTEST_FLAG_SET(filter, filter);
}

/// Prints failures with the rank in front, in one write each, so that ranks do not mix within a message.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  /// GoogleTest holds its lock while it reports a failure: asking it there which test runs would wait for ever.
  void OnTestStart(const testing::TestInfo& info) override {
    test_ = std::string(info.test_suite_name()) + "." + info.name() + " ";
  }
  void OnTestEnd(const testing::TestInfo&) override { test_.clear(); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::string text = "[rank " + std::to_string(rank_) + "] " + test_ +
                             (result.file_name() == nullptr ? "" : result.file_name()) + ":" +
                             std::to_string(result.line_number()) + ": " + result.message() + "\n";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  int rank_;
  std::string test_;
};

/// A test that fails on one rank must be seen by all: otherwise the others could wait in a collective of a test
/// that the first has left.
class Agreement : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override {
    int failed = info.result()->Failed() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    any_failed_ = any_failed_ || failed != 0;
  }
  [[nodiscard]] bool any_failed() const { return any_failed_; }

 private:
  bool any_failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, FOURSCORE_TEST_THREAD_LEVEL, &provided) != MPI_SUCCESS) return 1;
  testing::InitGoogleTest(&argc, argv);
  choose_file(program_invocation_short_name);
  // An exception on one rank ends the program, and with it mpirun all ranks: the others would wait for this one.
  GTEST_FLAG_SET(catch_exceptions, false);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  if (rank != 0) listeners.Append(new FailurePrinter(rank));
  if (rank == 0) listeners.Append(new fourscore::testing_support::SkipRecorder);
  auto* agreement = new Agreement;  // GoogleTest owns it
  listeners.Append(agreement);

  int failed = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    if (rank == 0) std::fprintf(stderr, "no test ran\n");
    failed = 1;
  }
  failed = failed != 0 || agreement->any_failed() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
