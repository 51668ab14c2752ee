#pragma once
// The run rules of procurement (docs/run-rules.md): whether a campaign keeps them, and its figures of merit.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// The suite whose campaigns the rules are for: its file says what is measured, and the rest stands in run_rules.cpp.
inline constexpr std::string_view rules_suite = "procurement";

/// One test of the suite, a tag of it, at the most ranks: the faster of the variants that count, and the reference.
struct Figure {
  std::string test;
  nlohmann::json point;  ///< the point of the variant that counts
  double time_s = 0;     ///< the median of the launches' medians
  double gflops = 0;     ///< credited operations over time_s
  double reference_gflops = 0;
};

struct RulesVerdict {
  std::vector<std::string> reasons;  ///< against it, each a sentence; none: it keeps the rules
  int nodes = 0;
  int cores = 0;                  ///< ranks of a node at most
  std::vector<Figure> figures{};  ///< none where there are reasons
  double gflops = 0;              ///< the geometric mean of the figures
  double reference_gflops = 0;
};

/// `campaign` is the content of campaign.json, `suite_file` the suite as it is shipped.
[[nodiscard]] RulesVerdict judge_by_rules(const nlohmann::json& campaign, const std::vector<nlohmann::json>& records,
                                          const std::filesystem::path& suite_file);
/// The same of a campaign of an archive; records that cannot be read are verify()'s to name. Throws EnvironmentError
/// where the suite is not installed.
[[nodiscard]] RulesVerdict judge_by_rules(const Archive& archive, const std::string& campaign);

}  // namespace fourscore
