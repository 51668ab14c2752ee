#include "variants/danielson_lanczos/strided_subsets.hpp"

#include <fmt/format.h>

#include <bit>

#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

int bits_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }

/// The elements of one rank's block that are in another's subset.
struct Piece {
  Extents extents{0, 0, 0};
  Index block_offset = 0;
  Index subset_offset = 0;
  [[nodiscard]] Index volume() const { return extents[0] * extents[1] * extents[2]; }
};

Piece piece_between(const Decomposition& blocks, int sender, const Grid& grid, int receiver) {
  const Box& block = blocks.box(sender);
  const Extents strides = blocks.strides(sender);  // a subset's too: it has as many elements along each axis
  const auto coordinates = grid.coordinates(receiver);
  Piece piece;
  for (std::size_t a = 0; a < 3; ++a) {
    const Index step = grid.extents[a];
    const Index rest = reversed_bits(coordinates[a], bits_of(grid.extents[a]));
    const Index first = block.low[a] + ((rest - block.low[a]) % step + step) % step;
    piece.extents[a] = first < block.high[a] ? (block.high[a] - 1 - first) / step + 1 : 0;
    piece.block_offset += (first - block.low[a]) * strides[a];
    piece.subset_offset += (first - rest) / step * strides[a];
  }
  return piece;
}

/// Whether some message lies scattered in the subset: it is a range along each axis that is cut, and has all of the
/// others.
bool scattered(const Grid& grid, const Extents& local) {
  Index before = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid.extents[a] > 1 && before > 1) return true;
    before *= local[a];
  }
  return false;
}

}  // namespace

Decomposition strided_subsets(const Extents& shape, const Grid& grid) {
  std::array<AxisCut, 3> cuts;
  for (std::size_t a = 0; a < 3; ++a) {
    cuts[a].levels = {{a}};
    cuts[a].order = bit_reversed_parts(shape[a], grid.extents[a]);
  }
  return {shape,
          {grid.extents.begin(), grid.extents.end()},
          std::move(cuts),
          fmt::format("strided {}x{}x{}", grid.extents[0], grid.extents[1], grid.extents[2])};
}

BlocksToSubsets::BlocksToSubsets(const Extents& shape, const Grid& grid, MPI_Comm comm, std::size_t element_bytes,
                                 const Buffer& source, const Buffer& spare)
    : comm_(mpi::duplicate(comm)),
      type_(mpi::element_type(element_bytes)),
      source_(static_cast<std::byte*>(source.data())),
      spare_(static_cast<std::byte*>(spare.data())) {
  const Decomposition blocks = decompose(shape, grid);
  const int me = mpi::rank_in(comm);
  const Box& box = blocks.box(me);
  require_int_count(box.volume(), "a local array", "danielson-lanczos");
  unpacks_ = scattered(grid, box.extents());
  const auto size = static_cast<Index>(element_bytes);
  const Stores stores = stores_for(static_cast<std::size_t>(box.volume() * size));
  const Extents strides = blocks.strides(me);
  const Extents spread{strides[0] * grid.extents[0], strides[1] * grid.extents[1], strides[2] * grid.extents[2]};
  Index sent = 0;
  Index received = 0;
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    const Piece out = piece_between(blocks, me, grid, rank);
    const Piece in = piece_between(blocks, rank, grid, me);
    send_counts_.push_back(static_cast<int>(out.volume()));
    send_places_.push_back(static_cast<int>(sent));
    receive_counts_.push_back(static_cast<int>(in.volume()));
    receive_places_.push_back(static_cast<int>(unpacks_ || in.volume() == 0 ? received : in.subset_offset));
    if (out.volume() > 0)
      pack_steps_.push_back(
          {CopyPlan(out.extents, spread, dense_strides(out.extents, {0, 1, 2}), element_bytes, stores),
           source_ + out.block_offset * size, spare_ + sent * size});
    if (unpacks_ && in.volume() > 0)
      unpack_steps_.push_back(
          {CopyPlan(in.extents, dense_strides(in.extents, {0, 1, 2}), strides, element_bytes, stores),
           source_ + received * size, spare_ + in.subset_offset * size});
    sent += out.volume();
    received += in.volume();
    (rank == me ? message_volume_.bytes_self : message_volume_.bytes_sent) += out.volume() * size;
    if (rank != me && out.volume() > 0) message_volume_.messages_sent += 1;
  }
}

void BlocksToSubsets::pack() const { pack_steps_.run(); }

void BlocksToSubsets::exchange() const {
  FOURSCORE_MPI(MPI_Alltoallv(spare_, send_counts_.data(), send_places_.data(), type_, source_, receive_counts_.data(),
                              receive_places_.data(), type_, comm_.get()));
}

void BlocksToSubsets::unpack() const { unpack_steps_.run(); }

}  // namespace fourscore
