// Active packets (eleftheriou2005, section "Parallel implementation" and its second communication layer): one-sided
// like rma, but blocks go in packets of a chosen size, each put into a slot of the target's window as soon as one is
// free and unpacked when its flag is seen, while others are on their way. No message is matched, and nobody says
// "ready" before data flows: slots that were taken are given back by a count. docs/algorithms/exchanges.md has more.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "exchanges/active/packets.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "redistribution/one_sided.hpp"
#include "redistribution/packet_window.hpp"
#include "redistribution/staging.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "active";
constexpr Index default_packet_bytes = 65536;
constexpr Index most_packet_bytes = Index{1} << 30;
constexpr Index default_in_flight = 4;
constexpr Index most_in_flight = 1024;

struct PacketSizes {
  Index bytes;      ///< in a packet, at most
  Index in_flight;  ///< packets for one target that it has not taken yet, at most
};

PacketSizes sizes_of(const Problem& problem, std::size_t element_bytes) {
  return {integer_parameter(problem, "packet-bytes", default_packet_bytes, static_cast<Index>(element_bytes),
                            most_packet_bytes),
          integer_parameter(problem, "packets-in-flight", default_in_flight, 1, most_in_flight)};
}

PacketSizes sizes_of(const ExchangeSpec& spec) {
  return sizes_of(spec.problem == nullptr ? Problem{} : *spec.problem, spec.element_bytes);
}

/// Packets are always copied out of their slots. So they have the source's order, which spares the copy into them,
/// unless only the destination's does.
const std::array<int, 3>& order_of_packets(const ExchangeAgreement& agreement, const ExchangeSpec& spec) {
  return agreement.pack_from_order && !agreement.pack_to_order ? spec.to.order : spec.from.order;
}

/// One side of a block: its packets, how they pass through the slots, and how many have.
struct PacketStream {
  PacketStream(const ExchangeSpec& spec, const std::array<int, 3>& order, const Block& block, int partner,
               PacketCopies::Way way)
      : rank(partner),
        copies(PacketCut(block.extents, order, sizes_of(spec).bytes / static_cast<Index>(spec.element_bytes)), order,
               way == PacketCopies::Way::into_packets ? block.from_strides : block.to_strides, spec.element_bytes, way,
               way == PacketCopies::Way::into_packets ? Stores::ordinary : stores_of_result(spec)),
        rule(slot_rule(copies.cut().packets(), copies.cut().largest() * static_cast<Index>(spec.element_bytes),
                       sizes_of(spec).in_flight)),
        array_offset((way == PacketCopies::Way::into_packets ? block.from_offset : block.to_offset) *
                     static_cast<Index>(spec.element_bytes)) {}

  static Stores stores_of_result(const ExchangeSpec& spec) {
    const int me = mpi::rank_in(spec.comm);
    return stores_for(static_cast<std::size_t>(spec.to.box(me).volume()) * spec.element_bytes);
  }
  /// Packets of the burst that comes next.
  [[nodiscard]] Index next_burst() const { return std::min(rule.burst, rule.packets - done); }
  [[nodiscard]] bool is_done() const { return done == rule.packets; }
  /// Bytes in which a burst is put together.
  [[nodiscard]] Index staging_bytes() const { return copies.all_are_one_run() ? 0 : rule.burst * rule.slot_bytes; }

  int rank;
  PacketCopies copies;
  SlotRule rule;
  Index array_offset;            ///< bytes to the block's lowest element
  Index done = 0;                ///< packets of this run that were sent or taken
  std::byte* staging = nullptr;  ///< for a sender, where it has to put packets together
};

std::vector<PacketStream> streams_out(const ExchangeSpec& spec, const std::array<int, 3>& order) {
  const int me = mpi::rank_in(spec.comm);
  std::vector<PacketStream> streams;
  for (const int rank : starting_after(me, receivers_of(spec)))
    streams.emplace_back(spec, order, block_between(spec.from, me, spec.to, rank), rank,
                         PacketCopies::Way::into_packets);
  return streams;
}

