#pragma once
// Other people's distributed transforms on GPUs: what any of them says of the device that it computes on.

#include <memory>
#include <string>

#include "chain/device_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

/// What a library asks of our device `cuda`, which makes that device the current one: its data stays there.
[[nodiscard]] DeviceRequest cuda_request(const Problem& problem);
/// This rank's device. Collective.
[[nodiscard]] std::unique_ptr<Device> cuda_device(const PlanContext& context);
[[nodiscard]] Parameter share_device_parameter();

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
