#pragma once
// Who may write something at one time, on file systems with locks and without.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/descriptor.hpp"

namespace fourscore {

/// Whether errno of flock(2) or fcntl(2) says that this file system has no locks: ENOSYS, ENOLCK, EOPNOTSUPP.
[[nodiscard]] bool lacks_locks(int error);

/// Whether fcntl(2) locks files like this one, which must be there. SQLite's locks are such.
[[nodiscard]] bool has_record_locks(const std::filesystem::path& file);

[[nodiscard]] std::string this_host();

/// Who has a lock, by the file's own word. 0 and "" where that says nothing.
struct LockHolder {
  long pid = 0;
  std::string host;
};

/// flock(2) on a file, inherited by forked processes: it vanishes with the last of them, however they end. Where the
/// file system has no locks, FILE.lease names the one process and host instead. On that host a socket without a file
/// stands for the lock, so a lease whose holder was killed is taken over. Another host cannot tell, and is refused.
class FileLock {
 public:
  enum class Kind { exclusive, shared };

  /// Tries once; nothing while somebody else has it. Makes the file. Throws std::system_error. A shared lock holds
  /// nothing where there are no locks.
  [[nodiscard]] static std::optional<FileLock> attempt(const std::filesystem::path& file, Kind kind);
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept
      : file_(std::move(other.file_)),
        socket_(std::move(other.socket_)),
        lease_(std::exchange(other.lease_, {})),
        lacking_(other.lacking_) {}
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// errno of the system that has no locks; 0 where it has.
  [[nodiscard]] int lacking() const { return lacking_; }

  /// What the lock of `file`, or its lease, says last.
  [[nodiscard]] static LockHolder holder(const std::filesystem::path& file);
  [[nodiscard]] static std::filesystem::path lease_of(const std::filesystem::path& file);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  bool lease(const std::filesystem::path& file);
  void release();

  Descriptor file_;
  Descriptor socket_;
  std::filesystem::path lease_;  ///< empty: none
  int lacking_ = 0;
};

}  // namespace fourscore
