#pragma once
// A folder of its own for each test.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace fourscore {

class FolderTest : public testing::Test {
 public:
  FolderTest(const FolderTest&) = delete;
  FolderTest& operator=(const FolderTest&) = delete;

 protected:
  FolderTest() {
    std::string name = testing::TempDir() + "fourscore-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    folder_ = name;
  }
  ~FolderTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path folder_;
};

}  // namespace fourscore
