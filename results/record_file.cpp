#include "results/record_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

#include "core/descriptor.hpp"
#include "core/sha256.hpp"
#include "results/rank_columns.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* digest_key = "sha256";
constexpr std::string_view digest_start = "\"sha256\":\"";
constexpr std::string_view digest_end = "\"}\n";

[[noreturn]] void fail(const std::string& doing, const fs::path& path, int error) {
  const std::string message = fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      throw RecordNoSpace(message);
    case EEXIST:
      throw RecordExists(message + " (records are never overwritten)");
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
      throw RecordNotWritable(message);
    default:
      throw RecordFileError(message);
  }
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Removes its file at the end of the scope, whatever happened to it.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_synced(Descriptor& file, const fs::path& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", path, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) fail("sync", path, errno);
  if (file.close() != 0) fail("close", path, errno);
}

/// link(2) refuses an existing name on every POSIX file system; some file systems have no hard links, and there
/// renameat2(RENAME_NOREPLACE) does the same.
void publish(const fs::path& temporary, const fs::path& path) {
  if (::link(temporary.c_str(), path.c_str()) == 0) return;
  int error = errno;
  struct stat status {};
  // A lost reply makes NFS report EEXIST for a link that was made; the link count tells (open(2), O_EXCL).
  if (error == EEXIST && ::stat(temporary.c_str(), &status) == 0 && status.st_nlink == 2) return;
  if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return;
    error = errno;
  }
  fail("store", path, error);
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder (EINVAL); they give no stronger promise than the link itself.
  if (descriptor.get() < 0 || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) fail("sync", folder, errno);
}

/// The line up to the digits.
std::string before_the_digest(const json& value) {
  // Captured stderr may be no UTF-8; a replacement character is better than no record.
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  text.pop_back();
  return text + (value.empty() ? "" : ",") + std::string(digest_start);
}

}  // namespace

std::string record_line(json value) {
  value.erase(digest_key);
  const std::string text = before_the_digest(value);
  return text + sha256_hex(text) + std::string(digest_end);
}

std::string stored_line(json record) {
  const auto digest = record.find(digest_key);
  if (digest == record.end()) return record.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  const std::string quoted = digest->dump(-1, ' ', false, json::error_handler_t::replace);
  record.erase(digest);
  return before_the_digest(record) + quoted.substr(1) + "}\n";
}

Digest check_digest(std::string_view text) {
  constexpr std::size_t digits = 64;
  const std::size_t tail = digits + digest_end.size();
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() > tail + digest_start.size() && text.ends_with(digest_end)) {
    const std::string_view signed_part = text.substr(0, text.size() - tail);
    const std::string_view digest = text.substr(signed_part.size(), digits);
    if (std::all_of(digest.begin(), digest.end(), is_hex))
      return sha256_hex(signed_part) == digest && signed_part.ends_with(digest_start) ? Digest::right : Digest::wrong;
  }
  return text.find(digest_start) == std::string_view::npos ? Digest::absent : Digest::wrong;
}

Digest check_digest(std::string_view text, const json& value) {
  const Digest digest = check_digest(text);
  return digest == Digest::absent && value.contains(digest_key) ? Digest::wrong : digest;
}

void check_record_path(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) fail("store", path, EEXIST);
  if (errno != ENOENT) fail("store", path, errno);
  const fs::path folder = folder_of(path);
  if (::stat(folder.c_str(), &status) != 0) fail("write to folder", folder, errno);
  if (!S_ISDIR(status.st_mode)) fail("write to folder", folder, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail("write to folder", folder, errno);
}

namespace {

/// Writes and syncs `text` under a temporary name in `folder`, and has `place` give it its name.
template <class Place>
void write_in(const fs::path& folder, const fs::path& path, std::string_view text, const Place& place) {
  std::random_device random;
  const fs::path name =
      folder / fmt::format(".{}.{}-{:08x}.tmp", path.filename().string(), ::getpid(), static_cast<unsigned>(random()));
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("create", name, errno);
  const TemporaryFile temporary(name);
  write_synced(file, path, text);
  place(temporary.path());
  sync_folder(folder_of(path));
}

}  // namespace

void write_once(const fs::path& path, std::string_view text, const fs::path& staging) {
  write_in(staging.empty() ? folder_of(path) : staging, path, text,
           [&](const fs::path& temporary) { publish(temporary, path); });
}

void write_record_once(const fs::path& path, nlohmann::json record, const fs::path& staging) {
  check_record_path(path);
  const std::string columns = take_rank_columns(record);
  if (columns.empty()) return write_once(path, record_line(std::move(record)), staging);
  // First what the record names: a record never lacks its columns.
  const fs::path beside = folder_of(path) / record["rank_columns"]["file"].get<std::string>();
  write_once(beside, columns, staging);
  try {
    write_once(path, record_line(std::move(record)), staging);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

void replace_unfinished_record(const fs::path& unfinished, const nlohmann::json& record) {
  write_in(folder_of(unfinished), unfinished, record_line(record), [&](const fs::path& temporary) {
    if (::rename(temporary.c_str(), unfinished.c_str()) != 0) fail("store", unfinished, errno);
  });
}

}  // namespace fourscore
