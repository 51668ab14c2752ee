#include "local/tiled/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "local/pass_fft.hpp"
#include "local/tiled/kernels.hpp"

namespace fourscore::local::tiled {

namespace {

/// Rows this far apart fall into few sets of a second-level cache: it loses short ones before they are written back.
constexpr Index crowding_stride_bytes = Index{16} << 10;
constexpr Index most_tile_bytes = Index{1} << 20;

template <class Real>
class TiledPass : public Pass {
 public:
  TiledPass(LinePlan<Real> plan, const Loop& along, const Loop& beside, std::vector<Loop> outer, Index width)
      : plan_(std::move(plan)),
        outer_(std::move(outer)),
        scratch_(static_cast<std::size_t>((width + 1) * scratch_stride_bytes(plan_.length, vector_bytes()))),
        lines_{&plan_, along, beside, width, scratch_.data()} {}
  TiledPass(const TiledPass&) = delete;  // lines_ points into it
  TiledPass& operator=(const TiledPass&) = delete;

  void run(std::byte* in, std::byte* out) const override {
    run_loops(reinterpret_cast<const Real*>(in), reinterpret_cast<Real*>(out), outer_.size());
  }
  [[nodiscard]] std::string describe() const override {
    std::string radices;
    for (const auto& stage : plan_.stages) radices += fmt::format("{}{}", radices.empty() ? "" : "x", stage.radix);
    return fmt::format("tiled {} by {}, {} wide, axis{} beside{} outer{}", instruction_set(), radices, lines_.width,
                       loops_text({lines_.along}), loops_text({lines_.beside}), loops_text(outer_));
  }

 private:
  void run_loops(const Real* in, Real* out, std::size_t depth) const {
    if (depth == 0) return transform(lines_, in, out);
    const Loop& loop = outer_[depth - 1];
    for (Index i = 0; i < loop.count; ++i)
      run_loops(in + 2 * i * loop.in_stride, out + 2 * i * loop.out_stride, depth - 1);
  }

  LinePlan<Real> plan_;
  std::vector<Loop> outer_;  ///< the innermost first
  Scratch scratch_;
  Lines<Real> lines_;
};

/// Adjacent lines are loaded by whole vectors; else those that there are most of stand side by side.
Loop taken_beside(std::vector<Loop>& batch) {
  if (batch.empty()) return {};
  auto beside =
      std::ranges::find_if(batch, [](const Loop& loop) { return loop.in_stride == 1 && loop.out_stride == 1; });
  if (beside == batch.end()) beside = std::ranges::max_element(batch, {}, &Loop::count);
  const Loop taken = *beside;
  batch.erase(beside);
  return taken;
}

}  // namespace

std::vector<Candidate> candidates_of(const Work& work, const LocalFftSpec& spec) {
  if (work.real_length > 0 || work.axes.size() != 1 || radices_of(work.axes.front().count).empty()) return {};
  const Loop along = work.axes.front();
  std::vector<Loop> outer = merged(work.batch);
  const Loop beside = taken_beside(outer);
  const Index row_bytes = 2 * vector_bytes();
  const Index element_bytes = spec.precision == Precision::double_precision ? 16 : 8;
  std::vector<Candidate> list;
  const auto add = [&](const std::string& name, Index width) {
    list.push_back({name, [=, direction = spec.direction]() -> PassPtr {
                      if (element_bytes == 16)
                        return std::make_unique<TiledPass<double>>(line_plan<double>(along.count, direction), along,
                                                                   beside, outer, width);
                      return std::make_unique<TiledPass<float>>(line_plan<float>(along.count, direction), along, beside,
                                                                outer, width);
                    }});
  };
  add("tiled", 1);
  if (beside.in_stride != 1 || beside.out_stride != 1) return list;
  for (const Index bytes : {512, 1024})
    if (bytes > row_bytes && bytes <= beside.count * element_bytes && bytes * along.count <= most_tile_bytes)
      add(fmt::format("tiled-{}", bytes), bytes / row_bytes);
  if (along.in_stride * element_bytes >= crowding_stride_bytes) std::ranges::reverse(list);
  return list;
}

}  // namespace fourscore::local::tiled
