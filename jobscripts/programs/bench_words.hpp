#pragma once
// The words of a suite as fft_bench knows them.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobscripts/suites/suite_words.hpp"

namespace fourscore {

/// As fft_bench says; it is looked for at the first question. Throws EnvironmentError where it is missing or fails.
class BenchWords : public SuiteWords {
 public:
  /// `bench` is --bench, or empty.
  explicit BenchWords(std::string bench) : option_(std::move(bench)) {}
  [[nodiscard]] std::vector<std::string> names(const std::string& key) override;
  [[nodiscard]] std::string default_exchange(const std::string& variant) override;
  [[nodiscard]] std::vector<GridRoom> grids(const std::vector<Point>& points) override;

 private:
  [[nodiscard]] const nlohmann::json& list();

  std::string option_;
  std::optional<nlohmann::json> list_;  ///< once it was asked for
};

}  // namespace fourscore
