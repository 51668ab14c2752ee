#pragma once
// Transforms of clFFT.

#include <memory>
#include <string>

#include "devices/opencl/runtime.hpp"
#include "interfaces/device.hpp"

namespace fourscore::opencl {

/// The queue of OpenCL behind a queue of this device.
[[nodiscard]] cl_command_queue queue_of(Queue& queue);

[[nodiscard]] std::string version_of_clfft();

/// As Device::make_fft(), on a device of `runtime`. Throws std::runtime_error with clFFT's error.
[[nodiscard]] std::unique_ptr<DeviceFft> make_clfft(Device& device, Runtime& runtime, const LocalFftSpec& spec,
                                                    void* in, void* out);

}  // namespace fourscore::opencl
