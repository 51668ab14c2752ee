// Bruck's algorithm (bruck1997) for blocks of any size and any number of ranks: in round k every rank hands the blocks
// whose way still has 2^k in it to the rank 2^k further on, all in one message. ceil(log2 P) messages instead of P - 1,
// for which most elements travel more than once: for small blocks, where the latency of a message is what costs.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/staging.hpp"

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

/// Whether the blocks of this slot go on in this round.
bool goes_on(int distance, int round) { return (distance >> round) % 2 == 1; }

/// What passes through this rank, in elements.
struct Passage {
  int rounds = 0;
  std::vector<Index> places;   ///< where the slots lie in the staging, by distance; the first is not used
  Index slots = 0;             ///< all of them: each is large enough for every block that passes through it
  Index largest_message = 0;   ///< in a round, sent or received
  Index largest_gathered = 0;  ///< in a round: a message of a single block goes straight from its slot
  Index largest_received = 0;
  bool in_source = true;  ///< the messages are put together in the source, which is free from packing to the end

  explicit Passage(const ExchangeSpec& spec) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    while ((1 << rounds) < ranks) ++rounds;
    places.assign(static_cast<std::size_t>(ranks), 0);
    for (int distance = 1; distance < ranks; ++distance) {
      places[static_cast<std::size_t>(distance)] = slots;
      Index largest = 0;
      for (int round = 0; round <= rounds; ++round)
        largest = std::max(largest, volume_in_slot(spec, me, distance, round));
      slots += largest;
    }
    for (int round = 0; round < rounds; ++round) {
      Index sent = 0;
      Index received = 0;
      int blocks = 0;
      for (int distance = 1 << round; distance < ranks; ++distance) {
        if (!goes_on(distance, round)) continue;
        const Index volume = volume_in_slot(spec, me, distance, round);
        blocks += volume > 0 ? 1 : 0;
        sent += volume;
        received += volume_in_slot(spec, me, distance, round + 1);
      }
      if (blocks > 1) largest_gathered = std::max(largest_gathered, sent);
      largest_received = std::max(largest_received, received);
      largest_message = std::max({largest_message, sent, received});
    }
    in_source = messages() * static_cast<Index>(spec.element_bytes) <= static_cast<Index>(spec.source.bytes());
  }
  [[nodiscard]] Index messages() const { return largest_gathered + largest_received; }
  [[nodiscard]] std::size_t staging_bytes(std::size_t element_bytes) const {
    return static_cast<std::size_t>(slots + (in_source ? 0 : messages())) * element_bytes;
  }
};

class Bruck : public StagedExchange {
 public:
  Bruck(const ExchangeMethod& method, const ExchangeSpec& spec) : StagedExchange(spec, exchange_name) {
    if (moves_nothing()) return;
    const Passage passage(spec);
    require_counts(spec, passage);
    stage(spec, method, passage.staging_bytes(spec.element_bytes));
    // As a rule the source holds both messages of a round: half of the blocks each.
    gathered_ = passage.in_source ? static_cast<std::byte*>(spec.source.data())
                                  : staging().data() + passage.slots * element_bytes();
    receive_ = gathered_ + passage.largest_gathered * element_bytes();
    for (int k = 0; k < passage.rounds; ++k) plan_round(spec, k, passage);
    plan_copies(spec, passage);
    state_copies();
  }

  /// The copies between the slots and the messages are part of every round, so they count as exchange.
  void start() override {
    for (const Round& round : rounds_) {
      for (const Move& move : round.gather) move.run();
      FOURSCORE_MPI(MPI_Sendrecv(round.sent, round.send_count, type(), round.to, message_tag, receive_,
                                 round.receive_count, type(), round.from, message_tag, comm(), MPI_STATUS_IGNORE));
      for (const Move& move : round.scatter) move.run();
    }
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
    const std::byte* sent = nullptr;
    int send_count = 0;
    int receive_count = 0;
    std::vector<Move> gather;
    std::vector<Move> scatter;
  };

  static void require_counts(const ExchangeSpec& spec, const Passage& passage) {
    Index largest = passage.largest_message;
    FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, spec.agreeing_comm()));
    require_int_count(largest, "the blocks of a round", exchange_name);
  }

  [[nodiscard]] std::byte* slot(const Passage& passage, int distance) const {
    return staging().data() + passage.places[static_cast<std::size_t>(distance)] * element_bytes();
  }

  void plan_round(const ExchangeSpec& spec, int k, const Passage& passage) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    Round round;
    Index sent = 0;
    Index received = 0;
    for (int distance = 1 << k; distance < ranks; ++distance) {
      if (!goes_on(distance, k)) continue;
      if (const Index volume = volume_in_slot(spec, me, distance, k); volume > 0) {
        const Index bytes = volume * element_bytes();
        round.gather.push_back(
            {slot(passage, distance), gathered_ + sent * element_bytes(), static_cast<std::size_t>(bytes)});
        sent += volume;
        if (distance % (1 << k) != 0) declared().volume.bytes_relayed += bytes;
      }
      if (const Index volume = volume_in_slot(spec, me, distance, k + 1); volume > 0) {
        round.scatter.push_back({receive_ + received * element_bytes(), slot(passage, distance),
                                 static_cast<std::size_t>(volume * element_bytes())});
        received += volume;
      }
    }
    round.sent = gathered_;
    if (round.gather.size() == 1) {
      round.sent = round.gather.front().from;
      round.gather.clear();
    }
    // The partner knows from the same geometry that nothing comes.
    if (sent > 0) round.to = (me + (1 << k)) % ranks;
    if (received > 0) round.from = (me - (1 << k) + ranks) % ranks;
    round.send_count = static_cast<int>(sent);
    round.receive_count = static_cast<int>(received);
    declared().volume.bytes_sent += sent * element_bytes();
    declared().volume.messages_sent += sent > 0 ? 1 : 0;
    if (sent > 0 || received > 0) rounds_.push_back(std::move(round));
  }

  void plan_copies(const ExchangeSpec& spec, const Passage& passage) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    add_own_block(spec, pack_steps());
    for (int distance = 1; distance < ranks; ++distance) {
      const int to = (me + distance) % ranks;
      const int from = (me - distance + ranks) % ranks;
      pack_into(spec, block_between(spec.from, me, spec.to, to), slot(passage, distance));
      unpack_from(spec, block_between(spec.from, from, spec.to, me), slot(passage, distance));
    }
  }

  std::byte* gathered_ = nullptr;
  std::byte* receive_ = nullptr;
  std::vector<Round> rounds_;
};

class BruckMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "log2 P messages a rank, blocks passed on by others: for small blocks", "bruck1997"};
  }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    return Passage(spec).staging_bytes(spec.element_bytes);
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Bruck>(*this, spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(BruckMethod);

}  // namespace

}  // namespace fourscore
