// Bruck's algorithm (bruck1997) for blocks of any size and any number of ranks: in round k every rank hands the blocks
// whose way still has 2^k in it to the rank 2^k further on, all in one message. ceil(log2 P) messages instead of P - 1,
// for which most elements travel more than once: for small blocks, where the latency of a message is what costs.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "bruck";
constexpr int message_tag = 0;

/// Elements of the block that lies in slot `distance` of rank `holder` when the rounds below `round` are done: it came
/// from the rank that its lower bits lead back to, and is for the rank `distance` further on from there.
Index volume_in_slot(const ExchangeSpec& spec, int holder, int distance, int round) {
  const int ranks = spec.from.ranks();
  const int done = distance % (1 << round);
  const int origin = (holder - done + ranks) % ranks;
  return block_between(spec.from, origin, spec.to, (origin + distance) % ranks).volume();
}

class Bruck : public Exchange {
 public:
  explicit Bruck(const ExchangeSpec& spec)
      : moves_nothing_(agreed_moves_nothing(spec)),
        comm_(mpi::duplicate(spec.comm)),
        type_(mpi::element_type(spec.element_bytes)),
        element_bytes_(static_cast<Index>(spec.element_bytes)) {
    const int me = mpi::rank_in(spec.comm);
    const Block own = block_between(spec.from, me, spec.to, me);
    traffic_.bytes_self = own.volume() * element_bytes_;
    if (moves_nothing_) return;
    const std::vector<Index> places = place_slots(spec);
    plan_rounds(spec, places);
    plan_copies(spec, places);
  }

