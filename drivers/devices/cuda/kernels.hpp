#pragma once
// What runs on a GPU of our own: strided copies.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "devices/cuda/device_box.hpp"

namespace fourscore::cuda {

/// All `count` copies, which lie in the device's memory; `blocks` keep the largest busy. unit_bytes is 8 or 16.
[[nodiscard]] cudaError_t copy_boxes(const DeviceBox* boxes, int count, long long blocks, std::size_t unit_bytes,
                                     cudaStream_t stream);

}  // namespace fourscore::cuda
