#include "local/tiled/passes.hpp"

#include <fmt/format.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/copy.hpp"
#include "local/pass_fft.hpp"
#include "local/tiled/kernels.hpp"

namespace fourscore::local::tiled {

namespace {

/// Rows this far apart fall into few sets of a second-level cache: it loses short ones before they are written back.
constexpr Index crowding_stride_bytes = Index{16} << 10;
constexpr Index most_tile_bytes = Index{1} << 20;
/// The least data for which the rows of the next tile are fetched. 16 and 32 MiB were slower so, on a processor with
/// 2 MiB of second-level cache.
constexpr Index fewest_bytes_to_fetch = Index{48} << 20;

template <class Real>
Index lanes_of() {
  return vector_bytes() / static_cast<Index>(sizeof(Real));
}

/// Where a pass by tiles goes: `beside` side by side, and that again for each element of the outer loops.
struct Places {
  Loop along;
  Loop beside;
  std::vector<Loop> outer;  ///< the innermost first
};

/// What tells one candidate from another.
struct Way {
  Index width = 1;
  Index largest_radix = 8;
  Stores stores = Stores::ordinary;
  bool fetch_next = false;
  Index radix_in_lanes = 1;
};

/// Its threads take equal shares of all tiles, each with a scratch of its own.
template <class Real>
class TiledPass : public Pass {
 public:
  TiledPass(LinePlan<Real> plan, LaneStage<Real> in_lanes, Places places, const Way& way, int threads)
      : plan_(std::move(plan)),
        in_lanes_(std::move(in_lanes)),
        places_(std::move(places)),
        way_(way),
        tile_lines_(way.width * lanes_of<Real>()),
        tiles_((places_.beside.count + tile_lines_ - 1) / tile_lines_),
        all_tiles_(tiles_) {
    for (const Loop& loop : places_.outer) all_tiles_ *= loop.count;
    for (Index i = 0; i < std::min<Index>(threads, all_tiles_); ++i)
      scratch_.emplace_back(static_cast<std::size_t>(scratch_bytes(plan_, way.width)));
  }

  void run(std::byte* in, std::byte* out) const override {
    const auto* from = reinterpret_cast<const Real*>(in);
    auto* to = reinterpret_cast<Real*>(out);
#ifdef _OPENMP
    if (scratch_.size() > 1) {
#pragma omp parallel num_threads(static_cast <int>(scratch_.size()))
      run_share(from, to, omp_get_thread_num(), omp_get_num_threads());
      return;
    }
#endif
    run_share(from, to, 0, 1);
  }
  [[nodiscard]] std::string describe() const override {
    std::string radices = in_lanes_.radix > 1 ? fmt::format("{} in lanes", in_lanes_.radix) : "";
    for (const auto& stage : plan_.stages) radices += fmt::format("{}{}", radices.empty() ? "" : "x", stage.radix);
    return fmt::format("tiled {} by {}, {} wide{}{}{}{}, axis{} beside{} outer{}", instruction_set(), radices,
                       way_.width, plan_.is_real() ? ", halved" : "", way_.fetch_next ? ", the next fetched" : "",
                       way_.stores == Stores::streaming ? ", streamed out" : "",
                       scratch_.size() > 1 ? fmt::format(", {} threads", scratch_.size()) : "",
                       loops_text({places_.along}), loops_text({places_.beside}), loops_text(places_.outer));
  }

 private:
  /// Share `number` of `shares`: tiles in the order in which they lie in the loops.
  void run_share(const Real* in, Real* out, int number, int shares) const {
    const Index last = all_tiles_ * (number + 1) / shares;
    for (Index tile = all_tiles_ * number / shares; tile < last;) {
      const Index first_line = tile % tiles_ * tile_lines_;
      const Index count = std::min(tiles_ - tile % tiles_, last - tile);
      Index from = first_line * places_.beside.in_stride, to = first_line * places_.beside.out_stride;
      Index place = tile / tiles_;
      for (const Loop& loop : places_.outer) {
        from += place % loop.count * loop.in_stride;
        to += place % loop.count * loop.out_stride;
        place /= loop.count;
      }
      Loop beside = places_.beside;
      beside.count = std::min(beside.count - first_line, count * tile_lines_);
      transform({&plan_, places_.along, beside, way_.width, scratch_[static_cast<std::size_t>(number)].data(), nullptr,
                 in_lanes_.radix > 1 ? &in_lanes_ : nullptr, way_.fetch_next, way_.stores == Stores::streaming},
                in + 2 * from, out + 2 * to);
      tile += count;
    }
  }

