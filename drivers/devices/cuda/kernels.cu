#include "devices/cuda/kernels.hpp"

namespace fourscore::cuda {

namespace {

/// Threads go along the destination, so that stores are of whole lines; a transposition reads in strides.
template <class Unit>
__global__ void copy_box(const DeviceBox* boxes) {
  const DeviceBox box = boxes[blockIdx.y];
  const long long units = box.counts[0] * box.counts[1] * box.counts[2] * box.counts[3];
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long unit = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; unit < units; unit += step) {
    long long rest = unit;
    long long from = 0;
    long long to = 0;
    for (int level = 3; level >= 0; --level) {
      const long long i = rest % box.counts[level];
      rest /= box.counts[level];
      from += i * box.from_strides[level];
      to += i * box.to_strides[level];
    }
    *reinterpret_cast<Unit*>(box.to + to) = *reinterpret_cast<const Unit*>(box.from + from);
  }
}

}  // namespace

cudaError_t copy_boxes(const DeviceBox* boxes, int count, long long largest, std::size_t unit_bytes,
                       cudaStream_t stream) {
  constexpr int threads = 256;
  constexpr long long most_blocks = 4096;
  constexpr int most_boxes = 65535;  // a grid's second extent
  const long long wanted = (largest + threads - 1) / threads;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  if (blocks == 0) return cudaSuccess;
  for (int first = 0; first < count; first += most_boxes) {
    const dim3 grid(blocks, static_cast<unsigned>(count - first < most_boxes ? count - first : most_boxes));
    const DeviceBox* some = boxes + first;
    void* arguments[] = {&some};
    const cudaError_t error = cudaLaunchKernel(unit_bytes == 16 ? copy_box<double2> : copy_box<double>, grid,
                                               dim3(threads), arguments, 0, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace fourscore::cuda
