// pocketfft, a library of one C++ header (Reinecke), double and single, with one thread.
//
// Its own functions over several axes plan anew at each call. So the loops are ours: its 1-D plans are kept, and as
// many lines as a vector has lanes are gathered, transformed at once and scattered, as its own loops do. What it
// allocates itself at each transform, space for one group of lines, cannot be helped.

#ifdef FOURSCORE_POCKETFFT_VERSION
#define POCKETFFT_NO_MULTITHREADING
#include <pocketfft_hdronly.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "local/pass_fft.hpp"
#include "local/planned_library.hpp"

namespace fourscore::local {

namespace {

#ifdef FOURSCORE_POCKETFFT_VERSION

using pocketfft::detail::cmplx;

#ifdef POCKETFFT_NO_VECTORS
template <class Real>
using Lanes = Real;
#else
template <class Real>
using Lanes = pocketfft::detail::vtype_t<Real>;
#endif

template <class Real, class T>
constexpr Index lanes_of = static_cast<Index>(sizeof(T) / sizeof(Real));

/// Lane j of a vector; a lone number is its own only lane.
template <class Real, class T>
void put(T& value, Index j, Real part) {
  if constexpr (std::is_same_v<T, Real>)
    value = part;
  else
    value[j] = part;
}
template <class Real, class T>
Real get(const T& value, Index j) {
  if constexpr (std::is_same_v<T, Real>)
    return value;
  else
    return value[j];
}

/// Where lines lie: of one of them, and of `count` beside one another; strides in bytes.
struct Lines {
  Loop axis{};
  Loop beside{};
};

template <class Real>
class ComplexLine {
 public:
  ComplexLine(Index length, bool forward)
      : plan_(static_cast<std::size_t>(length)), length_(length), forward_(forward) {}
  [[nodiscard]] std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(2 * length_) * sizeof(Lanes<Real>);
  }

  template <class T>
  void transform(const std::byte* in, std::byte* out, const Lines& lines, std::byte* scratch) const {
    auto* const group = reinterpret_cast<cmplx<T>*>(scratch);
    for (Index i = 0; i < length_; ++i)
      for (Index j = 0; j < lanes_of<Real, T>; ++j) {
        const auto* from = reinterpret_cast<const Real*>(in + i * lines.axis.in_stride + j * lines.beside.in_stride);
        put<Real>(group[i].r, j, from[0]);
        put<Real>(group[i].i, j, from[1]);
      }
    plan_.exec(group, Real(1), forward_);
    for (Index i = 0; i < length_; ++i)
      for (Index j = 0; j < lanes_of<Real, T>; ++j) {
        auto* to = reinterpret_cast<Real*>(out + i * lines.axis.out_stride + j * lines.beside.out_stride);
        to[0] = get<Real>(group[i].r, j);
        to[1] = get<Real>(group[i].i, j);
      }
  }

 private:
  pocketfft::detail::pocketfft_c<Real> plan_;
  Index length_;
  bool forward_;
};

/// From reals, which lie one after another, to the first half of their spectrum or back. The plan's own order of a half
/// spectrum: its first element, which is real, then real and imaginary parts in turn.
template <class Real>
class RealLine {
 public:
  RealLine(Index length, bool forward) : plan_(static_cast<std::size_t>(length)), length_(length), forward_(forward) {}
  [[nodiscard]] std::size_t scratch_bytes() const { return static_cast<std::size_t>(length_) * sizeof(Lanes<Real>); }

  template <class T>
  void transform(const std::byte* in, std::byte* out, const Lines& lines, std::byte* scratch) const {
    auto* const group = reinterpret_cast<T*>(scratch);
    for (Index j = 0; j < lanes_of<Real, T>; ++j) {
      const auto* from = reinterpret_cast<const Real*>(in + j * lines.beside.in_stride);
      for (Index i = 0; i < length_; ++i) put<Real>(group[i], j, from[forward_ || i == 0 ? i : i + 1]);
    }
    plan_.exec(group, Real(1), forward_);
    for (Index j = 0; j < lanes_of<Real, T>; ++j) {
      auto* to = reinterpret_cast<Real*>(out + j * lines.beside.out_stride);
      for (Index i = 0; i < length_; ++i) to[forward_ && i > 0 ? i + 1 : i] = get<Real>(group[i], j);
      if (!forward_) continue;
      to[1] = 0;
      if (length_ % 2 == 0) to[length_ + 1] = 0;
    }
  }

 private:
  pocketfft::detail::pocketfft_r<Real> plan_;
  Index length_;
  bool forward_;
};

/// One axis of the data, at every element of the loops.
template <class Real, class Line>
class LinesPass : public Pass {
 public:
  /// `loops`: strides in bytes; lines are taken side by side along the first.
  LinesPass(Line line, const Loop& axis, std::vector<Loop> loops, std::string text)
      : line_(std::move(line)),
        lines_{axis, loops.empty() ? Loop{1, 0, 0} : loops.front()},
        loops_(loops.empty() ? loops : std::vector<Loop>(loops.begin() + 1, loops.end())),
        scratch_(line_.scratch_bytes()),
        text_(std::move(text)) {}
  void run(std::byte* in, std::byte* out) const override { run(in, out, loops_.size()); }
  [[nodiscard]] std::string describe() const override { return text_; }

