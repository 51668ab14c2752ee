#ifdef FOURSCORE_CUDA

#include "devices/cuda/fft.hpp"

#include <cufft.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "devices/cuda/check.hpp"
#include "devices/cuda/device.hpp"

namespace fourscore::cuda {

namespace {

/// The functions of cuFFT that are called, of the file that is there when a program runs.
struct CufftFunctions {
  std::string failure{};  ///< empty: all are there
  std::string file{};     ///< its path
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
  decltype(&cufftSetAutoAllocation) set_automatic_area = nullptr;
  decltype(&cufftMakePlanMany64) make_plan = nullptr;
  decltype(&cufftSetWorkArea) set_area = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftGetVersion) get_version = nullptr;
  decltype(&cufftExecC2C) c2c = nullptr;
  decltype(&cufftExecZ2Z) z2z = nullptr;
  decltype(&cufftExecR2C) r2c = nullptr;
  decltype(&cufftExecC2R) c2r = nullptr;
  decltype(&cufftExecD2Z) d2z = nullptr;
  decltype(&cufftExecZ2D) z2d = nullptr;
};

CufftFunctions load_cufft() {
  CufftFunctions functions;
  const std::string name = fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR);
  void* library = nullptr;
  for (const std::string& file : {fmt::format("{}/{}", FOURSCORE_CUFFT_DIR, name), name})
    if (library == nullptr) library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    functions.failure = fmt::format("{} cannot be loaded: {}", name, why == nullptr ? "" : why);
    return functions;
  }
  // Opened by its name alone it may lie anywhere.
  link_map* opened = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &opened) == 0) functions.file = opened->l_name;
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (function == nullptr) functions.failure = fmt::format("{} has no {}", functions.file, symbol);
  };
  find(functions.create, "cufftCreate");
  find(functions.destroy, "cufftDestroy");
  find(functions.set_automatic_area, "cufftSetAutoAllocation");
  find(functions.make_plan, "cufftMakePlanMany64");
  find(functions.set_area, "cufftSetWorkArea");
  find(functions.set_stream, "cufftSetStream");
  find(functions.get_version, "cufftGetVersion");
  find(functions.c2c, "cufftExecC2C");
  find(functions.z2z, "cufftExecZ2Z");
  find(functions.r2c, "cufftExecR2C");
  find(functions.c2r, "cufftExecC2R");
  find(functions.d2z, "cufftExecD2Z");
  find(functions.z2d, "cufftExecZ2D");
  return functions;
}

const CufftFunctions& cufft() {
  static const CufftFunctions functions = load_cufft();
  return functions;
}

const char* text_of_result(cufftResult result) {
  switch (result) {
    case CUFFT_INVALID_PLAN:
      return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED:
      return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_TYPE:
      return "CUFFT_INVALID_TYPE";
    case CUFFT_INVALID_VALUE:
      return "CUFFT_INVALID_VALUE";
    case CUFFT_INTERNAL_ERROR:
      return "CUFFT_INTERNAL_ERROR";
    case CUFFT_EXEC_FAILED:
      return "CUFFT_EXEC_FAILED";
    case CUFFT_SETUP_FAILED:
      return "CUFFT_SETUP_FAILED";
    case CUFFT_INVALID_SIZE:
      return "CUFFT_INVALID_SIZE";
    default:
      return "an error of cuFFT";
  }
}

void require(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS)
    throw std::runtime_error(fmt::format("{} failed: {} ({})", call, text_of_result(result), static_cast<int>(result)));
}

/// Without a work area of its own.
class PlanHandle {
 public:
  PlanHandle() {
    require(cufft().create(&plan_), "cufftCreate");
    const cufftResult told = cufft().set_automatic_area(plan_, 0);
    if (told != CUFFT_SUCCESS) cufft().destroy(plan_);
    require(told, "cufftSetAutoAllocation");
  }
  ~PlanHandle() {
    if (owns_) cufft().destroy(plan_);
  }
  PlanHandle(PlanHandle&& other) noexcept : plan_(other.plan_), owns_(std::exchange(other.owns_, false)) {}
  PlanHandle& operator=(PlanHandle&&) = delete;
  PlanHandle(const PlanHandle&) = delete;
  PlanHandle& operator=(const PlanHandle&) = delete;
  [[nodiscard]] cufftHandle get() const { return plan_; }

 private:
  cufftHandle plan_ = 0;
  bool owns_ = true;
};

/// One plan of cuFFT, which has one loop over transforms at most, executed at several places.
struct Pass {
  PlanHandle plan{};
  std::size_t area_bytes = 0;
  cufftType type = CUFFT_Z2Z;
  int direction = CUFFT_FORWARD;
  std::vector<std::array<Index, 2>> offsets;  ///< in elements of the complex type, of input and output
  bool from_input = true;                     ///< else in place in the output
};

std::vector<Loop> without_single(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
  return loops;
}

