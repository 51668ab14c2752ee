#pragma once
// Which program it is that prints its times.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// As the answer of a program of ours to --identity, for a command with words in braces: the machine of
/// `of_this_machine`, which is such an answer, and as code the command and the SHA-256 of each of its files. Throws
/// InputError for one that cannot be read.
[[nodiscard]] nlohmann::json printing_identity(const std::vector<std::string>& command,
                                               const nlohmann::json& of_this_machine);

}  // namespace fourscore
