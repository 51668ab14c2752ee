#pragma once
// NVIDIA's library of messages between GPUs, opened when it is first asked for. Its C interface is stable (NCCL 2.7 and
// later), and its header is no part of the CUDA toolkit.

#include <mpi.h>

#include <memory>
#include <string>

#include "interfaces/device.hpp"

namespace fourscore::cuda {

/// Why it cannot be used; empty where it can.
[[nodiscard]] std::string nccl_unavailable();
/// "2.28.9"; empty where it cannot be loaded.
[[nodiscard]] std::string nccl_version();
/// Device::make_messages(), on the current device. Throws std::runtime_error with NCCL's text.
[[nodiscard]] std::unique_ptr<DeviceMessages> make_nccl_messages(MPI_Comm comm);

}  // namespace fourscore::cuda
