#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/problem.hpp"

namespace fourscore::test {

/// Planned by estimate; all else by default.
inline Problem problem_of(std::vector<Index> shape, std::map<std::string, std::string> parameters = {},
                          LayoutContract layout = LayoutContract::transposed) {
  Problem problem;
  problem.shape = std::move(shape);
  problem.parameters = std::move(parameters);
  problem.contract = {layout, Buffers::in_place, Effort::estimate};
  return problem;
}

}  // namespace fourscore::test
