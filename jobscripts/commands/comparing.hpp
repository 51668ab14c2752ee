#pragma once
// Measuring two builds against each other: what `compare` of builds, `run --against` and `gate certify` do.

#include <filesystem>
#include <string>
#include <vector>

#include "jobscripts/commands/campaign_options.hpp"
#include "jobscripts/gate/builds.hpp"

namespace fourscore {

struct MeasuredRequest {
  CampaignOptions campaign;  ///< what is measured, and where; the builds stand below
  ComparedBuild base, candidate;
  std::vector<std::string> candidate_arguments;  ///< further ones of its fft_bench
  bool slows_down = false;  ///< this or a later comparison of the same suite has --slow-down among them
  int pairs = 0;            ///< in the screen, per point; 0: as many launches as the suite says
  int most_pairs = 160;     ///< that are measured anew of a point that the screen flags
  bool quiet = false;
  std::vector<std::string> rules;  ///< options of the analysis that say what must be found: "--detect=5%"
};

struct MeasuredComparison {
  std::filesystem::path file;  ///< comparison.json
  bool finished = false;       ///< else it was interrupted; the same request goes on
};

/// Fewest pairs of the screen: fewer cannot tell a slowdown from chance.
inline constexpr int fewest_pairs = 6;

/// Measures a screen of all points, and fresh pairs of those that the analysis flags in it. Says before it starts how
/// long that takes, as far as that is known. A comparison that was interrupted goes on. Throws InputError,
/// EnvironmentError, Interrupted.
[[nodiscard]] MeasuredComparison measure_comparison(MeasuredRequest request);

/// measure_comparison(), and then becomes the analysis that judges it: `words` are of `compare`, whose sides are those
/// of the request. With campaign.dry_run shows what would be measured. Returns an exit code where it returns.
int compare_builds(const MeasuredRequest& request, std::vector<std::string> words);

/// A dry run: how many pairs of which points there would be. Nothing is written.
void show_comparison_plan(MeasuredRequest request);

}  // namespace fourscore
