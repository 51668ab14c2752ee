#pragma once
// What a request of MPI stands for where this program carries its messages.

#include <mpi.h>

#include <vector>

#include "simulation/simgrid/carried_messages.hpp"

namespace fourscore {

struct CarriedRequest {
  std::vector<TransferSide> sides;
  MPI_Comm comm = MPI_COMM_NULL;
};

[[nodiscard]] MPI_Request handle_of(std::vector<TransferSide> sides, MPI_Comm comm);

}  // namespace fourscore
