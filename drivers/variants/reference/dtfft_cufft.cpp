// dtFFT on GPUs with cuFFT, as a reference: z-pencils in, x-pencils out, data on the device.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "offload/moved_data.hpp"
#include "variants/reference/device_reference.hpp"
#ifdef FOURSCORE_DTFFT_CUFFT
#include "variants/reference/dtfft_engine.hpp"
#endif
#include "variants/reference/reference_plan.hpp"

namespace fourscore {

namespace {

/// dtFFT's own default stands first.
const std::vector<std::string>& efforts() {
  static const std::vector<std::string> names{"estimate", "measure", "patient"};
  return names;
}

#ifdef FOURSCORE_DTFFT_CUFFT

using namespace dtfft_variants;

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

/// Phase `other` has dtFFT's transform. Its input is copied there before and its output back after, unless it stays.
class DtfftCufftPlan : public ReferencePlan {
 public:
  DtfftCufftPlan(const PlanContext& context, const std::string& effort, const Grid& grid)
      : DtfftCufftPlan(context, effort, std::make_unique<OnDevice>(context, effort, grid)) {}

  void execute(PhaseClock& clock) override {
    moved_->bring_input(clock);
    run();
    moved_->return_output(clock);
  }
  [[nodiscard]] DeviceData* device_data() override { return &*moved_; }

 private:
  DtfftCufftPlan(const PlanContext& context, const std::string& effort, std::unique_ptr<OnDevice> on)
      : ReferencePlan(context, route_of(*on->engine, context), on->engine->grid(), on->engine->buffer_bytes()),
        direction_(context.problem.direction),
        on_(std::move(on)),
        source_(*on_->engine, on_->engine->buffer_bytes()),
        workspace_(*on_->engine, on_->engine->workspace_bytes()) {
    if (input() != output()) result_.emplace(*on_->engine, source_.bytes());
    const auto place = [&](void* host, const Buffer& device) -> MovedData::Place {
      return {static_cast<std::byte*>(host), static_cast<std::byte*>(device.data()), on_->engine->buffer_bytes()};
    };
    moved_.emplace(*on_->device, place(input(), source_), place(output(), result()));
    PhaseClock silent(false);
    moved_->bring_input(silent);
    run();  // what it makes at the first execution is not timed
    declare_library(fmt::format("dtFFT {}.{}.{} with effort {}, exchange {}, cuFFT", DTFFT_VERSION_MAJOR,
                                DTFFT_VERSION_MINOR, DTFFT_VERSION_PATCH, effort, on_->engine->backend()),
                    source_.bytes() + (result_ ? result_->bytes() : 0) + workspace_.bytes());
  }
  [[nodiscard]] const Buffer& result() const { return result_ ? *result_ : source_; }
  void run() {
    on_->engine->execute(source_.data(), result().data(), direction_, workspace_.data());
    on_->queue->synchronise();
  }

  Direction direction_;
  std::unique_ptr<OnDevice> on_;
  EngineBuffer source_;
  std::optional<EngineBuffer> result_;  ///< nothing: in place
  EngineBuffer workspace_;
  std::optional<MovedData> moved_;
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
    return {.exchange = "none",
            .parameters = {
                {"effort", "dtFFT's own: measure also chooses the grid where none is given, patient the exchange too",
                 efforts().front(), efforts()},
                share_device_parameter()}};
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
  [[nodiscard]] std::optional<std::string> limit(const Problem& problem, int ranks,
                                                 const Grid& /*grid*/) const override {
    static_cast<void>(choice_parameter(problem, "effort", efforts()));
    if (problem.contract.layout == LayoutContract::natural)
      return "layout natural; dtFFT leaves its result in x-pencils";
    if (std::ranges::find(problem.shape, Index{1}) != problem.shape.end())
      return "an extent of 1, with which dtFFT 3.2 gives wrong results";
    if (problem.elements() / ranks > std::numeric_limits<std::int32_t>::max() / 2)
      return "a rank's share has more elements than dtFFT's integers hold";
    const DeviceRequest request = this->request(problem);
    if (ranks > 1 && request.path == MessagePath::device && !request.backend->mpi_takes_its_memory())
      return "a dtFFT without NCCL takes an MPI that says that it takes the device's memory; this one does not";
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan_on([[maybe_unused]] const PlanContext& context,
                                              [[maybe_unused]] const Grid& grid) const override {
#ifdef FOURSCORE_DTFFT_CUFFT
    return std::make_unique<DtfftCufftPlan>(context, choice_parameter(context.problem, "effort", efforts()), grid);
#else
    return nullptr;
#endif
  }
};

FOURSCORE_REGISTER_VARIANT(DtfftCufft);

}  // namespace

}  // namespace fourscore
