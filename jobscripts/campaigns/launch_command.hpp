#pragma once
// The command line of the program that a launch starts.

#include <filesystem>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"

namespace fourscore {

/// What a launch reads and writes.
struct LaunchFiles {
  std::filesystem::path record;
  std::filesystem::path verified;      ///< its verified samples, while it measures what follows them
  std::filesystem::path started;       ///< written once the program runs
  std::filesystem::path stamp;         ///< which launch of which campaign this is
  std::filesystem::path checked_by{};  ///< the record whose checks stand for the launch's; empty: none
};

[[nodiscard]] std::vector<std::string> program_command(const Campaign& campaign, const Archive& archive,
                                                       const RunSettings& settings, const Point& point,
                                                       const LaunchFiles& files);

}  // namespace fourscore
