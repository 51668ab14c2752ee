// Tiles of lines: read from anywhere into a scratch in the first-level cache, transformed there, and written anywhere.
// This file is compiled once for each instruction set; its last part chooses one.

// Left out: AVX-512 (what is better than AVX2 has a lower bit), which nobody has tested or measured yet; and vectors of
// a length that only the processor knows, because an array of them is not C++.
#define HWY_DISABLED_TARGETS \
  ((HWY_AVX2 - 1) | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM | HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "local/tiled/kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "local/tiled/butterflies_inl.hpp"
#include "local/tiled/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

/// Reals of one row of a tile in the scratch.
template <class Real>
inline constexpr Index row = 2 * lanes<Real>;
inline constexpr Index cache_line_bytes = 64;

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

/// Separates real and imaginary parts that lie in turn, in an order of lanes that joined_and_stored() undoes.
template <bool adjacent, class Real>
HWY_INLINE Values<Real> loaded_and_split(const Real* from, Index line) {
  const Tag<Real> tag;
  auto a = adjacent ? hn::LoadU(tag, from) : gathered(tag, from, line);
  auto b = adjacent ? hn::LoadU(tag, from + lanes<Real>) : gathered(tag, from + lanes<Real> / 2 * line, line);
  if constexpr (sizeof(Real) == sizeof(float)) {
    const auto first = hn::InterleaveLower(tag, a, b);
    b = hn::InterleaveUpper(tag, a, b);
    a = first;
  }
  return {hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b)};
}
template <bool adjacent, class Real>
HWY_INLINE void joined_and_stored(Values<Real> x, Real* to, Index line) {
  const Tag<Real> tag;
  const auto a = hn::InterleaveLower(tag, x.re, x.im);
  const auto b = hn::InterleaveUpper(tag, x.re, x.im);
  if constexpr (adjacent) {
    hn::StoreU(a, tag, to);
    hn::StoreU(b, tag, to + lanes<Real>);
  } else {
    scatter(tag, a, to, line);
    scatter(tag, b, to + lanes<Real> / 2 * line, line);
  }
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
      hwy::Prefetch(at);
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
  for (Index k = 1; k < radix; ++k) store(times(x[k], twiddles[2 * k - 2], twiddles[2 * k - 1]), to + k * step);
}

template <Index radix, bool adjacent, class Real>
HWY_NOINLINE void first_stage(const Stage<Real>& stage, Side<const Real> in, Scratch<Real> scratch) {
  for (Index j = 0; j < stage.span(); ++j)
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      const Real* from = in.data + j * in.along + v * row<Real>;
      for (Index k = 0; k < radix; ++k) x[k] = loaded_and_split<adjacent>(from + k * stage.span() * in.along, in.line);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, scratch.data + v * scratch.stride + j * row<Real>);
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
      for (Index k = 0; k < radix; ++k) x[k] = loaded(place + k * step);
      ahead.touch(radix);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, place);
    }
}

/// A backward transform is a forward one whose rows are counted from the end.
template <Index radix, bool adjacent, class Real>
HWY_NOINLINE void last_stage(const LinePlan<Real>& plan, Scratch<Real> scratch, Side<Real> out, Ahead& ahead) {
  const Index blocks = plan.length / radix;
  for (Index o = 0; o < blocks; ++o) {
    const Real* block = scratch.data + plan.block_of_row[static_cast<std::size_t>(o)] * radix * row<Real>;
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      for (Index k = 0; k < radix; ++k) x[k] = loaded(block + v * scratch.stride + k * row<Real>);
      ahead.touch(radix);
      Butterfly<radix, Real>::run(x);
      for (Index k = 0; k < radix; ++k) {
        const Index to = o + k * blocks;
        const Index turned = plan.backward && to > 0 ? plan.length - to : to;
        joined_and_stored<adjacent>(x[k], out.data + turned * out.along + v * row<Real>, out.line);
      }
    }
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
    default:
      return use(std::integral_constant<Index, 1>());
  }
}

template <bool adjacent, class Real>
void transform_tile(const LinePlan<Real>& plan, Side<const Real> in, Side<Real> out, Scratch<Real> scratch,
                    Ahead ahead) {
  const auto& stages = plan.stages;
  with_radix(stages.front().radix, [&](auto radix) { first_stage<radix(), adjacent>(stages.front(), in, scratch); });
  for (Index v = 0; v < scratch.width; ++v)
    for (std::size_t i = 1; i + 1 < stages.size(); ++i) {
      with_radix(stages[i].radix, [&](auto radix) {
        middle_stage<radix()>(stages[i], plan.length, scratch.data + v * scratch.stride, ahead);
      });
      ahead.per_row = 0;
    }
  with_radix(stages.back().radix, [&](auto radix) { last_stage<radix(), adjacent>(plan, scratch, out, ahead); });
}

