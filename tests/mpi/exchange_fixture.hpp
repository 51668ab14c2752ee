#pragma once
// Decompositions to move between, and the check that every element arrived.

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exchange.hpp"

namespace fourscore::testing {

/// One exchange for all ranks of MPI_COMM_WORLD: each rank gets the decompositions of its own communicator.
struct Movement {
  std::string name;
  Decomposition from;
  Decomposition to;
  MPI_Comm comm;  ///< of world or of a row of it
};

/// Movements between slabs, pencils (within rows of the world) and other storage orders, of shapes that divide and
/// shapes that do not, for the world's number of ranks. Communicators made here live to the end of the program.
const std::vector<Movement>& movements();

using Allocate = std::function<std::unique_ptr<Buffer>(MPI_Comm, std::size_t)>;

/// Runs the exchange `runs` times on data that tells where it is from, and checks each element of the result. Returns
/// the traffic declared for one run, and calls `around` (if any) with the run to count what is sent.
Traffic run_and_check(const ExchangeMethod& method, const Movement& movement, std::size_t element_bytes,
                      const Allocate& allocate, const std::function<void(const std::function<void()>&)>& around = {});

}  // namespace fourscore::testing
