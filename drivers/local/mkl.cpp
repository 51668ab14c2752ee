// Intel oneMKL's FFTs through its interface DFTI, double and single.
//
// A descriptor of DFTI is one transform over up to seven axes, of any strides, and one loop over equal ones. What a
// work has in further loops is called once for each of their elements.

#ifdef FOURSCORE_MKL
#include <mkl_dfti.h>
#include <mkl_version.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "local/mkl_library.hpp"
#include "local/pass_fft.hpp"
#include "local/planned_library.hpp"

namespace fourscore::local {

namespace {

#ifdef FOURSCORE_MKL

#if INTEL_MKL_VERSION >= 20260000
constexpr auto forward_strides = DFTI_FWD_STRIDES;
constexpr auto backward_strides = DFTI_BWD_STRIDES;
constexpr auto forward_distance = DFTI_FWD_DISTANCE;
constexpr auto backward_distance = DFTI_BWD_DISTANCE;
constexpr bool strides_by_domain = true;
#else  // older ones know the strides of input and output
constexpr auto forward_strides = DFTI_INPUT_STRIDES;
constexpr auto backward_strides = DFTI_OUTPUT_STRIDES;
constexpr auto forward_distance = DFTI_INPUT_DISTANCE;
constexpr auto backward_distance = DFTI_OUTPUT_DISTANCE;
constexpr bool strides_by_domain = false;
#endif

/// DFTI's functions in the library that is opened when it is used.
struct Dfti {
  decltype(&DftiCreateDescriptor) create = mkl_function<decltype(DftiCreateDescriptor)>("DftiCreateDescriptor");
  decltype(&DftiCommitDescriptor) commit = mkl_function<decltype(DftiCommitDescriptor)>("DftiCommitDescriptor");
  decltype(&DftiSetValue) set_value = mkl_function<decltype(DftiSetValue)>("DftiSetValue");
  decltype(&DftiComputeForward) forward = mkl_function<decltype(DftiComputeForward)>("DftiComputeForward");
  decltype(&DftiComputeBackward) backward = mkl_function<decltype(DftiComputeBackward)>("DftiComputeBackward");
  decltype(&DftiFreeDescriptor) free = mkl_function<decltype(DftiFreeDescriptor)>("DftiFreeDescriptor");
  decltype(&DftiErrorMessage) message = mkl_function<decltype(DftiErrorMessage)>("DftiErrorMessage");
};

const Dfti& dfti() {
  static const Dfti functions;
  return functions;
}

void check(MKL_LONG status, const std::string& what) {
  if (status != DFTI_NO_ERROR) throw std::runtime_error(fmt::format("{}: {}", what, dfti().message(status)));
}

struct FreeDescriptor {
  void operator()(DFTI_DESCRIPTOR_HANDLE handle) const { dfti().free(&handle); }
};

/// What one descriptor computes, as DFTI counts it: of the data before and after, in elements of each, which are reals
/// on the real side.
struct Shape {
  std::vector<MKL_LONG> lengths;          ///< slowest axis first; the halved one last
  std::vector<MKL_LONG> forward_strides;  ///< an offset, then the axes
  std::vector<MKL_LONG> backward_strides;
  Loop transforms{};  ///< its strides are those of the forward and of the backward side
};

class Descriptor {
 public:
  Descriptor(const LocalFftSpec& spec, const Shape& shape, bool real, bool in_place, std::string text)
      : text_(std::move(text)), in_place_(in_place) {
    const auto precision = spec.precision == Precision::double_precision ? DFTI_DOUBLE : DFTI_SINGLE;
    const auto rank = static_cast<MKL_LONG>(shape.lengths.size());
    DFTI_DESCRIPTOR_HANDLE made = nullptr;
    // The number of axes decides whether the last argument is a length or a list.
    const auto create = dfti().create;
    const auto domain = real ? DFTI_REAL : DFTI_COMPLEX;
    check(rank == 1 ? create(&made, precision, domain, rank, shape.lengths.front())
                    : create(&made, precision, domain, rank, shape.lengths.data()),
          text_);
    handle_.reset(made);
    set(DFTI_PLACEMENT, in_place ? DFTI_INPLACE : DFTI_NOT_INPLACE);
    if (real) set(DFTI_CONJUGATE_EVEN_STORAGE, DFTI_COMPLEX_COMPLEX);
    if (!in_place) set(DFTI_DESTROY_INPUT, DFTI_ALLOW);
    // Older ones take input and output, which a backward transform has the other way round.
    const bool swapped = !strides_by_domain && spec.direction == Direction::backward;
    set(swapped ? backward_strides : forward_strides, shape.forward_strides.data());
    set(swapped ? forward_strides : backward_strides, shape.backward_strides.data());
    set(DFTI_NUMBER_OF_TRANSFORMS, static_cast<MKL_LONG>(shape.transforms.count));
    set(swapped ? backward_distance : forward_distance, static_cast<MKL_LONG>(shape.transforms.in_stride));
    set(swapped ? forward_distance : backward_distance, static_cast<MKL_LONG>(shape.transforms.out_stride));
    set(DFTI_THREAD_LIMIT, static_cast<MKL_LONG>(spec.threads));
    check(dfti().commit(handle_.get()), text_);
    compute_ = spec.direction == Direction::forward ? dfti().forward : dfti().backward;
  }

