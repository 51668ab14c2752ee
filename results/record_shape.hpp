#pragma once
// The form of a record: run-record.schema.json, which is part of the program.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace fourscore {

/// What is wrong with the types of the keys of a record, or which key is missing that is always there ("key
/// 'point.threads' is "x"; expected an integer from 1 to 2147483647"); empty when nothing is. A reader may rely on
/// these. Unknown keys are not looked at.
[[nodiscard]] std::string shape_problem(const nlohmann::json& record);

/// The same by all that the schema says: unknown keys, words that are none, keys that others ask for.
[[nodiscard]] std::string schema_problem(const nlohmann::json& record);

}  // namespace fourscore
