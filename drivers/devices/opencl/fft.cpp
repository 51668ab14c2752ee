#ifdef FOURSCORE_OPENCL

#include "devices/opencl/fft.hpp"

#include <clFFT.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>

#include "core/text.hpp"

namespace fourscore::opencl {

namespace {

std::string text_of_status(clfftStatus status) {
  switch (status) {
    case CLFFT_BUGCHECK:
      return "CLFFT_BUGCHECK";
    case CLFFT_NOTIMPLEMENTED:
      return "CLFFT_NOTIMPLEMENTED";
    case CLFFT_TRANSPOSED_NOTIMPLEMENTED:
      return "CLFFT_TRANSPOSED_NOTIMPLEMENTED";
    case CLFFT_INVALID_PLAN:
      return "CLFFT_INVALID_PLAN";
    case CLFFT_DEVICE_NO_DOUBLE:
      return "CLFFT_DEVICE_NO_DOUBLE";
    case CLFFT_DEVICE_MISMATCH:
      return "CLFFT_DEVICE_MISMATCH";
    default:
      return text_of(static_cast<cl_int>(status));
  }
}

void require(clfftStatus status, const char* call) {
  if (status != CLFFT_SUCCESS) throw std::runtime_error(fmt::format("{} failed: {}", call, text_of_status(status)));
}

/// Before the first plan. clFFT complains where its end is left to the process's.
void set_up_once() {
  static const int registered = [] {
    clfftSetupData data{};
    require(clfftInitSetupData(&data), "clfftInitSetupData");
    require(clfftSetup(&data), "clfftSetup");
    return std::atexit([] { (void)clfftTeardown(); });
  }();
  if (registered != 0) throw std::runtime_error("atexit failed: clFFT cannot be ended");
}

class PlanHandle {
 public:
  PlanHandle(cl_context context, clfftDim dimensions, const std::size_t* lengths) {
    set_up_once();
    require(clfftCreateDefaultPlan(&plan_, context, dimensions, lengths), "clfftCreateDefaultPlan");
  }
  ~PlanHandle() {
    if (owns_) (void)clfftDestroyPlan(&plan_);
  }
  PlanHandle(PlanHandle&& other) noexcept : plan_(other.plan_), owns_(std::exchange(other.owns_, false)) {}
  PlanHandle& operator=(PlanHandle&&) = delete;
  PlanHandle(const PlanHandle&) = delete;
  PlanHandle& operator=(const PlanHandle&) = delete;
  [[nodiscard]] clfftPlanHandle get() const { return plan_; }

