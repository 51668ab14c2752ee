#include "core/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fourscore {

namespace {

std::string name_of(const Grid& grid) {
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  std::vector<std::size_t> cut;
  for (std::size_t a = 0; a < 3; ++a)
    if (grid.extents[a] > 1) cut.push_back(a);
  std::string sizes;
  for (const std::size_t a : cut) sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", grid.extents[a]);
  if (cut.empty()) return "whole";
  if (cut.size() == 1) return fmt::format("{}-slabs {}", letters[cut[0]], sizes);
  if (cut.size() == 3) return "blocks " + sizes;
  return fmt::format("{}-pencils {}", letters[3 - cut[0] - cut[1]], sizes);
}

Range common(const Range& a, const Range& b) {
  const Range result{std::max(a.low, b.low), std::min(a.high, b.high)};
  return {result.low, std::max(result.low, result.high)};
}

bool same_cut(const AxisCut& a, const AxisCut& b) {
  return a.levels == b.levels && a.pieces == b.pieces && a.dealt == b.dealt;
}

}  // namespace

Decomposition::Decomposition(const Extents& shape_, std::vector<int> grid, std::array<AxisCut, 3> cuts,
                             std::string name_)
    : shape(shape_), name(std::move(name_)), grid_(std::move(grid)), cuts_(std::move(cuts)) {
  check();
  drop_single_dimensions();
  fixed_.assign(grid_.size(), any_coordinate);
}

Decomposition Decomposition::of_boxes(const Extents& shape, std::vector<Box> boxes, std::string name) {
  Decomposition result;
  result.shape = shape;
  result.name = std::move(name);
  result.boxes_ = std::make_shared<const std::vector<Box>>(std::move(boxes));
  return result;
}

Decomposition Decomposition::dealt(const Decomposition& pieces, const Dealing& dealing, std::string name) {
  if (pieces.ranks() != dealing.pieces || pieces.real_axis_)
    throw std::invalid_argument(fmt::format("decomposition '{}': {} pieces{} cannot be dealt as {}", name,
                                            pieces.ranks(), pieces.real_axis_ ? " with padding" : "", dealing.pieces));
  Decomposition result;
  result.shape = pieces.shape;
  result.order = pieces.order;
  result.name = std::move(name);
  result.pieces_ = std::make_shared<const Decomposition>(pieces);
  result.dealing_ = dealing;
  return result;
}

Decomposition Decomposition::permuted(std::size_t axis, DigitOrder digits) const {
  Decomposition result = *this;
  result.cuts_.at(axis).order = std::move(digits);
  result.check();
  return result;
}

Decomposition Decomposition::with_fields(std::size_t axis, Index fields) const {
  if (boxes_ || pieces_ || real_axis_ || cuts_.at(axis).order || cuts_[axis].dealt)
    throw std::invalid_argument(fmt::format("decomposition '{}': axis {} cannot have several fields", name, axis));
  Decomposition result = *this;
  result.shape[axis] *= fields;
  result.fields_[axis] *= fields;
  return result;
}

void Decomposition::check() const {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("decomposition '{}': {}", name, why));
  };
  std::vector<int> uses(grid_.size(), 0);
  for (std::size_t a = 0; a < 3; ++a) {
    const AxisCut& cut = cuts_[a];
    for (const auto& level : cut.levels)
      for (const std::size_t dimension : level) ++uses.at(dimension);
    if (cut.order && cut.order->size() != shape[a]) refuse(fmt::format("axis {} has an order of another length", a));
    if (!cut.dealt) continue;
    if (cut.levels.size() != 1 || cut.dealt->parts() != parts(cut.levels.front()) || cut.dealt->size() != shape[a])
      refuse(fmt::format("axis {} is dealt to other parts than its level has", a));
  }
  for (std::size_t d = 0; d < grid_.size(); ++d)
    if (grid_[d] < 1 || (grid_[d] > 1 && uses[d] != 1))
      refuse(fmt::format("dimension {} of the grid, of {} ranks, cuts {} axes", d, grid_[d], uses[d]));
}

