#pragma once
// The command line of the component programs: ours, and what is Google Benchmark's.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "components/component_main.hpp"
#include "program/command_line.hpp"

namespace fourscore::component {

enum class Mode { measure, list, identity, check_points };

struct Options {
  Mode mode = Mode::measure;
  std::map<std::string, std::string> parameters;  ///< as given
  int repetitions = 5;
  double min_time_s = 0.05;
  bool synchronised = false;  ///< each iteration begins together, and counts as the slowest rank's
  std::optional<std::filesystem::path> record;
  nlohmann::json campaign;  ///< null when not given
  std::string launcher = "none";
  std::string started;                       ///< file to create once MPI runs; empty: none
  std::optional<double> launched_at_s;       ///< since the epoch
  std::vector<std::string> benchmark_flags;  ///< everything that starts with --benchmark_
};

/// Throws bench::Exit for --help, --version and a command line that cannot be used (code 2).
[[nodiscard]] Options parse_command_line(int argc, char** argv, const ProgramCard& card);

/// What --list answers.
[[nodiscard]] nlohmann::json card_json(const ProgramCard& card);

}  // namespace fourscore::component
