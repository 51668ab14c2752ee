#include "variants/transpose/transpose_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

namespace fourscore {

namespace {

std::vector<Index> divisors_of(Index n) {
  std::vector<Index> divisors{1};
  const auto add_prime = [&](Index prime, int times) {
    const std::size_t count = divisors.size();
    Index power = 1;
    for (int i = 0; i < times; ++i) {
      power *= prime;
      for (std::size_t d = 0; d < count; ++d) divisors.push_back(divisors[d] * power);
    }
  };
  for (Index prime = 2; prime * prime <= n; ++prime) {
    int times = 0;
    for (; n % prime == 0; n /= prime) ++times;
    if (times > 0) add_prime(prime, times);
  }
  if (n > 1) add_prime(n, 1);
  std::ranges::sort(divisors);
  return divisors;
}

/// All grids of `parts` dimensions for that many ranks, the most even first.
std::vector<std::vector<int>> grids_of(int ranks, std::size_t parts) {
  std::vector<std::vector<int>> grids;
  std::vector<int> grid;
  const std::function<void(int)> add = [&](int rest) {
    if (grid.size() + 1 == parts) {
      if (parts > 1 && rest < 2) return;
      grid.push_back(rest);
      grids.push_back(grid);
      grid.pop_back();
      return;
    }
    for (int factor = rest / 2; factor >= 2; --factor) {
      if (rest % factor != 0) continue;
      grid.push_back(factor);
      add(rest / factor);
      grid.pop_back();
    }
  };
  add(ranks);
  std::ranges::stable_sort(grids, {}, [](const auto& g) { return std::accumulate(g.begin(), g.end(), 0); });
  return grids;
}

/// Looks for the extents on one grid.
class ExtentSearch {
 public:
  ExtentSearch(const ViewRequest& request, std::vector<int> grid)
      : request_(request),
        grid_(std::move(grid)),
        dimensions_(grid_.size() + 1),
        divisors_(divisors_of(request.elements)),
        wanted_log_(std::log(static_cast<double>(request.elements)) / static_cast<double>(dimensions_)) {}

  [[nodiscard]] std::optional<TransposeView> best() {
    double least = std::numeric_limits<double>::infinity();
    Index first = 0;
    Index last = 0;
    for (const Index a : divisors_) {
      if (!fits(a, 0) || a < request_.min_first) continue;
      for (const Index b : divisors_) {
        if (request_.elements / a % b != 0 || !fits(b, dimensions_ - 1)) continue;
        const Index common = std::gcd(a, b);
        if (common < request_.min_common) continue;
        double cost = cost_of(a, 0) + cost_of(b, dimensions_ - 1);
        if (request_.min_common > 1) cost += 2 * imbalance_cost(common, request_.ranks);
        if (cost >= least) continue;
        cost += middle(request_.elements / a / b, 1).cost;
        if (cost >= least) continue;
        least = cost;
        first = a;
        last = b;
      }
    }
    if (first == 0) return std::nullopt;
    TransposeView view{{first}, grid_};
    Index rest = request_.elements / first / last;
    for (std::size_t axis = 1; axis + 1 < dimensions_; ++axis) {
      view.extents.push_back(middle(rest, axis).extent);
      rest /= view.extents.back();
    }
    view.extents.push_back(last);
    return view;
  }

 private:
  struct Choice {
    double cost = std::numeric_limits<double>::infinity();
    Index extent = 0;
  };

  [[nodiscard]] bool fits(Index extent, std::size_t axis) const {
    return extent >= 2 && (axis == 0 || extent >= grid_[axis - 1]) &&
           (axis + 1 == dimensions_ || extent >= grid_[axis]);
  }
  /// How much more the fullest rank has than the mean; worth as much as extents 1 : 30 apart in the square.
  [[nodiscard]] static double imbalance_cost(Index units, int parts) {
    return 30 * (static_cast<double>(block_range(units, parts, 0).size() * parts) / static_cast<double>(units) - 1);
  }
  [[nodiscard]] double cost_of(Index extent, std::size_t axis) const {
    const double apart = std::log(static_cast<double>(extent)) - wanted_log_;
    double cost = apart * apart;
    if (axis > 0) cost += imbalance_cost(extent, grid_[axis - 1]);
    if (axis + 1 < dimensions_) cost += imbalance_cost(extent, grid_[axis]);
    return cost;
  }
  /// The best extents of the axes from `axis` to the last but one, whose product is `rest`.
  [[nodiscard]] Choice middle(Index rest, std::size_t axis) {
    if (axis + 1 == dimensions_) return {rest == 1 ? 0 : std::numeric_limits<double>::infinity(), 0};
    const auto key = std::pair(rest, axis);
    if (const auto known = middles_.find(key); known != middles_.end()) return known->second;
    Choice best;
    for (const Index extent : divisors_) {
      if (extent > rest) break;
      if (rest % extent != 0 || !fits(extent, axis)) continue;
      const double cost = cost_of(extent, axis) + middle(rest / extent, axis + 1).cost;
      if (cost < best.cost) best = {cost, extent};
    }
    return middles_[key] = best;
  }

