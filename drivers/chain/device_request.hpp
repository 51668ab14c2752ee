#pragma once
// What a point asks of a device, and which device a rank gets.

#include <mpi.h>

#include <string>
#include <vector>

#include "chain/chain_stages.hpp"
#include "interfaces/device.hpp"
#include "offload/resident.hpp"

namespace fourscore {

/// Where the data of a plan is between transforms.
enum class DataStaging {
  copy,      ///< in the host's memory: to the device and back around every local transform
  resident,  ///< on the device; only what is exchanged passes through the host
  streamed,  ///< as copy, in pieces, so that copies, transforms and exchange overlap
};

/// What a point asks of a device, read from its parameters.
struct DeviceRequest {
  const DeviceBackend* backend = nullptr;
  DataStaging staging = DataStaging::copy;
  HostMemory memory = HostMemory::pinned;
  bool share = false;  ///< several ranks may use one device
  MessagePath path = MessagePath::host;
  /// With MessagePath::library, what takes a device for each rank; empty: NCCL, which our own plans call.
  std::string sole_user{};
  int pieces = 4;  ///< with staging=streamed
  bool asks_for_pieces = false;
};
[[nodiscard]] std::vector<Parameter> device_parameters();
/// Throws InputError naming the parameter, its value and what is allowed.
[[nodiscard]] DeviceRequest device_request(const Problem& problem);
/// Which stages have a plan together, as `merge-stages` says: by default all that lie in one layout, but for what
/// staging=streamed cuts into pieces. Throws InputError.
[[nodiscard]] Merging merging_of(const Problem& problem);

/// The device of this rank: that of its number among the ranks of its node, modulo the number of devices that it sees.
struct DeviceChoice {
  int number = 0;
  int ranks = 1;          ///< on the node
  int sharing = 1;        ///< ranks that use this device
  std::string address{};  ///< where it is known
};
/// Collective.
[[nodiscard]] DeviceChoice choose_device(const DeviceBackend& backend, MPI_Comm comm);

}  // namespace fourscore
