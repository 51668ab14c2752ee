#pragma once
// An exchange whose messages the device's own library sends, from the device's memory to that of another.

#include <memory>

#include "interfaces/device.hpp"

namespace fourscore {

/// `inner` is Divisible::messages, and made for the device's arrays as `spec` says: it tells what is packed and where
/// its messages lie, and sends nothing. `messages` are among the ranks of `comm`, of which spec.comm has a part.
/// All that a rank does in the exchange is queued at once: packing, all messages together, unpacking.
[[nodiscard]] std::unique_ptr<Exchange> library_messages(std::shared_ptr<Device> device,
                                                         std::shared_ptr<DeviceMessages> messages, MPI_Comm comm,
                                                         Exchange& inner, const ExchangeSpec& spec);

}  // namespace fourscore