  const ViewRequest& request_;
  std::vector<int> grid_;
  std::size_t dimensions_;
  std::vector<Index> divisors_;
  double wanted_log_;
  std::map<std::pair<Index, std::size_t>, Choice> middles_;
};

std::string name_of(const TransposeView& view, const std::string& state) {
  return fmt::format("{} {}", fmt::join(view.extents, "x"), state);
}

}  // namespace

int TransposeView::ranks() const { return std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>()); }

Index TransposeView::elements() const {
  return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
}

int TransposeView::coordinate(int rank, std::size_t dimension) const {
  for (std::size_t d = grid.size(); --d > dimension;) rank /= grid[d];
  return rank % grid[dimension];
}

int TransposeView::first_along(int rank, std::size_t dimension) const {
  int stride = 1;
  for (std::size_t d = grid.size(); --d > dimension;) stride *= grid[d];
  return rank - coordinate(rank, dimension) * stride;
}

std::vector<Index> TransposeView::input_weights() const {
  std::vector<Index> weights(dimensions(), 1);
  for (std::size_t axis = dimensions() - 1; axis-- > 0;) weights[axis] = weights[axis + 1] * extents[axis + 1];
  return weights;
}

std::vector<Index> TransposeView::output_weights() const {
  std::vector<Index> weights(dimensions(), 1);
  for (std::size_t axis = 1; axis < dimensions(); ++axis) weights[axis] = weights[axis - 1] * extents[axis - 1];
  return weights;
}

std::optional<TransposeView> choose_view(const ViewRequest& request) {
  const auto parts = static_cast<std::size_t>(request.dimensions - 1);
  auto grids = grids_of(request.ranks, parts);
  if (!request.grid.empty()) std::erase_if(grids, [&](const auto& grid) { return grid != request.grid; });
  for (const auto& grid : grids)
    if (auto view = ExtentSearch(request, grid).best()) return view;
  return std::nullopt;
}

Range range_of(const TransposeView& view, const ViewLayout& layout, std::size_t axis, int rank) {
  if (axis == layout.whole) return {0, view.extents[axis]};
  const std::size_t dimension = axis < layout.whole ? axis : axis - 1;
  return block_range(view.extents[axis], view.grid[dimension], view.coordinate(rank, dimension));
}

std::vector<Index> local_extents(const TransposeView& view, const ViewLayout& layout, int rank) {
  std::vector<Index> extents;
  for (std::size_t axis = 0; axis < view.dimensions(); ++axis)
    extents.push_back(range_of(view, layout, axis, rank).size());
  return extents;
}

Index local_volume(const TransposeView& view, const ViewLayout& layout, int rank) {
  const auto extents = local_extents(view, layout, rank);
  return std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
}

std::vector<ViewLayout> stage_layouts(const TransposeView& view, bool last_at_an_end) {
  const std::size_t dimensions = view.dimensions();
  std::vector<std::size_t> order(dimensions);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<ViewLayout> layouts{{0, order}};
  for (std::size_t axis = 1; axis < dimensions; ++axis) {
    if (dimensions > 3 && (axis + 1 < dimensions || last_at_an_end))
      std::rotate(order.begin(), order.begin() + 1, order.end());
    layouts.push_back({axis, order});
  }
  return layouts;
}

DigitOrder digits_of(const TransposeView& view, const ViewLayout& layout, const std::vector<Index>& weights) {
  DigitOrder result;
  for (std::size_t axis = 0; axis < view.dimensions(); ++axis) {
    const std::size_t dimension = axis < layout.whole ? axis : axis - 1;
    result.digits.push_back({view.extents[axis], weights[axis], axis == layout.whole ? 1 : view.grid[dimension]});
  }
  result.storage = layout.order;
  return result;
}

DigitOrder digits_dealt(const TransposeView& view, const ViewLayout& layout) {
  DigitOrder result = digits_of(view, layout, view.input_weights());
  result.digits[layout.whole] = {};
  return result;
}

