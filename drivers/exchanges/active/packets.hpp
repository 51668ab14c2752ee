#pragma once
// Blocks cut into packets (exchange `active`). No MPI here.

#include <array>
#include <cstddef>

#include "kernels/copy.hpp"

namespace fourscore {

/// A block, without gaps in an order of its axes, cut into boxes that lie one behind the other in it. They are as many
/// of its slowest indices as a packet holds; where it does not hold one of them, parts of that, and so on. Packets of
/// one block differ in size where a cut does not divide. Both sides of a message come to the same.
class PacketCut {
 public:
  struct Packet {
    Extents low{0, 0, 0};  ///< from the block's lowest element
    Extents extents{0, 0, 0};
  };

  /// A packet holds `most` elements at most, 1 or more.
  PacketCut(const Extents& extents, const std::array<int, 3>& order, Index most);

  [[nodiscard]] Index packets() const { return outer_ * pieces_; }
  [[nodiscard]] Index largest() const { return piece_ * inner_; }  ///< elements of the largest packet
  [[nodiscard]] Packet packet(Index number) const;
  /// The last packet along the axis that is cut is smaller than those before it.
  [[nodiscard]] bool ends_smaller() const { return pieces_ * piece_ != extents_[cut_axis()]; }
  /// Whether this packet is such a last one.
  [[nodiscard]] bool is_last_piece(Index number) const { return number % pieces_ == pieces_ - 1; }

 private:
  [[nodiscard]] std::size_t cut_axis() const { return static_cast<std::size_t>(order_[position_]); }

  Extents extents_;
  std::array<int, 3> order_;
  std::size_t position_ = 0;  ///< in order_, of the axis that is cut
  Index outer_ = 1;           ///< indices of the slower axes, together
  Index inner_ = 1;           ///< elements of one index along the axis that is cut
  Index piece_ = 0;           ///< indices along that axis in a packet
  Index pieces_ = 0;
};

/// The copies of all packets of a block between an array and packets without gaps. Takes the same memory for any number
/// of packets.
class PacketCopies {
 public:
  enum class Way { into_packets, out_of_packets };
  /// strides: of the array, in elements.
  PacketCopies(const PacketCut& cut, const std::array<int, 3>& order, const Extents& strides, std::size_t element_bytes,
               Way way, Stores stores);

  [[nodiscard]] const PacketCut& cut() const { return cut_; }
  [[nodiscard]] Index elements(Index packet) const { return plan_of(packet).bytes() / element_bytes_; }
  /// Bytes from the block's lowest element in the array to that of the packet.
  [[nodiscard]] Index offset(Index packet) const;
  /// The packet lies in the array as in a message.
  [[nodiscard]] bool is_one_run(Index packet) const { return plan_of(packet).is_one_run(); }
  [[nodiscard]] bool all_are_one_run() const { return whole_.is_one_run() && last_.is_one_run(); }
  /// from, to: of the packet's lowest element on either side.
  void run(Index packet, const std::byte* from, std::byte* to) const { plan_of(packet).run(from, to); }

 private:
  [[nodiscard]] const CopyPlan& plan_of(Index packet) const {
    return cut_.ends_smaller() && cut_.is_last_piece(packet) ? last_ : whole_;
  }

  PacketCut cut_;
  Extents strides_;
  Index element_bytes_;
  CopyPlan whole_;
  CopyPlan last_;  ///< for smaller last packets; copies nothing where there are none
};

}  // namespace fourscore
