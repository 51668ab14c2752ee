#pragma once
// How strided copies are dealt to the threads of a GPU. Calls no CUDA.

#include <cstddef>
#include <vector>

#include "devices/cuda/device_box.hpp"
#include "interfaces/device.hpp"

namespace fourscore::cuda {

/// What a thread copies at once: 16 bytes where all addresses, strides and runs allow it, else 8.
[[nodiscard]] std::size_t unit_bytes_of(const std::vector<BoxCopy>& copies);

/// The same copies in boxes, none of them empty. A copy of more than `most` items, or runs of as many units, is cut.
[[nodiscard]] std::vector<DeviceBox> device_boxes(const std::vector<BoxCopy>& copies, std::size_t unit_bytes,
                                                  unsigned most = most_items);

/// Blocks of threads that the largest of the boxes keeps busy.
[[nodiscard]] long long blocks_of(const std::vector<DeviceBox>& boxes);

}  // namespace fourscore::cuda
