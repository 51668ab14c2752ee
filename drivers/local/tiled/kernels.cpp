// Tiles of lines: read from anywhere into a scratch in the first-level cache, transformed there, and written anywhere.
// This file is compiled once for each instruction set; its last part chooses one.

#include "local/tiled/targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "local/tiled/kernels.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "local/tiled/kernels.hpp"
#include "local/tiled/lanes_inl.hpp"
#include "local/tiled/stages_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace fourscore::local::tiled::HWY_NAMESPACE {

template <class Real>
inline constexpr Index vector_bytes_of = lanes<Real>* static_cast<Index>(sizeof(Real));

template <class Real>
void middle_stages(const LinePlan<Real>& plan, Scratch<Real> scratch, Ahead& ahead, std::size_t first = 1) {
  Ahead none;
  for (Index v = 0; v < scratch.width; ++v)
    for (std::size_t i = first; i + 1 < plan.stages.size(); ++i)
      with_radix(plan.stages[i].radix, [&](auto radix) {
        middle_stage<radix()>(plan.stages[i], plan.length, scratch.data + v * scratch.stride,
                              i == first ? ahead : none);
      });
  if (first + 1 < plan.stages.size()) ahead.per_row = 0;
}

template <Lie lie, class Real>
void first_stage_from(const LinePlan<Real>& plan, Side<const Real> in, Scratch<Real> scratch, bool fetch_next) {
  const Stage<Real>& stage = plan.stages.front();
  with_radix(stage.radix, [&](auto radix) {
    if constexpr (lie == Lie::contiguous)
      first_stage_contiguous<radix()>(stage, in, scratch);
    else
      first_stage<radix(), lie>(stage, in, scratch, fetch_next);
  });
}

template <Lie lie, class Real>
void last_stage_to(const LinePlan<Real>& plan, Scratch<Real> scratch, Side<Real> out, Ahead& ahead) {
  with_radix(plan.stages.back().radix, [&](auto radix) {
    if constexpr (lie == Lie::contiguous)
      last_stage_contiguous<radix()>(plan, scratch, out, ahead);
    else
      last_stage<radix(), lie>(plan, scratch, out, ahead);
  });
}

template <Lie lie, class Real>
void transform_tile(const LinePlan<Real>& plan, Side<const Real> in, Side<Real> out, Scratch<Real> scratch, Ahead ahead,
                    bool fetch_next = false, bool streaming = false) {
  if (!plan.is_real()) {
    first_stage_from<lie>(plan, in, scratch, fetch_next);
    middle_stages(plan, scratch, ahead);
    if (lie == Lie::adjacent && streaming) return last_stage_to<Lie::streamed>(plan, scratch, out, ahead);
    return last_stage_to<lie>(plan, scratch, out, ahead);
  }
  if constexpr (lie != Lie::adjacent) {
    Real* halves = scratch.data + 2 * scratch.stride;  // behind the tile and the lines that transform_rest() stages
    if (plan.backward) {
      load_halves<lie>(plan, in, halves);
      with_radix(plan.stages.front().radix, [&](auto radix) { first_stage_of_halves<radix()>(plan, halves, scratch); });
      middle_stages(plan, scratch, ahead);
      last_stage_to<lie>(plan, scratch, out, ahead);
    } else {
      first_stage_from<lie>(plan, in, scratch, false);
      middle_stages(plan, scratch, ahead);
      last_stage_to<Lie::rows>(plan, scratch, Side<Real>{halves, row<Real>, 0}, ahead);
      store_halves<lie>(plan, halves, out);
    }
  }
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

/// Where fewer lines than a vector has lanes are staged, as they lie in memory.
template <Lie lie, class Real>
Side<Real> staged_rest(const Lines<Real>& lines, Scratch<Real> scratch) {
  Real* data = scratch.data + lines.width * scratch.stride;
  if (lie == Lie::adjacent) return {data, row<Real>, 2};
  return {data, 2, 2 * lines.plan->most_elements()};
}

template <Lie lie, class Real>
void transform_staged_rest(const Lines<Real>& lines, Index count, Side<Real> out, Scratch<Real> scratch) {
  const Side<Real> staged = staged_rest<lie>(lines, scratch);
  scratch.width = 1;
  transform_tile<lie, Real>(*lines.plan, {staged.data, staged.along, staged.line}, staged, scratch, {});
  for (Index j = 0; j < lines.plan->elements_out(); ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(staged.data + j * staged.along + i * staged.line, 2, out.data + j * out.along + i * out.line);
}

template <Lie lie, class Real>
void transform_rest(const Lines<Real>& lines, Index count, Side<const Real> in, Side<Real> out, Scratch<Real> scratch) {
  const Side<Real> staged = staged_rest<lie>(lines, scratch);
  for (Index j = 0; j < lines.plan->elements_in(); ++j)
    for (Index i = 0; i < count; ++i)
      std::copy_n(in.data + j * in.along + i * in.line, 2, staged.data + j * staged.along + i * staged.line);
  transform_staged_rest<lie>(lines, count, out, scratch);
}

/// Whether every vector of a row is aligned to its size.
template <class Real>
bool is_aligned(Side<Real> out) {
  constexpr std::uintptr_t reals = lanes<Real>;
  return reinterpret_cast<std::uintptr_t>(out.data) % (reals * sizeof(Real)) == 0 &&
         static_cast<std::uintptr_t>(out.along) % reals == 0;
}

template <Lie lie, class Real>
void transform_lines(const Lines<Real>& lines, Side<const Real> in, Side<Real> out) {
  Scratch<Real> scratch{
      reinterpret_cast<Real*>(lines.scratch),
      scratch_stride_bytes(lines.plan->most_elements(), vector_bytes_of<Real>) / static_cast<Index>(sizeof(Real)),
      lie == Lie::adjacent ? lines.width : 1};
  const bool streaming = lines.streaming && is_aligned(out);
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
                          ahead_of<lie>(lines, lines_from(in, next)), lines.fetch_next, streaming);
    }
  if (streaming) hwy::FlushStream();
  if (done < count) transform_rest<lie>(lines, count - done, lines_from(in, done), lines_from(out, done), scratch);
}

