#pragma once
// What the variants that wrap heFFTe have in common, whatever its backend: its options, and how its boxes are ours.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#if defined(FOURSCORE_HEFFTE) || defined(FOURSCORE_HEFFTE_CUFFT)
#include <heffte.h>
#define FOURSCORE_HEFFTE_ANY
#endif

#include "core/decomposition.hpp"
#include "core/grid.hpp"
#include "core/parameters.hpp"

namespace fourscore::heffte_variants {

/// heFFTe's own defaults stand first.
struct Options {
  explicit Options(const Problem& problem)
      : algorithm(choice_parameter(problem, "algorithm", {"alltoallv", "alltoall", "p2p_plined", "p2p"})),
        reorders(choice_parameter(problem, "reorder", {"yes", "no"}) == "yes"),
        pencils(choice_parameter(problem, "decomposition", {"pencils", "slabs"}) == "pencils") {}

  std::string algorithm;
  bool reorders;  ///< local transposition before each 1-D transform, which then runs along contiguous data
  bool pencils;   ///< else through slabs where it can
};

[[nodiscard]] inline std::vector<Parameter> option_parameters() {
  return {
      {"algorithm", "how heFFTe moves data between ranks", "alltoallv", {"alltoallv", "alltoall", "p2p_plined", "p2p"}},
      {"reorder", "heFFTe's own option: transforms run along contiguous data", "yes", {"yes", "no"}},
      {"decomposition", "of the states between input and output", "pencils", {"pencils", "slabs"}}};
}

/// Where heFFTe is asked to take the data and to leave it. Transposed, the order of storage is that in which it has
/// the data at the last 1-D transform, so that no copy follows.
struct Ends {
  Decomposition input;
  Decomposition output;
};

[[nodiscard]] inline Ends ends_of(const Problem& problem, const Grid& grid, const Options& options) {
  const int rows = grid.extents[0];
  const int columns = grid.extents[1];
  Ends ends;
  ends.input = decompose(problem.extents(), Grid{{rows, columns, 1}});
  ends.output = problem.contract.layout == LayoutContract::natural
                    ? ends.input
                    : decompose(problem.extents(), Grid{{1, rows, columns}});
  if (problem.contract.layout == LayoutContract::transposed && options.reorders) {
    ends.output.order = {1, 2, 0};
    ends.output.name += ", x stored fastest";
  }
  return ends;
}

#ifdef FOURSCORE_HEFFTE_ANY

using HeffteBox = heffte::box3d<long long>;
using Route = heffte::logic_plan3d<long long>;

/// heFFTe counts axes from the fastest of the natural order, and its boxes end with their last index.
[[nodiscard]] inline HeffteBox to_heffte(const Box& box, const std::array<int, 3>& order) {
  return {{box.low[2], box.low[1], box.low[0]},
          {box.high[2] - 1, box.high[1] - 1, box.high[0] - 1},
          {2 - order[2], 2 - order[1], 2 - order[0]}};
}

[[nodiscard]] inline Decomposition from_heffte(const std::vector<HeffteBox>& boxes, const Extents& shape) {
  std::vector<Box> ours;
  for (const HeffteBox& box : boxes)
    ours.push_back({{box.low[2], box.low[1], box.low[0]}, {box.high[2] + 1, box.high[1] + 1, box.high[0] + 1}});
  Decomposition layout = Decomposition::of_boxes(shape, std::move(ours), "a layout of heFFTe's");
  const auto& order = boxes.front().order;
  layout.order = {2 - order[2], 2 - order[1], 2 - order[0]};
  return layout;
}

template <class Backend>
[[nodiscard]] heffte::plan_options to_heffte(const Options& options) {
  using heffte::reshape_algorithm;
  heffte::plan_options result = heffte::default_options<Backend>();
  result.algorithm = options.algorithm == "alltoallv"    ? reshape_algorithm::alltoallv
                     : options.algorithm == "alltoall"   ? reshape_algorithm::alltoall
                     : options.algorithm == "p2p_plined" ? reshape_algorithm::p2p_plined
                                                         : reshape_algorithm::p2p;
  result.use_reorder = options.reorders;
  result.use_pencils = options.pencils;
  return result;
}

/// heFFTe's own choice of what lies between; no MPI. Throws std::runtime_error where it has none.
[[nodiscard]] inline Route route_of(const Ends& ends, const heffte::plan_options& options) {
  heffte::ioboxes<long long> boxes;
  for (int rank = 0; rank < ends.input.ranks(); ++rank) {
    boxes.in.push_back(to_heffte(ends.input.box(rank), ends.input.order));
    boxes.out.push_back(to_heffte(ends.output.box(rank), ends.output.order));
  }
  return heffte::plan_operations(boxes, -1, options, 0);
}

[[nodiscard]] inline std::vector<Decomposition> layouts_of(const Ends& ends, const heffte::plan_options& options) {
  const Route route = route_of(ends, options);
  std::vector<Decomposition> layouts{ends.input};
  for (std::size_t i = 0; i < 3; ++i) layouts.push_back(from_heffte(route.out_shape[i], ends.input.shape));
  layouts.push_back(ends.output);
  return layouts;
}

[[nodiscard]] inline std::string version_text() {
  return std::to_string(Heffte_VERSION_MAJOR) + '.' + std::to_string(Heffte_VERSION_MINOR) + '.' +
         std::to_string(Heffte_VERSION_PATCH);
}

#endif

}  // namespace fourscore::heffte_variants
