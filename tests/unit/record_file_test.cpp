#include "results/record_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class RecordFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "fourscore-record-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path().filename().string());
    return result;
  }

  fs::path folder_;
};

json read(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

template <class Error>
std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(RecordFile, ThatIsNotFinishedIsReplacedByTheNextForm) {
  const fs::path path = folder_ / "a.verified";
  replace_unfinished_record(path, json{{"parts", 1}});
  replace_unfinished_record(path, json{{"parts", 2}});
  EXPECT_EQ(read(path), (json{{"parts", 2}}));
  EXPECT_EQ(names(), std::vector<std::string>{"a.verified"});
}

TEST_F(RecordFile, IsWholeUnderItsFinalNameAndNothingElseStays) {
  const json record{{"schema", "x"}, {"samples", {1.25e-3, 0.1, 3.0000000000000004}}};
  write_record_once(folder_ / "a.json", record);
  EXPECT_EQ(read(folder_ / "a.json"), record);
  EXPECT_EQ(names(), std::vector<std::string>{"a.json"});
}

TEST_F(RecordFile, MayBeStagedInAnotherFolder) {
  fs::create_directory(folder_ / "staging");
  write_record_once(folder_ / "a.json", json{{"x", 1}}, folder_ / "staging");
  EXPECT_EQ(read(folder_ / "a.json").at("x"), 1);
  EXPECT_TRUE(fs::is_empty(folder_ / "staging"));
}

TEST_F(RecordFile, IsNeverOverwritten) {
  write_record_once(folder_ / "a.json", json{{"x", 1}});
  const std::string message = message_of<RecordExists>([&] { write_record_once(folder_ / "a.json", json{{"x", 2}}); });
  EXPECT_NE(message.find("a.json"), std::string::npos) << message;
  EXPECT_EQ(read(folder_ / "a.json").at("x"), 1);
  EXPECT_THROW(check_record_path(folder_ / "a.json"), RecordExists);
}

TEST_F(RecordFile, IsWrittenByExactlyOneOfManyWriters) {
  constexpr int writers = 8;
  std::vector<int> won(writers, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i)
    threads.emplace_back([&, i] {
      try {
        write_record_once(folder_ / "a.json", json{{"writer", i}});
        won[static_cast<std::size_t>(i)] = 1;
      } catch (const RecordExists&) {
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
  EXPECT_EQ(won.at(read(folder_ / "a.json").at("writer").get<std::size_t>()), 1);
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(RecordFile, InAMissingFolderIsRefusedWithTheFoldersName) {
  const fs::path path = folder_ / "absent" / "a.json";
  EXPECT_NE(message_of<RecordNotWritable>([&] { check_record_path(path); }).find("absent"), std::string::npos);
  EXPECT_THROW(write_record_once(path, json{}), RecordNotWritable);
}

TEST_F(RecordFile, InAFolderThatIsAFileIsRefused) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(check_record_path(folder_ / "file" / "a.json"), RecordNotWritable);
}

TEST_F(RecordFile, InAFolderThatMayNotBeWrittenIsRefused) {
  // Root may write anywhere, so the check runs in a child that is nobody.
  fs::permissions(folder_,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    try {
      check_record_path(folder_ / "a.json");
    } catch (const RecordNotWritable&) {
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(folder_, fs::perms::owner_all);
}

TEST_F(RecordFile, ThatDoesNotFitLeavesNothingBehind) {
  // A file size limit stops a write in the middle as a full disk does; a child carries the limit.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    try {
      write_record_once(folder_ / "a.json", json{{"text", std::string(100'000, 'x')}});
    } catch (const RecordNoSpace& error) {
      ::_exit(std::string(error.what()).find("a.json") == std::string::npos ? 3 : 0);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(names().empty());
}

TEST_F(RecordFile, KeepsTextThatIsNoUtf8ReadableAsJson) {
  write_record_once(folder_ / "a.json", json{{"stderr_tail", "bad \xff byte"}});
  EXPECT_EQ(read(folder_ / "a.json").at("stderr_tail"), "bad \xef\xbf\xbd byte");
}

}  // namespace
}  // namespace fourscore
