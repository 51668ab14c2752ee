#pragma once
// What a request of MPI stands for where this program carries its messages.

#include <mpi.h>

#include <vector>

#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/request_queue.hpp"

namespace fourscore {

struct CarriedRequest {
  TransferSides sides;
  MPI_Comm comm = MPI_COMM_NULL;
  std::size_t place = 0;  ///< in its rank's queue
  RequestQueue::State state = RequestQueue::State::unseen;

  static void* operator new(std::size_t /*bytes*/) { return Recycled<CarriedRequest>{}.allocate(1); }
  static void operator delete(void* place) {
    Recycled<CarriedRequest>{}.deallocate(static_cast<CarriedRequest*>(place), 1);
  }
};

[[nodiscard]] MPI_Request handle_of(TransferSides sides, MPI_Comm comm);

}  // namespace fourscore
