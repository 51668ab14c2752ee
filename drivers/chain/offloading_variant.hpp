#pragma once
// Variants on the processors that offload their local transforms to a device where they are asked to, as lee2018
// (chapter 4) puts cuFFT in the place of FFTW in Charm-NodeFFT.

#include <optional>
#include <string>
#include <vector>

#include "chain/device_plan.hpp"

namespace fourscore {

/// With parameter `offload`: the transforms of a launch go to a device and back, as with staging=copy.
class OffloadingVariant : public Variant, protected RequestedDevice {
 public:
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override;
  [[nodiscard]] const DeviceUse* device_use(const Problem& problem) const override {
    return offloads(problem) ? this : nullptr;
  }

 protected:
  /// What a launch has: a value of `offload`, and what it says.
  struct Launch {
    std::string value;
    std::string summary;
  };
  [[nodiscard]] virtual std::vector<Launch> launches() const = 0;

  /// `offload`, and those of its parameters that say something of a device.
  [[nodiscard]] std::vector<Parameter> offload_parameters() const;
  /// The value of `offload`; nothing: the processors compute. Throws InputError for another value.
  [[nodiscard]] std::optional<std::string> offloads(const Problem& problem) const;
  /// As supports(), of the device.
  [[nodiscard]] Reason device_in_the_way(const Problem& problem) const;
};

}  // namespace fourscore
