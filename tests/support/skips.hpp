#pragma once
// A test that is skipped says so where it is counted: one line of program, test and reason, tabs between them, in the
// file that FOURSCORE_TEST_SKIPS names. tests/skips.py holds them against those that are expected.

#include <errno.h>  // program_invocation_short_name
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fourscore::testing_support {

class SkipRecorder : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& info) override {
    const char* path = std::getenv("FOURSCORE_TEST_SKIPS");
    if (path == nullptr || !info.result()->Skipped()) return;
    std::string reason;
    for (int part = 0; part < info.result()->total_part_count(); ++part)
      if (info.result()->GetTestPartResult(part).skipped()) reason += info.result()->GetTestPartResult(part).message();
    std::replace_if(
        reason.begin(), reason.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    // Other programs append to the file at the same time: one write for each line.
    std::FILE* file = std::fopen(path, "a");
    if (file == nullptr) return;
    std::fputs((std::string(program_invocation_short_name) + "\t" + info.test_suite_name() + "." + info.name() + "\t" +
                reason + "\n")
                   .c_str(),
               file);
    std::fclose(file);
  }
};

}  // namespace fourscore::testing_support
