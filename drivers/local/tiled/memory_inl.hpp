// How tiles are read from memory and written to it, so that the lanes of a vector are neighbouring lines. Compiled once
// for each instruction set, as Highway's headers of such code are.
#if defined(FOURSCORE_TILED_MEMORY) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURSCORE_TILED_MEMORY
#undef FOURSCORE_TILED_MEMORY
#else
#define FOURSCORE_TILED_MEMORY
#endif

#include "local/tiled/targets.hpp"
// After it.
#include <hwy/highway.h>

#include <algorithm>

#include "local/tiled/butterflies_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

/// Reals of one row of a tile in the scratch.
template <class Real>
inline constexpr Index row = 2 * lanes<Real>;
/// Complex elements of a vector, as load_transposed() takes of each line.
template <class Real>
inline constexpr Index elements = std::max<Index>(1, lanes<Real> / 2);

#if HWY_TARGET == HWY_SCALAR  // one lane: nothing is interleaved
template <bool adjacent, class Real>
HWY_INLINE Values<Real> loaded_and_split(const Real* from, Index /*line*/) {
  return {hn::LoadU(Tag<Real>(), from), hn::LoadU(Tag<Real>(), from + 1)};
}
template <bool adjacent, class Real>
HWY_INLINE void joined_and_stored(Values<Real> x, Real* to, Index /*line*/) {
  hn::StoreU(x.re, Tag<Real>(), to);
  hn::StoreU(x.im, Tag<Real>(), to + 1);
}
template <class Real>
HWY_INLINE void joined_and_streamed(Values<Real> x, Real* to) {
  joined_and_stored<true>(x, to, 0);
}
template <class Real>
HWY_INLINE void load_transposed(const Real* from, Index /*line*/, Values<Real>* rows) {
  rows[0] = loaded_and_split<true>(from, 0);
}
template <class Real>
HWY_INLINE void store_transposed(const Values<Real>* rows, Real* to, Index /*line*/) {
  joined_and_stored<true>(rows[0], to, 0);
}
#else
/// One complex element of each of as many lines as a vector of 2 elements and more has places, `line` reals apart.
template <class D>
HWY_INLINE hn::Vec<D> gathered(D tag, const hn::TFromD<D>* from, Index line) {
  if constexpr (hn::MaxLanes(D()) == 2) {
    return hn::LoadU(tag, from);
  } else {
    const hn::Half<D> half;
    constexpr auto lines = static_cast<Index>(hn::MaxLanes(hn::Half<D>())) / 2;
    return hn::Combine(tag, gathered(half, from + lines * line, line), gathered(half, from, line));
  }
}
template <class D>
HWY_INLINE void scatter(D tag, hn::Vec<D> values, hn::TFromD<D>* to, Index line) {
  if constexpr (hn::MaxLanes(D()) == 2) {
    hn::StoreU(values, tag, to);
  } else {
    const hn::Half<D> half;
    constexpr auto lines = static_cast<Index>(hn::MaxLanes(hn::Half<D>())) / 2;
    scatter(half, hn::LowerHalf(half, values), to, line);
    scatter(half, hn::UpperHalf(half, values), to + lines * line, line);
  }
}

/// Separates real and imaginary parts that lie in turn, in an order of lanes that joined() undoes.
template <class Real>
HWY_INLINE Values<Real> split(hn::Vec<Tag<Real> > a, hn::Vec<Tag<Real> > b) {
  const Tag<Real> tag;
  if constexpr (sizeof(Real) == sizeof(float)) {
    const auto first = hn::InterleaveLower(tag, a, b);
    b = hn::InterleaveUpper(tag, a, b);
    a = first;
  }
  return {hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b)};
}
template <class Real>
struct Joined {
  hn::Vec<Tag<Real> > a, b;
};
template <class Real>
HWY_INLINE Joined<Real> joined(Values<Real> x) {
  return {hn::InterleaveLower(Tag<Real>(), x.re, x.im), hn::InterleaveUpper(Tag<Real>(), x.re, x.im)};
}

template <bool adjacent, class Real>
HWY_INLINE Values<Real> loaded_and_split(const Real* from, Index line) {
  const Tag<Real> tag;
  if constexpr (adjacent) return split<Real>(hn::LoadU(tag, from), hn::LoadU(tag, from + lanes<Real>));
  return split<Real>(gathered(tag, from, line), gathered(tag, from + lanes<Real> / 2 * line, line));
}
template <bool adjacent, class Real>
HWY_INLINE void joined_and_stored(Values<Real> x, Real* to, Index line) {
  const Tag<Real> tag;
  const Joined<Real> both = joined(x);
  if constexpr (adjacent) {
    hn::StoreU(both.a, tag, to);
    hn::StoreU(both.b, tag, to + lanes<Real>);
  } else {
    scatter(tag, both.a, to, line);
    scatter(tag, both.b, to + lanes<Real> / 2 * line, line);
  }
}

/// As joined_and_stored() of adjacent lines, past the caches; `to` is aligned to a vector.
template <class Real>
HWY_INLINE void joined_and_streamed(Values<Real> x, Real* to) {
  const Joined<Real> both = joined(x);
  hn::Stream(both.a, Tag<Real>(), to);
  hn::Stream(both.b, Tag<Real>(), to + lanes<Real>);
}

/// Blocks of 128 bits in a vector.
template <class Real>
inline constexpr Index blocks = lanes<Real>* static_cast<Index>(sizeof(Real)) / 16;

