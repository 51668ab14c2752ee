// The stages of a transform of a tile's lines. Compiled once for each instruction set, as Highway's headers of such
// code are.
#if defined(FOURSCORE_TILED_STAGES) == defined(HWY_TARGET_TOGGLE)
#ifdef FOURSCORE_TILED_STAGES
#undef FOURSCORE_TILED_STAGES
#else
#define FOURSCORE_TILED_STAGES
#endif

#include "local/tiled/targets.hpp"
// After it.
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "local/tiled/butterflies_inl.hpp"
#include "local/tiled/kernels.hpp"
#include "local/tiled/line_plan.hpp"
#include "local/tiled/memory_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

inline constexpr Index cache_line_bytes = 64;

/// Touches the next tile's memory while this one is computed: `count` cache lines one after another, then from a place
/// `skip_bytes` further on.
struct Ahead {
  const std::byte* at = nullptr;
  Index step_bytes = 0;
  Index count = 1;
  Index skip_bytes = 0;
  Index per_row = 0;  ///< to be touched for each row that is computed
  Index done = 0;
  HWY_INLINE void touch(Index rows) {
    for (Index i = rows * per_row; i > 0; --i) {
      __builtin_prefetch(at);
      at += step_bytes;
      if (++done < count) continue;
      done = 0;
      at += skip_bytes;
    }
  }
};

/// Where a tile lies, strides in reals: neighbouring lines `line` apart, elements of a line `along`.
template <class Real>
struct Side {
  Real* data;
  Index along;
  Index line;
};

template <class Real>
struct Scratch {
  Real* data;
  Index stride;  ///< between vectors of lines
  Index width;   ///< vectors of lines
};

template <Index radix, class Real>
HWY_INLINE void store_turned(const Values<Real>* x, const Stage<Real>& stage, Index j, Real* to) {
  const Real* twiddles = stage.twiddles.data() + 2 * (radix - 1) * j;
  const Index step = stage.span() * row<Real>;
  store(x[0], to);
  HWY_UNROLL(16)
  for (Index k = 1; k < radix; ++k) store(times(x[k], twiddles[2 * k - 2], twiddles[2 * k - 1]), to + k * step);
}

/// How lines lie: side by side; so, and stored past the caches; anywhere; each without gaps, so that whole vectors of
/// it are read; or in the rows of a scratch.
enum class Lie { adjacent, streamed, anywhere, contiguous, rows };

/// Fetches what is read of this row for the next tile.
template <class Real>
HWY_INLINE void fetch_next_of_row(const Real* here, Index width) {
  constexpr Index in_cache_line = cache_line_bytes / static_cast<Index>(sizeof(Real));
  for (Index i = 0; i < row<Real>; i += in_cache_line) __builtin_prefetch(here + width * row<Real> + i);
}

template <Index radix, Lie lie, class Real>
HWY_NOINLINE void first_stage(const Stage<Real>& stage, Side<const Real> in, Scratch<Real> scratch, bool fetch_next) {
  for (Index j = 0; j < stage.span(); ++j)
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      const Real* from = in.data + j * in.along + v * row<Real>;
      if (lie == Lie::adjacent && fetch_next)
        for (Index k = 0; k < radix; ++k) fetch_next_of_row(from + k * stage.span() * in.along, scratch.width);
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k)
        x[k] = loaded_and_split<lie == Lie::adjacent>(from + k * stage.span() * in.along, in.line);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, scratch.data + v * scratch.stride + j * row<Real>);
    }
}

/// As first_stage() of adjacent lines whose rows lie in parts; `line` is the first of them. The next are fetched: parts
/// are other ranks' memory.
template <Index radix, class Real>
HWY_NOINLINE void first_stage_of_parts(const Stage<Real>& stage, const Rows<Real>* parts, Index line,
                                       Scratch<Real> scratch) {
  for (Index j = 0; j < stage.span(); ++j) {
    const Real* from[radix];
    const Rows<Real>* part = parts;
    for (Index k = 0; k < radix; ++k) {
      const Index at = j + k * stage.span();
      while (at >= part->high) ++part;
      from[k] = part->data + 2 * ((at - part->low) * part->stride + line);
    }
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      for (Index k = 0; k < radix; ++k) fetch_next_of_row(from[k] + v * row<Real>, scratch.width);
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k) x[k] = loaded_and_split<true>(from[k] + v * row<Real>, 0);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, scratch.data + v * scratch.stride + j * row<Real>);
    }
  }
}

