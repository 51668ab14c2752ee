#include "core/box.hpp"

#include <algorithm>

namespace fourscore {

Extents Box::extents() const {
  Extents result;
  for (std::size_t a = 0; a < 3; ++a) result[a] = std::max<Index>(0, high[a] - low[a]);
  return result;
}

Index Box::volume() const {
  const Extents e = extents();
  return e[0] * e[1] * e[2];
}

Box intersect(const Box& a, const Box& b) {
  Box result;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.low[axis] = std::max(a.low[axis], b.low[axis]);
    result.high[axis] = std::min(a.high[axis], b.high[axis]);
  }
  return result.empty() ? Box{} : result;
}

Range block_range(Index n, int parts, int part) {
  const Index each = n / parts;
  const Index longer = n % parts;
  const Index low = part * each + std::min<Index>(part, longer);
  return {low, low + each + (part < longer ? 1 : 0)};
}

}  // namespace fourscore
