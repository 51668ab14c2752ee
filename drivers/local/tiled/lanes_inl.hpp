// The first stage of a contiguous line, with its own neighbouring elements in the lanes. Compiled once for each
// instruction set, as Highway's headers of such code are.
#if defined(FOURSCORE_TILED_LANES) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURSCORE_TILED_LANES
#undef FOURSCORE_TILED_LANES
#else
#define FOURSCORE_TILED_LANES
#endif

#include "local/tiled/targets.hpp"
// After it.
#include <hwy/highway.h>

#include <algorithm>

#include "local/tiled/butterflies_inl.hpp"
#include "local/tiled/kernels.hpp"
#include "local/tiled/line_plan.hpp"
#include "local/tiled/memory_inl.hpp"
#include "local/tiled/stages_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
template <class Real, class Vec>
HWY_INLINE void transpose_lanes(Vec* /*x*/) {}
#else
/// x[i]'s lane l goes to x[l]'s lane i.
template <class Real, class Vec>
HWY_INLINE void transpose_lanes(Vec* x) {
  const Tag<Real> tag;
  constexpr Index in_block = 16 / static_cast<Index>(sizeof(Real));
  Vec groups[in_block][blocks<Real>];
  HWY_UNROLL(4)
  for (Index g = 0; g < blocks<Real>; ++g) {
    const Index to = blocks<Real> == 4 && (g == 1 || g == 2) ? 3 - g : g;  // transpose_blocks() swaps the middle ones
    const Vec* from = x + g * in_block;
    if constexpr (in_block == 2) {
      groups[0][to] = hn::InterleaveLower(tag, from[0], from[1]);
      groups[1][to] = hn::InterleaveUpper(tag, from[0], from[1]);
    } else {
      const hn::Repartition<double, Tag<Real> > pairs;
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, from[0], from[1]));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, from[2], from[3]));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, from[0], from[1]));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, from[2], from[3]));
      groups[0][to] = hn::BitCast(tag, hn::InterleaveLower(pairs, low01, low23));
      groups[1][to] = hn::BitCast(tag, hn::InterleaveUpper(pairs, low01, low23));
      groups[2][to] = hn::BitCast(tag, hn::InterleaveLower(pairs, high01, high23));
      groups[3][to] = hn::BitCast(tag, hn::InterleaveUpper(pairs, high01, high23));
    }
  }
  HWY_UNROLL(4)
  for (Index e = 0; e < in_block; ++e) {
    transpose_blocks<Real>(groups[e]);
    HWY_UNROLL(4)
    for (Index b = 0; b < blocks<Real>; ++b) x[b * in_block + e] = groups[e][b];
  }
}
#endif

/// The butterfly of `lanes` neighbouring elements of the first stage, `length` apart, and its twiddles.
template <Index radix, bool backward, class Real>
HWY_INLINE void butterfly_in_lanes(const Real* in, Index length, const Real* twiddles, Values<Real>* x) {
  HWY_UNROLL(16)
  for (Index k = 0; k < radix; ++k) x[k] = loaded_and_split<true>(in + 2 * k * length, 0);
  Butterfly<radix, Real>::run(x);
  if constexpr (backward) std::reverse(x + 1, x + radix);
  HWY_UNROLL(16)
  for (Index k = 1; k < radix; ++k, twiddles += row<Real>) {
    const Values<Real> w{hn::LoadU(Tag<Real>(), twiddles), hn::LoadU(Tag<Real>(), twiddles + lanes<Real>)};
    x[k] = {hn::NegMulAdd(x[k].im, w.im, hn::Mul(x[k].re, w.re)), hn::MulAdd(x[k].im, w.re, hn::Mul(x[k].re, w.im))};
  }
}

/// As many of its outputs as there are lanes become lanes of as many rows: of the elements, in their order.
template <class Real>
HWY_INLINE void lanes_to_rows(const Values<Real>* x, Values<Real>* rows) {
  hn::Vec<Tag<Real> > re[lanes<Real>], im[lanes<Real>];
  HWY_UNROLL(16)
  for (Index l = 0; l < lanes<Real>; ++l) {
    re[l] = x[element_of_lane<Real>(l, lanes<Real>)].re;
    im[l] = x[element_of_lane<Real>(l, lanes<Real>)].im;
  }
  transpose_lanes<Real>(re);
  transpose_lanes<Real>(im);
  HWY_UNROLL(16)
  for (Index l = 0; l < lanes<Real>; ++l) rows[element_of_lane<Real>(l, lanes<Real>)] = {re[l], im[l]};
}

/// Leaves `radix` lines of `length` rows in the scratch, one vector of lines after another.
template <Index radix, bool backward, class Real>
HWY_NOINLINE void first_stage_in_lanes(const LaneStage<Real>& stage, Index length, const Real* in,
                                       Scratch<Real> scratch) {
  const Real* twiddles = stage.twiddles.data();
  for (Index at = 0; at < length; at += lanes<Real>, twiddles += (radix - 1) * row<Real>) {
    const Index first = std::min(at, length - lanes<Real>);
    Values<Real> x[radix];
    butterfly_in_lanes<radix, backward>(in + 2 * first, length, twiddles, x);
    Real* to = scratch.data + first * row<Real>;
    HWY_UNROLL(4)
    for (Index v = 0; v < radix / lanes<Real>; ++v, to += scratch.stride) {
      Values<Real> rows[lanes<Real>];
      lanes_to_rows(x + v * lanes<Real>, rows);
      HWY_UNROLL(16)
      for (Index l = 0; l < lanes<Real>; ++l) store(rows[l], to + l * row<Real>);
    }
  }
}

/// A line of radix * lanes elements, which needs no scratch. Fetches as many bytes from `ahead`.
template <Index radix, bool backward, class Real>
HWY_NOINLINE void line_in_registers(const LaneStage<Real>& stage, const Real* in, Real* out, const Real* ahead) {
  constexpr Index reals = 2 * radix * lanes<Real>;
  Values<Real> x[radix];
  butterfly_in_lanes<radix, backward>(in, lanes<Real>, stage.twiddles.data(), x);
  for (Index i = 0; i < reals; i += cache_line_bytes / static_cast<Index>(sizeof(Real))) __builtin_prefetch(ahead + i);
  HWY_UNROLL(4)
  for (Index first = 0; first < radix; first += lanes<Real>) {
    Values<Real> rows[lanes<Real>];
    lanes_to_rows(x + first, rows);
    Butterfly<lanes<Real>, Real>::run(rows);
    if constexpr (backward) std::reverse(rows + 1, rows + lanes<Real>);
    HWY_UNROLL(16)
    for (Index k = 0; k < lanes<Real>; ++k) joined_and_stored<true>(rows[k], out + 2 * (k * radix + first), 0);
  }
}

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
