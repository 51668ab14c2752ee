#include "variants/binary_exchange/radix2_passes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace fourscore {

namespace {

/// Elements that are copied and combined while they lie in the caches.
constexpr Index block_elements = 4096;

Index reversed(Index value, int bits) {
  Index result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

/// Both outputs of a butterfly; from the end both of its inputs, but for a factor of 2.
template <bool from_end, class Real>
inline void combine_pair(std::complex<Real>& a, std::complex<Real>& b, std::complex<Real> c) {
  const std::complex<Real> first = a;
  if constexpr (from_end) {
    const std::complex<Real> second = b;
    a = first + second;
    b = kernels::product(c, first - second);
  } else {
    const std::complex<Real> second = kernels::product(c, b);
    a = first + second;
    b = first - second;
  }
}

/// Blocks of which each half is long: one factor a block.
template <bool from_end, class Real>
void combine_halves(std::complex<Real>* __restrict a, std::complex<Real>* __restrict b, std::complex<Real> c, Index n) {
  for (Index i = 0; i < n; ++i) combine_pair<from_end>(a[i], b[i], c);
}

/// Blocks of 2 `half` elements, of which vectors hold several: a factor for each.
template <bool from_end, Index half, class Real>
void combine_short(std::complex<Real>* __restrict x, const std::complex<Real>* __restrict c, Index blocks) {
  for (Index h = 0; h < blocks; ++h)
    for (Index i = 0; i < half; ++i) combine_pair<from_end>(x[2 * half * h + i], x[2 * half * h + half + i], c[h]);
}

template <bool from_end, class Real>
void combine_blocks(std::complex<Real>* x, const std::complex<Real>* c, Index blocks, Index half) {
  if (half == 1) return combine_short<from_end, 1>(x, c, blocks);
  if (half == 2) return combine_short<from_end, 2>(x, c, blocks);
  if (half == 4) return combine_short<from_end, 4>(x, c, blocks);
  for (Index h = 0; h < blocks; ++h, x += 2 * half) combine_halves<from_end>(x, x + half, c[h], half);
}

}  // namespace

/// The block with leading bits (b_0 ... b_(l-1)), the rank's and the local number h, has the factor
/// omega^(b_(l-1) ... b_0 0 ... 0) of line 8, a root of order 2^(l+1) = P 2^(s+1) with the exponent k1 + P reversed(h).
template <class Real>
Radix2Passes<Real>::Radix2Passes(const AxisView& view, Index ranks, Index k1, Direction direction, bool from_end)
    : view_(view), passes_(std::countr_zero(static_cast<std::uint64_t>(view.length))), from_end_(from_end) {
  const Roots roots(ranks * view.length, direction);
  factors_.reserve(static_cast<std::size_t>(view.length - 1));
  for (int stage = 0; stage < passes_; ++stage)
    for (Index h = 0; h < Index{1} << stage; ++h)
      factors_.push_back(Value(roots.power(k1 + ranks * reversed(h, stage), view.length >> (stage + 1))));
}

template <class Real>
void Radix2Passes<Real>::run(Value* in, Value* out) const {
  if (passes_ == 0 && in != out)
    std::memcpy(static_cast<void*>(out), in, static_cast<std::size_t>(view_.elements()) * sizeof(Value));
  for (int number = 0; number < passes_; ++number) run_pass(number, in, out);
}

template <class Real>
void Radix2Passes<Real>::run_pass(int number, Value* in, Value* out) const {
  const int stage = stage_of(number);
  if (stage == passes_ - 1 && in != out) return pass_over_neighbours(in, out);
  pass_in_place(stage, from_end_ ? out : in);
}

template <class Real>
void Radix2Passes<Real>::pass_in_place(int stage, Value* data) const {
  const Index blocks = Index{1} << stage;
  const Index half = view_.length / 2 / blocks * view_.inner;
  const Value* c = factors_.data() + (blocks - 1);
  for (Index line = 0; line < view_.outer; ++line) {
    Value* x = data + line * view_.length * view_.inner;
    from_end_ ? combine_blocks<true>(x, c, blocks, half) : combine_blocks<false>(x, c, blocks, half);
  }
}

template <class Real>
void Radix2Passes<Real>::pass_over_neighbours(const Value* in, Value* out) const {
  const Index half = view_.inner;
  const Index blocks = view_.length / 2;
  const Index together = std::max<Index>(1, block_elements / (2 * half));
  const Value* c = factors_.data() + (blocks - 1);
  for (Index line = 0; line < view_.outer; ++line)
    for (Index first = 0; first < blocks; first += together) {
      const Index count = std::min(together, blocks - first);
      const Index at = (line * blocks + first) * 2 * half;
      std::memcpy(static_cast<void*>(out + at), in + at, static_cast<std::size_t>(2 * half * count) * sizeof(Value));
      from_end_ ? combine_blocks<true>(out + at, c + first, count, half)
                : combine_blocks<false>(out + at, c + first, count, half);
    }
}

template <class Real>
void Radix2Passes<Real>::put_in_order(const Value* in, Value* out) const {
  for (Index line = 0; line < view_.outer;
       ++line, in += view_.length * view_.inner, out += view_.length * view_.inner) {
    if (view_.inner == 1) {
      put_line_in_order(in, out);
      continue;
    }
    for (Index j = 0; j < view_.length; ++j)
      std::copy_n(in + j * view_.inner, view_.inner, out + reversed(j, passes_) * view_.inner);
  }
}

/// An index is (high, middle, low), and goes to (low reversed, middle reversed, high reversed). All of one middle are a
/// square, which passes through a tile: rows are read and written whole, though 2^k elements apart.
template <class Real>
void Radix2Passes<Real>::put_line_in_order(const Value* in, Value* out) const {
  constexpr int most_bits = 4;
  constexpr std::size_t most = 1U << most_bits;
  const int bits = std::min(most_bits, passes_ / 2);
  const int middle_bits = passes_ - 2 * bits;
  const std::size_t side = std::size_t{1} << bits;
  std::array<std::array<Value, most>, most> tile;
  std::array<std::size_t, most> turned{};
  for (std::size_t i = 0; i < side; ++i) turned[i] = static_cast<std::size_t>(reversed(static_cast<Index>(i), bits));
  const Index row = Index{1} << (passes_ - bits);
  for (Index middle = 0; middle < Index{1} << middle_bits; ++middle) {
    for (std::size_t high = 0; high < side; ++high) {
      const Value* from = in + static_cast<Index>(high) * row + (middle << bits);
      for (std::size_t low = 0; low < side; ++low) tile[turned[low]][turned[high]] = from[low];
    }
    Value* to = out + (reversed(middle, middle_bits) << bits);
    for (std::size_t high = 0; high < side; ++high, to += row) std::copy_n(tile[high].data(), side, to);
  }
}

template class Radix2Passes<double>;
template class Radix2Passes<float>;

}  // namespace fourscore
