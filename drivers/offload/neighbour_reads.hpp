#pragma once
// An exchange by which each rank copies its blocks from the memory of its neighbours' devices.

#include <memory>

#include "interfaces/device.hpp"

namespace fourscore {

/// `inner` is Divisible::reads, and made for the device's arrays with ExchangeSpec::leaves_reads, as `spec` says: it
/// lets ranks meet before and after the copies. Throws std::logic_error where a sender's memory is not at hand.
[[nodiscard]] std::unique_ptr<Exchange> neighbour_reads(std::shared_ptr<Device> device, std::unique_ptr<Exchange> inner,
                                                        const ExchangeSpec& spec);

}  // namespace fourscore
