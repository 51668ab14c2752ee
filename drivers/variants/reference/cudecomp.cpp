// NVIDIA's cuDecomp as a reference: its transposes of pencils with cuFFT between, data on the device.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "variants/reference/device_reference.hpp"
#ifdef FOURSCORE_CUDECOMP
#include "variants/reference/cudecomp_engine.hpp"
#endif

namespace fourscore {

namespace {

/// cuDecomp's backends in its own order, its default first, and its own choice among them.
const std::vector<std::string>& backends() {
  static const std::vector<std::string> names{"mpi-p2p", "mpi-p2p-pl", "mpi-a2a",    "nccl",    "nccl-pl",
                                              "nvshmem", "nvshmem-pl", "nvshmem-sm", "autotune"};
  return names;
}

std::string backend_of(const Problem& problem) { return choice_parameter(problem, "backend", backends()); }

bool by_mpi(const std::string& backend) { return backend.starts_with("mpi-"); }

#ifdef FOURSCORE_CUDECOMP

using namespace cudecomp_variants;

Settings settings_of(const Problem& problem) {
  const std::string name = backend_of(problem);
  Settings settings{.mpi_on_device = cuda_request({}).backend->mpi_takes_its_memory()};
  settings.tunes = name == "autotune";
  if (!settings.tunes)
    settings.backend = static_cast<cudecompTransposeCommBackend_t>(
        CUDECOMP_TRANSPOSE_COMM_MPI_P2P + std::distance(backends().begin(), std::ranges::find(backends(), name)));
  return settings;
}

/// A device and cuDecomp on it: made before the arrays, which are of its layouts.
struct OnDevice {
  OnDevice(const PlanContext& context, const Grid& grid)
      : device(cuda_device(context)), queue(device->make_queue()), engine(context, settings_of(context.problem), grid) {
    for (int axis = 0; axis < 3; ++axis)
      bytes = std::max(bytes, static_cast<std::size_t>(engine.pencil(axis).size) * context.problem.element_bytes());
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  Engine engine;
  std::size_t bytes = 16;  ///< room for the largest of its pencils
};

/// A transform over axes that lie in one layout, and the transpose after it.
struct Step {
  std::unique_ptr<DeviceFft> fft;
  int axis = 0;          ///< whose pencils are transposed
  void* from = nullptr;  ///< null: the last step
  void* to = nullptr;
};

class CudecompPlan : public DeviceReferencePlan {
 public:
  CudecompPlan(const PlanContext& context, const Grid& grid)
      : CudecompPlan(context, std::make_unique<OnDevice>(context, grid)) {}

 private:
  CudecompPlan(const PlanContext& context, std::unique_ptr<OnDevice> on)
      : DeviceReferencePlan(std::move(on->device), context, route_of(on->engine, context), on->engine.grid(),
                            on->bytes),
        forward_(context.problem.direction == Direction::forward),
        type_(type_of(context.problem)),
        on_(std::move(on)),
        source_(device().allocate(on_->bytes)) {
    if (input() != output()) result_ = device().allocate(on_->bytes);
    make_steps(context.problem);
    const std::size_t bytes = share_workspace(context.problem);
    run_first(source_->data(), on_->bytes, result().data(), on_->bytes);
    declare_library(fmt::format("cuDecomp {}.{}.{} with exchange {}, {}", CUDECOMP_MAJOR, CUDECOMP_MINOR,
                                CUDECOMP_PATCH, on_->engine.backend(), steps_.front().fft->describe()),
                    source_->bytes() + (result_ ? result_->bytes() : 0) + bytes);
  }

  [[nodiscard]] Buffer& result() const { return result_ ? *result_ : *source_; }