/// So that the same boxes have the same rule.
void Decomposition::drop_single_dimensions() {
  std::vector<std::size_t> number(grid_.size(), 0);
  std::vector<int> kept;
  for (std::size_t d = 0; d < grid_.size(); ++d) {
    number[d] = kept.size();
    if (grid_[d] > 1) kept.push_back(grid_[d]);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    AxisCut& cut = cuts_[a];
    if (cut.pieces == shape[a] || cut.levels.empty() || parts(cut.levels.front()) == 1) cut.pieces = 0;
    if (cut.dealt && cut.dealt->parts() == 1) cut.dealt.reset();
    if (cut.order && cut.order->is_identity()) cut.order.reset();
    for (auto& level : cut.levels) {
      std::erase_if(level, [&](std::size_t d) { return grid_[d] == 1; });
      for (std::size_t& d : level) d = number[d];
    }
    std::erase_if(cut.levels, [](const auto& level) { return level.empty(); });
  }
  grid_ = std::move(kept);
}

int Decomposition::parts(const AxisCut::Level& level) const {
  int count = 1;
  for (const std::size_t d : level) count *= grid_.at(d);
  return count;
}

int Decomposition::ranks() const {
  if (pieces_) return dealing_.ranks;
  if (boxes_) return static_cast<int>(boxes_->size());
  int count = 1;
  for (std::size_t d = 0; d < grid_.size(); ++d)
    if (fixed_[d] == any_coordinate) count *= grid_[d];
  return count;
}

int Decomposition::rank_stride(std::size_t dimension) const {
  int stride = 1;
  for (std::size_t d = dimension + 1; d < grid_.size(); ++d)
    if (fixed_[d] == any_coordinate) stride *= grid_[d];
  return stride;
}

std::vector<int> Decomposition::coordinates(int rank) const {
  std::vector<int> result = fixed_;
  for (std::size_t d = grid_.size(); d-- > 0;) {
    if (fixed_[d] != any_coordinate) continue;
    result[d] = rank % grid_[d];
    rank /= grid_[d];
  }
  return result;
}

Index Decomposition::cut_extent(std::size_t axis) const {
  return real_axis_ == axis ? shape[axis] / 2 + 1 : shape[axis] / fields_[axis];
}

Range Decomposition::part_of(std::size_t axis, std::size_t level, const Range& whole, int part) const {
  const AxisCut& cut = cuts_[axis];
  const int count = parts(cut.levels[level]);
  if (level == 0 && cut.dealt) return cut.dealt->range(part);
  if (level == 0 && cut.pieces > 0) {
    const Range own = block_range(cut.pieces, count, part);
    const auto begin_of = [&](Index piece) { return block_range(whole.size(), cut.pieces, piece).low; };
    return {begin_of(own.low), begin_of(own.high)};
  }
  return block_range(whole, count, part);
}

int Decomposition::part_with(std::size_t axis, std::size_t level, const Range& whole, Index coordinate) const {
  const AxisCut& cut = cuts_[axis];
  const int count = parts(cut.levels[level]);
  if (level == 0 && cut.dealt) return cut.dealt->part_of(coordinate);
  if (level == 0 && cut.pieces > 0)
    return static_cast<int>(block_number(cut.pieces, count, block_number(whole.size(), cut.pieces, coordinate)));
  return static_cast<int>(block_number(whole.size(), count, coordinate - whole.low));
}

Range Decomposition::range(std::size_t axis, const std::vector<int>& coordinates) const {
  const AxisCut& cut = cuts_[axis];
  Range result{0, cut_extent(axis)};
  for (std::size_t level = 0; level < cut.levels.size(); ++level) {
    int part = 0;
    for (const std::size_t d : cut.levels[level]) part = part * grid_[d] + coordinates[d];
    result = part_of(axis, level, result, part);
  }
  return result;
}

Box Decomposition::complex_box(int rank) const {
  if (boxes_) return boxes_->at(static_cast<std::size_t>(rank));
  if (rank < 0 || rank >= ranks()) throw std::out_of_range(fmt::format("decomposition '{}': rank {}", name, rank));
  const auto place = coordinates(rank);
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    const Range own = range(a, place);
    box.low[a] = own.low * fields_[a];
    box.high[a] = own.high * fields_[a];
  }
  return box;
}

