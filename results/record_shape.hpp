#pragma once
// The types of a record's keys, checked once where a record is read.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourscore {

/// What is wrong with the types of the keys that this program reads ("key 'point.threads' is "x"; expected an integer
/// from 0 to 2147483647"), or which required key is missing; empty when nothing is. Unknown keys are not looked at.
[[nodiscard]] std::string shape_problem(const nlohmann::json& record);

}  // namespace fourscore
