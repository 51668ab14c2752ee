#ifdef FOURSCORE_CUDA

#include "devices/cuda/neighbours.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "devices/cuda/check.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::cuda {

namespace {

/// The memory must not be freed before all neighbours have closed it.
class NeighbourBuffer : public Buffer {
 public:
  NeighbourBuffer(MPI_Comm comm, std::size_t bytes)
      : comm_(comm),
        node_(mpi::split_by_pretended_node(comm)),
        node_ranks_(mpi::translate_ranks(comm, node_.get())),
        me_(mpi::rank_in(node_.get())),
        bytes_(in_whole_blocks(bytes)),
        places_(static_cast<std::size_t>(mpi::size_of(node_.get())), nullptr) {
    cudaIpcMemHandle_t handle{};
    succeed_together([&] {
      FOURSCORE_CUDA_CHECK(cudaMalloc(&places_[me()], bytes_));
      FOURSCORE_CUDA_CHECK(cudaIpcGetMemHandle(&handle, places_[me()]));
    });
    std::vector<cudaIpcMemHandle_t> handles(places_.size());
    FOURSCORE_MPI(
        MPI_Allgather(&handle, sizeof(handle), MPI_BYTE, handles.data(), sizeof(handle), MPI_BYTE, node_.get()));
    succeed_together([&] {
      for (std::size_t rank = 0; rank < places_.size(); ++rank)
        if (rank != me())
          FOURSCORE_CUDA_CHECK(cudaIpcOpenMemHandle(&places_[rank], handles[rank], cudaIpcMemLazyEnablePeerAccess));
    });
  }
  ~NeighbourBuffer() override {
    close();
    if (!mpi::may_call_collectives()) return;  // a neighbour may still read: it ends with the process
    FOURSCORE_MPI_NOTHROW(MPI_Barrier(node_.get()));
    (void)succeeded(cudaFree(places_[me()]));
  }
  NeighbourBuffer(const NeighbourBuffer&) = delete;
  NeighbourBuffer& operator=(const NeighbourBuffer&) = delete;

  [[nodiscard]] void* data() const override { return places_[me()]; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] void* peer(int rank_in_allocating_comm) const override {
    const int rank = node_ranks_.at(static_cast<std::size_t>(rank_in_allocating_comm));
    return rank == MPI_UNDEFINED ? nullptr : places_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] MPI_Comm allocating_comm() const override { return comm_; }

 private:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(me_); }
  /// Throws on all ranks of comm where it fails on one, with nothing left open or allocated.
  template <class Try>
  void succeed_together(const Try& try_it) {
    std::optional<std::string> failure;
    try {
      try_it();
    } catch (const std::runtime_error& error) {
      failure = error.what();
    }
    failure = mpi::first_text(comm_, failure);
    if (!failure) return;
    close();
    FOURSCORE_MPI(MPI_Barrier(node_.get()));
    (void)succeeded(cudaFree(places_[me()]));
    throw std::runtime_error(*failure);
  }
  void close() {
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (rank != me() && places_[rank] != nullptr)
        (void)succeeded(cudaIpcCloseMemHandle(std::exchange(places_[rank], nullptr)));
  }

  MPI_Comm comm_;
  mpi::Communicator node_;
  std::vector<int> node_ranks_;  ///< by rank of comm
  int me_;
  std::size_t bytes_;
  std::vector<void*> places_;  ///< by rank of node_; the neighbours' where they appear here
};

}  // namespace

std::size_t in_whole_blocks(std::size_t bytes) {
  constexpr std::size_t block_bytes = std::size_t{2} << 20;
  return std::max<std::size_t>(1, (bytes + block_bytes - 1) / block_bytes) * block_bytes;
}

std::unique_ptr<Buffer> allocate_among_neighbours(MPI_Comm comm, std::size_t bytes) {
  return std::make_unique<NeighbourBuffer>(comm, bytes);
}

}  // namespace fourscore::cuda

#endif
