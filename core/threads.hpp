#pragma once
// How many threads the ranks of a point have, whoever asks: what launches it, and what flags it. No MPI here.

#include <algorithm>
#include <charconv>
#include <string>

#include "core/problem.hpp"
#include "core/text.hpp"

namespace fourscore {

/// The threads of each rank. Those of a component are what its parameter `threads` says, and one where it has none; a
/// text that is no such number counts as one too, for the program that refuses it.
[[nodiscard]] inline int threads_of(const Point& point) {
  if (point.component.empty()) return point.problem.threads;
  const auto given = point.problem.parameters.find("threads");
  if (given == point.problem.parameters.end()) return 1;
  return std::max(1, number_from<int>(given->second).value_or(1));
}

}  // namespace fourscore
