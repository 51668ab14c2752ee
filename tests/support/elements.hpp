#pragma once
// All elements of a rank, one after another: many times faster than asking a Decomposition for each, which works out
// the rank's box anew.

#include <array>
#include <vector>

#include "core/decomposition.hpp"

namespace fourscore::test {

/// Calls use(i, index) for each local element of `rank` in memory order; index is global_index(rank, i).
template <class Use>
void for_each_element(const Decomposition& layout, int rank, const Use& use) {
  const auto [x, y, z] =
      std::array{static_cast<std::size_t>(layout.order[0]), static_cast<std::size_t>(layout.order[1]),
                 static_cast<std::size_t>(layout.order[2])};
  Index i = 0;
  for (const Box& box : layout.boxes(rank)) {
    if (box.empty()) continue;
    const Extents extents = box.extents();
    std::array<std::vector<Index>, 3> indices;
    for (std::size_t a = 0; a < 3; ++a) {
      indices[a].resize(static_cast<std::size_t>(extents[a]));
      layout.indices(a, box.low[a], indices[a]);
    }
    Extents index{};
    for (const Index slowest : indices[x]) {
      index[x] = slowest;
      for (const Index middle : indices[y]) {
        index[y] = middle;
        for (const Index fastest : indices[z]) {
          index[z] = fastest;
          use(i++, index);
        }
      }
    }
  }
}

/// place(rank, i) of each local element.
class Places {
 public:
  Places(const Decomposition& layout, int rank) : gap_(layout.padding(rank)) {
    for (std::size_t a = 0; gap_ != 0 && a < 3; ++a)
      if (layout.is_padded(a)) row_ = layout.box(rank).extents()[a];
  }
  [[nodiscard]] Index operator()(Index i) const { return gap_ == 0 ? i : i + i / row_ * gap_; }

 private:
  Index gap_;
  Index row_ = 1;
};

}  // namespace fourscore::test
