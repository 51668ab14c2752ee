#pragma once
// Memory of a GPU that other ranks of the node read, by CUDA's handles for it.

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "interfaces/exchange.hpp"

namespace fourscore::cuda {

/// What is smaller than 2 MiB, or no multiple, may lie in one block with other allocations, and a handle is of whole
/// blocks.
[[nodiscard]] std::size_t in_whole_blocks(std::size_t bytes);

/// Device::allocate_among(), on the current device. Throws std::runtime_error on all ranks, with CUDA's text of the
/// first that fails.
[[nodiscard]] std::unique_ptr<Buffer> allocate_among_neighbours(MPI_Comm comm, std::size_t bytes);

}  // namespace fourscore::cuda