 private:
  void run(std::byte* in, std::byte* out, std::size_t depth) const {
    if (depth == 0) return run_beside(in, out);
    const Loop& loop = loops_[depth - 1];
    for (Index i = 0; i < loop.count; ++i) run(in + i * loop.in_stride, out + i * loop.out_stride, depth - 1);
  }
  void run_beside(std::byte* in, std::byte* out) const {
    const Loop& beside = lines_.beside;
    constexpr Index lanes = lanes_of<Real, Lanes<Real>>;
    Index i = 0;
    for (; i + lanes <= beside.count; i += lanes)
      line_.template transform<Lanes<Real>>(in + i * beside.in_stride, out + i * beside.out_stride, lines_,
                                            scratch_.data());
    for (; i < beside.count; ++i)
      line_.template transform<Real>(in + i * beside.in_stride, out + i * beside.out_stride, lines_, scratch_.data());
  }

  Line line_;
  Lines lines_;
  std::vector<Loop> loops_;
  Scratch scratch_;
  std::string text_;
};

template <class Real>
class PocketfftPlanner : public PassPlanner {
 public:
  explicit PocketfftPlanner(const LocalFftSpec& spec) : forward_(spec.direction == Direction::forward) {}

  /// Axis after axis: the first that is transformed goes from in to out, or the last where it makes complex data real.
  [[nodiscard]] PassPtr plan(const Work& work, double /*limit_s*/) const override {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < work.axes.size(); ++i) order.push_back(i);
    const bool to_reals = work.real_length > 0 && !forward_;
    if (to_reals) std::ranges::reverse(order);
    const std::size_t leaves_at = to_reals ? order.size() - 1 : 0;
    if (work.in == work.out && !same_places(work))
      throw std::runtime_error("pocketfft refused to plan in place what lies elsewhere afterwards");
    std::vector<PassPtr> passes;
    for (std::size_t i = 0; i < order.size(); ++i) {
      Work places = work;
      for (auto* loops : {&places.axes, &places.batch})
        for (Loop& loop : *loops) {
          if (i < leaves_at) loop.out_stride = loop.in_stride;
          if (i > leaves_at) loop.in_stride = loop.out_stride;
        }
      passes.push_back(axis_pass(places, order[i]));
    }
    return in_sequence(std::move(passes), leaves_at);
  }
  [[nodiscard]] bool same_alignment(std::byte* /*place*/, Index /*bytes*/) const override { return true; }

 private:
  [[nodiscard]] static bool same_places(const Work& work) {
    const auto alike = [](const Loop& loop) { return loop.in_stride == loop.out_stride; };
    return std::ranges::all_of(work.axes, alike) && std::ranges::all_of(work.batch, alike);
  }
  [[nodiscard]] PassPtr axis_pass(const Work& work, std::size_t axis) const {
    std::vector<Loop> loops = work.batch;
    for (std::size_t i = 0; i < work.axes.size(); ++i)
      if (i != axis) loops.push_back(work.axes[i]);
    loops = merged(std::move(loops));
    // Vectors are filled by adjacent lines where there are enough of them.
    const auto most = std::ranges::max_element(loops, {}, &Loop::count);
    if (most != loops.end() && loops.front().count < lanes_of<Real, Lanes<Real>>)
      std::rotate(loops.begin(), most, most + 1);
    Loop along = work.axes[axis];
    const std::string text = fmt::format("pocketfft{}{} beside{}", work.real_length > 0 && axis == 0 ? " real" : "",
                                         loops_text({along}), loops_text(loops));
    constexpr Index element_bytes = 2 * static_cast<Index>(sizeof(Real));
    for (Loop& loop : loops) loop = {loop.count, loop.in_stride * element_bytes, loop.out_stride * element_bytes};
    along = {along.count, along.in_stride * element_bytes, along.out_stride * element_bytes};
    if (work.real_length > 0 && axis == 0)
      return std::make_unique<LinesPass<Real, RealLine<Real>>>(RealLine<Real>(work.real_length, forward_), along,
                                                               std::move(loops), text);
    return std::make_unique<LinesPass<Real, ComplexLine<Real>>>(ComplexLine<Real>(along.count, forward_), along,
                                                                std::move(loops), text);
  }

  bool forward_;
};

#endif

class Pocketfft : public PlannedLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"pocketfft", "pocketfft's C++ header, passes split and timed at planning; one thread",
            "https://github.com/mreineck/pocketfft"};
  }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_POCKETFFT_VERSION
    return {};
#else
    return FOURSCORE_POCKETFFT_MISSING;
#endif
  }
  [[nodiscard]] std::string version() const override {
#ifdef FOURSCORE_POCKETFFT_VERSION
    return FOURSCORE_POCKETFFT_VERSION;
#else
    return {};
#endif
  }
  [[nodiscard]] Reason refuses(Kind /*kind*/, int threads) const override {
    if (threads > 1) return fmt::format("local FFT library 'pocketfft' has one thread; asked for {}", threads);
    return std::nullopt;
  }

 protected:
  [[nodiscard]] std::unique_ptr<PassPlanner> planner_for([[maybe_unused]] const LocalFftSpec& spec) const override {
#ifdef FOURSCORE_POCKETFFT_VERSION
    if (spec.precision == Precision::double_precision) return std::make_unique<PocketfftPlanner<double>>(spec);
    return std::make_unique<PocketfftPlanner<float>>(spec);
#else
    throw InputError("local FFT library 'pocketfft' cannot run here: " + unavailable());
#endif
  }
};

FOURSCORE_REGISTER_LOCAL_FFT(Pocketfft);

}  // namespace

}  // namespace fourscore::local
