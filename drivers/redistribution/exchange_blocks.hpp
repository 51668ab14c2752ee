#pragma once
// What the exchanges share: which block goes from which rank to which, and how blocks are packed around a message.

#include <array>
#include <cstddef>
#include <vector>

#include "interfaces/exchange.hpp"
#include "kernels/copy_steps.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// The elements that one rank holds before and another after an exchange. Offsets are of the block's lowest element
/// in the two local arrays, strides are theirs; all in elements.
struct Block {
  Extents extents{0, 0, 0};
  Index from_offset = 0;
  Index to_offset = 0;
  Extents from_strides{0, 0, 0};
  Extents to_strides{0, 0, 0};
  [[nodiscard]] Index volume() const { return extents[0] * extents[1] * extents[2]; }
};
[[nodiscard]] Block block_between(const Decomposition& from, int sender, const Decomposition& to, int receiver);

/// The other ranks of spec.comm that get elements of this rank, and those that give it some; ascending. No more is
/// asked of the others than arithmetic tells.
[[nodiscard]] std::vector<int> receivers_of(const ExchangeSpec& spec);
[[nodiscard]] std::vector<int> senders_to(const ExchangeSpec& spec);
/// Ascending ranks in the order in which rank `me` best serves them: from the one after it on, then those before it, so
/// that not all begin with rank 0.
[[nodiscard]] std::vector<int> starting_after(int me, std::vector<int> ranks);

/// What all ranks of a plan agree on. Collective over spec.plan_comm (or spec.comm); throws std::invalid_argument for
/// a spec whose decompositions, buffers and communicator do not belong together.
struct ExchangeAgreement {
  bool moves_nothing = false;      ///< every element stays at its place in the source buffer, on every rank
  bool pack_from_order = false;    ///< some block to another rank is not contiguous in the source ...
  bool unpack_from_order = false;  ///< ... or in the destination, when messages are in the source's axis order
  bool pack_to_order = false;      ///< the same when messages are in the destination's axis order
  bool unpack_to_order = false;
  Index largest_block = 0;  ///< elements, of the messages
  Index largest_array = 0;  ///< elements, of the local arrays
};
[[nodiscard]] ExchangeAgreement agree(const ExchangeSpec& spec);

/// How the messages of a plan lie in memory, equal on all its ranks: by the side that can change the order of axes in
/// fewer passes.
struct MessageOrder {
  bool pack = false;
  bool unpack = false;
  std::array<int, 3> order{0, 1, 2};  ///< order of the axes within a message
};
[[nodiscard]] MessageOrder order_of_messages(const ExchangeAgreement& agreement, const ExchangeSpec& spec);
/// Strides, in elements, of a box stored without gaps.
[[nodiscard]] Extents dense_strides(const Extents& extents, const std::array<int, 3>& order);

/// Throws InputError naming `count` and `what` it counts when MPI's int cannot hold it.
void require_int_count(Index count, const char* what, const char* exchange);

/// Messages of contiguous elements, and the local copies before and after them. A side on which all ranks find every
/// block contiguous is left out:
///   pack, unpack   source -> spare, messages spare -> source, source -> spare
///   pack           source -> spare, messages spare -> source
///   unpack         messages source -> spare, spare -> source
///   neither        messages source -> spare
/// The block that stays is copied without MPI: once, within the array where order allows, or else twice.
class PackedBlocks {
 public:
  struct Message {
    int rank;            ///< in spec.comm, never this one
    Index count;         ///< elements, more than 0 and within int
    Index displacement;  ///< elements from send_buffer() or receive_buffer()
  };

  /// Collective as agree(). `exchange` is named in errors.
  PackedBlocks(const ExchangeSpec& spec, const char* exchange);

  void pack() const { pack_steps_.run(); }
  void unpack() const { unpack_steps_.run(); }
  [[nodiscard]] ExchangeFacts facts() const;
  [[nodiscard]] PackedMemory memory(std::size_t element_bytes) const;
  [[nodiscard]] const std::vector<Message>& sends() const { return sends_; }        ///< by rank
  [[nodiscard]] const std::vector<Message>& receives() const { return receives_; }  ///< by rank
  [[nodiscard]] const std::byte* send_buffer() const { return send_buffer_; }
  [[nodiscard]] std::byte* receive_buffer() const { return receive_buffer_; }
  [[nodiscard]] const ExchangeAgreement& agreement() const { return agreement_; }

 private:
  struct Layout;
  void plan_messages(const ExchangeSpec& spec, const Layout& layout);
  void plan_own_block(const ExchangeSpec& spec, const Layout& layout, Index after_sends, Index after_receives);

  ExchangeAgreement agreement_;
  CopySteps pack_steps_;
  CopySteps unpack_steps_;
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  std::byte* send_buffer_ = nullptr;
  std::byte* receive_buffer_ = nullptr;
  bool lands_in_source_ = false;
  MessageVolume message_volume_;
};

/// The messages as MPI's collectives want them: by rank, 0 for those that get nothing.
struct CollectiveCounts {
  CollectiveCounts(int ranks, const std::vector<PackedBlocks::Message>& sends,
                   const std::vector<PackedBlocks::Message>& receives);
  std::vector<int> send_counts;
  std::vector<int> send_displacements;
  std::vector<int> receive_counts;
  std::vector<int> receive_displacements;
};

/// What the exchanges of packed blocks have in common: all but how the messages go from sends() to receives(), on a
/// communicator of their own. A subclass adds start(), and finish() where start() returns before all have arrived.
class PackedExchange : public Exchange {
 public:
  void pack() override { blocks_.pack(); }
  void unpack() override { blocks_.unpack(); }
  [[nodiscard]] std::optional<PackedMemory> packed_memory() const override {
    return blocks_.memory(static_cast<std::size_t>(element_bytes_));
  }

 protected:
  /// Collective as agree(). `exchange` is named in errors.
  PackedExchange(const ExchangeSpec& spec, const char* exchange)
      : blocks_(spec, exchange),
        comm_(mpi::duplicate(spec.comm)),
        type_(mpi::element_type(spec.element_bytes)),
        element_bytes_(static_cast<Index>(spec.element_bytes)) {
    declared() = blocks_.facts();
  }

  [[nodiscard]] const PackedBlocks& blocks() const { return blocks_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] const std::byte* address_of_sent(const PackedBlocks::Message& message) const {
    return blocks_.send_buffer() + message.displacement * element_bytes_;
  }
  [[nodiscard]] std::byte* address_of_received(const PackedBlocks::Message& message) const {
    return blocks_.receive_buffer() + message.displacement * element_bytes_;
  }
  [[nodiscard]] std::size_t bytes_of(const PackedBlocks::Message& message) const {
    return static_cast<std::size_t>(message.count * element_bytes_);
  }

 private:
  PackedBlocks blocks_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  Index element_bytes_;
};

}  // namespace fourscore
