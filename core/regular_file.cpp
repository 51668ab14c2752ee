#include "core/regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
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

FileContent read_regular_file(const fs::path& file, std::uint64_t largest_bytes) {
  (void)stamp_of(file);  // opening a device may already do something
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.is_open()) fail(errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) fail(errno);
  FileContent content{{}, regular(status)};
  if (content.stamp.bytes > largest_bytes)
    throw UnreadableFile(fmt::format("has {} bytes, expected at most {}", content.stamp.bytes, largest_bytes));
  content.text.reserve(content.stamp.bytes);
  std::array<char, 1U << 16U> block;
  // To its end, and not to its size: a file of the kernel says that it has 0 bytes, and may have no end.
  while (content.text.size() <= largest_bytes) {
    const ssize_t got = ::read(descriptor.get(), block.data(), block.size());
    if (got < 0 && errno != EINTR) fail(errno);
    if (got == 0) return content;
    if (got > 0) content.text.append(block.data(), static_cast<std::size_t>(got));
  }
  throw UnreadableFile(fmt::format("has more than the expected {} bytes", largest_bytes));
}

std::string text_or_nothing(const fs::path& file) {
  try {
    return read_regular_file(file).text;
  } catch (const UnreadableFile&) {
    return {};
  }
}

}  // namespace fourscore
