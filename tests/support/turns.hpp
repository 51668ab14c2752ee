#pragma once
// Fewer of many cases alike, where each takes long.

#include <cstdlib>

namespace fourscore::test {

/// FOURSCORE_TEST_ONE_IN: of many cases alike a test takes one in so many. 1 where it is not set.
[[nodiscard]] inline int one_in() {
  const char* const text = std::getenv("FOURSCORE_TEST_ONE_IN");
  return text == nullptr ? 1 : std::atoi(text);
}

/// The cases of a test, of which it takes the first, and then one in one_in().
class Turns {
 public:
  [[nodiscard]] bool is_next() { return turn_++ % one_in() == 0; }

 private:
  int turn_ = 0;
};

}  // namespace fourscore::test
