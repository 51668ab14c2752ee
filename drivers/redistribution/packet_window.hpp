#pragma once
// Windows into which others put packets: where packets wait for the rank that they are for, and how it and their sender
// tell each other how far they are.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/box.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// How the packets of one block pass through the slots that their sender has at their target. Both come to the same.
struct SlotRule {
  Index packets = 0;     ///< in one exchange
  Index slots = 0;       ///< in the target's window, each of slot_bytes
  Index slot_bytes = 0;  ///< bytes of the largest packet, and on to the next cache line
  Index burst = 0;       ///< packets that one flag tells of, and one credit frees: half of the slots, or the only one
  [[nodiscard]] Index bursts() const { return (packets + burst - 1) / burst; }
  [[nodiscard]] Index bytes() const { return slots * slot_bytes; }
};
/// in_flight: slots at most. Twice as many as there are packets are of no use: they take two exchanges.
[[nodiscard]] SlotRule slot_rule(Index packets, Index largest_bytes, Index in_flight);

/// This rank's window, in which its senders put packets and flags and its targets credits, in one passive epoch from
/// construction to destruction. Counts of packets go on from one exchange to the next, so that nothing is ever reset:
///   the sender puts a burst into free slots, flushes, and puts the flag: packets sent to this target in all;
///   the target, which polls the flag, takes the packets out and puts the credit: packets taken from this sender.
/// Packet n goes to slot n modulo slots, once the credit has come within `slots` of its number.
class PacketWindow {
 public:
  struct Partner {
    int rank = 0;  ///< in the exchange's communicator
    SlotRule rule;
  };

  /// Collective over plan_comm, of which the ranks of comm are a part, and which has several.
  PacketWindow(MPI_Comm comm, MPI_Comm plan_comm, const std::vector<Partner>& targets,
               const std::vector<Partner>& senders);
  ~PacketWindow();
  PacketWindow(const PacketWindow&) = delete;
  PacketWindow& operator=(const PacketWindow&) = delete;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// To be called before each look at flags and credits: what others put is then seen.
  void poll() const;
  /// Whether `count` more packets have a free slot at a target.
  [[nodiscard]] bool has_room(std::size_t target, Index count) const;
  /// Puts the packet behind the last one. `data` must stay until flush().
  void put(std::size_t target, const std::byte* data, Index count, MPI_Datatype type);
  /// Tells the target of all that were put; after flush().
  void flag(std::size_t target);

  /// Whether `count` packets have come that were not taken.
  [[nodiscard]] bool has_come(std::size_t sender, Index count) const;
  /// Packet number `ahead` behind those taken.
  [[nodiscard]] const std::byte* packet(std::size_t sender, Index ahead) const;
  /// So many packets are read. Nobody is told: their sender knows of the free slots in another way.
  void take(std::size_t sender, Index count) { incoming_[sender].taken += static_cast<std::uint64_t>(count); }
  /// Takes them, and gives their slots back to their sender.
  void credit(std::size_t sender, Index count);

  /// Completes what was put, at its targets.
  void flush();

  /// For a rank that has nothing to do before more comes: lets MPI move what others put here, where it takes this
  /// process to do it, and lets the partners run.
  void give_way();

 private:
  struct Outgoing {
    int target = 0;  ///< in the window
    SlotRule rule;
    MPI_Aint slots = 0;  ///< in the target's window
    MPI_Aint flag = 0;   ///< in the target's window
    std::uint64_t* credit = nullptr;
    std::uint64_t sent = 0;
    std::uint64_t told = 0;  ///< origin of the flag
  };
  struct Incoming {
    int sender = 0;  ///< in the window
    SlotRule rule;
    MPI_Aint credit = 0;  ///< in the sender's window
    std::uint64_t* flag = nullptr;
    const std::byte* slots = nullptr;
    std::uint64_t taken = 0;
    std::uint64_t told = 0;  ///< origin of the credit
  };

  void exchange_places(MPI_Comm comm, const std::vector<Partner>& targets, const std::vector<Partner>& senders);
  void put_counter(const std::uint64_t& value, int rank, MPI_Aint place);

  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<int> unflushed_;  ///< ranks, some of them twice
  std::uint64_t idle_polls_ = 0;
  std::uint64_t polls_before_yield_ = 0;
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
  mpi::Communicator ranks_;  ///< the ranks of the window
  mpi::Window window_;
};

}  // namespace fourscore