std::vector<PacketStream> streams_in(const ExchangeSpec& spec, const std::array<int, 3>& order) {
  const int me = mpi::rank_in(spec.comm);
  std::vector<PacketStream> streams;
  for (const int rank : senders_to(spec))
    streams.emplace_back(spec, order, block_between(spec.from, rank, spec.to, me), rank,
                         PacketCopies::Way::out_of_packets);
  return streams;
}

std::size_t staging_of(const std::vector<PacketStream>& outgoing) {
  Index bytes = 0;
  for (const PacketStream& stream : outgoing) bytes += stream.staging_bytes();
  return static_cast<std::size_t>(bytes);
}

std::vector<PacketWindow::Partner> partners_of(const std::vector<PacketStream>& streams) {
  std::vector<PacketWindow::Partner> partners;
  for (const PacketStream& stream : streams) partners.push_back({stream.rank, stream.rule});
  return partners;
}

/// Packs and unpacks packet by packet while it exchanges, so that pack() does nothing, and unpack() only moves the
/// block that stays. The source is read and the spare written at the same time: the result is always in the spare.
class Active : public Exchange {
 public:
  explicit Active(const ExchangeSpec& spec)
      : agreement_(agree(spec)),
        comm_(mpi::duplicate(spec.comm)),
        type_(mpi::element_type(spec.element_bytes)),
        source_(static_cast<const std::byte*>(spec.source.data())),
        spare_(static_cast<std::byte*>(spec.spare.data())) {
    const int me = mpi::rank_in(spec.comm);
    const auto element_bytes = static_cast<Index>(spec.element_bytes);
    const Block own = block_between(spec.from, me, spec.to, me);
    declared().volume.bytes_self = own.volume() * element_bytes;
    declared().lands_in_source = agreement_.moves_nothing;
    if (agreement_.moves_nothing) return;
    own_ = {CopyPlan(own.extents, own.from_strides, own.to_strides, spec.element_bytes,
                     PacketStream::stores_of_result(spec)),
            source_ + own.from_offset * element_bytes, spare_ + own.to_offset * element_bytes};
    declared().unpacks = own_.plan.bytes() > 0;
    declared().bytes_unpacked = own_.plan.bytes();
    const std::array<int, 3>& order = order_of_packets(agreement_, spec);
    outgoing_ = streams_out(spec, order);
    incoming_ = streams_in(spec, order);
    for (const PacketStream& stream : outgoing_) {
      declared().volume.bytes_sent += block_between(spec.from, me, spec.to, stream.rank).volume() * element_bytes;
      declared().volume.messages_sent += stream.rule.packets;
      declared().volume.control_messages_sent += stream.rule.bursts();  // a flag each
    }
    for (const PacketStream& stream : incoming_)
      declared().volume.control_messages_sent += stream.rule.bursts();  // credit
    if (mpi::size_of(spec.agreeing_comm()) == 1) return;                // Open MPI gives one rank no window
    stage(spec);
    window_ = std::make_unique<PacketWindow>(comm_.get(), spec.agreeing_comm(), partners_of(outgoing_),
                                             partners_of(incoming_));
    put_.reserve(outgoing_.size());
    declared().workspace_bytes = staging_.own_bytes() + window_->bytes();
  }

  /// Sends what slots are free for.
  void start() override {
    for (auto* streams : {&outgoing_, &incoming_})
      for (PacketStream& stream : *streams) stream.done = 0;
    if (!window_) return;
    window_->poll();
    while (send_bursts()) {
    }
    window_->flush();
  }

  void finish() override {
    if (!window_) return;
    while (!is_complete()) {
      window_->poll();
      const bool took = take_bursts();
      if (!send_bursts() && !took) window_->give_way();
    }
    window_->flush();
  }
  void unpack() override { own_.run(); }

