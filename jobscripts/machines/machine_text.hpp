#pragma once
// A machine as text: what its file means, with what it leaves out filled in.

#include <nlohmann/json.hpp>
#include <string>

#include "jobscripts/base/machine.hpp"

namespace fourscore {

/// The sections and keys of machine files; null for what is not said and has no default.
[[nodiscard]] nlohmann::json machine_json(const Machine& machine);

/// A machine file of the same meaning. What is not said and has no default is a comment.
[[nodiscard]] std::string machine_toml(const Machine& machine);

}  // namespace fourscore