std::vector<Box> Decomposition::boxes(int rank) const {
  if (!pieces_) return {box(rank)};
  if (rank < 0 || rank >= ranks()) throw std::out_of_range(fmt::format("decomposition '{}': rank {}", name, rank));
  std::vector<Box> list;
  for (Index i = 0; i < dealing_.count(rank); ++i)
    if (const Box piece = pieces_->box(static_cast<int>(dealing_.piece(rank, i))); !piece.empty())
      list.push_back(piece);
  return list;
}

Index Decomposition::volume(int rank) const {
  if (!pieces_) return box(rank).volume();
  Index sum = 0;
  for (const Box& piece : boxes(rank)) sum += piece.volume();
  return sum;
}

Box Decomposition::box(int rank) const {
  if (pieces_) {
    const std::vector<Box> list = boxes(rank);
    if (list.size() > 1)
      throw std::logic_error(fmt::format("decomposition '{}': rank {} holds {} boxes", name, rank, list.size()));
    return list.empty() ? Box{} : list.front();
  }
  Box box = complex_box(rank);
  if (real_axis_) {
    box.low[*real_axis_] = std::min(2 * box.low[*real_axis_], shape[*real_axis_]);
    box.high[*real_axis_] = std::min(2 * box.high[*real_axis_], shape[*real_axis_]);
  }
  return box;
}

Index Decomposition::padding(int rank) const {
  if (!real_axis_) return 0;
  const std::size_t a = *real_axis_;
  const Box complex = complex_box(rank);
  const Box real = box(rank);
  return 2 * (complex.high[a] - complex.low[a]) - (real.high[a] - real.low[a]);
}

void Decomposition::add_stretches(std::size_t axis, std::size_t level, const Range& whole, const Range& wanted,
                                  int rank, std::vector<Stretch>& list) const {
  const Range here = common(whole, wanted);
  if (here.size() == 0) return;
  const auto& levels = cuts_[axis].levels;
  if (level == levels.size()) {
    list.push_back({rank, here});
    return;
  }
  const int last = part_with(axis, level, whole, here.high - 1);
  for (int part = part_with(axis, level, whole, here.low); part <= last; ++part) {
    int rest = part;
    int below = rank;
    bool held = true;
    for (std::size_t i = levels[level].size(); i-- > 0;) {
      const std::size_t d = levels[level][i];
      const int coordinate = rest % grid_[d];
      rest /= grid_[d];
      if (fixed_[d] == any_coordinate)
        below += coordinate * rank_stride(d);
      else
        held = held && coordinate == fixed_[d];
    }
    if (held) add_stretches(axis, level + 1, part_of(axis, level, whole, part), wanted, below, list);
  }
}

std::vector<Overlap> Decomposition::overlaps(const Box& wanted) const {
  std::vector<Overlap> result;
  const auto add = [&](int rank, const Box& part) {
    if (!part.empty()) result.push_back({rank, part});
  };
  if (boxes_) {
    for (int rank = 0; rank < ranks(); ++rank) add(rank, intersect(box(rank), wanted));
    return result;
  }
  if (pieces_) {
    for (const Overlap& piece : pieces_->overlaps(wanted)) add(dealing_.owner(piece.rank), piece.box);
    std::ranges::stable_sort(result, {}, &Overlap::rank);
    return result;
  }
  std::array<std::vector<Stretch>, 3> stretches;
  const bool has_fields = fields_ != std::array<Index, 3>{1, 1, 1};
  for (std::size_t a = 0; a < 3; ++a) {
    const Index together = real_axis_ == a ? 2 : fields_[a];
    const Range along{wanted.low[a] / together, (wanted.high[a] + together - 1) / together};
    add_stretches(a, 0, {0, cut_extent(a)}, along, 0, stretches[a]);
  }
  for (const Stretch& x : stretches[0])
    for (const Stretch& y : stretches[1])
      for (const Stretch& z : stretches[2]) {
        const int rank = x.rank + y.rank + z.rank;
        add(rank, real_axis_ || has_fields
                      ? intersect(box(rank), wanted)
                      : Box{{x.range.low, y.range.low, z.range.low}, {x.range.high, y.range.high, z.range.high}});
      }
  std::ranges::sort(result, {}, &Overlap::rank);
  return result;
}

