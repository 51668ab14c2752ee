#pragma once
// Subsets with a stride, and the way to them from contiguous blocks: what the Danielson-Lanczos method starts from.

#include <mpi.h>

#include <vector>

#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

/// Rank (i, j, k) of a grid of powers of two that divide the shape holds, along each axis cut in P, every P-th index
/// from reversed_bits(i) on: the subset left after log2 P even/odd splits, such that block i of the transform becomes
/// this rank's. Coordinates along the axis run through the subset of rank 0, then of rank 1, and so on.
[[nodiscard]] Decomposition strided_subsets(const Extents& shape, const Grid& grid);

/// From decompose(shape, grid) to strided_subsets(shape, grid): an Exchange knows only boxes. A run is pack, exchange,
/// unpack. From the source to the source, or to the spare where some message has no contiguous place (unpacks()).
class BlocksToSubsets {
 public:
  /// Collective. Both buffers hold this rank's part; the source's content is lost. Throws InputError where that is more
  /// than MPI's int counts hold.
  BlocksToSubsets(const Extents& shape, const Grid& grid, MPI_Comm comm, std::size_t element_bytes,
                  const Buffer& source, const Buffer& spare);

  void pack() const;
  void exchange() const;
  void unpack() const;
  [[nodiscard]] bool unpacks() const { return unpacks_; }
  [[nodiscard]] bool lands_in_source() const { return !unpacks_; }
  [[nodiscard]] const MessageVolume& message_volume() const { return message_volume_; }
  [[nodiscard]] Index bytes_packed() const { return pack_steps_.bytes(); }
  [[nodiscard]] Index bytes_unpacked() const { return unpack_steps_.bytes(); }

 private:
  mpi::Communicator comm_;
  MPI_Datatype type_;
  std::byte* source_;
  std::byte* spare_;
  bool unpacks_ = false;
  CopySteps pack_steps_;
  CopySteps unpack_steps_;
  std::vector<int> send_counts_;
  std::vector<int> send_places_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_places_;
  MessageVolume message_volume_;
};

}  // namespace fourscore