 private:
  void stage(const ExchangeSpec& spec) {
    staging_ = Staging(spec, staging_of(outgoing_), ordinary_buffer);
    std::byte* place = staging_.data();
    for (PacketStream& stream : outgoing_) {
      stream.staging = place;
      place += stream.staging_bytes();
    }
  }

  [[nodiscard]] bool is_complete() const {
    return std::ranges::all_of(outgoing_, &PacketStream::is_done) &&
           std::ranges::all_of(incoming_, &PacketStream::is_done);
  }

  /// A burst to each target that has room for it. The flags follow once all of them are in place.
  bool send_bursts() {
    put_.clear();
    for (std::size_t i = 0; i < outgoing_.size(); ++i) {
      PacketStream& stream = outgoing_[i];
      const Index burst = stream.next_burst();
      if (burst == 0 || !window_->has_room(i, burst)) continue;
      for (Index k = 0; k < burst; ++k) put_packet(i, k);
      put_.push_back(i);
    }
    window_->flush();
    for (const std::size_t i : put_) window_->flag(i);
    return !put_.empty();
  }

  void put_packet(std::size_t target, Index place_in_burst) {
    PacketStream& stream = outgoing_[target];
    const Index number = stream.done++;
    const std::byte* data = source_ + stream.array_offset + stream.copies.offset(number);
    if (!stream.copies.is_one_run(number)) {
      std::byte* staged = stream.staging + place_in_burst * stream.rule.slot_bytes;
      stream.copies.run(number, data, staged);
      data = staged;
    }
    window_->put(target, data, stream.copies.elements(number), type_);
  }

  /// A burst of each sender whose has come, straight to its place.
  bool take_bursts() {
    bool took = false;
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      PacketStream& stream = incoming_[i];
      const Index burst = stream.next_burst();
      if (burst == 0 || !window_->has_come(i, burst)) continue;
      for (Index k = 0; k < burst; ++k, ++stream.done)
        stream.copies.run(stream.done, window_->packet(i, k),
                          spare_ + stream.array_offset + stream.copies.offset(stream.done));
      window_->credit(i, burst);
      took = true;
    }
    return took;
  }

  ExchangeAgreement agreement_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  const std::byte* source_;
  std::byte* spare_;
  CopyStep own_{CopyPlan(), nullptr, nullptr};
  std::vector<PacketStream> outgoing_;  ///< from the rank after this one on
  std::vector<PacketStream> incoming_;
  std::vector<std::size_t> put_;  ///< which of outgoing_ have a burst without a flag
  Staging staging_;
  std::unique_ptr<PacketWindow> window_;  ///< null where nothing moves
};

class ActiveMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name,
            "packets put into slots of the partners' windows, unpacked as they arrive; no matched messages",
            "eleftheriou2005"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {
        {.name = "packet-bytes",
         .summary = fmt::format("bytes of a packet at most: one element (8 or 16) to {}", most_packet_bytes),
         .fallback = fmt::format("{}", default_packet_bytes),
         .samples = {"16", "200", "4096"}},
        {.name = "packets-in-flight",
         .summary = fmt::format("packets for one partner that it has not unpacked, at most: 1 to {}", most_in_flight),
         .fallback = fmt::format("{}", default_in_flight),
         .samples = {"1", "3", "8"}}};
  }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)sizes_of(problem, problem.element_bytes());
    return why_no_windows_of_subsets(problem, fmt::format("exchange '{}'", exchange_name));
  }
  [[nodiscard]] Reason cannot_run_on(MPI_Comm comm) const override {
    return why_no_window(comm, WindowMemory::allocated);
  }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    const ExchangeAgreement agreement = agree(spec);
    return agreement.moves_nothing ? 0 : staging_of(streams_out(spec, order_of_packets(agreement, spec)));
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Active>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(ActiveMethod);

}  // namespace

}  // namespace fourscore
