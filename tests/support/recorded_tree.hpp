#pragma once
// A tree of files for tests, from one text file: lines "path = first line of the file".

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace fourscore {

class RecordedTree {
 public:
  /// `name` below data/ of the test's folder.
  explicit RecordedTree(const std::string& name = "") {
    static int made = 0;
    root_ = std::filesystem::temp_directory_path() /
            ("fourscore-tree-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
    std::filesystem::create_directories(root_);
    if (name.empty()) return;
    std::ifstream file(std::filesystem::path(FOURSCORE_TEST_DATA) / name);
    if (!file) throw std::runtime_error("no test data " + name);
    for (std::string line; std::getline(file, line);) {
      const std::size_t equals = line.find(" = ");
      if (line.starts_with('#') || equals == std::string::npos) continue;
      write(line.substr(0, equals), line.substr(equals + 3));
    }
  }
  ~RecordedTree() {
    std::error_code error;
    std::filesystem::remove_all(root_, error);
  }
  RecordedTree(const RecordedTree&) = delete;
  RecordedTree& operator=(const RecordedTree&) = delete;

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace fourscore