/// Block e of x[l] goes to a place in x[e] that is l, but for the two in the middle of four: transposed_back() takes
/// them from there.
template <class Real, class Vec>
HWY_INLINE void transpose_blocks(Vec* x) {
  const Tag<Real> tag;
  if constexpr (blocks<Real> == 2) {
    const Vec lower = hn::ConcatLowerLower(tag, x[1], x[0]);
    x[1] = hn::ConcatUpperUpper(tag, x[1], x[0]);
    x[0] = lower;
  } else if constexpr (blocks<Real> == 4) {
    const Vec low[2] = {hn::ConcatLowerLower(tag, x[1], x[0]), hn::ConcatLowerLower(tag, x[3], x[2])};
    const Vec high[2] = {hn::ConcatUpperUpper(tag, x[1], x[0]), hn::ConcatUpperUpper(tag, x[3], x[2])};
    x[0] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low[1]), low[0]);
    x[1] = hn::OddEvenBlocks(low[1], hn::SwapAdjacentBlocks(low[0]));
    x[2] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high[1]), high[0]);
    x[3] = hn::OddEvenBlocks(high[1], hn::SwapAdjacentBlocks(high[0]));
  }
}
template <class Real, class Vec>
HWY_INLINE void transpose_blocks_back(Vec* x) {
  const Tag<Real> tag;
  if constexpr (blocks<Real> == 2) {
    transpose_blocks<Real>(x);
  } else if constexpr (blocks<Real> == 4) {
    const Vec low[2] = {hn::OddEvenBlocks(hn::SwapAdjacentBlocks(x[1]), x[0]),
                        hn::OddEvenBlocks(x[1], hn::SwapAdjacentBlocks(x[0]))};
    const Vec high[2] = {hn::OddEvenBlocks(hn::SwapAdjacentBlocks(x[3]), x[2]),
                         hn::OddEvenBlocks(x[3], hn::SwapAdjacentBlocks(x[2]))};
    x[0] = hn::ConcatLowerLower(tag, high[0], low[0]);
    x[1] = hn::ConcatUpperUpper(tag, high[0], low[0]);
    x[2] = hn::ConcatLowerLower(tag, high[1], low[1]);
    x[3] = hn::ConcatUpperUpper(tag, high[1], low[1]);
  }
}

/// Interleaves elements of 8 bytes in pairs of vectors, x[2 i] and x[2 i + 1], to x[i] and x[lanes / 2 + i]; or back.
template <bool back, class Vec>
HWY_INLINE void interleave_elements(Vec* x) {
  const Tag<float> tag;
  const hn::Repartition<double, Tag<float> > whole;
  Vec result[lanes<float>];
  HWY_UNROLL(8)
  for (Index i = 0; i < lanes<float> / 2; ++i) {
    const auto a = hn::BitCast(whole, x[back ? i : 2 * i]);
    const auto b = hn::BitCast(whole, x[back ? lanes<float> / 2 + i : 2 * i + 1]);
    result[back ? 2 * i : i] = hn::BitCast(tag, hn::InterleaveLower(whole, a, b));
    result[back ? 2 * i + 1 : lanes<float> / 2 + i] = hn::BitCast(tag, hn::InterleaveUpper(whole, a, b));
  }
  std::copy(result, result + lanes<float>, x);
}

/// The next elements of as many lines as there are lanes: whole vectors of each line become one row for each element.
template <class Real>
HWY_INLINE void load_transposed(const Real* from, Index line, Values<Real>* rows) {
  hn::Vec<Tag<Real> > x[lanes<Real>];
  HWY_UNROLL(16)
  for (Index i = 0; i < lanes<Real>; ++i) x[i] = hn::LoadU(Tag<Real>(), from + i * line);
  constexpr bool is_single = sizeof(Real) == sizeof(float);
  if constexpr (is_single) interleave_elements<false>(x);
  HWY_UNROLL(4)
  for (Index i = 0; i < lanes<Real>; i += blocks<Real>) transpose_blocks<Real>(x + i);
  HWY_UNROLL(4)
  for (Index e = 0; e < blocks<Real>; ++e) {
    rows[is_single ? 2 * e : e] = split<Real>(x[e], x[blocks<Real> + e]);
    if constexpr (is_single) rows[2 * e + 1] = split<Real>(x[2 * blocks<Real> + e], x[3 * blocks<Real> + e]);
  }
}
template <class Real>
HWY_INLINE void store_transposed(const Values<Real>* rows, Real* to, Index line) {
  hn::Vec<Tag<Real> > x[lanes<Real>];
  constexpr bool is_single = sizeof(Real) == sizeof(float);
  const auto put = [&](Index at, const Joined<Real>& both) {
    x[at] = both.a;
    x[at + blocks<Real>] = both.b;
  };
  HWY_UNROLL(4)
  for (Index e = 0; e < blocks<Real>; ++e) {
    put(e, joined(rows[is_single ? 2 * e : e]));
    if constexpr (is_single) put(2 * blocks<Real> + e, joined(rows[2 * e + 1]));
  }
  HWY_UNROLL(4)
  for (Index i = 0; i < lanes<Real>; i += blocks<Real>) transpose_blocks_back<Real>(x + i);
  if constexpr (is_single) interleave_elements<true>(x);
  HWY_UNROLL(16)
  for (Index i = 0; i < lanes<Real>; ++i) hn::StoreU(x[i], Tag<Real>(), to + i * line);
}
#endif

template <class Real>
HWY_INLINE Values<Real> loaded(const Real* from) {
  return {hn::Load(Tag<Real>(), from), hn::Load(Tag<Real>(), from + lanes<Real>)};
}
template <class Real>
HWY_INLINE void store(Values<Real> x, Real* to) {
  hn::Store(x.re, Tag<Real>(), to);
  hn::Store(x.im, Tag<Real>(), to + lanes<Real>);
}

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
