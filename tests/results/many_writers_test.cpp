// Jobs on many nodes write records of one campaign at once, without any lock; whoever reads makes the index.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/record.hpp"
#include "results/index.hpp"
#include "results/record_file.hpp"
#include "tests/support/folder_test.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// A number of the environment, so that the same test runs by hand with more.
int number(const char* name, int otherwise) {
  const char* set = std::getenv(name);
  return set == nullptr ? otherwise : std::atoi(set);
}

class ManyWriters : public FolderTest {
 protected:
  ManyWriters() { archive_.create_campaign("c"); }

  /// In a process of its own: its launches of one point, by the names that jobs give.
  [[nodiscard]] pid_t start_writer(int writer, int records) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
      const fs::path staging = archive_.campaign_folder("c") / "staging" / fmt::format("{:04}", writer);
      fs::create_directories(staging);
      Point point;
      point.variant = "slab";
      point.problem.shape = {8, 8, 8};
      for (int i = 0; i < records; ++i) {
        const int launch = writer * records + i;
        const nlohmann::json stamp{{"id", "c"}, {"suite", "s"}, {"launch", launch}};
        write_record_once(archive_.record_file("c", point_id(point), launch),
                          make_unlaunched_record(point, stamp, {"failed", "made up", 1, 0, ""}, nullptr), staging);
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "writer {}: {}\n", writer, error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }

  const Archive archive_{folder_};
};

TEST_F(ManyWriters, LoseNothingAndTheIndexOfAReaderIsComplete) {
  const int writers = number("FOURSCORE_WRITERS", 16);
  const int records = number("FOURSCORE_RECORDS", 20);
  const auto all = static_cast<std::size_t>(writers) * static_cast<std::size_t>(records);
  const auto begin = std::chrono::steady_clock::now();
  std::set<pid_t> running;
  for (int writer = 0; writer < writers; ++writer) running.insert(start_writer(writer, records));
  std::size_t readings = 0;
  std::size_t seen = 0;
  while (!running.empty()) {
    const std::size_t now = record_entries(archive_, "c").size();  // which indexes what it reads
    EXPECT_GE(now, seen) << "a record that was there has gone";
    seen = now;
    ++readings;
    int status = 0;
    for (pid_t ended = ::waitpid(-1, &status, WNOHANG); ended > 0; ended = ::waitpid(-1, &status, WNOHANG)) {
      EXPECT_EQ(status, 0);
      running.erase(ended);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("seconds", fmt::format("{:.2f}", seconds));
  fmt::print("{} processes wrote {} records each in {:.2f} s; {} readings meanwhile\n", writers, records, seconds,
             readings);
  const auto entries = record_entries(archive_, "c");
  EXPECT_EQ(entries.size(), all);
  for (const RecordEntry& entry : entries) ASSERT_EQ(entry.reason, "") << entry.file;
  EXPECT_EQ(indexed_files(archive_, "c").size(), all);
  const ReindexResult rebuilt = reindex(archive_);
  EXPECT_EQ(rebuilt.records, all);
  EXPECT_TRUE(rebuilt.unreadable.empty());
}

}  // namespace
}  // namespace fourscore
