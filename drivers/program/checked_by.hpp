#pragma once
// A launch that relies on the checks of an earlier one (docs/measuring.md, "Checked once").

#include "program/launch.hpp"
#include "program/options.hpp"
#include "program/resolve.hpp"

namespace fourscore::bench {

/// Collective. Where the record of options.checked_by can stand for the checks before timing, options.extent becomes
/// CheckExtent::waves and options.relied_on its id. Else the reason, on rank 0: all is checked then. `provenance` is
/// valid on rank 0. A tuned point, whose `tuning` is not null, must have been given the same exchange and grid. Throws
/// for a file that is no record.
[[nodiscard]] std::string rely_on_earlier_checks(const Launch& launch, Options& options, const ResolvedPoint& resolved,
                                                 const nlohmann::json& tuning, const nlohmann::json& provenance);

}  // namespace fourscore::bench