/// The first of `elements` rows that are done together, of `count` or more; the last ones overlap those before.
template <class Real>
HWY_INLINE Index first_together(Index at, Index count) {
  return std::min(at, count - elements<Real>);
}

template <Index radix, class Real>
HWY_NOINLINE void first_stage_contiguous(const Stage<Real>& stage, Side<const Real> in, Scratch<Real> scratch) {
  alignas(cache_line_bytes) Real rows[elements<Real> * radix * row<Real>];
  for (Index at = 0; at < stage.span(); at += elements<Real>) {
    const Index first = first_together<Real>(at, stage.span());
    for (Index k = 0; k < radix; ++k) {
      Values<Real> x[elements<Real>];
      load_transposed(in.data + 2 * (first + k * stage.span()), in.line, x);
      HWY_UNROLL(8)
      for (Index e = 0; e < elements<Real>; ++e) store(x[e], rows + (e * radix + k) * row<Real>);
    }
    for (Index e = 0; e < elements<Real>; ++e) {
      Values<Real> x[radix];
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k) x[k] = loaded(rows + (e * radix + k) * row<Real>);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, first + e, scratch.data + (first + e) * row<Real>);
    }
  }
}

/// Transforms one vector of lines in place.
template <Index radix, class Real>
HWY_NOINLINE void middle_stage(const Stage<Real>& stage, Index length, Real* data, Ahead& ahead) {
  const Index step = stage.span() * row<Real>;
  for (Index block = 0; block < length; block += stage.length)
    for (Index j = 0; j < stage.span(); ++j) {
      Real* place = data + (block + j) * row<Real>;
      Values<Real> x[radix];
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k) x[k] = loaded(place + k * step);
      ahead.touch(radix);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, place);
    }
}

template <Index radix, class Real>
HWY_INLINE void last_butterfly(const LinePlan<Real>& plan, const Real* scratch, Index o, Values<Real>* x) {
  const Real* block = scratch + plan.block_of_row[static_cast<std::size_t>(o)] * radix * row<Real>;
  HWY_UNROLL(16)
  for (Index k = 0; k < radix; ++k) x[k] = loaded(block + k * row<Real>);
  Butterfly<radix, Real>::run(x);
}

/// A backward transform is a forward one whose rows are counted from the end.
template <Index radix, Lie lie, class Real>
HWY_NOINLINE void last_stage(const LinePlan<Real>& plan, Scratch<Real> scratch, Side<Real> out, Ahead& ahead) {
  const Index span = plan.length / radix;
  for (Index o = 0; o < span; ++o)
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      ahead.touch(radix);
      last_butterfly<radix>(plan, scratch.data + v * scratch.stride, o, x);
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k) {
        const Index to = o + k * span;
        const Index turned = plan.backward && to > 0 ? plan.length - to : to;
        if constexpr (lie == Lie::rows)
          store(x[k], out.data + to * row<Real>);
        else if constexpr (lie == Lie::streamed)
          joined_and_streamed(x[k], out.data + turned * out.along + v * row<Real>);
        else
          joined_and_stored<lie == Lie::adjacent>(x[k], out.data + turned * out.along + v * row<Real>, out.line);
      }
    }
}

/// Output r + m span is that of row o and k, backward counted from the end.
template <Index radix, class Real>
HWY_NOINLINE void last_stage_contiguous(const LinePlan<Real>& plan, Scratch<Real> scratch, Side<Real> out,
                                        Ahead& ahead) {
  const Index span = plan.length / radix;
  alignas(cache_line_bytes) Real rows[radix * elements<Real> * row<Real>];
  for (Index at = 0; at < span; at += elements<Real>) {
    const Index first = first_together<Real>(at, span);
    for (Index e = 0; e < elements<Real>; ++e) {
      const Index r = first + e;
      const Index o = plan.backward && r > 0 ? span - r : r;
      Values<Real> x[radix];
      ahead.touch(radix);
      last_butterfly<radix>(plan, scratch.data, o, x);
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k) {
        const Index m = !plan.backward ? k : r > 0 ? radix - 1 - k : (radix - k) % radix;
        store(x[k], rows + (m * elements<Real> + e) * row<Real>);
      }
    }
    for (Index m = 0; m < radix; ++m) {
      Values<Real> x[elements<Real>];
      HWY_UNROLL(8)
      for (Index e = 0; e < elements<Real>; ++e) x[e] = loaded(rows + (m * elements<Real> + e) * row<Real>);
      store_transposed(x, out.data + 2 * (first + m * span), out.line);
    }
  }
}

