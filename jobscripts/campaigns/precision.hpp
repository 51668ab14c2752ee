#pragma once
// Launches beyond those that a suite asks for of each point, until the median is known well enough.

#include <cstddef>
#include <utility>
#include <vector>

#include "jobscripts/campaigns/runner.hpp"

namespace fourscore {

/// Places, from 0, of the two values between which the median of their source lies with at least 95 % probability,
/// among `count` ordered ones: order statistics, which assume nothing of how values are distributed (david2003,
/// section 7.1). {0, 0} for fewer than 6, which cannot tell.
[[nodiscard]] std::pair<std::size_t, std::size_t> median_interval(std::size_t count);

/// Half the width of that interval over the median: what the suite's `precision` bounds. Infinity for fewer than 6.
[[nodiscard]] double relative_precision(std::vector<double> values);

/// One more launch of each point whose launches of the schedule are all archived and whose times are not as precise as
/// the suite asks, numbered after all that there are; as many at once as it takes to have 6. None beyond
/// suite.most_launches. The least precise benchmark of a component decides. Empty where the suite asks for no
/// precision.
[[nodiscard]] std::vector<PlannedLaunch> further_launches(const Campaign& campaign, const Archive& archive);

}  // namespace fourscore
