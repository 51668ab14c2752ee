#pragma once
// The words of a suite as fft_bench knows them.

#include <filesystem>
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
  /// `plugins`: in place of those of a suite, where there are any.
  explicit BenchWords(std::string bench, std::vector<std::filesystem::path> plugins = {})
      : option_(std::move(bench)), asked_(std::move(plugins)), plugins_(asked_) {}
  void use_plugins(const std::vector<std::filesystem::path>& files) override;
  [[nodiscard]] const std::vector<std::filesystem::path>& plugins() const { return plugins_; }
  [[nodiscard]] std::vector<std::string> names(const std::string& key) override;
  [[nodiscard]] std::string default_exchange(const std::string& variant) override;
  [[nodiscard]] std::vector<GridRoom> grids(const std::vector<Point>& points) override;

 private:
  [[nodiscard]] const nlohmann::json& list();

  std::string option_;
  std::vector<std::filesystem::path> asked_, plugins_;
  std::optional<nlohmann::json> list_;  ///< once it was asked for
};

}  // namespace fourscore
