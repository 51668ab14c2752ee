#pragma once
// What a shell may put in place of the last word of a command line (jobscripts/completions).

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// Words that fit, for `words` behind the program's name, the last of which is unfinished: commands, options, suites
/// and machines. Empty where file names are meant.
[[nodiscard]] std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace fourscore