  void compute(std::byte* in, std::byte* out) const {
    const MKL_LONG status = in_place_ ? compute_(handle_.get(), in) : compute_(handle_.get(), in, out);
    if (status != DFTI_NO_ERROR) check(status, text_);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class Value>
  void set(DFTI_CONFIG_PARAM parameter, Value value) {
    check(dfti().set_value(handle_.get(), parameter, value), text_);
  }

  std::unique_ptr<DFTI_DESCRIPTOR, FreeDescriptor> handle_;
  std::string text_;
  bool in_place_;
  decltype(&DftiComputeForward) compute_ = nullptr;
};

class MklPass : public Pass {
 public:
  explicit MklPass(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  void run(std::byte* in, std::byte* out) const override { descriptor_.compute(in, out); }
  [[nodiscard]] std::string describe() const override { return descriptor_.text(); }

 private:
  Descriptor descriptor_;
};

/// Allows the most threads that any descriptor of this process asked for: each has a limit of its own.
void allow_threads(int threads) {
  static int most = 1;
  if (threads <= most) return;
  most = threads;
  constexpr int of_ffts = 2;  // MKL_DOMAIN_FFT
  mkl_function<int(int, int)>("MKL_Domain_Set_Num_Threads")(most, of_ffts);
}

class MklPlanner : public PassPlanner {
 public:
  explicit MklPlanner(const LocalFftSpec& spec) : spec_(spec) {}

  /// MKL plans by its own rules, in no time; `limit_s` bounds nothing.
  [[nodiscard]] PassPtr plan(const Work& work, double /*limit_s*/) const override {
    const bool real = work.real_length > 0;
    const bool in_place = work.in == work.out;
    std::vector<Loop> loops = merged(work.batch);
    Loop inner{1, 0, 0};
    if (!loops.empty()) {
      // Adjacent transforms share cache lines; threads want as many transforms at once as there are.
      const auto chosen = spec_.threads > 1 ? std::ranges::max_element(loops, {}, &Loop::count) : loops.begin();
      inner = *chosen;
      loops.erase(chosen);
    }
    Descriptor descriptor(spec_, shape_of(work, inner), real, in_place,
                          fmt::format("MKL {}{} of{}", real ? "real " : "", inner.count, loops_text(work.axes)));
    PassPtr pass = std::make_unique<MklPass>(std::move(descriptor));
    const Index bytes = spec_.precision == Precision::double_precision ? 16 : 8;  // an element has
    for (const Loop& loop : loops)
      pass = repeated(loop.count, loop.in_stride * bytes, loop.out_stride * bytes, std::move(pass));
    return pass;
  }

  [[nodiscard]] bool same_alignment(std::byte* /*place*/, Index /*bytes*/) const override { return true; }

 private:
  [[nodiscard]] Shape shape_of(const Work& work, const Loop& inner) const {
    const bool real = work.real_length > 0;
    std::vector<Loop> axes(work.axes.begin() + (real ? 1 : 0), work.axes.end());
    if (axes.size() > 1 || real) std::erase_if(axes, [](const Loop& axis) { return axis.count == 1; });
    if (axes.empty() && !real) axes.push_back({1, 1, 1});
    std::ranges::stable_sort(axes, std::ranges::greater{}, &Loop::in_stride);
    const bool forward = spec_.direction == Direction::forward;
    const Index real_unit = real ? 2 : 1;  // rows of reals lie where those of complex elements do
    Shape shape{{}, {0}, {0}};
    for (const Loop& axis : axes) {
      shape.lengths.push_back(axis.count);
      shape.forward_strides.push_back(real_unit * (forward ? axis.in_stride : axis.out_stride));
      shape.backward_strides.push_back(forward ? axis.out_stride : axis.in_stride);
    }
    if (real) {
      shape.lengths.push_back(work.real_length);
      shape.forward_strides.push_back(1);
      shape.backward_strides.push_back(1);
    }
    shape.transforms = {inner.count, real_unit * (forward ? inner.in_stride : inner.out_stride),
                        forward ? inner.out_stride : inner.in_stride};
    return shape;
  }

  const LocalFftSpec& spec_;
};

#endif

class Mkl : public PlannedLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"mkl", "Intel oneMKL, passes split and timed at planning",
            "https://www.intel.com/content/www/us/en/developer/tools/oneapi/onemkl.html"};
  }
  [[nodiscard]] std::string unavailable() const override { return mkl_unavailable(); }
  [[nodiscard]] std::string version() const override { return mkl_version(); }
  [[nodiscard]] std::map<std::string, std::string> libraries_loaded_later() const override {
    return mkl_library_builds();
  }

  [[nodiscard]] Reason refuses(Kind /*kind*/, int threads) const override {
    if (threads > 1 && !mkl_has_threads())
      return fmt::format("{} threads, but there is no OpenMP for MKL's (libgomp.so.1 and libmkl_gnu_thread.so)",
                         threads);
    return std::nullopt;
  }

 protected:
  [[nodiscard]] std::unique_ptr<PassPlanner> planner_for([[maybe_unused]] const LocalFftSpec& spec) const override {
#ifdef FOURSCORE_MKL
    allow_threads(spec.threads);
    return std::make_unique<MklPlanner>(spec);
#else
    throw InputError("local FFT library 'mkl' cannot run here: " + unavailable());
#endif
  }
};

FOURSCORE_REGISTER_LOCAL_FFT(Mkl);

}  // namespace

}  // namespace fourscore::local
