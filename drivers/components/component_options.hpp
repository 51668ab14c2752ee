#pragma once
// The command line of the component programs: ours, and what is Google Benchmark's.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "components/component_main.hpp"
#include "core/settings.hpp"
#include "program/common_options.hpp"

namespace fourscore::component {

using bench::Mode;

struct Options : bench::CommonOptions {
  Settings settings{.repetitions = 5};
  std::vector<std::string> benchmark_flags;  ///< everything that starts with --benchmark_
};

/// Throws bench::Exit for --help, --version and a command line that cannot be used (code 2).
[[nodiscard]] Options parse_command_line(int argc, char** argv, const ProgramCard& card);

/// What --list answers.
[[nodiscard]] nlohmann::json card_json(const ProgramCard& card);

}  // namespace fourscore::component
