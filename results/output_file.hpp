#pragma once
// The one way in which files are written that are no records: whole or not at all, and never in a record's place.

#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string_view>
#include <vector>

#include "core/errors.hpp"

namespace fourscore {

/// The name may not be written to, whatever it holds; the message says why and what is expected.
struct OutputRefused : InputError {
  using InputError::InputError;
};
/// Writing failed; the message names the file and what the system said.
struct OutputFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Who names the file: a user, or our own program, which also writes what an archive has beside its records.
enum class Named { by_user, by_us };

/// Throws OutputRefused for what exists and is no regular file, for one of `inputs`, and for a name among the records
/// of an archive, or where a user names it among its campaigns and index (but for what a running launch leaves in
/// staging): of `archive`, or of any other folder that looks like one. Writes nothing.
void check_output(const std::filesystem::path& file, const std::filesystem::path& archive = {},
                  const std::vector<std::filesystem::path>& inputs = {}, Named named = Named::by_user);

/// A buffer over a file descriptor that remembers what the system said when a write failed.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd);
  [[nodiscard]] int error() const { return error_; }

 protected:
  int_type overflow(int_type next) override;
  int sync() override;

 private:
  int fd_;
  int error_ = 0;
  std::vector<char> block_;
};

/// Written beside its final name, synced and renamed by commit(); without that nothing is left behind, and what the
/// name held stays as it was. An empty name or "-" is standard output. The constructor throws what check_output()
/// throws, and as commit() OutputFailed.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file, Named named = Named::by_user);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return *stream_; }
  /// Where it is until commit(), for a library that opens files by their names.
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  /// Checks what such a library wrote, which may have failed without a word: throws OutputFailed where the file could
  /// not be longer by a byte.
  void require_space() const;
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path target_;     ///< links followed; empty: standard output
  std::filesystem::path temporary_;  ///< empty when there is none
  int fd_ = -1;
  std::unique_ptr<DescriptorBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

/// A file that holds this text. Throws as OutputFile does.
void write_file(const std::filesystem::path& file, std::string_view text, Named named = Named::by_user);

}  // namespace fourscore
