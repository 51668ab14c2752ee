#pragma once
// Buffers in the memory that the ranks of a node share.

#include <cstddef>
#include <vector>

#include "interfaces/exchange.hpp"
#include "mpi/handles.hpp"
#include "mpi/shared_window.hpp"

namespace fourscore {

class SharedBuffer : public Buffer {
 public:
  /// Collective over comm, as is the destruction. `node`: the ranks of comm that share memory with this one, as
  /// mpi::split_by_node(comm) gives them. comm must outlive the buffer.
  SharedBuffer(MPI_Comm comm, mpi::Communicator node, std::size_t bytes);

  [[nodiscard]] void* data() const override { return window_.segment(mpi::rank_in(node_.get())); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] void* peer(int rank_in_allocating_comm) const override;
  [[nodiscard]] MPI_Comm allocating_comm() const override { return comm_; }
  void sync() const override { window_.sync(); }

 private:
  MPI_Comm comm_;
  std::size_t bytes_;
  mpi::Communicator node_;
  std::vector<int> node_ranks_;  ///< by rank of comm
  mpi::SharedWindow window_;
};

}  // namespace fourscore
