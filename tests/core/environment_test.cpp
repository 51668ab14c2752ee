#include "core/environment.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(program_) << "#!/bin/sh\n";
    std::ofstream(folder_ / "text") << "no program\n";
    fs::permissions(program_, fs::perms::owner_all);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  std::string path_ = environment("PATH");
  fs::path folder_ = fs::path(::testing::TempDir()) / ("environment-" + std::to_string(::getpid()));
  fs::path program_ = folder_ / "fourscore-test-program";
};

TEST_F(Environment, AVariableThatIsNotSetIsEmpty) {
  ::setenv("FOURSCORE_TEST_VARIABLE", "value", 1);
  EXPECT_EQ(environment("FOURSCORE_TEST_VARIABLE"), "value");
  ::unsetenv("FOURSCORE_TEST_VARIABLE");
  EXPECT_EQ(environment("FOURSCORE_TEST_VARIABLE"), "");
}

TEST_F(Environment, EmptyEntriesOfPathAreNoFolders) {
  ::setenv("PATH", ":/a::/b c:", 1);
  EXPECT_THAT(path_folders(), ElementsAre("/a", "/b c"));
  ::unsetenv("PATH");
  EXPECT_TRUE(path_folders().empty());
}

TEST_F(Environment, AProgramIsAFileThatMayBeRun) {
  EXPECT_TRUE(is_program(program_));
  EXPECT_FALSE(is_program(folder_ / "text"));
  EXPECT_FALSE(is_program(folder_));
  EXPECT_FALSE(is_program(folder_ / "nothing"));
}

TEST_F(Environment, ProgramsAreLookedForInPathAndThenElsewhere) {
  ::setenv("PATH", "/proc/nowhere", 1);
  EXPECT_TRUE(find_program("fourscore-test-program").empty());
  EXPECT_EQ(find_program("fourscore-test-program", {"/proc/nowhere", folder_}), program_);
  ::setenv("PATH", folder_.c_str(), 1);
  EXPECT_EQ(find_program("fourscore-test-program"), program_);
  EXPECT_TRUE(find_program("text").empty());
}

}  // namespace
}  // namespace fourscore
