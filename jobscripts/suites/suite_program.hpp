#pragma once
// Key 'program' of a [[sweep]]: a program of somebody else's that prints its times (docs/your-library.md).

#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/settings.hpp"
#include "jobscripts/suites/suite_reader.hpp"

namespace fourscore {

/// The command, its file first. File names are from `folder`: the first word where it has a slash, the others where
/// they have a slash or a dot and such a file is there. Throws InputError for a program that is not there, and for a
/// word in braces that stands for nothing.
[[nodiscard]] std::vector<std::string> found_command(const std::vector<std::string>& words,
                                                     const std::filesystem::path& folder);
/// The same of the suite's key, with file and line in the error.
[[nodiscard]] std::vector<std::string> read_program(const SuiteReader& reader, const toml::node& node,
                                                    const std::filesystem::path& folder);

/// The command for one point: {shape} and the other keys of points, {parameters.NAME}, {extent1} to {extent3}, and the
/// settings as {repetitions} in place of those words.
[[nodiscard]] std::vector<std::string> filled_in(const std::vector<std::string>& command, const Point& point,
                                                 const Settings& settings);

/// Whether the command is told `name`, as "repetitions".
[[nodiscard]] bool is_told(const std::vector<std::string>& command, const std::string& name);

}  // namespace fourscore
