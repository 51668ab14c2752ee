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

Range block_range(Index n, Index parts, Index part) {
  const Index each = n / parts;
  const Index longer = n % parts;
  const Index low = part * each + std::min(part, longer);
  return {low, low + each + (part < longer ? 1 : 0)};
}

Range block_range(const Range& whole, Index parts, Index part) {
  const Range range = block_range(whole.size(), parts, part);
  return {whole.low + range.low, whole.low + range.high};
}

Index block_number(Index n, Index parts, Index index) {
  const Index each = n / parts;
  const Index longer = n % parts;
  if (index < longer * (each + 1)) return index / (each + 1);
  return longer + (index - longer * (each + 1)) / each;
}

}  // namespace fourscore
