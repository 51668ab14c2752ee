#include "devices/cuda/kernels.hpp"

namespace fourscore::cuda {

namespace {

/// Threads go along the runs, which are contiguous on both sides. Only an item's place is found by division.
template <class Unit>
__global__ void copy_box(const DeviceBox* boxes) {
  const DeviceBox box = boxes[blockIdx.y];
  const unsigned lanes = 1U << box.lane_bits;
  const unsigned lane = threadIdx.x & (lanes - 1);
  const unsigned groups = blockDim.x >> box.lane_bits;
  for (unsigned item = blockIdx.x * groups + (threadIdx.x >> box.lane_bits); item < box.items;
       item += gridDim.x * groups) {
    const unsigned run = item / box.chunks;
    const unsigned first = (item - run * box.chunks) * box.chunk_units;
    const unsigned outer = run / box.counts[2];
    const long long k = run - outer * box.counts[2];
    const long long i = outer / box.counts[1];
    const long long j = outer % box.counts[1];
    const char* const from = box.from + i * box.from_strides[0] + j * box.from_strides[1] + k * box.from_strides[2];
    char* const to = box.to + i * box.to_strides[0] + j * box.to_strides[1] + k * box.to_strides[2];
    const unsigned left = box.units - first;
    const unsigned last = first + (left < box.chunk_units ? left : box.chunk_units);
    for (unsigned unit = first + lane; unit < last; unit += lanes)
      reinterpret_cast<Unit*>(to)[unit] = reinterpret_cast<const Unit*>(from)[unit];
  }
}

}  // namespace

cudaError_t copy_boxes(const DeviceBox* boxes, int count, long long blocks, std::size_t unit_bytes,
                       cudaStream_t stream) {
  constexpr long long most_blocks = 4096;
  constexpr int most_boxes = 65535;  // a grid's second extent
  const auto along = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
  for (int first = 0; first < count; first += most_boxes) {
    const dim3 grid(along, static_cast<unsigned>(count - first < most_boxes ? count - first : most_boxes));
    const DeviceBox* some = boxes + first;
    void* arguments[] = {&some};
    const cudaError_t error = cudaLaunchKernel(unit_bytes == 16 ? copy_box<double2> : copy_box<double>, grid,
                                               dim3(threads_of_block), arguments, 0, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace fourscore::cuda