 private:
  clfftPlanHandle plan_ = 0;
  bool owns_ = true;
};

/// Where a plan reads or writes: clFFT takes a buffer of its own, which a part of another is where it is aligned.
struct Operand {
  MemoryHandle part{};  ///< null: the whole buffer
  cl_mem memory = nullptr;
};

/// A plan of clFFT, on the data where it lies, or by way of a dense array.
struct Pass {
  std::unique_ptr<DeviceCopies> gather{};  ///< null where the data is transformed where it lies
  PlanHandle plan;
  Operand in;
  Operand out;
  MemoryHandle workspace{};  ///< null: it takes none
  std::unique_ptr<DeviceCopies> scatter{};
};

using Loops = std::vector<Loop>;

/// Loops that follow on each other on both sides are one. The slowest comes first.
Loops merged(Loops loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
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

/// Elements from the first to the one after the last.
Index span_of(const Loops& loops, Index Loop::*stride) {
  Index span = 1;
  for (const Loop& loop : loops) span += (loop.count - 1) * loop.*stride;
  return span;
}

/// The strided copies of a box. Strides are in elements, in_stride those of `from`; a copy has three loops at most.
std::vector<BoxCopy> copies_of(Loops loops, Index element_bytes, const std::byte* from, std::byte* to) {
  loops = merged(std::move(loops));
  BoxCopy box{from, to, static_cast<std::size_t>(element_bytes)};
  if (!loops.empty() && loops.back().in_stride == 1 && loops.back().out_stride == 1) {
    box.run_bytes *= static_cast<std::size_t>(loops.back().count);
    loops.pop_back();
  }
  std::vector<BoxCopy> boxes{box};
  for (; loops.size() > box.loops.size(); loops.erase(loops.begin())) {
    const std::vector<BoxCopy> inner = std::exchange(boxes, {});
    for (Index i = 0; i < loops.front().count; ++i)
      for (BoxCopy copy : inner) {
        copy.from += i * loops.front().in_stride * element_bytes;
        copy.to += i * loops.front().out_stride * element_bytes;
        boxes.push_back(copy);
      }
  }
  for (BoxCopy& copy : boxes)
    for (std::size_t i = 0; i < loops.size(); ++i)
      copy.loops[i] = {loops[i].count, loops[i].in_stride * element_bytes, loops[i].out_stride * element_bytes};
  return boxes;
}

class ClfftTransform : public DeviceFft {
 public:
  ClfftTransform(Device& device, Runtime& runtime, const LocalFftSpec& spec, void* in, void* out)
      : device_(device),
        runtime_(runtime),
        spec_(spec),
        element_bytes_(spec.precision == Precision::double_precision ? 16 : 8) {
    for (const auto* loops : {&spec.axes, &spec.batch})
      for (const Loop& loop : *loops)
        if (loop.count == 0) return;
    if (spec.axes.empty()) throw std::logic_error("a transform along no axis");
    if (!add_in_place(spec.axes, spec.batch, spec.real_length, static_cast<std::byte*>(in),
                      static_cast<std::byte*>(out)))
      add_passes(static_cast<std::byte*>(in), static_cast<std::byte*>(out));
  }

  void enqueue(Queue& queue) override {
    cl_command_queue target = queue_of(queue);
    const clfftDirection direction = spec_.direction == Direction::forward ? CLFFT_FORWARD : CLFFT_BACKWARD;
    for (Pass& pass : passes_) {
      if (pass.gather) pass.gather->enqueue(queue);
      require(clfftEnqueueTransform(pass.plan.get(), direction, 1, &target, 0, nullptr, nullptr, &pass.in.memory,
                                    &pass.out.memory, pass.workspace.get()),
              "clfftEnqueueTransform");
      if (pass.scatter) pass.scatter->enqueue(queue);
    }
  }

  [[nodiscard]] std::string describe() const override {
    const auto dense = std::ranges::count_if(passes_, [](const Pass& pass) { return pass.gather != nullptr; });
    return fmt::format("clFFT: {}{}", plural(passes_.size(), "plan"),
                       dense == 0 ? "" : fmt::format(", {} by way of a dense array", dense));
  }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return workspace_bytes_ + (dense_ ? dense_->bytes() : 0);
  }

 private:
  /// One axis after the other; the halved one first from real, last to real.
  void add_passes(std::byte* in, std::byte* out) {
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < spec_.axes.size(); ++a) order.push_back(a);
    if (spec_.real_length > 0 && spec_.direction == Direction::backward) std::ranges::reverse(order);
    bool first = true;
    for (const std::size_t a : order) {
      Loops batch = spec_.batch;
      for (std::size_t other = 0; other < spec_.axes.size(); ++other)
        if (other != a) batch.push_back(spec_.axes[other]);
      Loop axis = spec_.axes[a];
      if (!first) {
        axis.in_stride = axis.out_stride;
        for (Loop& loop : batch) loop.in_stride = loop.out_stride;
      }
      const Index real_length = a == 0 ? spec_.real_length : 0;
      std::byte* const from = first ? in : out;
      if (!add_in_place({axis}, batch, real_length, from, out)) add_dense(axis, batch, real_length, from, out);
      first = false;
    }
  }

  /// A plan on the data where it lies. clFFT has one loop over transforms, three axes, and aligned buffers; false where
  /// that does not suffice.
  bool add_in_place(const Loops& axes, const Loops& batch, Index real_length, std::byte* in, std::byte* out) {
    const Loops loops = merged(batch);
    if (axes.size() > 3 || loops.size() > 1) return false;
    Loops all = axes;
    all.insert(all.end(), loops.begin(), loops.end());
    const bool same =
        std::ranges::all_of(all, [](const Loop& loop) { return loop.count == 1 || loop.in_stride == loop.out_stride; });
    if (in == out && !same) return false;
    auto from = operand(in, span_of(all, &Loop::in_stride));
    auto to = operand(out, span_of(all, &Loop::out_stride));
    if (!from || !to) return false;
    if (in == out) to->memory = from->memory;
    add_plan(axes, loops.empty() ? Loop{} : loops.front(), real_length, *std::move(from), *std::move(to));
    return true;
  }

  /// A plan on a dense array, with copies there and back.
  void add_dense(const Loop& axis, const Loops& batch, Index real_length, const std::byte* in, std::byte* out) {
    Loops there = merged(batch);
    Loops back;
    Index stride = 1;
    const auto compact = [&](Loop& loop) {
      back.push_back({loop.count, stride, loop.out_stride});
      loop.out_stride = stride;
      stride *= loop.count;
    };
    Loop along = axis;
    compact(along);
    for (std::size_t i = there.size(); i-- > 0;) compact(there[i]);
    there.push_back(along);
    const auto bytes = static_cast<std::size_t>(stride * element_bytes_);
    if (!dense_ || dense_->bytes() < bytes) {
      if (dense_) outgrown_.push_back(std::move(dense_));
      dense_ = device_.allocate(bytes);
    }
    auto* const dense = static_cast<std::byte*>(dense_->data());
    auto from = operand(dense, stride);
    auto to = operand(dense, stride);
    add_plan({{along.count, 1, 1}}, {stride / along.count, along.count, along.count}, real_length, *std::move(from),
             *std::move(to));
    passes_.back().gather = device_.make_copies(copies_of(std::move(there), element_bytes_, in, dense));
    passes_.back().scatter = device_.make_copies(copies_of(std::move(back), element_bytes_, dense, out));
  }