/// Element q of the transform of real data, 0 <= q <= length, from `rows`, that of its pairs as complex elements.
template <class Real>
HWY_INLINE Values<Real> half_of(const LinePlan<Real>& plan, const Real* rows, Index q) {
  const Values<Real> a = loaded(rows + (q < plan.length ? q : 0) * row<Real>);
  const Values<Real> b = loaded(rows + (q > 0 ? plan.length - q : 0) * row<Real>);
  const Real* turn = plan.turns_of_halves.data() + 2 * q;
  const Values<Real> difference = times(Values<Real>{hn::Sub(a.re, b.re), hn::Add(a.im, b.im)}, turn[0], turn[1]);
  const auto half = hn::Set(Tag<Real>(), static_cast<Real>(0.5));
  return {hn::MulAdd(half, hn::Add(a.re, b.re), difference.im), hn::MulSub(half, hn::Sub(a.im, b.im), difference.re)};
}
/// The way back, from the rows of elements 0 to length, but for the factor 2; q < length.
template <class Real>
HWY_INLINE Values<Real> pair_of(const LinePlan<Real>& plan, const Real* rows, Index q) {
  const Values<Real> a = loaded(rows + q * row<Real>);
  const Values<Real> b = loaded(rows + (plan.length - q) * row<Real>);
  const Real* turn = plan.turns_of_halves.data() + 2 * q;
  const Values<Real> difference = times(Values<Real>{hn::Sub(a.re, b.re), hn::Add(a.im, b.im)}, turn[0], turn[1]);
  return {hn::Sub(hn::Add(a.re, b.re), difference.im), hn::Add(hn::Sub(a.im, b.im), difference.re)};
}

template <Index radix, class Real>
HWY_NOINLINE void first_stage_of_halves(const LinePlan<Real>& plan, const Real* rows, Scratch<Real> scratch) {
  const Stage<Real>& stage = plan.stages.front();
  for (Index j = 0; j < stage.span(); ++j) {
    Values<Real> x[radix];
    HWY_UNROLL(16)
    for (Index k = 0; k < radix; ++k) x[k] = pair_of(plan, rows, j + k * stage.span());
    Butterfly<radix, Real>::run(x);
    store_turned<radix>(x, stage, j, scratch.data + j * row<Real>);
  }
}

/// Elements 0 to length of real data's transform, of which the first and the last are real, into rows.
template <Lie lie, class Real>
void load_halves(const LinePlan<Real>& plan, Side<const Real> in, Real* rows) {
  constexpr Index together = lie == Lie::contiguous ? elements<Real> : 1;
  const Index count = plan.length + 1;
  for (Index at = 0; at < count; at += together) {
    const Index first = std::min(at, count - together);
    Values<Real> x[together];
    if constexpr (lie == Lie::contiguous)
      load_transposed(in.data + 2 * first, in.line, x);
    else
      x[0] = loaded_and_split<false>(in.data + first * in.along, in.line);
    for (Index e = 0; e < together; ++e) store(x[e], rows + (first + e) * row<Real>);
  }
  for (const Index q : {Index{0}, plan.length})
    hn::Store(hn::Zero(Tag<Real>()), Tag<Real>(), rows + q * row<Real> + lanes<Real>);
}

template <Lie lie, class Real>
void store_halves(const LinePlan<Real>& plan, const Real* rows, Side<Real> out) {
  constexpr Index together = lie == Lie::contiguous ? elements<Real> : 1;
  const Index count = plan.length + 1;
  for (Index at = 0; at < count; at += together) {
    const Index first = std::min(at, count - together);
    Values<Real> x[together];
    HWY_UNROLL(8)
    for (Index e = 0; e < together; ++e) x[e] = half_of(plan, rows, first + e);
    if constexpr (lie == Lie::contiguous)
      store_transposed(x, out.data + 2 * first, out.line);
    else
      joined_and_stored<false>(x[0], out.data + first * out.along, out.line);
  }
}

/// use(std::integral_constant) of this radix.
template <class Use>
HWY_INLINE void with_radix(Index radix, const Use& use) {
  switch (radix) {
    case 2:
      return use(std::integral_constant<Index, 2>());
    case 3:
      return use(std::integral_constant<Index, 3>());
    case 4:
      return use(std::integral_constant<Index, 4>());
    case 5:
      return use(std::integral_constant<Index, 5>());
    case 7:
      return use(std::integral_constant<Index, 7>());
    case 8:
      return use(std::integral_constant<Index, 8>());
#if HWY_TARGET == HWY_AVX3
    case 16:
      return use(std::integral_constant<Index, 16>());
#endif
    default:
      return use(std::integral_constant<Index, 1>());
  }
}

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
