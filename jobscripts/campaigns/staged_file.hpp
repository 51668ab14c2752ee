#pragma once
// A file that a launch needs and leaves nothing of.

#include <filesystem>
#include <system_error>
#include <utility>

namespace fourscore {

class StagedFile {
 public:
  explicit StagedFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~StagedFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fourscore
