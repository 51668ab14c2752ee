// Tiles of lines: read from anywhere into a scratch in the first-level cache, transformed there, and written anywhere.
// This file is compiled once for each instruction set; its last part chooses one.

// Left out: vectors of a length that only the processor knows, because an array of them is not C++; what is better than
// AVX-512, of which only the first instructions are used; and AVX-512 where the whole build has none.
#ifdef FOURSCORE_WITHOUT_AVX512
#define FOURSCORE_BEST_TARGET HWY_AVX2  // what is better has a lower bit
#else
#define FOURSCORE_BEST_TARGET HWY_AVX3
#endif
#define HWY_DISABLED_TARGETS                                                                                        \
  ((FOURSCORE_BEST_TARGET - 1) | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM | \
   HWY_WASM_EMU256)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "local/tiled/kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "local/tiled/butterflies_inl.hpp"
#include "local/tiled/kernels.hpp"
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
  HWY_UNROLL(16)
  for (Index k = 1; k < radix; ++k) store(times(x[k], twiddles[2 * k - 2], twiddles[2 * k - 1]), to + k * step);
}

/// How lines lie in memory: side by side; anywhere; or each without gaps, so that whole vectors of it are read.
enum class Lie { adjacent, anywhere, contiguous };

template <Index radix, Lie lie, class Real>
HWY_NOINLINE void first_stage(const Stage<Real>& stage, Side<const Real> in, Scratch<Real> scratch) {
  for (Index j = 0; j < stage.span(); ++j)
    for (Index v = 0; v < scratch.width; ++v) {
      Values<Real> x[radix];
      const Real* from = in.data + j * in.along + v * row<Real>;
      HWY_UNROLL(16)
      for (Index k = 0; k < radix; ++k)
        x[k] = loaded_and_split<lie == Lie::adjacent>(from + k * stage.span() * in.along, in.line);
      Butterfly<radix, Real>::run(x);
      store_turned<radix>(x, stage, j, scratch.data + v * scratch.stride + j * row<Real>);
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

template <Lie lie, class Real>
void transform_tile(const LinePlan<Real>& plan, Side<const Real> in, Side<Real> out, Scratch<Real> scratch,
                    Ahead ahead) {
  const auto& stages = plan.stages;
  with_radix(stages.front().radix, [&](auto radix) {
    if constexpr (lie == Lie::contiguous)
      first_stage_contiguous<radix()>(stages.front(), in, scratch);
    else
      first_stage<radix(), lie>(stages.front(), in, scratch);
  });
  for (Index v = 0; v < scratch.width; ++v)
    for (std::size_t i = 1; i + 1 < stages.size(); ++i) {
      with_radix(stages[i].radix, [&](auto radix) {
        middle_stage<radix()>(stages[i], plan.length, scratch.data + v * scratch.stride, ahead);
      });
      ahead.per_row = 0;
    }
  with_radix(stages.back().radix, [&](auto radix) {
    if constexpr (lie == Lie::contiguous)
      last_stage_contiguous<radix()>(plan, scratch, out, ahead);
    else
      last_stage<radix(), lie>(plan, scratch, out, ahead);
  });
}

/// The tile that begins at `next`: rows of adjacent elements, or whole lines of them.
template <Lie lie, class Real>
Ahead ahead_of(const Lines<Real>& lines, Side<const Real> next) {
  constexpr auto real_bytes = static_cast<Index>(sizeof(Real));
  const auto* at = reinterpret_cast<const std::byte*>(next.data);
  const Index length = lines.plan->length;
  if constexpr (lie == Lie::adjacent) {
    if (lines.width > 1) return {};  // its rows are long enough for the processor to see where they lead
    constexpr Index count = std::max<Index>(1, row<Real> * real_bytes / cache_line_bytes);
    return {at, cache_line_bytes, count, next.along * real_bytes - count * cache_line_bytes, count};
  }
  if (lines.along.in_stride != 1) return {};
  const Index count = (2 * length * real_bytes + cache_line_bytes - 1) / cache_line_bytes;
  return {at, cache_line_bytes, count, next.line * real_bytes - count * cache_line_bytes,
          (count * lanes<Real> + length - 1) / length};
}

/// Fewer lines than a vector has lanes, by way of the scratch, where they lie alike.
template <Lie lie, class Real>
void transform_rest(const Lines<Real>& lines, Index count, Side<const Real> in, Side<Real> out, Scratch<Real> scratch) {
  const Index length = lines.plan->length;
  Real* data = scratch.data + lines.width * scratch.stride;
  const Side<Real> staged = lie == Lie::adjacent ? Side<Real>{data, row<Real>, 2} : Side<Real>{data, 2, 2 * length};
  for (Index j = 0; j < length; ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(in.data + j * in.along + i * in.line, 2, data + j * staged.along + i * staged.line);
  scratch.width = 1;
  transform_tile<lie, Real>(*lines.plan, {data, staged.along, staged.line}, staged, scratch, {});
  for (Index j = 0; j < length; ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(data + j * staged.along + i * staged.line, 2, out.data + j * out.along + i * out.line);
}

template <Lie lie, class Real>
void transform_lines(const Lines<Real>& lines, Side<const Real> in, Side<Real> out) {
  constexpr Index vector_bytes = lanes<Real> * static_cast<Index>(sizeof(Real));
  Scratch<Real> scratch{reinterpret_cast<Real*>(lines.scratch),
                        scratch_stride_bytes(lines.plan->length, vector_bytes) / static_cast<Index>(sizeof(Real)),
                        lie == Lie::adjacent ? lines.width : 1};
  const Index count = lines.beside.count;
  const auto lines_from = [](auto side, Index line) {
    side.data += line * side.line;
    return side;
  };
  Index done = 0;
  for (; scratch.width > 0; scratch.width /= 2)
    for (Index tile = scratch.width * lanes<Real>; done + tile <= count; done += tile) {
      const Index next = done + 2 * tile <= count ? done + tile : done;
      transform_tile<lie>(*lines.plan, lines_from(in, done), lines_from(out, done), scratch,
                          ahead_of<lie>(lines, lines_from(in, next)));
    }
  if (done < count) transform_rest<lie>(lines, count - done, lines_from(in, done), lines_from(out, done), scratch);
}

template <class Real>
void transform_anywhere(const Lines<Real>& lines, const Real* in, Real* out) {
  const Side<const Real> from{in, 2 * lines.along.in_stride, 2 * lines.beside.in_stride};
  const Side<Real> to{out, 2 * lines.along.out_stride, 2 * lines.beside.out_stride};
  const auto& stages = lines.plan->stages;
  const Index fewest_together = std::min(stages.front().span(), lines.plan->length / stages.back().radix);
  if (lines.beside.in_stride == 1 && lines.beside.out_stride == 1)
    transform_lines<Lie::adjacent>(lines, from, to);
  else if (lines.along.in_stride == 1 && lines.along.out_stride == 1 && fewest_together >= elements<Real>)
    transform_lines<Lie::contiguous>(lines, from, to);
  else
    transform_lines<Lie::anywhere>(lines, from, to);
}

void transform_double(const Lines<double>& lines, const double* in, double* out) { transform_anywhere(lines, in, out); }
void transform_single(const Lines<float>& lines, const float* in, float* out) { transform_anywhere(lines, in, out); }
Index bytes_of_a_vector() { return lanes<double> * static_cast<Index>(sizeof(double)); }
Index radix_for_registers() { return HWY_TARGET == HWY_AVX3 ? 16 : 8; }
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace fourscore::local::tiled::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fourscore::local::tiled {

HWY_EXPORT(transform_double);
HWY_EXPORT(transform_single);
HWY_EXPORT(bytes_of_a_vector);
HWY_EXPORT(radix_for_registers);
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
Index largest_radix() { return HWY_DYNAMIC_DISPATCH(radix_for_registers)(); }
std::string instruction_set() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void take_instruction_set(const std::string& name) {
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    if (hwy::TargetName(target) == name) hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace fourscore::local::tiled
#endif
