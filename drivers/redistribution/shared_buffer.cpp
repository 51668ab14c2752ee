#include "redistribution/shared_buffer.hpp"

#include <utility>

namespace fourscore {

SharedBuffer::SharedBuffer(MPI_Comm comm, mpi::Communicator node, std::size_t bytes)
    : comm_(comm),
      bytes_(bytes),
      node_(std::move(node)),
      node_ranks_(mpi::translate_ranks(comm, node_.get())),
      window_(node_, bytes) {}

void* SharedBuffer::peer(int rank_in_allocating_comm) const {
  const int rank = node_ranks_.at(static_cast<std::size_t>(rank_in_allocating_comm));
  return rank == MPI_UNDEFINED ? nullptr : window_.segment(rank);
}

}  // namespace fourscore
