#pragma once
// A strided copy as the kernel reads it. Known to nvcc, and without CUDA's headers.

namespace fourscore::cuda {

/// Three loops over runs of units. The threads of a block go along runs: 2^lane_bits of them along each, in chunks of
/// units. What a group of lanes does at once is an item: a chunk of a run.
struct DeviceBox {
  const char* from;
  char* to;
  unsigned counts[3];
  unsigned units;        ///< in a run
  unsigned chunk_units;  ///< in an item, at most: eight for each lane
  unsigned chunks;       ///< in a run
  unsigned items;        ///< at most most_items
  unsigned lane_bits;
  long long from_strides[3];  ///< bytes
  long long to_strides[3];
};

/// So that indices have 32 bits, also one step of a grid beyond the last.
constexpr unsigned most_items = 1U << 31;
constexpr unsigned threads_of_block = 256;

}  // namespace fourscore::cuda
