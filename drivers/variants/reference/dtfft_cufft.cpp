// dtFFT on GPUs with cuFFT, as a reference: z-pencils in, x-pencils out, data on the device.

#include <algorithm>
#include <optional>

#include "chain/limits_and_cost.hpp"
#include "variants/reference/device_reference.hpp"
#include "variants/reference/dtfft_engine.hpp"

namespace fourscore {

namespace {

using namespace dtfft_variants;

#ifdef FOURSCORE_DTFFT_CUFFT

/// While it lives, dtFFT makes plans that run on this stream of the current device.
class PlansOnStream {
 public:
  explicit PlansOnStream(void* stream) {
    must(dtfft_create_config(&config_), "asking for its settings");
    dtfft_config_t on_stream = config_;
    on_stream.platform = DTFFT_PLATFORM_CUDA;
    on_stream.stream = stream;
    must(dtfft_set_config(&on_stream), "setting the device");
  }
  ~PlansOnStream() { static_cast<void>(dtfft_set_config(&config_)); }
  PlansOnStream(const PlansOnStream&) = delete;
  PlansOnStream& operator=(const PlansOnStream&) = delete;

 private:
  dtfft_config_t config_{};
};

/// Memory of the device as dtFFT's exchanges want it.
class EngineBuffer : public Buffer {
 public:
  EngineBuffer(const Engine& engine, std::size_t bytes)
      : engine_(engine), bytes_(std::max<std::size_t>(bytes, 16)), data_(engine.allocate(bytes_)) {}
  ~EngineBuffer() override {
    if (mpi::may_call_collectives()) engine_.release(data_);
  }
  EngineBuffer(const EngineBuffer&) = delete;
  EngineBuffer& operator=(const EngineBuffer&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  const Engine& engine_;
  std::size_t bytes_;
  void* data_;
};

/// A device, a stream on it, and dtFFT's plan for both: made before the arrays, which are of the plan's layouts.
struct OnDevice {
  OnDevice(const PlanContext& context, const std::string& effort, const Grid& grid)
      : device(cuda_device(context)), queue(device->make_queue()) {
    const PlansOnStream on_stream(queue->native());
    engine.emplace(context, effort, grid, DTFFT_EXECUTOR_CUFFT);
  }
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::optional<Engine> engine;
};

class DtfftCufftPlan : public DeviceReferencePlan {
 public:
  DtfftCufftPlan(const PlanContext& context, const std::string& effort, const Grid& grid)
      : DtfftCufftPlan(context, effort, std::make_unique<OnDevice>(context, effort, grid)) {}

 private:
  DtfftCufftPlan(const PlanContext& context, const std::string& effort, std::unique_ptr<OnDevice> on)
      : DeviceReferencePlan(std::move(on->device), context, route_of(*on->engine, context), on->engine->grid(),
                            on->engine->buffer_bytes()),
        direction_(context.problem.direction),
        on_(std::move(on)),
        source_(*on_->engine, on_->engine->buffer_bytes()),
        workspace_(*on_->engine, on_->engine->workspace_bytes()) {
    if (input() != output()) result_.emplace(*on_->engine, source_.bytes());
    const std::size_t bytes = on_->engine->buffer_bytes();
    run_first(source_.data(), bytes, result().data(), bytes);
    declare_library(on_->engine->describe(effort) + ", cuFFT",
                    source_.bytes() + (result_ ? result_->bytes() : 0) + workspace_.bytes());
  }
  [[nodiscard]] const Buffer& result() const { return result_ ? *result_ : source_; }
  void run() override {
    on_->engine->execute(source_.data(), result().data(), direction_, workspace_.data());
    on_->queue->synchronise();
  }

  Direction direction_;
  std::unique_ptr<OnDevice> on_;
  EngineBuffer source_;
  std::optional<EngineBuffer> result_;  ///< nothing: in place
  EngineBuffer workspace_;
};

#endif

class DtfftCufft : public DeviceReference<PencilReference> {
 public:
  DtfftCufft() : DeviceReference("dtFFT", FOURSCORE_DTFFT_CUFFT_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"dtfft-cufft", "dtFFT on GPUs with cuFFT, data on the device: z-pencils in, x-pencils out",
            "https://github.com/ShatrovOA/dtFFT"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    return {.exchange = "none", .parameters = {effort_parameter(), share_device_parameter()}};
  }

 private:
  /// With NCCL dtFFT takes a device for each rank.
  [[nodiscard]] DeviceRequest request(const Problem& problem) const override {
    DeviceRequest request = DeviceReference::request(problem);
#ifdef DTFFT_WITH_NCCL
    request.path = MessagePath::library;
    request.share = true;  // that there are enough is checked for sole_user
    request.sole_user = "this dtFFT takes one for each rank, as NCCL does";
#else
    request.path = MessagePath::device;
#endif
    return request;
  }
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& /*grid*/) const override {
    if (auto reason = limit_of(problem, ranks)) return reason;
    const DeviceRequest request = this->request(problem);
    if (ranks > 1 && request.path == MessagePath::device && !request.backend->mpi_takes_its_memory())
      return "a dtFFT without NCCL takes an MPI that says that it takes the device's memory; this one does not";
    return std::nullopt;
  }

#ifdef FOURSCORE_DTFFT_CUFFT
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    return std::make_unique<DtfftCufftPlan>(context, effort_asked(context.problem), grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(DtfftCufft);

}  // namespace

}  // namespace fourscore
