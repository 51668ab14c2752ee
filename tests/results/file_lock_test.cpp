#include "results/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>

#include "tests/support/folder_test.hpp"

namespace {

/// What flock(2) does here instead: an errno, or 0 to lock as ever. Not set: as ever.
std::function<int()> instead_of_flock;

}  // namespace

/// In place of the C library's, for all that this program calls.
extern "C" int flock(int fd, int operation) noexcept {
  if (instead_of_flock) {
    errno = instead_of_flock();
    if (errno != 0) return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using Kind = FileLock::Kind;

class FileLocks : public FolderTest {
 protected:
  ~FileLocks() override { instead_of_flock = nullptr; }
  void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  void expect_this_process() {
    const LockHolder holder = FileLock::holder(file_);
    EXPECT_EQ(holder.pid, ::getpid());
    EXPECT_EQ(holder.host, this_host());
  }

  const fs::path file_ = folder_ / "lock";
};

TEST_F(FileLocks, OneHasItAndIsNamed) {
  {
    const auto lock = FileLock::attempt(file_, Kind::exclusive);
    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->lacking(), 0);
    expect_this_process();
    EXPECT_FALSE(FileLock::attempt(file_, Kind::exclusive));
    EXPECT_FALSE(FileLock::attempt(file_, Kind::shared));
  }
  EXPECT_TRUE(FileLock::attempt(file_, Kind::exclusive)) << "it ends with its holder";
}

TEST_F(FileLocks, SeveralShareIt) {
  const auto one = FileLock::attempt(file_, Kind::shared);
  const auto other = FileLock::attempt(file_, Kind::shared);
  EXPECT_TRUE(one);
  EXPECT_TRUE(other);
  EXPECT_FALSE(FileLock::attempt(file_, Kind::exclusive));
}

TEST_F(FileLocks, NobodyIsNamedByAFileThatSaysNothing) {
  EXPECT_EQ(FileLock::holder(file_).pid, 0);
  EXPECT_EQ(FileLock::holder(file_).host, "");
}

TEST_F(FileLocks, AnInterruptedAttemptGoesOn) {
  int calls = 0;
  instead_of_flock = [&] { return ++calls < 3 ? EINTR : 0; };
  EXPECT_TRUE(FileLock::attempt(file_, Kind::exclusive));
  EXPECT_EQ(calls, 3);
}

TEST_F(FileLocks, AFileThatWasRemovedMeanwhileIsMadeAgain) {
  int calls = 0;
  instead_of_flock = [&] {
    if (++calls == 1) fs::remove(file_);
    return 0;
  };
  const auto lock = FileLock::attempt(file_, Kind::exclusive);
  ASSERT_TRUE(lock);
  EXPECT_EQ(calls, 2);
  instead_of_flock = nullptr;
  EXPECT_FALSE(FileLock::attempt(file_, Kind::exclusive)) << "the lock is on the file that others see";
  expect_this_process();
}

TEST_F(FileLocks, AnotherErrorIsThrown) {
  instead_of_flock = [] { return EIO; };
  try {
    (void)FileLock::attempt(file_, Kind::exclusive);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EIO);
    EXPECT_NE(std::string(error.what()).find("cannot lock " + file_.string()), std::string::npos);
  }
}

TEST_F(FileLocks, ErrorsThatMeanNoLocksAreKnown) {
  for (const int error : {ENOSYS, ENOLCK, EOPNOTSUPP}) EXPECT_TRUE(lacks_locks(error)) << error;
  for (const int error : {0, EIO, EWOULDBLOCK, EACCES}) EXPECT_FALSE(lacks_locks(error)) << error;
}

/// Where the file system has no locks.
class Leases : public FileLocks {
 protected:
  Leases() {
    instead_of_flock = [] { return ENOLCK; };
  }
};

TEST_F(Leases, OneHasItAndIsNamedInstead) {
  const fs::path lease = file_.string() + ".lease";
  {
    const auto lock = FileLock::attempt(file_, Kind::exclusive);
    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->lacking(), ENOLCK);
    EXPECT_TRUE(fs::exists(lease));
    EXPECT_EQ(fs::file_size(file_), 0U);
    expect_this_process();
    EXPECT_FALSE(FileLock::attempt(file_, Kind::exclusive));
  }
  EXPECT_FALSE(fs::exists(lease)) << "it ends with its holder";
  EXPECT_TRUE(FileLock::attempt(file_, Kind::exclusive));
}

TEST_F(Leases, ThatOfAKilledProcessOfThisHostIsTakenOver) {
  write(FileLock::lease_of(file_), "999999999 " + this_host() + " and what else was written\n");
  const auto lock = FileLock::attempt(file_, Kind::exclusive);
  ASSERT_TRUE(lock);
  expect_this_process();
  std::ifstream in(FileLock::lease_of(file_));
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(all, std::to_string(::getpid()) + " " + this_host() + "\n");
}

TEST_F(Leases, ThatOfAnotherHostIsLeftAlone) {
  write(FileLock::lease_of(file_), "12 elsewhere\n");
  EXPECT_FALSE(FileLock::attempt(file_, Kind::exclusive));
  EXPECT_EQ(FileLock::holder(file_).pid, 12);
  EXPECT_EQ(FileLock::holder(file_).host, "elsewhere");
}

TEST_F(Leases, SharingItHoldsNothing) {
  const auto lock = FileLock::attempt(file_, Kind::shared);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->lacking(), ENOLCK);
  EXPECT_FALSE(fs::exists(FileLock::lease_of(file_)));
  EXPECT_TRUE(FileLock::attempt(file_, Kind::exclusive));
}

}  // namespace
}  // namespace fourscore
