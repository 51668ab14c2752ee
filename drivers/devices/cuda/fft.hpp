#pragma once
// Transforms of cuFFT, which is opened when it is first used.

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "interfaces/device.hpp"

namespace fourscore::cuda {

/// A queue of this device, with its stream.
class CudaQueue;
[[nodiscard]] cudaStream_t stream_of(Queue& queue);

/// Nothing where cuFFT can be loaded, or why not.
[[nodiscard]] std::string cufft_unavailable();

/// As Device::make_fft(). Throws std::runtime_error with cuFFT's error.
[[nodiscard]] std::unique_ptr<DeviceFft> make_cufft(Device& device, const LocalFftSpec& spec, void* in, void* out);

}  // namespace fourscore::cuda
