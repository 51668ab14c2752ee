#pragma once
// What is queued on a device: operations and bytes.

#include "core/box.hpp"

namespace fourscore {

/// The work of one run of a plan or of a part of it, on one rank. A copy of several rows of memory is one.
struct DeviceWork {
  Index copies_in = 0;  ///< from the host's memory
  Index bytes_in = 0;
  Index ffts = 0;
  Index copies_out = 0;  ///< to the host's memory
  Index bytes_out = 0;

  bool operator==(const DeviceWork&) const = default;
  DeviceWork& operator+=(const DeviceWork& other) {
    copies_in += other.copies_in;
    bytes_in += other.bytes_in;
    ffts += other.ffts;
    copies_out += other.copies_out;
    bytes_out += other.bytes_out;
    return *this;
  }
};

}  // namespace fourscore
