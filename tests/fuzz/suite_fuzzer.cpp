// The suite reader: whatever a file holds, it is a suite, or refused by an InputError.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/problem.hpp"
#include "jobscripts/point_keys.hpp"
#include "jobscripts/suite.hpp"

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace fourscore;
  try {
    const Suite suite = parse_suite(std::string(reinterpret_cast<const char*>(data), size), "fuzzed.toml", 4);
    if (suite.points.empty()) __builtin_trap();  // promised to be refused
    (void)point_text(suite.points.back());
    (void)point_options(suite.points.back());
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
