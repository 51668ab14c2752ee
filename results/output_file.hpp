#pragma once
// What a user asks to be written with -o: a file that appears whole or not at all, or standard output.

#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <vector>

namespace fourscore {

/// The name may not be written to, whatever it holds; the message says why and what is expected.
struct OutputRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Writing failed; the message names the file and what the system said.
struct OutputFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws OutputRefused for what exists and is no regular file, for one of `inputs`, and for a name among the records
/// and campaigns of an archive: of `archive`, or of any other folder that looks like one. Writes nothing.
void check_output(const std::filesystem::path& file, const std::filesystem::path& archive,
                  const std::vector<std::filesystem::path>& inputs = {});

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

/// Written beside its final name and renamed by commit(); without that nothing is left behind, and what the name held
/// stays as it was. An empty name or "-" is standard output. The constructor and commit() throw OutputFailed.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return *stream_; }
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::filesystem::path target_;     ///< links followed; empty: standard output
  std::filesystem::path temporary_;  ///< empty when there is none
  int fd_ = -1;
  std::unique_ptr<DescriptorBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace fourscore