  void pack() override { run(pack_); }
  /// The copies between the slots and the messages are part of every round, so they count as exchange.
  void start() override {
    for (const Round& round : rounds_) {
      for (const Move& move : round.gather) move.run();
      FOURSCORE_MPI(MPI_Sendrecv(send_, round.send_count, type_, round.to, message_tag, receive_, round.receive_count,
                                 type_, round.from, message_tag, comm_.get(), MPI_STATUS_IGNORE));
      for (const Move& move : round.scatter) move.run();
    }
  }
  void unpack() override { run(unpack_); }
  [[nodiscard]] bool packs() const override { return !pack_.empty(); }
  [[nodiscard]] bool unpacks() const override { return !unpack_.empty(); }
  [[nodiscard]] bool lands_in_source() const override { return moves_nothing_; }
  [[nodiscard]] Traffic traffic() const override { return traffic_; }
  [[nodiscard]] Index bytes_packed() const override { return bytes_of(pack_); }
  [[nodiscard]] Index bytes_unpacked() const override { return bytes_of(unpack_); }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return (slots_ ? slots_->bytes() : 0) + (messages_ ? messages_->bytes() : 0);
  }

 private:
  /// Whole blocks between the slots and a message.
  struct Move {
    const std::byte* from;
    std::byte* to;
    std::size_t bytes;
    void run() const { std::memcpy(to, from, bytes); }
  };
  struct Round {
    int to = MPI_PROC_NULL;
    int from = MPI_PROC_NULL;
    int send_count = 0;
    int receive_count = 0;
    std::vector<Move> gather;
    std::vector<Move> scatter;
  };

  static bool agreed_moves_nothing(const ExchangeSpec& spec) {
    const ExchangeAgreement agreement = agree(spec);
    require_int_count(agreement.largest_block, "a block", exchange_name);
    return agreement.moves_nothing;
  }
  static void run(const std::vector<CopyStep>& steps) {
    for (const CopyStep& step : steps) step.run();
  }

  static int rounds_of(int ranks) {
    int rounds = 0;
    while ((1 << rounds) < ranks) ++rounds;
    return rounds;
  }

  /// A slot for each rank but this one, large enough for every block that passes through it. Returns the slots' places
  /// in elements; place[0] is not used.
  std::vector<Index> place_slots(const ExchangeSpec& spec) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    std::vector<Index> places(static_cast<std::size_t>(ranks), 0);
    Index end = 0;
    for (int distance = 1; distance < ranks; ++distance) {
      places[static_cast<std::size_t>(distance)] = end;
      Index largest = 0;
      for (int round = 0; round <= rounds_of(ranks); ++round)
        largest = std::max(largest, volume_in_slot(spec, me, distance, round));
      end += largest;
    }
    slots_ = ordinary_buffer(static_cast<std::size_t>(end * element_bytes_));
    return places;
  }

  void plan_rounds(const ExchangeSpec& spec, const std::vector<Index>& places) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    Index largest_sent = 0;
    Index largest_received = 0;
    for (int k = 0; k < rounds_of(ranks); ++k) {
      Index sent = 0;
      Index received = 0;
      for (int distance = 1 << k; distance < ranks; ++distance) {
        if ((distance >> k) % 2 == 0) continue;
        sent += volume_in_slot(spec, me, distance, k);
        received += volume_in_slot(spec, me, distance, k + 1);
      }
      largest_sent = std::max(largest_sent, sent);
      largest_received = std::max(largest_received, received);
    }
    Index largest_message = std::max(largest_sent, largest_received);
    FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest_message, 1, MPI_INT64_T, MPI_MAX,
                                spec.plan_comm == MPI_COMM_NULL ? spec.comm : spec.plan_comm));
    require_int_count(largest_message, "the blocks of a round", exchange_name);
    // The source is free from packing to the end, and as a rule holds both messages of a round: half of the blocks
    // each.
    const auto needed = static_cast<std::size_t>((largest_sent + largest_received) * element_bytes_);
    if (spec.source.bytes() < needed) messages_ = ordinary_buffer(needed);
    send_ = static_cast<std::byte*>(messages_ ? messages_->data() : spec.source.data());
    receive_ = send_ + largest_sent * element_bytes_;
    for (int k = 0; k < rounds_of(ranks); ++k) plan_round(spec, k, places, me);
  }

  void plan_round(const ExchangeSpec& spec, int k, const std::vector<Index>& places, int me) {
    const int ranks = spec.from.ranks();
    Round round;
    Index sent = 0;
    Index received = 0;
    auto* slots = static_cast<std::byte*>(slots_->data());
    for (int distance = 1 << k; distance < ranks; ++distance) {
      if ((distance >> k) % 2 == 0) continue;
      std::byte* slot = slots + places[static_cast<std::size_t>(distance)] * element_bytes_;
      if (const Index volume = volume_in_slot(spec, me, distance, k); volume > 0) {
        const Index bytes = volume * element_bytes_;
        round.gather.push_back({slot, send_ + sent * element_bytes_, static_cast<std::size_t>(bytes)});
        sent += volume;
        if (distance % (1 << k) != 0) traffic_.bytes_relayed += bytes;
      }
      if (const Index volume = volume_in_slot(spec, me, distance, k + 1); volume > 0) {
        round.scatter.push_back(
            {receive_ + received * element_bytes_, slot, static_cast<std::size_t>(volume * element_bytes_)});
        received += volume;
      }
    }
    // The partner knows from the same geometry that nothing comes.
    if (sent > 0) round.to = (me + (1 << k)) % ranks;
    if (received > 0) round.from = (me - (1 << k) + ranks) % ranks;
    round.send_count = static_cast<int>(sent);
    round.receive_count = static_cast<int>(received);
    traffic_.bytes_sent += sent * element_bytes_;
    traffic_.messages_sent += sent > 0 ? 1 : 0;
    if (sent > 0 || received > 0) rounds_.push_back(std::move(round));
  }

  /// Blocks lie in the slots in the source's axis order.
  void plan_copies(const ExchangeSpec& spec, const std::vector<Index>& places) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    const auto* source = static_cast<const std::byte*>(spec.source.data());
    auto* spare = static_cast<std::byte*>(spec.spare.data());
    auto* slots = static_cast<std::byte*>(slots_->data());
    const auto stores = [&](const Decomposition& layout) {
      return stores_for(static_cast<std::size_t>(layout.boxes[static_cast<std::size_t>(me)].volume() * element_bytes_));
    };
    if (const Block own = block_between(spec.from, me, spec.to, me); own.volume() > 0)
      pack_.push_back({CopyPlan(own.extents, own.from_strides, own.to_strides, spec.element_bytes, stores(spec.to)),
                       source + own.from_offset * element_bytes_, spare + own.to_offset * element_bytes_});
    for (int distance = 1; distance < ranks; ++distance) {
      std::byte* slot = slots + places[static_cast<std::size_t>(distance)] * element_bytes_;
      if (const Block out = block_between(spec.from, me, spec.to, (me + distance) % ranks); out.volume() > 0)
        pack_.push_back({CopyPlan(out.extents, out.from_strides, dense_strides(out.extents, spec.from.order),
                                  spec.element_bytes, stores(spec.from)),
                         source + out.from_offset * element_bytes_, slot});
      if (const Block in = block_between(spec.from, (me - distance + ranks) % ranks, spec.to, me); in.volume() > 0)
        unpack_.push_back({CopyPlan(in.extents, dense_strides(in.extents, spec.from.order), in.to_strides,
                                    spec.element_bytes, stores(spec.to)),
                           slot, spare + in.to_offset * element_bytes_});
    }
  }

  bool moves_nothing_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  Index element_bytes_;
  std::unique_ptr<Buffer> slots_;
  std::unique_ptr<Buffer> messages_;  ///< null: in the source
  std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  std::vector<CopyStep> pack_;
  std::vector<CopyStep> unpack_;
  std::vector<Round> rounds_;
  Traffic traffic_;
};

class BruckMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "log2 P messages a rank, blocks passed on by others: for small blocks", "bruck1997"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Bruck>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(BruckMethod);

}  // namespace

}  // namespace fourscore
