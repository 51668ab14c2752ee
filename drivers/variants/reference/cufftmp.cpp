// NVIDIA's cuFFTMp as a reference: cuFFT over many GPUs with NVSHMEM, its slabs, data on the device.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "chain/limits_and_cost.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/device_reference.hpp"
#ifdef FOURSCORE_CUFFTMP
#include "variants/reference/cufftmp_library.hpp"
#endif

namespace fourscore {

namespace {

#ifdef FOURSCORE_CUFFTMP

using namespace cufftmp_variants;

/// The layouts of a forward transform. Both of its built-in slabs are stored in natural order. From slabs along x to
/// the same it goes by way of slabs along y too.
std::vector<Decomposition> route_of(const PlanContext& context) {
  const Extents n = context.problem.extents();
  const int ranks = mpi::size_of(context.comm);
  std::vector<Decomposition> route{decompose(n, Grid{{ranks, 1, 1}}), decompose(n, Grid{{1, ranks, 1}})};
  if (context.problem.contract.layout == LayoutContract::natural) route.push_back(route.front());
  return route;
}

class PlanHandle {
 public:
  PlanHandle() { must(cufftmp().create(&plan_), "cufftCreate"); }
  ~PlanHandle() {
    if (mpi::may_call_collectives()) cufftmp().destroy(plan_);
  }
  PlanHandle(const PlanHandle&) = delete;
  PlanHandle& operator=(const PlanHandle&) = delete;
  [[nodiscard]] cufftHandle get() const { return plan_; }

 private:
  cufftHandle plan_ = 0;
};

/// NVSHMEM's memory, of the size that a plan asks for.
class Memory {
 public:
  Memory(const PlanHandle& plan, cufftXtSubFormat format) {
    must(cufftmp().allocate(plan.get(), &memory_, format), "cufftXtMalloc");
  }
  ~Memory() {
    if (mpi::may_call_collectives()) cufftmp().release(memory_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_->descriptor->data[0]); }
  [[nodiscard]] std::size_t bytes() const { return memory_->descriptor->size[0]; }

 private:
  cudaLibXtDesc* memory_ = nullptr;
};

class CufftmpPlan : public DeviceReferencePlan {
 public:
  explicit CufftmpPlan(const PlanContext& context)
      : DeviceReferencePlan(cuda_device(context), context, route_of(context), std::vector{mpi::size_of(context.comm)}),
        comm_(context.comm),
        direction_(context.problem.direction == Direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE),
        queue_(device().make_queue()) {
    const std::size_t workspace_bytes = make_plan(context.problem);
    memory_.emplace(plan_, natural(context.problem) ? CUFFT_XT_FORMAT_DISTRIBUTED_INPUT : CUFFT_XT_FORMAT_INPLACE);
    const auto bytes_of = [&](const Decomposition& layout) {
      const auto elements = static_cast<std::size_t>(layout.box(mpi::rank_in(comm_)).volume());
      const std::size_t bytes = elements * context.problem.element_bytes();
      if (bytes > memory_->bytes())
        throw std::runtime_error(
            fmt::format("cuFFTMp has {} bytes for a slab of {} bytes; fourscore deals other slabs than it",
                        memory_->bytes(), bytes));
      return bytes;
    };
    run_first(memory_->data(), bytes_of(input_layout()), memory_->data(), bytes_of(output_layout()));
    int version = 0;
    must(cufftmp().get_version(&version), "cufftGetVersion");
    declare_library(fmt::format("cuFFTMp {}.{}.{}, {} slabs", version / 1000, version / 100 % 10, version % 100,
                                natural(context.problem) ? "given" : "built-in"),
                    memory_->bytes() + workspace_bytes);
  }

 private:
  static bool natural(const Problem& problem) { return problem.contract.layout == LayoutContract::natural; }

