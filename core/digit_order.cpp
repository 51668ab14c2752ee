#include "core/digit_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace fourscore {

namespace {

/// The blocks of one part, by digit, and its first coordinate.
struct Part {
  std::vector<Range> ranges;
  Index low = 0;
  Index size = 1;
};

Index product_behind(const std::vector<Digit>& digits, std::size_t d) {
  Index product = 1;
  for (std::size_t i = d + 1; i < digits.size(); ++i) product *= digits[i].extent;
  return product;
}

/// Before a part lie, digit by digit, all elements whose digit is in an earlier block while those before it are in
/// this part's: its sizes so far, times what is before its block, times all that the digits behind it can be.
Part part_with(const std::vector<Digit>& digits, std::vector<Range> ranges) {
  Part part{std::move(ranges), 0, 1};
  for (std::size_t d = 0; d < digits.size(); ++d) {
    part.low += part.size * part.ranges[d].low * product_behind(digits, d);
    part.size *= part.ranges[d].size();
  }
  return part;
}

Part part_number(const std::vector<Digit>& digits, int number) {
  std::vector<Range> ranges(digits.size());
  for (std::size_t d = digits.size(); d-- > 0;) {
    ranges[d] = block_range(digits[d].extent, digits[d].parts, number % digits[d].parts);
    number /= digits[d].parts;
  }
  return part_with(digits, std::move(ranges));
}

}  // namespace

Index DigitOrder::size() const {
  Index n = 1;
  for (const Digit& digit : digits) n *= digit.extent;
  return n;
}

int DigitOrder::parts() const {
  int count = 1;
  for (const Digit& digit : digits) count *= digit.parts;
  return count;
}

Range DigitOrder::range(int part) const {
  const Part found = part_number(digits, part);
  return {found.low, found.low + found.size};
}

int DigitOrder::part_of(Index coordinate) const {
  int number = 0;
  Index before = 1;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const Index unit = before * product_behind(digits, d);
    const Index block = block_number(digits[d].extent, digits[d].parts, coordinate / unit);
    const Range range = block_range(digits[d].extent, digits[d].parts, block);
    coordinate -= range.low * unit;
    before *= range.size();
    number = number * digits[d].parts + static_cast<int>(block);
  }
  return number;
}

void DigitOrder::indices(Index first, std::span<Index> out) const {
  const std::size_t fastest = storage.back();
  for (std::size_t filled = 0; filled < out.size();) {
    const Part part = part_number(digits, part_of(first));
    Index local = first - part.low;
    const Index local_end = std::min(part.size, local + static_cast<Index>(out.size() - filled));
    while (local < local_end) {  // one run of the fastest digit after the other
      Index rest = local;
      Index index = 0;
      for (std::size_t position = storage.size(); position-- > 0;) {
        const std::size_t d = storage[position];
        index += (part.ranges[d].low + rest % part.ranges[d].size()) * digits[d].weight;
        rest /= part.ranges[d].size();
      }
      const Index run = std::min(local_end - local, part.ranges[fastest].size() - local % part.ranges[fastest].size());
      for (Index k = 0; k < run; ++k) out[filled++] = index + k * digits[fastest].weight;
      local += run;
    }
    first = part.low + local;
  }
}

Index DigitOrder::coordinate_of(Index index) const {
  std::vector<std::size_t> by_weight;
  for (std::size_t d = 0; d < digits.size(); ++d)
    if (digits[d].extent > 1) by_weight.push_back(d);
  std::ranges::sort(by_weight, std::greater<>(), [&](std::size_t d) { return digits[d].weight; });
  std::vector<Index> values(digits.size(), 0);
  for (const std::size_t d : by_weight) {
    values[d] = index / digits[d].weight;
    index %= digits[d].weight;
  }
  std::vector<Range> ranges;
  for (std::size_t d = 0; d < digits.size(); ++d)
    ranges.push_back(
        block_range(digits[d].extent, digits[d].parts, block_number(digits[d].extent, digits[d].parts, values[d])));
  const Part part = part_with(digits, std::move(ranges));
  Index local = 0;
  for (const std::size_t d : storage) local = local * part.ranges[d].size() + values[d] - part.ranges[d].low;
  return part.low + local;
}

bool DigitOrder::is_identity() const {
  Index weight = 1;
  for (std::size_t position = storage.size(); position-- > 0;) {
    const Digit& digit = digits[storage[position]];
    if (digit.extent > 1 && digit.weight != weight) return false;
    if (position > 0 && digit.parts > 1) return false;  // only the slowest may be cut
    weight *= digit.extent;
  }
  return true;
}

DigitOrder bit_reversed_parts(Index n, int parts) {
  DigitOrder order;
  for (Index weight = 1; weight < parts; weight *= 2) order.digits.push_back({2, weight, 2});
  order.digits.push_back({n / parts, parts, 1});
  order.storage.resize(order.digits.size());
  std::iota(order.storage.begin(), order.storage.end(), std::size_t{0});
  return order;
}

int reversed_bits(int value, int bits) {
  int result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

}  // namespace fourscore
