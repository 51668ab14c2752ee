// The suite reader: whatever a file holds, it is a suite, or refused by an InputError.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/point_keys.hpp"
#include "core/problem.hpp"
#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_words.hpp"

namespace {

/// Answers for any name, with one grid or with several.
class Words : public fourscore::SuiteWords {
 public:
  std::vector<std::string> names(const std::string& key) override { return {key, "none"}; }
  std::string default_exchange(const std::string& variant) override { return variant; }
  std::vector<fourscore::GridRoom> grids(const std::vector<fourscore::Point>& points) override {
    std::vector<fourscore::GridRoom> rooms;
    for (const auto& point : points) rooms.push_back({point.variant.size() % 4, point.ranks});
    return rooms;
  }
};

}  // namespace

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace fourscore;
  Words words;
  try {
    const Suite suite = parse_suite(std::string(reinterpret_cast<const char*>(data), size), "fuzzed.toml", 4, words);
    if (suite.points.empty()) __builtin_trap();  // promised to be refused
    (void)point_text(suite.points.back());
    (void)point_options(suite.points.back());
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
