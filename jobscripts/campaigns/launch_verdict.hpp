#pragma once
// What the record says of a launch that wrote none, or not to its end.

#include <string>

#include "core/record.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {

/// What a launch said at its end, behind ": ": the last line of its standard error in which the program itself speaks,
/// since mpirun says much more after it; else the last line; or " and said nothing".
[[nodiscard]] std::string last_words(const ProcessResult& result, const std::string& program);

/// failed, or timeout, with the reason. `left`: what a launch without a record left, for the reason: " and left no
/// record".
[[nodiscard]] Verdict failure_of(const ProcessResult& result, double time_limit_s, const std::string& program,
                                 const std::string& left);

}  // namespace fourscore