int Decomposition::owner(const Extents& index) const {
  Box one;
  for (std::size_t a = 0; a < 3; ++a) {
    one.low[a] = coordinate_of(a, index[a]);
    one.high[a] = one.low[a] + 1;
  }
  const auto found = overlaps(one);
  if (found.size() != 1)
    throw std::out_of_range(fmt::format("decomposition '{}': {} ranks have an element", name, found.size()));
  return found.front().rank;
}

/// The first block of an axis is never shorter than another.
Index Decomposition::max_volume() const {
  if (!boxes_ && !pieces_) return box(0).volume();
  Index result = 0;
  for (int rank = 0; rank < ranks(); ++rank) result = std::max(result, volume(rank));
  return result;
}

/// Blocks of one level have two sizes at most.
Index Decomposition::parts_with_elements(std::size_t axis, std::size_t level, Index size) const {
  const AxisCut& cut = cuts_[axis];
  if (size == 0 || level == cut.levels.size()) return size == 0 ? 0 : 1;
  const int count = parts(cut.levels[level]);
  Index sum = 0;
  if (level == 0 && (cut.dealt || cut.pieces > 0)) {
    for (int part = 0; part < count; ++part)
      sum += parts_with_elements(axis, level + 1, part_of(axis, level, {0, size}, part).size());
    return sum;
  }
  const Index longer = size % count;
  if (longer > 0) sum += longer * parts_with_elements(axis, level + 1, size / count + 1);
  return sum + (count - longer) * parts_with_elements(axis, level + 1, size / count);
}

Index Decomposition::idle_ranks() const {
  const bool listed = boxes_ != nullptr || pieces_ != nullptr ||
                      std::ranges::any_of(fixed_, [](int coordinate) { return coordinate != any_coordinate; });
  if (listed) {
    Index idle = 0;
    for (int rank = 0; rank < ranks(); ++rank) idle += volume(rank) == 0 ? 1 : 0;
    return idle;
  }
  Index busy = 1;
  for (std::size_t a = 0; a < 3; ++a) busy *= parts_with_elements(a, 0, cut_extent(a));
  return ranks() - busy;
}

bool Decomposition::permutes() const {
  return std::ranges::any_of(cuts_, [](const AxisCut& cut) { return cut.order.has_value(); });
}

bool Decomposition::same_boxes(const Decomposition& other) const {
  if (pieces_ || other.pieces_)
    return pieces_ && other.pieces_ && dealing_ == other.dealing_ && pieces_->same_boxes(*other.pieces_);
  if (boxes_ || other.boxes_) {
    if (ranks() != other.ranks()) return false;
    for (int rank = 0; rank < ranks(); ++rank)
      if (box(rank) != other.box(rank)) return false;
    return true;
  }
  return shape == other.shape && fields_ == other.fields_ && grid_ == other.grid_ && fixed_ == other.fixed_ &&
         real_axis_ == other.real_axis_ && std::ranges::equal(cuts_, other.cuts_, same_cut);
}

bool Decomposition::same_indices(const Decomposition& other) const {
  return std::ranges::equal(cuts_, other.cuts_, {}, &AxisCut::order, &AxisCut::order);
}

bool Decomposition::operator==(const Decomposition& other) const {
  return shape == other.shape && order == other.order && real_axis_ == other.real_axis_ && same_boxes(other) &&
         same_indices(other);
}

Decomposition decompose(const Extents& shape, const Grid& grid) {
  std::array<AxisCut, 3> cuts;
  for (std::size_t a = 0; a < 3; ++a) cuts[a].levels = {{a}};
  return {shape, {grid.extents.begin(), grid.extents.end()}, std::move(cuts), name_of(grid)};
}

Decomposition real_in_place_of(const Decomposition& complex, std::size_t axis, Index n) {
  Decomposition result = complex;
  result.shape[axis] = n;
  result.name += ", real";
  result.real_axis_ = axis;
  return result;
}

}  // namespace fourscore
