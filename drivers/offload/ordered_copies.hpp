#pragma once
// Copies within a device's memory of which some must follow others.

#include <memory>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore {

struct OrderedCopy {
  BoxCopy box;
  bool overlapping = false;  ///< its destination with its own source
};

/// In the order of the list, as far as one reads what another before it writes. Null where there are none.
[[nodiscard]] std::unique_ptr<DeviceCopies> ordered_copies(Device& device, const std::vector<OrderedCopy>& copies);

}  // namespace fourscore
