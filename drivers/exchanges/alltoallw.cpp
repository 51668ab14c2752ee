// MPI_Alltoallw with a derived datatype for each block, straight from the source's box to the destination's: no
// packing of ours, as in dalcin2019 ("Fast parallel multidimensional FFT using advanced MPI").

#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

class Alltoallw : public Exchange {
 public:
  explicit Alltoallw(const ExchangeSpec& spec)
      : moves_nothing_(agree(spec).moves_nothing),
        comm_(mpi::duplicate(spec.comm)),
        source_(static_cast<const std::byte*>(spec.source.data())),
        spare_(static_cast<std::byte*>(spec.spare.data())) {
    const int me = mpi::rank_in(spec.comm);
    const auto bytes = static_cast<Index>(spec.element_bytes);
    const Block own = block_between(spec.from, me, spec.to, me);
    declared().volume.bytes_self = own.volume() * bytes;
    declared().lands_in_source = moves_nothing_;
    if (moves_nothing_) return;

    own_ = {CopyPlan(own.extents, own.from_strides, own.to_strides, spec.element_bytes,
                     stores_for(static_cast<std::size_t>(own.volume() * bytes))),
            source_ + own.from_offset * bytes, spare_ + own.to_offset * bytes};
    declared().unpacks = own_.plan.bytes() > 0;
    declared().bytes_unpacked = own_.plan.bytes();
    const auto size = static_cast<std::size_t>(spec.from.ranks());
    for (auto* counts : {&send_counts_, &receive_counts_, &displacements_}) counts->assign(size, 0);
    // MPI wants a valid type even where the count is 0.
    send_types_.assign(size, MPI_BYTE);
    receive_types_.assign(size, MPI_BYTE);
    // Both sides visit a block in the source's axis order; where the destination has another, MPI transposes.
    for (const int rank : receivers_of(spec)) {
      const Block block = block_between(spec.from, me, spec.to, rank);
      const auto r = static_cast<std::size_t>(rank);
      send_counts_[r] = 1;
      send_types_[r] = own_type(
          mpi::box_type(spec.element_bytes, block.from_offset, block.extents, block.from_strides, spec.from.order));
      declared().volume.bytes_sent += block.volume() * bytes;
      declared().volume.messages_sent += 1;
    }
    for (const int rank : senders_to(spec)) {
      const Block block = block_between(spec.from, rank, spec.to, me);
      const auto r = static_cast<std::size_t>(rank);
      receive_counts_[r] = 1;
      receive_types_[r] = own_type(
          mpi::box_type(spec.element_bytes, block.to_offset, block.extents, block.to_strides, spec.from.order));
    }
  }

  void start() override {
    if (moves_nothing_) return;
    FOURSCORE_MPI(MPI_Alltoallw(source_, send_counts_.data(), displacements_.data(), send_types_.data(), spare_,
                                receive_counts_.data(), displacements_.data(), receive_types_.data(), comm_.get()));
  }
  void unpack() override { own_.run(); }

 private:
  MPI_Datatype own_type(mpi::Datatype type) { return types_.emplace_back(std::move(type)).get(); }

  bool moves_nothing_;
  mpi::Communicator comm_;
  const std::byte* source_;
  std::byte* spare_;
  CopyStep own_{CopyPlan(), nullptr, nullptr};
  std::vector<mpi::Datatype> types_;
  std::vector<int> send_counts_;
  std::vector<int> receive_counts_;
  std::vector<int> displacements_;  ///< all 0: the types hold the offsets, which may be beyond int
  std::vector<MPI_Datatype> send_types_;
  std::vector<MPI_Datatype> receive_types_;
};

class AlltoallwMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {"alltoallw", "one MPI_Alltoallw with a datatype for each block, no packing", "dalcin2019"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Alltoallw>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(AlltoallwMethod);

}  // namespace

}  // namespace fourscore
