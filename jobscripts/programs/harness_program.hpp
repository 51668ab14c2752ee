#pragma once
// Which programs are of fourscore's harness.

#include <nlohmann/json_fwd.hpp>

namespace fourscore {

/// Whether the program that gave this answer to --identity is of the harness: the file that it names ("program") holds
/// the harness's mark (core/harness_mark.hpp) and has the hash that the answer and all of its records give. A script
/// around such a program passes its answer on.
[[nodiscard]] bool is_of_harness(const nlohmann::json& identity);

}  // namespace fourscore
