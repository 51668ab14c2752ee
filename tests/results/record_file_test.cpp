#include "results/record_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "results/archive.hpp"
#include "tests/support/folder_test.hpp"

namespace {

/// What was synced, and what was there at that time.
struct Synced {
  bool folder = false;
  std::string name;
  off_t bytes = 0;
  nlink_t links = 0;
};
std::mutex syncing;  ///< guards `synced` and `named`: a test writes from many threads
std::vector<Synced> synced;
std::filesystem::path final_name;  ///< whose link is looked for when something is synced
std::vector<bool> named;           ///< whether it was there

/// What link(2) does here instead: an errno, or 0 for success. Not set: as ever.
std::function<int(const char* from, const char* to)> instead_of_link;

int link_as_ever(const char* from, const char* to) {
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // namespace

/// These in place of the C library's, for all that this program calls.
extern "C" int link(const char* from, const char* to) noexcept {
  if (!instead_of_link) return link_as_ever(from, to);
  errno = instead_of_link(from, to);
  return errno == 0 ? 0 : -1;
}

extern "C" int fsync(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) == 0) {
    std::error_code error;
    const std::string name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
    const std::lock_guard lock(syncing);
    synced.push_back({S_ISDIR(status.st_mode), name, status.st_size, status.st_nlink});
    named.push_back(std::filesystem::exists(final_name, error));
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class RecordFile : public FolderTest {
 protected:
  ~RecordFile() override { instead_of_link = nullptr; }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path().filename().string());
    return result;
  }
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Without its digest.
json read(const fs::path& path) {
  json record = json::parse(text_of(path));
  record.erase("sha256");
  return record;
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

/// Whether `action` ends with an error that names `what`, where files may have 4096 bytes. That stops a write in the
/// middle as a full disk does; a child carries the limit, and is ended where it tries for ever.
template <class Error>
bool fails_for_want_of_room(const auto& action, const std::string& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::alarm(20);
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    ::_exit(message_of<Error>(action).find(what) == std::string::npos ? 1 : 0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(RecordFile, ThatDoesNotFitLeavesNothingBehind) {
  EXPECT_TRUE(fails_for_want_of_room<RecordNoSpace>(
      [&] {
        write_record_once(folder_ / "a.json", json{{"text", std::string(100'000, 'x')}});
      },
      "a.json"));
  EXPECT_TRUE(names().empty());
}

TEST_F(RecordFile, ThatWouldNotFitIsKnownBeforeTheFirstLaunch) {
  EXPECT_TRUE(
      fails_for_want_of_room<ArchiveError>([&] { Archive(folder_).create_campaign("c"); }, " cannot be written: "));
}

TEST_F(RecordFile, HasItsNameWhereTheReplyOfALinkWasLost) {
  instead_of_link = [](const char* from, const char* to) {
    link_as_ever(from, to);
    return EEXIST;
  };
  write_record_once(folder_ / "a.json", json{{"x", 1}});
  EXPECT_EQ(read(folder_ / "a.json").at("x"), 1);
  instead_of_link = [](const char*, const char*) { return EEXIST; };
  EXPECT_THROW(write_record_once(folder_ / "b.json", json{{"x", 1}}), RecordExists);
  EXPECT_EQ(names(), std::vector<std::string>{"a.json"});
}

TEST_F(RecordFile, HasItsNameAndOverwritesNoneWhereNothingCanBeLinked) {
  for (const int error : {EPERM, EOPNOTSUPP, ENOSYS}) {
    const fs::path path = folder_ / (std::to_string(error) + ".json");
    instead_of_link = [error](const char*, const char*) { return error; };
    write_record_once(path, json{{"x", 1}});
    EXPECT_THROW(write_record_once(path, json{{"x", 2}}), RecordExists);
    EXPECT_EQ(read(path).at("x"), 1);
  }
  instead_of_link = [](const char*, const char*) { return EIO; };
  EXPECT_ANY_THROW(write_record_once(folder_ / "a.json", json{{"x", 1}}));
  EXPECT_EQ(names().size(), 3U);
}

/// The command is killed while it tries whether the archive can be written, as by this signal.
TEST_F(RecordFile, IsNotLeftByAKilledProbe) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{4096, 4096};
    const rlimit no_core{0, 0};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) ::_exit(2);
    Archive(folder_).create_campaign("c");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
  EXPECT_TRUE(fs::is_directory(folder_ / "records/c"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) EXPECT_TRUE(entry.is_directory()) << entry;
}

TEST_F(RecordFile, KeepsTextThatIsNoUtf8ReadableAsJson) {
  write_record_once(folder_ / "a.json", json{{"stderr_tail", "bad \xff byte"}});
  EXPECT_EQ(read(folder_ / "a.json").at("stderr_tail"), "bad \xef\xbf\xbd byte");
}

TEST_F(RecordFile, IsOnTheDiskBeforeItHasItsNameAndTheNameBeforeItReturns) {
  fs::create_directory(folder_ / "staging");
  final_name = folder_ / "a.json";
  synced.clear();
  named.clear();
  write_record_once(final_name, json{{"x", std::string(10'000, 'x')}}, folder_ / "staging");
  const auto bytes = static_cast<off_t>(fs::file_size(final_name));
  ASSERT_EQ(synced.size(), 2U);
  EXPECT_FALSE(synced[0].folder);
  EXPECT_EQ(synced[0].bytes, bytes);
  EXPECT_FALSE(named[0]) << "the record had its name before it was on the disk";
  EXPECT_TRUE(synced[1].folder);
  EXPECT_EQ(fs::canonical(synced[1].name), fs::canonical(folder_));
  EXPECT_TRUE(named[1]) << "the folder was synced before the record was in it";
}

TEST_F(RecordFile, EndsInTheDigestOfWhatStandsBeforeIt) {
  write_record_once(folder_ / "a.json", json{{"zebra", 1}, {"ant", "x"}});
  const std::string text = text_of(folder_ / "a.json");
  // printf '{"ant":"x","zebra":1,"sha256":"' | sha256sum
  EXPECT_EQ(text, R"({"ant":"x","zebra":1,"sha256":"3a48bfb5c7d502b747cf60c7c5169dfb518480c0666ae92623c6639dee77fc64"})"
                  "\n");
  EXPECT_EQ(check_digest(text), Digest::right);
  EXPECT_EQ(stored_line(json::parse(text)), text) << "a record that is copied keeps its digest";
  json changed = json::parse(text);
  changed["zebra"] = 2;
  EXPECT_EQ(check_digest(stored_line(changed)), Digest::wrong);
  EXPECT_EQ(check_digest(record_line(changed)), Digest::right) << "what is written anew gets a digest of its own";
  EXPECT_EQ(check_digest(record_line(json::object())), Digest::right);
}

/// A record as fft_bench writes it, with every kind of value.
json some_record() {
  const json times{1.2345678901234e-3, 2.5e-3};
  return {{"schema", "fourscore.run-record"},
          {"schema_version", 1},
          {"record_id", std::string(32, '7')},
          {"point_id", std::string(16, 'a')},
          {"point", {{"variant", "pencil"}, {"shape", {8, 8, 8}}, {"ranks", 1}, {"parameters", {{"pieces", "2"}}}}},
          {"verdict", {{"status", "ok"}, {"reason", ""}, {"stderr_tail", "a \\ \"quoted\" word, \xc3\xa4\n"}}},
          {"samples", {{"time_s", times}, {"rank_total_s", {times}}}},
          {"verification", {{"ok", true}, {"checks", json::array()}}},
          {"flags", {"unbound"}}};
}

TEST(RecordDigest, EveryFlippedBitIsFound) {
  const std::string good = record_line(some_record());
  ASSERT_NO_THROW((void)parse_record(good));
  std::size_t tried = 0;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[i] = static_cast<char>(static_cast<unsigned char>(flipped[i]) ^ (1U << bit));
      ++tried;
      EXPECT_EQ(check_digest(flipped), Digest::wrong) << "byte " << i << ", bit " << bit;
    }
  EXPECT_GT(tried, 4000U);
}

TEST(RecordDigest, IsAbsentInARecordFromBeforeThereWereDigests) {
  EXPECT_EQ(check_digest(some_record().dump() + "\n"), Digest::absent);
  EXPECT_EQ(check_digest(""), Digest::absent);
}

TEST(RecordDigest, ElsewhereThanAtTheEndIsWrong) {
  const std::string line = record_line(some_record());
  EXPECT_EQ(check_digest(json::parse(line).dump() + "\n"), Digest::wrong);
  EXPECT_EQ(check_digest(line + "\n"), Digest::wrong);
  EXPECT_EQ(check_digest(line.substr(0, line.size() - 1)), Digest::wrong);
}

}  // namespace
}  // namespace fourscore
