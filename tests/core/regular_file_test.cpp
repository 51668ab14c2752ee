#include "core/regular_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fourscore {
namespace {

namespace fs = std::filesystem;

class RegularFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "regular-files-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(RegularFiles, AreReadWholeAndUpToABound) {
  const fs::path file = folder_ / "file";
  const std::string text(200'000, 'x');
  std::ofstream(file) << text;
  EXPECT_EQ(read_regular_file(file).text, text);
  EXPECT_EQ(read_regular_file(file, text.size()).text, text);
  EXPECT_THROW((void)read_regular_file(file, text.size() - 1), UnreadableFile);
  EXPECT_EQ(text_or_nothing(file), text);
  EXPECT_EQ(text_or_nothing(folder_ / "none"), "");
}

/// A test that waits here has found a reader that does.
TEST_F(RegularFiles, AreAllThatIsReadAndNothingIsWaitedFor) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", folder_ / "loop");
  std::ofstream(folder_ / "sparse").close();
  fs::resize_file(folder_ / "sparse", std::uintmax_t{1} << 40U);
  std::vector<fs::path> places{folder_, "/dev/zero", "/dev/full"};
  for (const char* name : {"pipe", "loop", "sparse", "none"}) places.push_back(folder_ / name);
  for (const fs::path& place : places) {
    EXPECT_THROW((void)read_regular_file(place), UnreadableFile) << place;
    EXPECT_EQ(text_or_nothing(place), "") << place;
  }
}

TEST_F(RegularFiles, OfTheKernelSayNothingOfTheirSize) {
  EXPECT_TRUE(read_regular_file("/proc/self/status").text.starts_with("Name:"));
  EXPECT_THROW((void)read_regular_file("/proc/self/mem"), UnreadableFile);
  EXPECT_THROW((void)read_regular_file("/proc/self/status", 10), UnreadableFile);
}

}  // namespace
}  // namespace fourscore