  /// What cufftMpMakePlan3d() does, of functions that were looked up. Returns the bytes of its workspace.
  [[nodiscard]] std::size_t make_plan(const Problem& problem) {
    must(cufftmp().set_stream(plan_.get(), static_cast<cudaStream_t>(queue_->native())), "cufftSetStream");
    if (natural(problem)) keep_slabs(input_layout().box(mpi::rank_in(comm_)));
    must(cufftmp().attach(plan_.get(), CUFFT_COMM_MPI, &comm_), "cufftMpAttachComm");
    must(natural(problem)
             ? cufftmp().set_formats(plan_.get(), CUFFT_XT_FORMAT_DISTRIBUTED_INPUT, CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT)
             : cufftmp().set_formats(plan_.get(), CUFFT_XT_FORMAT_INPLACE, CUFFT_XT_FORMAT_INPLACE_SHUFFLED),
         "cufftXtSetSubformatDefault");
    std::size_t bytes = 0;
    const std::vector<Index>& n = problem.shape;
    must(cufftmp().make_plan(plan_.get(), static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2]),
                             problem.precision == Precision::double_precision ? CUFFT_Z2Z : CUFFT_C2C, &bytes),
         "cufftMakePlan3d");
    return bytes;
  }

  /// The same box in and out.
  void keep_slabs(const Box& box) {
    using Triple = std::array<long long, 3>;
    const Triple low{box.low[0], box.low[1], box.low[2]};
    const Triple high{box.high[0], box.high[1], box.high[2]};
    const Triple strides{(high[1] - low[1]) * (high[2] - low[2]), high[2] - low[2], 1};
    must(cufftmp().set_distribution(plan_.get(), 3, low.data(), high.data(), low.data(), high.data(), strides.data(),
                                    strides.data()),
         "cufftXtSetDistribution");
  }

  void run() override {
    must(cufftmp().execute(plan_.get(), memory_->data(), memory_->data(), direction_), "cufftXtExec");
    queue_->synchronise();
  }

  MPI_Comm comm_;  ///< the caller's: two communicators for overlapping ranks it does not take
  int direction_;
  std::unique_ptr<Queue> queue_;
  PlanHandle plan_;
  std::optional<Memory> memory_;
};

#endif

class Cufftmp : public DeviceReference<SlabReference> {
 public:
  Cufftmp() : DeviceReference("cuFFTMp", FOURSCORE_CUFFTMP_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"cufftmp", "NVIDIA's cuFFTMp over NVSHMEM, its slabs, data on the device; transposed: second axis cut",
            "https://docs.nvidia.com/cuda/cufftmp/"};
  }
  [[nodiscard]] std::string unavailable() const override {
    std::string reason = DeviceReference::unavailable();
#ifdef FOURSCORE_CUFFTMP
    if (reason.empty()) reason = cufftmp().failure;
#endif
    return reason;
  }

 private:
  [[nodiscard]] DeviceRequest request(const Problem& problem) const override {
    DeviceRequest request = DeviceReference::request(problem);
    request.path = MessagePath::library;
    request.share = true;  // that there are enough is checked for sole_user
    request.sole_user = "cuFFTMp takes one for each rank, as NVSHMEM does";
    return request;
  }
  [[nodiscard]] Reason limit(const Problem& problem, int ranks) const override {
    if (problem.shape.size() != 3)
      return fmt::format("shape {}; cuFFTMp is used with 3-D shapes", shape_text(problem.shape));
    if (problem.contract.buffers != Buffers::in_place)
      return "out of place; cuFFTMp's slabs are for transforms in place";
    if (const Index most = std::min(problem.shape[0], problem.shape[1]); ranks > most)
      return fmt::format(
          "cuFFTMp cannot deal shape {} to {} ranks: no more than {}, the smaller of its first two extents",
          shape_text(problem.shape), ranks, most);
    if (problem.shape[2] < 2)
      return fmt::format("shape {}; cuFFTMp takes a last extent of 2 or more", shape_text(problem.shape));
    if (problem.threads > 1) return fmt::format("{} threads; cuFFTMp is used with one", problem.threads);
    return std::nullopt;
  }

#ifdef FOURSCORE_CUFFTMP
  [[nodiscard]] std::unique_ptr<Plan> plan_of(const PlanContext& context) const override {
    return std::make_unique<CufftmpPlan>(context);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(Cufftmp);

}  // namespace

}  // namespace fourscore