/// The tile that begins at `next`: rows of adjacent elements, or whole lines of them.
template <bool adjacent, class Real>
Ahead ahead_of(const Lines<Real>& lines, Side<const Real> next) {
  constexpr auto real_bytes = static_cast<Index>(sizeof(Real));
  const auto* at = reinterpret_cast<const std::byte*>(next.data);
  const Index length = lines.plan->length;
  if constexpr (adjacent) {
    if (lines.width > 1) return {};  // its rows are long enough for the processor to see where they lead
    constexpr Index count = std::max<Index>(1, row<Real> * real_bytes / cache_line_bytes);
    return {at, cache_line_bytes, count, next.along * real_bytes - count * cache_line_bytes, count};
  }
  if (lines.along.in_stride != 1) return {};
  const Index count = (2 * length * real_bytes + cache_line_bytes - 1) / cache_line_bytes;
  return {at, cache_line_bytes, count, next.line * real_bytes - count * cache_line_bytes,
          (count * lanes<Real> + length - 1) / length};
}

/// Fewer lines than a vector has lanes, by way of the scratch.
template <class Real>
void transform_rest(const Lines<Real>& lines, Index count, Side<const Real> in, Side<Real> out, Scratch<Real> scratch) {
  Real* staged = scratch.data + lines.width * scratch.stride;
  for (Index j = 0; j < lines.plan->length; ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(in.data + j * in.along + i * in.line, 2, staged + j * row<Real> + 2 * i);
  scratch.width = 1;
  const Side<Real> tile{staged, row<Real>, 2};
  transform_tile<true, Real>(*lines.plan, {staged, row<Real>, 2}, tile, scratch, {});
  for (Index j = 0; j < lines.plan->length; ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(staged + j * row<Real> + 2 * i, 2, out.data + j * out.along + i * out.line);
}

template <bool adjacent, class Real>
void transform_lines(const Lines<Real>& lines, Side<const Real> in, Side<Real> out) {
  constexpr Index vector_bytes = lanes<Real> * static_cast<Index>(sizeof(Real));
  Scratch<Real> scratch{reinterpret_cast<Real*>(lines.scratch),
                        scratch_stride_bytes(lines.plan->length, vector_bytes) / static_cast<Index>(sizeof(Real)),
                        adjacent ? lines.width : 1};
  const Index count = lines.beside.count;
  const auto lines_from = [](auto side, Index line) {
    side.data += line * side.line;
    return side;
  };
  Index done = 0;
  for (; scratch.width > 0; scratch.width /= 2)
    for (Index tile = scratch.width * lanes<Real>; done + tile <= count; done += tile) {
      const Index next = done + 2 * tile <= count ? done + tile : done;
      transform_tile<adjacent>(*lines.plan, lines_from(in, done), lines_from(out, done), scratch,
                               ahead_of<adjacent>(lines, lines_from(in, next)));
    }
  if (done < count) transform_rest(lines, count - done, lines_from(in, done), lines_from(out, done), scratch);
}

template <class Real>
void transform_anywhere(const Lines<Real>& lines, const Real* in, Real* out) {
  const Side<const Real> from{in, 2 * lines.along.in_stride, 2 * lines.beside.in_stride};
  const Side<Real> to{out, 2 * lines.along.out_stride, 2 * lines.beside.out_stride};
  if (lines.beside.in_stride == 1 && lines.beside.out_stride == 1)
    transform_lines<true>(lines, from, to);
  else
    transform_lines<false>(lines, from, to);
}

void transform_double(const Lines<double>& lines, const double* in, double* out) { transform_anywhere(lines, in, out); }
void transform_single(const Lines<float>& lines, const float* in, float* out) { transform_anywhere(lines, in, out); }
Index bytes_of_a_vector() { return lanes<double> * static_cast<Index>(sizeof(double)); }
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourscore::local::tiled {

HWY_EXPORT(transform_double);
HWY_EXPORT(transform_single);
HWY_EXPORT(bytes_of_a_vector);
HWY_EXPORT(name_of_target);

template <>
void transform(const Lines<double>& lines, const double* in, double* out) {
  HWY_DYNAMIC_DISPATCH(transform_double)(lines, in, out);
}
template <>
void transform(const Lines<float>& lines, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(transform_single)(lines, in, out);
}
Index vector_bytes() { return HWY_DYNAMIC_DISPATCH(bytes_of_a_vector)(); }
std::string instruction_set() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace fourscore::local::tiled
#endif
