#include "chain/truncated_box.hpp"

#include <cstring>

namespace fourscore {

TruncatedBox::TruncatedBox(const Extents& extents, const Extents& kept, const std::array<int, 3>& order,
                           bool halved_axis_kept_low, std::size_t halved_axis, std::size_t element_bytes)
    : element_bytes_(static_cast<Index>(element_bytes)) {
  for (std::size_t position = 0; position < 3; ++position) {
    const auto axis = static_cast<std::size_t>(order[position]);
    whole_[position] = extents[axis];
    kept_[position] = kept[axis];
    const bool all_low = kept[axis] == extents[axis] || (halved_axis_kept_low && axis == halved_axis);
    low_[position] = all_low ? kept[axis] : kept[axis] - kept[axis] / 2;
  }
}

Index TruncatedBox::kept_place(std::size_t position, Index whole) const {
  if (whole < low_[position]) return whole;
  const Index dropped = whole_[position] - kept_[position];
  return whole < low_[position] + dropped ? -1 : whole - dropped;
}

/// Rows in ascending order: none is written over before it was read.
void TruncatedBox::drop(std::byte* data) const {
  const auto head = static_cast<std::size_t>(low_[2] * element_bytes_);
  const auto tail = static_cast<std::size_t>((kept_[2] - low_[2]) * element_bytes_);
  for (Index i = 0; i < whole_[0]; ++i)
    for (Index j = 0; j < whole_[1]; ++j) {
      const Index to_i = kept_place(0, i), to_j = kept_place(1, j);
      if (to_i < 0 || to_j < 0) continue;
      std::byte* const from = data + (i * whole_[1] + j) * whole_[2] * element_bytes_;
      std::byte* const to = data + (to_i * kept_[1] + to_j) * kept_[2] * element_bytes_;
      std::memmove(to, from, head);
      std::memmove(to + head, from + (whole_[2] - kept_[2] + low_[2]) * element_bytes_, tail);
    }
}

/// Rows in descending order, and their ends before their beginnings, for the same reason.
void TruncatedBox::pad(std::byte* data) const {
  const auto head = static_cast<std::size_t>(low_[2] * element_bytes_);
  const auto tail = static_cast<std::size_t>((kept_[2] - low_[2]) * element_bytes_);
  const auto gap = static_cast<std::size_t>((whole_[2] - kept_[2]) * element_bytes_);
  for (Index i = whole_[0]; i-- > 0;)
    for (Index j = whole_[1]; j-- > 0;) {
      std::byte* const to = data + (i * whole_[1] + j) * whole_[2] * element_bytes_;
      const Index from_i = kept_place(0, i), from_j = kept_place(1, j);
      if (from_i < 0 || from_j < 0) {
        std::memset(to, 0, head + gap + tail);
        continue;
      }
      const std::byte* const from = data + (from_i * kept_[1] + from_j) * kept_[2] * element_bytes_;
      std::memmove(to + head + gap, from + head, tail);
      std::memmove(to, from, head);
      std::memset(to + head, 0, gap);
    }
}

}  // namespace fourscore
