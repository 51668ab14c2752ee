#pragma once
// Measuring launches again that failed or ran out of time. Records are never replaced: a retry is one more launch of
// its point, and its record says in "retry_of" which launch it stands in for.

#include <set>
#include <string>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"

namespace fourscore {

/// What --retry takes.
[[nodiscard]] const std::vector<std::string>& retried_statuses();

/// One more launch for each record with one of the statuses that no other record stands in for, numbered after all
/// launches of its point and of the suite. Reads the campaign's records; what cannot be read is left alone.
[[nodiscard]] std::vector<PlannedLaunch> planned_retries(const Campaign& campaign, const Archive& archive,
                                                         const std::set<std::string>& statuses);

}  // namespace fourscore
