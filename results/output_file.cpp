#include "results/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace fourscore {
namespace fs = std::filesystem;

namespace {

bool is_standard_output(const fs::path& file) { return file.empty() || file == "-"; }

/// Absolute, with the links that there are followed, also where the file itself is not there yet.
fs::path resolved(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(file), error);
  return error ? fs::absolute(file).lexically_normal() : path;
}

bool looks_like_an_archive(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder / "records", error) &&
         (fs::is_directory(folder / "campaigns", error) || fs::exists(folder / "index.sqlite", error));
}

/// What a launch writes into its campaign, where `campaigns` is archive/campaigns: NAME/wisdom.txt, NAME/staging/FILE,
/// and of a job NAME/staging/JOB/FILE.
bool is_of_a_launch(const fs::path& path, const fs::path& campaigns) {
  const fs::path inside = path.lexically_relative(campaigns);
  const auto parts = std::distance(inside.begin(), inside.end());
  if (parts == 2) return *std::next(inside.begin()) == "wisdom.txt";
  return (parts == 3 || parts == 4) && *std::next(inside.begin()) == "staging";
}

/// The folder or file of an archive that `path` is or lies in, which is not for who names it; else empty.
fs::path part_of_an_archive(const fs::path& path, const fs::path& archive, Named named) {
  const fs::path own = archive.empty() ? fs::path() : resolved(archive);
  for (fs::path part = path; part.has_relative_path(); part = part.parent_path()) {
    const fs::path root = part.parent_path();
    const std::string name = part.filename().string();
    const bool ours = (name == "campaigns" && !is_of_a_launch(path, part)) ||
                      (part == path && (name.starts_with("index.sqlite") || name == "index.lock"));
    const bool kept = name == "records" || (named == Named::by_user && ours);
    if (kept && (root == own || looks_like_an_archive(root))) return part;
  }
  return {};
}

}  // namespace

void check_output(const fs::path& file, const fs::path& archive, const std::vector<fs::path>& inputs, Named named) {
  if (is_standard_output(file)) return;
  struct stat status {};
  const bool exists = ::stat(file.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode))
    throw OutputRefused(fmt::format(
        "cannot write {}: it exists and is no regular file; expected a new name or that of a file", file.string()));
  const fs::path path = resolved(file);
  if (const fs::path part = part_of_an_archive(path, archive, named); !part.empty())
    throw OutputRefused(fmt::format(
        "cannot write {}: {} belongs to an archive, in which nothing else is written; expected a name outside",
        file.string(), part.string()));
  std::error_code error;
  for (const fs::path& input : inputs)
    if (exists && fs::equivalent(file, input, error))
      throw OutputRefused(
          fmt::format("cannot write {}: this is the record that is read; expected another name", file.string()));
}

DescriptorBuffer::DescriptorBuffer(int fd) : fd_(fd), block_(1U << 16U) {
  setp(block_.data(), block_.data() + block_.size());
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type next) {
  if (sync() != 0) return traits_type::eof();
  if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
  return sputc(traits_type::to_char_type(next));
}

int DescriptorBuffer::sync() {
  std::string_view text(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  while (!text.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
  setp(block_.data(), block_.data() + block_.size());
  return error_ == 0 ? 0 : -1;
}

OutputFile::OutputFile(const fs::path& file, Named named) {
  check_output(file, {}, {}, named);
  fd_ = STDOUT_FILENO;
  if (!is_standard_output(file)) {
    target_ = resolved(file);
    std::string name = (target_.parent_path() / fmt::format(".{}.XXXXXX", target_.filename().string())).string();
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) fail(errno);
    temporary_ = name;
    // mkostemp(3) makes files of the owner alone; a file that is replaced keeps its mode, a new one gets the usual.
    struct stat status {};
    const mode_t mask = ::umask(0);
    ::umask(mask);
    const mode_t mode = ::stat(target_.c_str(), &status) == 0 ? status.st_mode & 07777U : 0666U & ~mask;
    (void)!::fchmod(fd_, mode);
  }
  buffer_ = std::make_unique<DescriptorBuffer>(fd_);
  stream_ = std::make_unique<std::ostream>(buffer_.get());
}

OutputFile::~OutputFile() {
  if (target_.empty()) return;
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(int error) const {
  throw OutputFailed(
      fmt::format("cannot write {}: {}", target_.empty() ? "standard output" : target_.string(), std::strerror(error)));
}

void OutputFile::require_space() const {
  const off_t end = ::lseek(fd_, 0, SEEK_END);
  if (end < 0 || ::pwrite(fd_, "", 1, end) != 1 || ::ftruncate(fd_, end) != 0) fail(errno);
}

void OutputFile::commit() {
  stream_->flush();
  if (!*stream_) fail(buffer_->error() == 0 ? EIO : buffer_->error());
  if (target_.empty()) return;
  const int fd = std::exchange(fd_, -1);
  const bool synced = ::fsync(fd) == 0;
  const int error = synced ? 0 : errno;
  if (::close(fd) != 0 || !synced) fail(synced ? errno : error);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void write_file(const fs::path& file, std::string_view text, Named named) {
  OutputFile out(file, named);
  out.stream() << text;
  out.commit();
}

}  // namespace fourscore
