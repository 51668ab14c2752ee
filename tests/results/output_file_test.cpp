#include "results/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/regular_file.hpp"
#include "tests/support/folder_test.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public FolderTest {
 protected:
  OutputFiles() {
    fs::create_directories(folder_ / "archive/records/c");
    fs::create_directories(folder_ / "archive/campaigns/c/staging");
  }
};

TEST_F(OutputFiles, AreWholeOnceTheyAreThere) {
  const fs::path file = folder_ / "file";
  write_file(file, "before");
  {
    OutputFile out(file);
    out.stream() << "half";
    EXPECT_EQ(text_or_nothing(file), "before");
  }
  EXPECT_EQ(text_or_nothing(file), "before");
  write_file(file, "after");
  EXPECT_EQ(text_or_nothing(file), "after");
}

TEST_F(OutputFiles, TakeNoPlaceOfAnArchiveThatIsNotForThem) {
  const fs::path archive = folder_ / "archive";
  for (const char* name : {"records/c/new.json", "records/new", "campaigns/c/campaign.json",
                           "campaigns/c/jobs/1/staging/x", "index.sqlite", "index.sqlite-wal"})
    EXPECT_THROW(write_file(archive / name, "x"), OutputRefused) << name;
  EXPECT_THROW(write_file(archive / "records/c/new.json", "x", Named::by_us), OutputRefused);
  write_file(archive / "campaigns/c/staging/started", "");  // by a program that the command starts
  write_file(archive / "campaigns/c/suite.toml", "x", Named::by_us);
  write_file(archive / "report.html", "x");
  write_file(folder_ / "records", "x");  // belongs to no archive
}

TEST_F(OutputFiles, TakeNoPlaceOfWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/full", folder_ / "device");
  for (const fs::path& place : {folder_ / "pipe", folder_ / "device", folder_, fs::path("/dev/null")})
    for (const Named named : {Named::by_user, Named::by_us})
      EXPECT_THROW(write_file(place, "x", named), OutputRefused) << place;
}

/// A limit on the size of files stops a write in the middle, as a full disk does; a child carries it.
TEST_F(OutputFiles, StayAsTheyWereOnAFullDiskWhoeverWrites) {
  const fs::path file = folder_ / "file";
  write_file(file, "before");
  for (const bool by_a_library : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{4096, 4096};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
      try {
        OutputFile out(file);
        const std::string text(5000, 'x');
        if (by_a_library)  // which says nothing of what failed
          std::ofstream(out.temporary()) << text;
        else
          out.stream() << text;
        if (by_a_library) out.require_space();
        out.commit();
      } catch (const OutputFailed& error) {
        ::_exit(std::string(error.what()).find("File too large") == std::string::npos ? 3 : 0);
      }
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << by_a_library;
    EXPECT_EQ(text_or_nothing(file), "before");
  }
}

}  // namespace
}  // namespace fourscore
