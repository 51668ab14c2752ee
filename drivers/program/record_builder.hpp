#pragma once
// From a measurement to its RunRecord (results/README.md).

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/provenance.hpp"
#include "program/measurement.hpp"

namespace fourscore::bench {

/// The record of a point that was measured, or found wrong: then without any time of it. `wisdom` may be null, and
/// `tuning` is, where the point was not tuned. Rank 0 only.
[[nodiscard]] nlohmann::json build_record(const Options& options, const ResolvedPoint& resolved, const Wisdom* wisdom,
                                          const Measurement& measurement, Provenance provenance,
                                          const nlohmann::json& tuning = {});

/// What the screen says where the plans declare another cost than the variant's formula (harness/cost_check.hpp). Rank
/// 0 only.
[[nodiscard]] std::vector<std::string> cost_warnings(const ResolvedPoint& resolved, const Measurement& measurement);

/// The record of a point that cannot be measured here.
[[nodiscard]] nlohmann::json build_skipped_record(const Options& options, const ResolvedPoint& resolved,
                                                  const std::string& reason, const Provenance& provenance);

}  // namespace fourscore::bench
