#pragma once
// Other people's distributed transforms on GPUs: what any of them says of the device that it computes on.

#include <memory>
#include <optional>
#include <string>

#include "chain/device_plan.hpp"
#include "offload/moved_data.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

/// What a library asks of our device `cuda`, which makes that device the current one: its data stays there.
[[nodiscard]] DeviceRequest cuda_request(const Problem& problem);
/// This rank's device. Collective.
[[nodiscard]] std::unique_ptr<Device> cuda_device(const PlanContext& context);
[[nodiscard]] Parameter share_device_parameter();

/// Phase `other` has the library's transform. Data comes before and goes after, unless it stays.
class DeviceReferencePlan : public ReferencePlan {
 public:
  void execute(PhaseClock& clock) final;
  [[nodiscard]] DeviceData* device_data() final { return &*moved_; }

 protected:
  /// `shape`: the grid, as ReferencePlan takes it with the rest.
  template <class Shape>
  DeviceReferencePlan(std::unique_ptr<Device> device, const PlanContext& context, std::vector<Decomposition> route,
                      const Shape& shape, std::size_t min_bytes = 0)
      : ReferencePlan(context, std::move(route), shape, min_bytes), device_(std::move(device)) {}

  [[nodiscard]] Device& device() const { return *device_; }
  /// Says where input and output lie on the device, and runs once: what a library makes then is not timed.
  void run_first(void* source, std::size_t source_bytes, void* result, std::size_t result_bytes);

 private:
  /// The transform on the device, which is over when this returns.
  virtual void run() = 0;

  std::unique_ptr<Device> device_;
  std::optional<MovedData> moved_;
};

/// `Reference`: PencilReference or SlabReference.
template <class Reference>
class DeviceReference : public Reference, private RequestedDevice {
 public:
  using Reference::Reference;

  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const final { return {"cufft", problem.threads}; }
  [[nodiscard]] std::string unavailable() const override {
    const std::string missing = Reference::unavailable();
    return missing.empty() ? request({}).backend->unavailable() : missing;
  }
  [[nodiscard]] const DeviceUse* device_use(const Problem& /*problem*/) const final { return this; }

 protected:
  [[nodiscard]] DeviceRequest request(const Problem& problem) const override { return cuda_request(problem); }

 private:
  /// Data in and out and the library's workspace, which is no smaller.
  [[nodiscard]] double bytes_on_device(const Problem& problem, int ranks, int /*rank*/) const final {
    return 2 * static_cast<double>(problem.elements()) / ranks * static_cast<double>(problem.element_bytes());
  }
};

}  // namespace fourscore