template <class Real>
void transform_rest_of_parts(const Lines<Real>& lines, Index first, Side<Real> out, Scratch<Real> scratch) {
  const Index count = lines.beside.count - first;
  const Side<Real> staged = staged_rest<Lie::adjacent>(lines, scratch);
  const Rows<Real>* part = lines.parts;
  for (Index j = 0; j < lines.plan->length; ++j) {
    while (j >= part->high) ++part;
    std::copy_n(part->data + 2 * ((j - part->low) * part->stride + first), 2 * count, staged.data + j * staged.along);
  }
  transform_staged_rest<Lie::adjacent>(lines, count, out, scratch);
}

template <class Real>
void transform_parts(const Lines<Real>& lines, Side<Real> out) {
  const LinePlan<Real>& plan = *lines.plan;
  Scratch<Real> scratch{reinterpret_cast<Real*>(lines.scratch),
                        scratch_stride_bytes(plan.length, vector_bytes_of<Real>) / static_cast<Index>(sizeof(Real)),
                        lines.width};
  const bool streaming = lines.streaming && is_aligned(out);
  Index done = 0;
  Ahead none;
  for (; scratch.width > 0; scratch.width /= 2)
    for (Index tile = scratch.width * lanes<Real>; done + tile <= lines.beside.count; done += tile) {
      with_radix(plan.stages.front().radix,
                 [&](auto radix) { first_stage_of_parts<radix()>(plan.stages.front(), lines.parts, done, scratch); });
      middle_stages(plan, scratch, none);
      const Side<Real> to{out.data + 2 * done, out.along, out.line};
      if (streaming)
        last_stage_to<Lie::streamed>(plan, scratch, to, none);
      else
        last_stage_to<Lie::adjacent>(plan, scratch, to, none);
    }
  if (streaming) hwy::FlushStream();
  if (done < lines.beside.count)
    transform_rest_of_parts(lines, done, {out.data + 2 * done, out.along, out.line}, scratch);
}

/// So far ahead contiguous lines are fetched, at least by one line. By half of it or twice as much was slower.
inline constexpr Index fetched_ahead_bytes = 8192;

/// Contiguous lines one after another, each side by side with itself.
template <Index radix, bool backward, class Real>
void transform_in_lanes(const Lines<Real>& lines, Side<const Real> in, Side<Real> out) {
  constexpr auto real_bytes = static_cast<Index>(sizeof(Real));
  const LinePlan<Real>& plan = *lines.plan;
  const Index line_bytes = 2 * radix * plan.length * real_bytes;
  const Index reals_ahead = std::max<Index>(1, fetched_ahead_bytes / line_bytes) * in.line;
  const bool fits_registers = plan.length == lanes<Real>;
  const Scratch<Real> scratch{reinterpret_cast<Real*>(lines.scratch),
                              scratch_stride_bytes(plan.length, vector_bytes_of<Real>) / real_bytes,
                              radix / lanes<Real>};
  const Index cache_lines = (line_bytes + cache_line_bytes - 1) / cache_line_bytes;
  const Index rows = plan.length * scratch.width;
  Side<Real> to{out.data, 2 * radix, 2};
  for (Index i = 0; i < lines.beside.count; ++i, to.data += out.line) {
    const Real* from = in.data + i * in.line;
    if (fits_registers) {
      line_in_registers<radix, backward>(*lines.in_lanes, from, to.data, from + reals_ahead);
      continue;
    }
    first_stage_in_lanes<radix, backward>(*lines.in_lanes, plan.length, from, scratch);
    Ahead none;
    middle_stages(plan, scratch, none, 0);
    Ahead ahead{reinterpret_cast<const std::byte*>(from + reals_ahead), cache_line_bytes, cache_lines, 0,
                (cache_lines + rows - 1) / rows};
    last_stage_to<Lie::adjacent>(plan, scratch, to, ahead);
  }
}

template <class Real>
void transform_anywhere(const Lines<Real>& lines, const Real* in, Real* out) {
  const Side<const Real> from{in, 2 * lines.along.in_stride, 2 * lines.beside.in_stride};
  const Side<Real> to{out, 2 * lines.along.out_stride, 2 * lines.beside.out_stride};
  if (lines.parts != nullptr) return transform_parts(lines, to);
  if (lines.in_lanes != nullptr)
    return with_radix(lines.in_lanes->radix, [&](auto radix) {
      if constexpr (1 < lanes<Real> && radix % lanes<Real> == 0) {
        if (lines.plan->backward) return transform_in_lanes<radix, true>(lines, from, to);
        return transform_in_lanes<radix, false>(lines, from, to);
      }
    });
  const auto& stages = lines.plan->stages;
  const Index fewest_together = std::min(stages.front().span(), lines.plan->length / stages.back().radix);
  if (lines.beside.in_stride == 1 && lines.beside.out_stride == 1 && !lines.plan->is_real())
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
