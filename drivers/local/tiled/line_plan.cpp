#include "local/tiled/line_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace fourscore::local::tiled {

namespace {

/// 2 pi turn / length
long double angle_of(Index turn, Index length) {
  return 2 * std::numbers::pi_v<long double> * static_cast<long double>(turn % length) /
         static_cast<long double>(length);
}

template <class Real>
std::vector<Real> twiddles_of(Index length, Index radix) {
  std::vector<Real> twiddles;
  for (Index j = 0; j < length / radix; ++j)
    for (Index k = 1; k < radix; ++k) {
      const long double angle = angle_of(j * k, length);
      twiddles.push_back(static_cast<Real>(std::cos(angle)));
      twiddles.push_back(static_cast<Real>(-std::sin(angle)));
    }
  return twiddles;
}

/// Block (k1, k2, ...), one digit for each stage but the last, the first the slowest, holds the outputs that begin at
/// k1 + r1 k2 + r1 r2 k3 + ...
std::vector<Index> blocks_by_row(const std::vector<Index>& radices, Index length) {
  const Index blocks = length / radices.back();
  std::vector<Index> block_of_row(static_cast<std::size_t>(blocks));
  for (Index block = 0; block < blocks; ++block) {
    Index row = 0;
    Index rest = block;
    Index size = blocks;
    for (std::size_t i = 0; i + 1 < radices.size(); ++i) {
      const Index weight = blocks / size;
      size /= radices[i];
      row += rest / size * weight;
      rest %= size;
    }
    block_of_row[static_cast<std::size_t>(row)] = block;
  }
  return block_of_row;
}

}  // namespace

/// As few stages for the powers of two as there can be, as equal as they can be, the least first; odd factors behind
/// the first, where nothing is strided.
std::vector<Index> radices_of(Index length, Index largest, int fewest) {
  if (length < 2 || length > most_length) return {};
  std::vector<Index> odd;
  for (const Index radix : {7, 5, 3})
    for (; length % radix == 0; length /= radix) odd.push_back(radix);
  const int twos = std::countr_zero(static_cast<std::uint64_t>(length));
  if (length != Index{1} << twos) return {};
  const int most_twos = std::countr_zero(static_cast<std::uint64_t>(largest));
  int stages = (twos + most_twos - 1) / most_twos;
  if (odd.empty() && twos > 1) stages = std::max(stages, fewest);
  std::vector<Index> radices;
  for (int i = 0; i < stages; ++i) radices.push_back(Index{1} << ((twos + i) / stages));
  radices.insert(radices.begin() + (radices.empty() ? 0 : 1), odd.begin(), odd.end());
  if (radices.size() == 1 && fewest > 1) radices.push_back(1);
  return radices;
}

template <class Real>
LinePlan<Real> line_plan(Index length, Index largest, Direction direction, int fewest) {
  const std::vector<Index> radices = radices_of(length, largest, fewest);
  LinePlan<Real> plan{length, direction == Direction::backward, {}, blocks_by_row(radices, length)};
  for (const Index radix : radices) {
    plan.stages.push_back({radix, length, twiddles_of<Real>(length, radix)});
    length /= radix;
  }
  return plan;
}

template <class Real>
LaneStage<Real> lane_stage(Index radix, Index rest, Index lanes, Direction direction) {
  LaneStage<Real> stage{radix, {}};
  const long double sign = direction == Direction::forward ? -1 : 1;
  for (Index at = 0; at < rest; at += lanes)
    for (Index k = 1; k < radix; ++k) {
      const auto angle = [&](Index lane) {
        return angle_of((std::min(at, rest - lanes) + element_of_lane<Real>(lane, lanes)) * k, radix * rest);
      };
      for (Index lane = 0; lane < lanes; ++lane) stage.twiddles.push_back(static_cast<Real>(std::cos(angle(lane))));
      for (Index lane = 0; lane < lanes; ++lane)
        stage.twiddles.push_back(static_cast<Real>(sign * std::sin(angle(lane))));
    }
  return stage;
}

template <class Real>
LinePlan<Real> real_line_plan(Index reals, Index largest, Direction direction) {
  LinePlan<Real> plan = line_plan<Real>(reals / 2, largest, direction);
  const long double size = plan.backward ? 1 : 0.5L;
  for (Index q = 0; q <= plan.length; ++q) {
    const long double angle =
        std::numbers::pi_v<long double> * static_cast<long double>(q) / static_cast<long double>(plan.length);
    plan.turns_of_halves.push_back(static_cast<Real>(size * std::cos(angle)));
    plan.turns_of_halves.push_back(static_cast<Real>((plan.backward ? size : -size) * std::sin(angle)));
  }
  return plan;
}

template LinePlan<double> line_plan(Index length, Index largest, Direction direction, int fewest);
template LinePlan<float> line_plan(Index length, Index largest, Direction direction, int fewest);
template LaneStage<double> lane_stage(Index radix, Index rest, Index lanes, Direction direction);
template LaneStage<float> lane_stage(Index radix, Index rest, Index lanes, Direction direction);
template LinePlan<double> real_line_plan(Index reals, Index largest, Direction direction);
template LinePlan<float> real_line_plan(Index reals, Index largest, Direction direction);

}  // namespace fourscore::local::tiled
