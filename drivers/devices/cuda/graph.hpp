#pragma once
// Graphs of the CUDA runtime.

#include <functional>
#include <memory>

#include "interfaces/device.hpp"

namespace fourscore::cuda {

/// What `enqueue` puts into `queue` is recorded and does not run. Null where the runtime has no graphs, or refuses.
[[nodiscard]] std::unique_ptr<DeviceGraph> record_graph(Queue& queue, const std::function<void(Queue&)>& enqueue);

}  // namespace fourscore::cuda