  LinePlan<Real> plan_;
  LaneStage<Real> in_lanes_;  ///< radix 1: there is none
  Places places_;
  Way way_;
  Index tile_lines_;
  Index tiles_;                   ///< in `beside`
  Index all_tiles_;               ///< in all loops
  std::vector<Scratch> scratch_;  ///< one for each thread
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

/// The length of lines as they are transformed: pairs of reals are complex elements.
Index complex_length(const Work& work) { return work.real_length > 0 ? work.real_length / 2 : work.axes.front().count; }

bool has_line_plan(const Work& work) {
  const Loop& axis = work.axes.front();
  if (work.real_length > 0 && (work.real_length % 2 != 0 || axis.in_stride != 1 || axis.out_stride != 1)) return false;
  return !radices_of(complex_length(work)).empty();
}

template <class Real>
PassPtr planned(const Places& places, Index reals, const Way& way, Direction direction, int threads) {
  LinePlan<Real> plan;
  LaneStage<Real> in_lanes;
  if (way.radix_in_lanes > 1) {
    const Index rest = places.along.count / way.radix_in_lanes;
    plan = line_plan<Real>(rest, way.largest_radix, direction, 1);
    in_lanes = lane_stage<Real>(way.radix_in_lanes, rest, lanes_of<Real>(), direction);
  } else if (reals > 0) {
    plan = real_line_plan<Real>(reals, way.largest_radix, direction);
  } else {
    plan = line_plan<Real>(places.along.count, way.largest_radix, direction);
  }
  return std::make_unique<TiledPass<Real>>(std::move(plan), std::move(in_lanes), places, way, threads);
}

/// The radices that the first stage of a contiguous line can have in lanes, the largest first: it was the fastest, or
/// nearly, at all lengths. Whole vectors are read and written.
std::vector<Index> radices_in_lanes(Index length, Index lanes) {
  std::vector<Index> radices;
  if (lanes == 1) return radices;
  for (Index radix = std::min(2 * lanes, largest_radix()); radix >= lanes; radix /= 2)
    if (length % radix == 0 && length / radix >= lanes && !radices_of(length / radix, largest_radix(), 1).empty())
      radices.push_back(radix);
  return radices;
}

}  // namespace

bool has_threads() {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

std::vector<Candidate> candidates_of(const Work& work, const LocalFftSpec& spec) {
  if (work.axes.size() != 1 || !has_line_plan(work)) return {};
  Places places{work.axes.front(), {}, merged(work.batch)};
  places.beside = taken_beside(places.outer);
  const Index element_bytes = spec.precision == Precision::double_precision ? 16 : 8;
  const auto candidate = [&](const std::string& name, const Way& way) {
    return Candidate{name, [=, reals = work.real_length, direction = spec.direction, threads = spec.threads] {
                       return element_bytes == 16 ? planned<double>(places, reals, way, direction, threads)
                                                  : planned<float>(places, reals, way, direction, threads);
                     }};
  };
  std::vector<Candidate> list;
  const Loop& beside = places.beside;
  if (work.real_length > 0 || beside.in_stride != 1 || beside.out_stride != 1) {
    const Index length = complex_length(work);
    if (work.real_length == 0 && places.along.in_stride == 1 && places.along.out_stride == 1)
      for (const Index radix : radices_in_lanes(length, 2 * vector_bytes() / element_bytes))
        list.push_back(candidate(fmt::format("tiled-lanes-{}", radix),
                                 {.largest_radix = largest_radix(), .radix_in_lanes = radix}));
    list.push_back(candidate("tiled", {1, 8}));
    if (radices_of(length, largest_radix()) != radices_of(length, 8))
      list.push_back(candidate(fmt::format("tiled-by-{}", largest_radix()), {1, largest_radix()}));
    return list;
  }
  // The clock of this pass does not see what the next one loses when its data has left the caches.
  const bool outgrows_caches =
      stores_for(static_cast<std::size_t>(elements_written(work) * element_bytes)) == Stores::streaming;
  const auto add = [&](const std::string& name, Index width) {
    list.push_back(candidate(name, {width, largest_radix()}));
    if (work.in == work.out) return;
    list.push_back(candidate(name + "-streamed", {width, largest_radix(), Stores::streaming}));
    list.back().contests = outgrows_caches;
    if (outgrows_caches) std::swap(list.back(), list[list.size() - 2]);
  };
  const bool crowds = places.along.in_stride * element_bytes >= crowding_stride_bytes;
  const Index row_bytes = 2 * vector_bytes();
  std::vector<Index> widths_bytes{0, 512, 1024};
  if (crowds) std::ranges::reverse(widths_bytes);
  for (const Index bytes : widths_bytes) {
    if (bytes == 0)
      add("tiled", 1);
    else if (bytes > row_bytes && bytes <= beside.count * element_bytes &&
             bytes * places.along.count <= most_tile_bytes) {
      add(fmt::format("tiled-{}", bytes), bytes / row_bytes);
      if (elements_written(work) * element_bytes >= fewest_bytes_to_fetch)
        list.push_back(candidate(fmt::format("tiled-{}-fetched", bytes),
                                 {bytes / row_bytes, largest_radix(), Stores::ordinary, true}));
    }
  }
  return list;
}

}  // namespace fourscore::local::tiled