/// Loops that follow on each other on both sides are one. The slowest comes first.
std::vector<Loop> merged(std::vector<Loop> loops) {
  loops = without_single(std::move(loops));
  std::ranges::sort(loops, std::greater{}, &Loop::in_stride);
  for (std::size_t i = 0; i + 1 < loops.size();) {
    const Loop& inner = loops[i + 1];
    if (loops[i].in_stride == inner.count * inner.in_stride && loops[i].out_stride == inner.count * inner.out_stride) {
      loops[i] = {loops[i].count * inner.count, inner.in_stride, inner.out_stride};
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else {
      ++i;
    }
  }
  return loops;
}

class CufftTransform : public DeviceFft {
 public:
  CufftTransform(Device& device, const LocalFftSpec& spec, void* in, void* out)
      : device_(device),
        spec_(spec),
        in_(static_cast<char*>(in)),
        out_(static_cast<char*>(out)),
        element_bytes_(spec.precision == Precision::double_precision ? 16 : 8) {
    for (const auto* loops : {&spec.axes, &spec.batch})
      for (const Loop& loop : *loops)
        if (loop.count == 0) return;
    if (spec.axes.empty()) throw std::logic_error("a transform along no axis");
    if (fits_one_plan()) {
      add_pass(order_of_axes(), spec.batch, spec.real_length, true);
      return;
    }
    add_passes();
  }

  void enqueue(Queue& queue) override {
    if (graph_)
      graph_->enqueue(queue);
    else
      enqueue_calls(queue);
  }

  [[nodiscard]] std::string describe() const override {
    return fmt::format("cuFFT: {}, {}{}", plural(passes_.size(), "plan"), plural(calls(), "call"),
                       graph_ ? " in a graph" : "");
  }
  [[nodiscard]] std::size_t work_area_bytes() const override { return work_area_bytes_; }
  void use_work_area(void* area) override {
    for (const Pass& pass : passes_)
      if (pass.area_bytes > 0) require(cufft().set_area(pass.plan.get(), area), "cufftSetWorkArea");
    if (calls() >= fewest_calls_of_graph) graph_ = device_.record([this](Queue& queue) { enqueue_calls(queue); });
  }

 private:
  /// A launch of a graph takes about the time of that of two kernels.
  static constexpr std::size_t fewest_calls_of_graph = 4;

  void enqueue_calls(Queue& queue) {
    for (Pass& pass : passes_) {
      require(cufft().set_stream(pass.plan.get(), stream_of(queue)), "cufftSetStream");
      for (const auto& [from, to] : pass.offsets)
        execute(pass, (pass.from_input ? in_ : out_) + from * element_bytes_, out_ + to * element_bytes_);
    }
  }

  [[nodiscard]] std::size_t calls() const {
    std::size_t calls = 0;
    for (const Pass& pass : passes_) calls += pass.offsets.size();
    return calls;
  }
  /// Slowest first; the halved axis, of stride 1, last.
  [[nodiscard]] std::vector<Loop> order_of_axes() const {
    std::vector<Loop> axes = spec_.axes;
    const auto first = axes.begin() + (spec_.real_length > 0 ? 1 : 0);
    std::sort(first, axes.end(), [](const Loop& a, const Loop& b) { return a.in_stride > b.in_stride; });
    if (spec_.real_length > 0) std::rotate(axes.begin(), axes.begin() + 1, axes.end());
    return axes;
  }
  /// cuFFT's layout of several axes: each stride is a multiple of the next.
  [[nodiscard]] bool fits_one_plan() const {
    const std::vector<Loop> axes = order_of_axes();
    if (axes.size() > 3) return false;
    for (std::size_t i = 0; i + 1 < axes.size(); ++i)
      if (axes[i].in_stride % axes[i + 1].in_stride != 0 || axes[i].out_stride % axes[i + 1].out_stride != 0 ||
          axes[i].in_stride < axes[i + 1].in_stride * axes[i + 1].count ||
          axes[i].out_stride < axes[i + 1].out_stride * axes[i + 1].count)
        return false;
    return true;
  }

  /// One axis after the other; the halved one first from real, last to real.
  void add_passes() {
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < spec_.axes.size(); ++a) order.push_back(a);
    if (spec_.real_length > 0 && spec_.direction == Direction::backward) std::ranges::reverse(order);
    bool first = true;
    for (const std::size_t a : order) {
      std::vector<Loop> batch = spec_.batch;
      for (std::size_t other = 0; other < spec_.axes.size(); ++other)
        if (other != a) batch.push_back(spec_.axes[other]);
      Loop axis = spec_.axes[a];
      if (!first) {
        axis.in_stride = axis.out_stride;
        for (Loop& loop : batch) loop.in_stride = loop.out_stride;
      }
      add_pass({axis}, batch, a == 0 ? spec_.real_length : 0, first);
      first = false;
    }
  }

  /// axes: slowest first.
  void add_pass(const std::vector<Loop>& axes, const std::vector<Loop>& batch, Index real_length, bool from_input) {
    std::vector<Loop> loops = merged(batch);
    const Loop inner = take_batch(loops, axes.back());
    Pass pass;
    pass.from_input = from_input;
    pass.direction = spec_.direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    pass.type = type_of(real_length);
    make_plan(pass, axes, inner, real_length);
    pass.offsets = {{0, 0}};
    for (const Loop& loop : loops) {
      const auto before = std::move(pass.offsets);
      pass.offsets.clear();
      for (Index i = 0; i < loop.count; ++i)
        for (const auto& [from, to] : before)
          pass.offsets.push_back({from + i * loop.in_stride, to + i * loop.out_stride});
    }
    passes_.push_back(std::move(pass));
  }

  /// One loop goes into the plan, and the others around it. Where the last axis has a stride, it is the loop whose
  /// transforms are neighbours in memory, so that whole lines are read and written; unless they fill no line.
  [[nodiscard]] Loop take_batch(std::vector<Loop>& loops, const Loop& last_axis) const {
    constexpr Index line_bytes = 128;
    if (loops.empty()) return {1, 1, 1};
    auto taken = std::prev(loops.end());
    const bool neighbours = taken->in_stride == 1 && taken->out_stride == 1;
    if (last_axis.in_stride == 1 || !neighbours || taken->count * element_bytes_ < line_bytes)
      taken = std::ranges::max_element(loops, {}, &Loop::count);
    const Loop batch = *taken;
    loops.erase(taken);
    return batch;
  }

  [[nodiscard]] cufftType type_of(Index real_length) const {
    const bool wide = spec_.precision == Precision::double_precision;
    if (real_length == 0) return wide ? CUFFT_Z2Z : CUFFT_C2C;
    if (spec_.direction == Direction::forward) return wide ? CUFFT_D2Z : CUFFT_R2C;
    return wide ? CUFFT_Z2D : CUFFT_C2R;
  }

  /// Strides and distances of real data are twice those of the complex data in whose place it lies.
  void make_plan(Pass& pass, const std::vector<Loop>& axes, const Loop& batch, Index real_length) {
    std::vector<long long> n, in_embed, out_embed;
    const bool real_in = real_length > 0 && spec_.direction == Direction::forward;
    const bool real_out = real_length > 0 && spec_.direction == Direction::backward;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const bool last = i + 1 == axes.size();
      n.push_back(last && real_length > 0 ? real_length : axes[i].count);
      const Index in_before = i == 0 ? axes[i].count : axes[i - 1].in_stride / axes[i].in_stride;
      const Index out_before = i == 0 ? axes[i].count : axes[i - 1].out_stride / axes[i].out_stride;
      in_embed.push_back(in_before * (last && real_in ? 2 : 1));
      out_embed.push_back(out_before * (last && real_out ? 2 : 1));
    }
    require(
        cufft().make_plan(pass.plan.get(), static_cast<int>(n.size()), n.data(), in_embed.data(), axes.back().in_stride,
                          batch.in_stride * (real_in ? 2 : 1), out_embed.data(), axes.back().out_stride,
                          batch.out_stride * (real_out ? 2 : 1), pass.type, batch.count, &pass.area_bytes),
        "cufftMakePlanMany64");
    work_area_bytes_ = std::max(work_area_bytes_, pass.area_bytes);
  }

  static void execute(const Pass& pass, void* in, void* out) {
    const cufftHandle plan = pass.plan.get();
    switch (pass.type) {
      case CUFFT_C2C:
        return require(
            cufft().c2c(plan, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out), pass.direction),
            "cufftExecC2C");
      case CUFFT_Z2Z:
        return require(cufft().z2z(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleComplex*>(out),
                                   pass.direction),
                       "cufftExecZ2Z");
      case CUFFT_R2C:
        return require(cufft().r2c(plan, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out)), "cufftExecR2C");
      case CUFFT_C2R:
        return require(cufft().c2r(plan, static_cast<cufftComplex*>(in), static_cast<cufftReal*>(out)), "cufftExecC2R");
      case CUFFT_D2Z:
        return require(cufft().d2z(plan, static_cast<cufftDoubleReal*>(in), static_cast<cufftDoubleComplex*>(out)),
                       "cufftExecD2Z");
      case CUFFT_Z2D:
        return require(cufft().z2d(plan, static_cast<cufftDoubleComplex*>(in), static_cast<cufftDoubleReal*>(out)),
                       "cufftExecZ2D");
    }
  }

  Device& device_;
  LocalFftSpec spec_;
  char* in_;
  char* out_;
  Index element_bytes_;
  std::vector<Pass> passes_;
  std::unique_ptr<DeviceGraph> graph_;  ///< null: the calls are few, or the device has no graphs
  std::size_t work_area_bytes_ = 0;     ///< what the largest pass takes: they run in turn
};

}  // namespace

std::string cufft_unavailable() { return cufft().failure; }
std::string cufft_file() { return cufft().file; }

std::string cufft_version() {
  int version = 0;
  if (!cufft().failure.empty() || cufft().get_version(&version) != CUFFT_SUCCESS) return {};
  return fmt::format("{}.{}.{}", version / 1000, version % 1000 / 100, version % 100);
}

std::unique_ptr<DeviceFft> make_cufft(Device& device, const LocalFftSpec& spec, void* in, void* out) {
  if (!cufft().failure.empty()) throw std::runtime_error(cufft().failure);
  return std::make_unique<CufftTransform>(device, spec, in, out);
}

}  // namespace fourscore::cuda

#endif
