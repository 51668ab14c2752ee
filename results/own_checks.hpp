#pragma once
// Whether a record's checks before timing can stand for those of another launch (docs/measuring.md, "Checked once").

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/refusal.hpp"

namespace fourscore {

/// Nothing where another launch can rely on the checks of this record, or why not: its result was right, and its own
/// launch of fourscore's harness made all checks.
[[nodiscard]] Reason why_not_relied_on(const nlohmann::json& record);

/// The same, for a launch of this point, program and machine (hashes of its "provenance") that is asked for `check`.
[[nodiscard]] Reason why_not_relied_on(const nlohmann::json& record, const std::string& point_id,
                                       const nlohmann::json& provenance, const std::string& check);

}  // namespace fourscore
