#pragma once
// The modes of a local array that stay, moved together in its memory, and apart again with zeros between them.

#include <array>
#include <cstddef>
#include <vector>

#include "core/box.hpp"

namespace fourscore {

/// A dense array of which some axes are truncated: of an axis of n elements that keeps m the first m - m / 2 stay and
/// the last m / 2, or where it is the halved axis of real data, the first m.
class TruncatedBox {
 public:
  /// extents, kept: by axis, of the box; order: its axes from slowest to fastest in memory.
  TruncatedBox(const Extents& extents, const Extents& kept, const std::array<int, 3>& order, bool halved_axis_kept_low,
               std::size_t halved_axis, std::size_t element_bytes);

  void drop(std::byte* data) const;  ///< from the whole array to what is kept, at the same place
  void pad(std::byte* data) const;   ///< the other way
  [[nodiscard]] Index whole_bytes() const { return bytes_of(whole_); }
  [[nodiscard]] Index kept_bytes() const { return bytes_of(kept_); }

 private:
  [[nodiscard]] Index bytes_of(const Extents& extents) const {
    return extents[0] * extents[1] * extents[2] * element_bytes_;
  }
  /// Where coordinate `whole` of a position goes among the kept, or -1.
  [[nodiscard]] Index kept_place(std::size_t position, Index whole) const;

  Extents whole_{};  ///< by position in memory, as all that follow
  Extents kept_{};
  Extents low_{};  ///< kept at the beginning of the axis; the rest at its end
  Index element_bytes_;
};

}  // namespace fourscore
