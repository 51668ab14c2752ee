#include "results/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "core/regular_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const char* doing, const fs::path& file) {
  throw std::system_error(errno, std::generic_category(), fmt::format("cannot {} {}", doing, file.string()));
}

Descriptor opened(const fs::path& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) fail("open", file);
  return descriptor;
}

/// Whoever removed the file while we waited for it left a lock that nobody else sees.
bool is_still(const Descriptor& descriptor, const fs::path& file) {
  struct stat ours {
  }, there{};
  return ::fstat(descriptor.get(), &ours) == 0 && ::stat(file.c_str(), &there) == 0 && ours.st_dev == there.st_dev &&
         ours.st_ino == there.st_ino;
}

/// A name in the kernel's memory that one process of this host has: as flock(2), it is inherited and ends with its
/// holders. Not open where another has it.
Descriptor name_on_this_host(const Descriptor& file) {
  struct stat status {};
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::fstat(file.get(), &status) != 0 || !socket.is_open()) return Descriptor();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // After a first byte of 0 (unix(7), abstract): no file anywhere.
  const std::string name = fmt::format("fourscore-lock-{}-{}", status.st_dev, status.st_ino);
  std::ranges::copy(name, &address.sun_path[1]);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return Descriptor();
  return socket;
}

/// Replaces what the file holds by this process and host.
void sign(const Descriptor& descriptor, const fs::path& file) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), this_host());
  if (::ftruncate(descriptor.get(), 0) != 0 || ::pwrite(descriptor.get(), text.data(), text.size(), 0) < 0)
    fail("write", file);
}

LockHolder read_holder(const fs::path& file) {
  LockHolder holder;
  std::istringstream in(text_or_nothing(file));
  in >> holder.pid >> holder.host;
  return holder;
}

}  // namespace

std::string this_host() {
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  return host;
}

bool lacks_locks(int error) { return error == ENOSYS || error == ENOLCK || error == EOPNOTSUPP; }

bool has_record_locks(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct flock first_byte {};
  first_byte.l_type = F_RDLCK;
  first_byte.l_len = 1;
  return !descriptor.is_open() || ::fcntl(descriptor.get(), F_SETLK, &first_byte) == 0 || !lacks_locks(errno);
}

std::optional<FileLock> FileLock::attempt(const fs::path& file, Kind kind) {
  while (true) {
    FileLock lock(opened(file));
    int error = 0;
    do {
      error = ::flock(lock.file_.get(), (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == EWOULDBLOCK) return std::nullopt;
    if (error != 0 && !lacks_locks(error)) fail("lock", file);
    lock.lacking_ = error;
    if (error != 0 && kind == Kind::exclusive && !lock.lease(file)) return std::nullopt;
    if (!is_still(lock.file_, file)) continue;
    if (error == 0) sign(lock.file_, file);
    return lock;
  }
}

bool FileLock::lease(const fs::path& file) {
  socket_ = name_on_this_host(file_);
  if (!socket_.is_open()) return false;
  const fs::path path = lease_of(file);
  Descriptor lease(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!lease.is_open() && errno == EEXIST) {
    if (read_holder(path).host != this_host()) return false;
    // Its holder was killed: the socket was free.
    lease = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  }
  if (!lease.is_open()) fail("open", path);
  sign(lease, path);
  lease_ = path;
  return true;
}

void FileLock::release() {
  if (!lease_.empty()) ::unlink(lease_.c_str());  // before the socket, which says that it is ours
}

LockHolder FileLock::holder(const fs::path& file) {
  std::error_code error;
  return read_holder(fs::exists(lease_of(file), error) ? lease_of(file) : file);
}

fs::path FileLock::lease_of(const fs::path& file) { return file.string() + ".lease"; }

}  // namespace fourscore
