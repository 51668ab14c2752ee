#pragma once
// What runs on a GPU of our own: strided copies.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace fourscore::cuda {

/// A BoxCopy as the GPU reads it: units of unit_bytes, strides in bytes.
struct DeviceBox {
  const char* from;
  char* to;
  long long counts[4];  ///< three loops, then the units of a run
  long long from_strides[4];
  long long to_strides[4];
};

/// All `count` copies, which lie in the device's memory, of at most `largest` units each. unit_bytes is 8 or 16.
[[nodiscard]] cudaError_t copy_boxes(const DeviceBox* boxes, int count, long long largest, std::size_t unit_bytes,
                                     cudaStream_t stream);

}  // namespace fourscore::cuda