  /// Nothing where the address is not aligned as a part of a buffer must be.
  [[nodiscard]] std::optional<Operand> operand(const std::byte* address, Index elements) const {
    const Place place = runtime_.place_of(address);
    if (place.offset == 0) return Operand{{}, place.buffer};
    if (place.offset % runtime_.alignment_bytes() != 0) return std::nullopt;
    cl_int error = CL_SUCCESS;
    const cl_buffer_region region{place.offset, static_cast<std::size_t>(elements * element_bytes_)};
    Operand result;
    result.part =
        MemoryHandle(clCreateSubBuffer(place.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    check(error, "clCreateSubBuffer");
    result.memory = result.part.get();
    return result;
  }

  /// Strides and distances of real data are twice those of the complex data in whose place it lies.
  void add_plan(const Loops& axes, const Loop& batch, Index real_length, Operand in, Operand out) {
    const auto size = [](Index value) { return static_cast<std::size_t>(value); };
    const bool forward = spec_.direction == Direction::forward;
    const Index in_unit = real_length > 0 && forward ? 2 : 1;
    const Index out_unit = real_length > 0 && !forward ? 2 : 1;
    std::array<std::size_t, 3> lengths{};
    std::array<std::size_t, 3> in_strides{};
    std::array<std::size_t, 3> out_strides{};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const bool halved = i == 0 && real_length > 0;
      lengths.at(i) = size(halved ? real_length : axes[i].count);
      in_strides.at(i) = size(axes[i].in_stride * (halved ? 1 : in_unit));
      out_strides.at(i) = size(axes[i].out_stride * (halved ? 1 : out_unit));
    }
    const auto dimensions = static_cast<clfftDim>(axes.size());
    Pass pass{
        .plan = PlanHandle(runtime_.context(), dimensions, lengths.data()), .in = std::move(in), .out = std::move(out)};
    const clfftPlanHandle plan = pass.plan.get();
    const bool wide = spec_.precision == Precision::double_precision;
    require(clfftSetPlanPrecision(plan, wide ? CLFFT_DOUBLE : CLFFT_SINGLE), "clfftSetPlanPrecision");
    const clfftLayout other = real_length > 0 ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_COMPLEX_INTERLEAVED;
    require(clfftSetLayout(plan, in_unit == 2 ? CLFFT_REAL : other, out_unit == 2 ? CLFFT_REAL : other),
            "clfftSetLayout");
    require(clfftSetResultLocation(plan, pass.in.memory == pass.out.memory ? CLFFT_INPLACE : CLFFT_OUTOFPLACE),
            "clfftSetResultLocation");
    require(clfftSetPlanInStride(plan, dimensions, in_strides.data()), "clfftSetPlanInStride");
    require(clfftSetPlanOutStride(plan, dimensions, out_strides.data()), "clfftSetPlanOutStride");
    require(clfftSetPlanBatchSize(plan, size(batch.count)), "clfftSetPlanBatchSize");
    require(clfftSetPlanDistance(plan, size(batch.in_stride * in_unit), size(batch.out_stride * out_unit)),
            "clfftSetPlanDistance");
    require(clfftSetPlanScale(plan, CLFFT_BACKWARD, 1), "clfftSetPlanScale");
    cl_command_queue queue = runtime_.setup_queue();
    require(clfftBakePlan(plan, 1, &queue, nullptr, nullptr), "clfftBakePlan");
    std::size_t bytes = 0;
    require(clfftGetTmpBufSize(plan, &bytes), "clfftGetTmpBufSize");
    if (bytes > 0) {
      cl_int error = CL_SUCCESS;
      pass.workspace = MemoryHandle(clCreateBuffer(runtime_.context(), CL_MEM_READ_WRITE, bytes, nullptr, &error));
      check(error, "clCreateBuffer");
      workspace_bytes_ += bytes;
    }
    passes_.push_back(std::move(pass));
  }

  Device& device_;
  Runtime& runtime_;
  LocalFftSpec spec_;
  Index element_bytes_;
  std::size_t workspace_bytes_ = 0;
  std::unique_ptr<Buffer> dense_;
  std::vector<std::unique_ptr<Buffer>> outgrown_;
  std::vector<Pass> passes_;
};

}  // namespace

std::string version_of_clfft() {
  cl_uint major = 0;
  cl_uint minor = 0;
  cl_uint patch = 0;
  require(clfftGetVersion(&major, &minor, &patch), "clfftGetVersion");
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::unique_ptr<DeviceFft> make_clfft(Device& device, Runtime& runtime, const LocalFftSpec& spec, void* in, void* out) {
  return std::make_unique<ClfftTransform>(device, runtime, spec, in, out);
}

}  // namespace fourscore::opencl

#endif
