#pragma once
// The Python package of analysis/, which writes reports and answers questions about an archive.

#include <string>
#include <vector>

namespace fourscore {

/// Becomes the interpreter that runs the package with `arguments`, a command of its own first. Throws EnvironmentError
/// when there is none, or it lacks a package.
[[noreturn]] void run_analysis(const std::vector<std::string>& arguments);

}  // namespace fourscore
