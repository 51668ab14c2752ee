#pragma once
// Decompositions to move between, and the check that every element arrived.

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "interfaces/exchange.hpp"
#include "support/test_name.hpp"

namespace fourscore::test {

/// One exchange for all ranks of MPI_COMM_WORLD: each rank gets the decompositions of its own communicator.
struct Movement {
  std::string name;
  Decomposition from;
  Decomposition to;
  MPI_Comm comm;  ///< the world or a row of it
};

/// Up to this many ranks movements() has every pair of shape and kind, above it a fixed choice of them.
constexpr int most_ranks_with_every_movement = 2;

/// Movements between slabs, pencils (within rows of the world) and other storage orders, of shapes that divide and
/// shapes that do not, for the world's number of ranks; the same for every MPI. Communicators made here live to the
/// end of the program.
const std::vector<Movement>& movements();

/// Both buffers of an exchange, allocated over the world as a plan does and large enough for every movement.
struct ExchangeBuffers {
  std::unique_ptr<Buffer> source;
  std::unique_ptr<Buffer> spare;
};
ExchangeBuffers allocate(const ExchangeMethod& method);
/// As if even and odd ranks were two nodes: shared memory that only half of the ranks can reach.
ExchangeBuffers allocate_on_two_nodes();

/// Runs the exchange three times on data that tells where it is from, and checks each element of the result. Returns
/// the traffic declared for one run; `around` (if any) gets the run, to count what is sent; `problem` has its
/// parameters.
MessageVolume run_and_check(const ExchangeMethod& method, const Movement& movement, std::size_t element_bytes,
                            const ExchangeBuffers& buffers,
                            const std::function<void(const std::function<void()>&)>& around = {},
                            const Problem& problem = {});

}  // namespace fourscore::test
