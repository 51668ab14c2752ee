#include "results/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/descriptor.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(int error) { throw UnreadableFile(std::strerror(error)); }

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec; }

FileStamp regular(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) throw UnreadableFile(fmt::format("{}, not a regular file", kind_of(status.st_mode)));
  return {static_cast<std::uint64_t>(status.st_size), status.st_ino, nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim)};
}

}  // namespace

bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

FileStamp stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) return regular(status);
  const int error = errno;
  if (error == ENOENT && ::lstat(file.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    throw UnreadableFile("a link to a file that is not there");
  fail(error);
}

FileContent read_regular_file(const fs::path& file) {
  (void)stamp_of(file);  // opening a device may already do something
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.is_open()) fail(errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail(errno);
  FileContent content{{}, regular(status)};
  if (content.stamp.bytes > largest_file_bytes)
    throw UnreadableFile(fmt::format("has {} bytes, expected at most {}", content.stamp.bytes, largest_file_bytes));
  content.text.resize(content.stamp.bytes);
  std::size_t have = 0;
  while (have < content.text.size()) {
    const ssize_t got = ::read(descriptor.get(), content.text.data() + have, content.text.size() - have);
    if (got < 0 && errno != EINTR) fail(errno);
    if (got == 0) break;
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  content.text.resize(have);
  return content;
}

}  // namespace fourscore
