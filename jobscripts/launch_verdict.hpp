#pragma once
// What the record says of a launch that wrote none, or not to its end.

#include <string>

#include "core/record.hpp"
#include "jobscripts/process.hpp"

namespace fourscore {

/// failed, or timeout, with the reason. `left`: what a launch without a record left, for the reason: " and left no
/// record".
[[nodiscard]] Verdict failure_of(const ProcessResult& result, double time_limit_s, const std::string& program,
                                 const std::string& left);

}  // namespace fourscore