  /// The layouts in the order of the transform, those that are the same together. Each transpose goes to the other
  /// array, and the last transform leaves its result in the second.
  void make_steps(const Problem& problem) {
    void* data = source_->data();
    const int end = forward_ ? 3 : -1;
    const int next = forward_ ? 1 : -1;
    for (int axis = forward_ ? 0 : 2; axis != end; axis += next) {
      std::vector<int> together{axis};
      while (axis + next != end && on_->engine.same_as_next(forward_ ? axis : axis - 1))
        together.push_back(axis += next);
      Step step;
      const bool last = axis + next == end;
      step.fft = make_fft(problem, together, data, last ? result().data() : data);
      if (!last) {
        step.axis = axis;
        step.from = data;
        step.to = data == source_->data() ? result().data() : source_->data();
        data = step.to;
      }
      steps_.push_back(std::move(step));
    }
  }

  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const Problem& problem, const std::vector<int>& together, void* in,
                                                    void* out) const {
    LocalFftSpec spec = local_fft_spec(problem);
    const cudecompPencilInfo_t pencil = on_->engine.pencil(together.front());
    Index stride = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      const Loop loop{pencil.shape[i], stride, stride};
      const bool transformed = std::ranges::find(together, pencil.order[i]) != together.end();
      (transformed ? spec.axes : spec.batch).push_back(loop);
      stride *= pencil.shape[i];
    }
    return device().make_fft(spec, in, out);
  }

  /// One area for its transposes and for all of cuFFT, as none runs beside another. Returns its bytes.
  [[nodiscard]] std::size_t share_workspace(const Problem& problem) {
    auto bytes =
        std::max<std::size_t>(16, static_cast<std::size_t>(on_->engine.workspace_elements()) * problem.element_bytes());
    for (const Step& step : steps_) bytes = std::max(bytes, step.fft->work_area_bytes());
    workspace_.emplace(on_->engine, bytes);
    for (const Step& step : steps_)
      if (step.fft->work_area_bytes() > 0) step.fft->use_work_area(workspace_->data());
    return bytes;
  }

  void run() override {
    for (const Step& step : steps_) {
      step.fft->enqueue(*on_->queue);
      if (step.from != nullptr)
        on_->engine.transpose(step.axis, forward_, step.from, step.to, workspace_->data(), type_, on_->queue->native());
    }
    on_->queue->synchronise();
  }

  bool forward_;
  cudecompDataType_t type_;
  std::unique_ptr<OnDevice> on_;
  std::unique_ptr<Buffer> source_;
  std::unique_ptr<Buffer> result_;  ///< null: in place
  std::optional<Workspace> workspace_;
  std::vector<Step> steps_;
};

#endif

class Cudecomp : public DeviceReference<PencilReference> {
 public:
  Cudecomp() : DeviceReference("cuDecomp", FOURSCORE_CUDECOMP_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"cudecomp",
            "cuDecomp's transposes on GPUs with cuFFT between, data on the device: z-pencils in, x-pencils out",
            "https://github.com/NVIDIA/cuDecomp"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    return {.exchange = "none",
            .parameters = {{"backend", "cuDecomp's exchange; autotune also chooses the grid where none is given",
                            backends().front(), backends()},
                           share_device_parameter()}};
  }

 private:
  /// NCCL and NVSHMEM take a device for each rank.
  [[nodiscard]] DeviceRequest request(const Problem& problem) const override {
    DeviceRequest request = DeviceReference::request(problem);
    const std::string backend = backend_of(problem);
    request.path = by_mpi(backend) ? MessagePath::device : MessagePath::library;
    if (request.path == MessagePath::library) request.share = true;  // that there are enough is checked for sole_user
    request.sole_user = fmt::format("backend={} takes one for each rank, as NCCL and NVSHMEM do", backend);
    return request;
  }
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& /*grid*/) const override {
    const std::string backend = backend_of(problem);
    if (problem.contract.layout == LayoutContract::natural)
      return "layout natural; cuDecomp's transposes leave the result in x-pencils";
    if (problem.elements() / ranks > std::numeric_limits<std::int32_t>::max())
      return "a rank's share has more elements than the counts of MPI hold that cuDecomp gives";
    if (ranks > 1 && by_mpi(backend) && !request(problem).backend->mpi_takes_its_memory())
      return fmt::format("backend={} takes an MPI that says that it takes the device's memory; this one does not",
                         backend);
    return std::nullopt;
  }

#ifdef FOURSCORE_CUDECOMP
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    return std::make_unique<CudecompPlan>(context, grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(Cudecomp);

}  // namespace

}  // namespace fourscore
