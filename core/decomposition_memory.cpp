// Where a rank's elements lie in its memory, and which indices they have.

#include <numeric>

#include "core/decomposition.hpp"

namespace fourscore {

Extents Decomposition::strides_of(const Extents& extents, Index padding) const {
  Extents result{};
  Index stride = 1;
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    result[axis] = stride;
    stride *= extents[axis] + (is_padded(axis) ? padding : 0);
  }
  return result;
}

Extents Decomposition::strides(int rank) const { return strides_of(box(rank).extents(), padding(rank)); }

Extents Decomposition::strides_within(const Box& box) const { return strides_of(box.extents(), 0); }

void Decomposition::indices(std::size_t axis, Index first, std::span<Index> out) const {
  if (cuts_[axis].order)
    cuts_[axis].order->indices(first, out);
  else
    std::iota(out.begin(), out.end(), first);
}

Index Decomposition::coordinate_of(std::size_t axis, Index index) const {
  return cuts_[axis].order ? cuts_[axis].order->coordinate_of(index) : index;
}

Extents Decomposition::global_index(int rank, Index offset) const {
  const std::vector<Box> list = boxes(rank);
  auto found = list.begin();
  for (; pieces_ && found + 1 != list.end() && offset >= found->volume(); ++found) offset -= found->volume();
  const Box& held = *found;
  const Extents extents = held.extents();
  Extents result{};
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    indices(axis, held.low[axis] + offset % extents[axis], {&result[axis], 1});
    offset /= extents[axis];
  }
  return result;
}

Index Decomposition::place(int rank, Index offset) const {
  const Index gap = padding(rank);
  if (gap == 0) return offset;
  return offset + offset / box(rank).extents()[*real_axis_] * gap;
}

Index Decomposition::memory_volume(int rank) const {
  if (pieces_) return volume(rank);
  Extents extents = box(rank).extents();
  if (real_axis_) extents[*real_axis_] += padding(rank);
  return extents[0] * extents[1] * extents[2];
}

}  // namespace fourscore
