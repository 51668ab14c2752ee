#pragma once
// The Python package of analysis/, which writes reports and answers questions about an archive.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// Becomes the interpreter that runs the package with `arguments`, a command of its own first. Throws EnvironmentError
/// when there is none, or it lacks a package.
[[noreturn]] void run_analysis(const std::vector<std::string>& arguments);

/// What the package answers to `arguments`, as JSON on its standard output. Throws EnvironmentError as above, and where
/// it answers otherwise or ends with another status than 0 and 1; InputError for status 2, with its words.
[[nodiscard]] nlohmann::json ask_analysis(const std::vector<std::string>& arguments);

}  // namespace fourscore