Decomposition folded(const TransposeView& view, const ViewLayout& layout, std::size_t axis, int rank) {
  const auto local = local_extents(view, layout, rank);
  Index others = 1;
  for (std::size_t a = 0; a < local.size(); ++a)
    if (a != axis && a != axis + 1) others *= local[a];
  const int ranks = view.grid[axis];
  Decomposition result = decompose({view.extents[axis], view.extents[axis + 1], others},
                                   layout.whole == axis ? Grid{{1, ranks, 1}} : Grid{{ranks, 1, 1}});
  std::vector<int> order;
  for (const std::size_t stored : layout.order) {
    const int label = stored == axis ? 0 : stored == axis + 1 ? 1 : 2;
    if (order.empty() || order.back() != label) order.push_back(label);
  }
  if (view.dimensions() == 2) order.push_back(2);
  if (order.size() != 3) throw std::logic_error("the axes that stay do not lie together");
  std::ranges::copy(order, result.order.begin());
  result.name = name_of(view, fmt::format("axis {} whole", layout.whole));
  return result;
}

/// All dimensions of the grid, as one.
AxisCut::Level all_dimensions(const TransposeView& view) {
  AxisCut::Level level(view.grid.size());
  std::iota(level.begin(), level.end(), std::size_t{0});
  return level;
}

Range block_of(const TransposeView& view, std::size_t axis, Index units, int rank) {
  const Range range = block_range(units, view.ranks(), rank);
  const Index unit = view.extents[axis] / units;
  return {range.low * unit, range.high * unit};
}

Decomposition folded_blocks(const TransposeView& view, const ViewLayout& layout, Index units) {
  const Index whole = view.extents[layout.whole];
  AxisCut blocks{{all_dimensions(view)}};
  blocks.pieces = units;
  return {{whole, view.elements() / whole, 1}, view.grid, {blocks, AxisCut{}, AxisCut{}}, name_of(view, "blocks")};
}

Decomposition folded_whole(const TransposeView& view, const ViewLayout& layout) {
  const Index whole = view.extents[layout.whole];
  AxisCut others{{all_dimensions(view)}};
  others.dealt = digits_dealt(view, layout);
  Decomposition result{{whole, view.elements() / whole, 1},
                       view.grid,
                       {AxisCut{}, others, AxisCut{}},
                       name_of(view, fmt::format("axis {} whole", layout.whole))};
  if (layout.order.front() != layout.whole) {
    if (layout.order.back() != layout.whole) throw std::logic_error("the whole axis is at no end of the order");
    result.order = {1, 0, 2};
  }
  return result;
}

Decomposition block_layout(const TransposeView& view, Index units) {
  AxisCut blocks{{all_dimensions(view)}};
  blocks.pieces = units;
  return {{view.elements(), 1, 1}, view.grid, {blocks, AxisCut{}, AxisCut{}}, "blocks"};
}

Decomposition whole_layout(const TransposeView& view, const ViewLayout& layout, const std::vector<Index>& weights) {
  AxisCut parts{{all_dimensions(view)}};
  parts.dealt = parts.order = digits_of(view, layout, weights);
  return {{view.elements(), 1, 1},
          view.grid,
          {parts, AxisCut{}, AxisCut{}},
          fmt::format("axis {} of {} whole", layout.whole + 1, view.dimensions())};
}

std::vector<DealtBox> dealt_boxes(const TransposeView& view, const ViewLayout& layout, Index units,
                                  const std::vector<Index>& weights, int rank) {
  // The first and the last axis, along which blocks are cut, have the largest weight: nothing else varies more slowly.
  const Range own = block_of(view, layout.whole, units, rank);
  const Index others = view.elements() / view.extents[layout.whole];
  const DigitOrder dealt = digits_dealt(view, layout);
  std::vector<DealtBox> boxes;
  for (int receiver = 0; receiver < view.ranks(); ++receiver) {
    DealtBox box;
    box.dealt_offset = dealt.range(receiver).low;
    Index stride = 1;
    for (std::size_t position = layout.order.size(); position-- > 0;) {
      const std::size_t axis = layout.order[position];
      if (axis == layout.whole) continue;
      const Range range = range_of(view, layout, axis, receiver);
      box.natural_offset += range.low * weights[axis];
      box.loops.push_back({range.size(), weights[axis], stride});
      stride *= range.size();
    }
    box.loops.push_back({own.size(), weights[layout.whole], others});
    boxes.push_back(std::move(box));
  }
  return boxes;
}

}  // namespace fourscore
