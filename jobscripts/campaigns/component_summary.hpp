#pragma once
// The part of a campaign's summary that is about components alone.

#include <nlohmann/json.hpp>
#include <string>

#include "jobscripts/campaigns/summary.hpp"

namespace fourscore {

/// Whether it is a point of a component alone.
[[nodiscard]] bool is_component(const nlohmann::json& point);

/// "memory_bench, 2 ranks"
[[nodiscard]] std::string component_title(const nlohmann::json& point);

/// Adds the benchmarks of one launch; returns the seconds that were measured in it.
double add_benchmarks(PointSummary& point, const nlohmann::json& record);

/// A line for the point with its parameters, `status` and `flags`, and one for each of its benchmarks.
[[nodiscard]] std::string component_rows(const PointSummary& point, const std::string& status,
                                         const std::string& flags);

[[nodiscard]] nlohmann::json benchmarks_json(const PointSummary& point);

}  // namespace fourscore
