#pragma once

#include <algorithm>
#include <string>

namespace fourscore::test {

/// As GoogleTest takes it for the name of a test.
[[nodiscard]] inline std::string as_test_name(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '-' || c == ' '; }, '_');
  return text;
}

}  // namespace fourscore::test
