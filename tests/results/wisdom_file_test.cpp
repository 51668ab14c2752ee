#include "results/wisdom_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/folder_test.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WisdomFileOnDisk : public FolderTest {
 protected:
  [[nodiscard]] WisdomFile read() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return parse_wisdom_file(text.str());
  }
  void add(const std::string& owner, const std::string& text) const {
    update_wisdom_file(file_, [&](std::map<std::string, std::string>& sections) { sections[owner] = text; });
  }

  const fs::path file_ = folder_ / "wisdom.txt";
};

const std::map<std::string, std::string> two_sections{{"fftw 3.3 on here", "[double]\nsection 3 x\n"},
                                                      {"other", "text without an end of line"}};

TEST(WisdomFile, HoldsWhatWasPutIntoIt) {
  const WisdomFile file = parse_wisdom_file(wisdom_file_text(two_sections));
  EXPECT_EQ(file.sections, two_sections);
  EXPECT_EQ(file.damage, "");
}

TEST(WisdomFile, CutOffAnywhereItKeepsTheSectionsThatAreWholeAndSaysSo) {
  const std::string whole = wisdom_file_text(two_sections);
  const std::size_t first_ends = wisdom_file_text({*two_sections.begin()}).size();
  const std::size_t header_ends = wisdom_file_text({}).size();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    const WisdomFile file = parse_wisdom_file(whole.substr(0, length));
    EXPECT_EQ(file.sections.size(), length < first_ends ? 0 : 1);
    // At the end of a section nothing tells that there was another one.
    const bool unseen = length == first_ends || length == header_ends || length + 1 == header_ends;
    EXPECT_EQ(file.damage.empty(), unseen) << file.damage;
  }
}

TEST(WisdomFile, AChangedSectionIsLeftOutAndNamed) {
  std::string text = wisdom_file_text(two_sections);
  text[text.find("[double]") + 1] = 'D';
  const WisdomFile file = parse_wisdom_file(text);
  EXPECT_THAT(file.sections, testing::ElementsAre(*two_sections.rbegin()));
  EXPECT_THAT(file.damage, HasSubstr("'fftw 3.3 on here' is damaged"));
}

TEST(WisdomFile, OneOfAnOlderFourscoreIsLeftOut) {
  const WisdomFile file = parse_wisdom_file("fourscore-wisdom 1\n[decisions]\n");
  EXPECT_TRUE(file.sections.empty());
  EXPECT_THAT(file.damage, HasSubstr("'fourscore-wisdom 1', expected 'fourscore-wisdom 2'"));
}

TEST(WisdomFile, SomethingElseIsRefused) {
  for (const char* text : {"something else\n", "my thesis", "\n",
                           "fourscore"
                           "\n"}) {
    SCOPED_TRACE(text);
    EXPECT_THROW((void)parse_wisdom_file(text), NoWisdomFile);
  }
}

TEST_F(WisdomFileOnDisk, SectionsOfOthersAreHandedOn) {
  add("a", "one");
  add("b", "two");
  EXPECT_EQ(read().sections, (std::map<std::string, std::string>{{"a", "one"}, {"b", "two"}}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no lock, no temporary file";
}

TEST_F(WisdomFileOnDisk, SomethingElseIsNotOverwritten) {
  std::ofstream(file_) << "my thesis\n";
  EXPECT_THROW(add("a", "one"), NoWisdomFile);
  std::ifstream in(file_);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "my thesis");
}

TEST_F(WisdomFileOnDisk, WritersAtOnceLoseNothing) {
  constexpr int writers = 8;
  constexpr int rounds = 12;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int round = 0; round < rounds; ++round)
        update_wisdom_file(file_, [&](auto& sections) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time for another one to come between
          sections[std::to_string(writer) + "-" + std::to_string(round)] = std::string(1000, 'x');
        });
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read().sections.size(), writers * rounds);
}

TEST_F(WisdomFileOnDisk, AWriterKilledAtAnyMomentLeavesAWholeFile) {
  add("first", std::string(100'000, 'x'));
  for (int after_us = 0; after_us < 4000; after_us += 200) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      for (int round = 0;; ++round) add("second", std::string(100'000, static_cast<char>('a' + round % 26)));
    std::this_thread::sleep_for(std::chrono::microseconds(after_us));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const WisdomFile file = read();
    EXPECT_EQ(file.damage, "");
    EXPECT_TRUE(file.sections.contains("first"));
  }
  add("third", "the dead hold no lock");
  EXPECT_TRUE(read().sections.contains("third"));
}

TEST_F(WisdomFileOnDisk, WhatAKilledWriterLeftIsSweptByTheNext) {
  const std::vector<std::string> others{".wisdom.txt.tar.gz",  ".wisdom.txt",        ".other.txt.aB3dE6",
                                        ".wisdom.txt.backup2", ".another.txtaB3dE6", ".wisdom.txt.aB-dE6"};
  for (const std::string& name : others) std::ofstream(folder_ / name) << "not ours";
  std::ofstream(folder_ / ".wisdom.txt.aB3dE6") << "half a file";
  add("first", "plans");
  EXPECT_FALSE(fs::exists(folder_ / ".wisdom.txt.aB3dE6"));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
}

}  // namespace
}  // namespace fourscore
