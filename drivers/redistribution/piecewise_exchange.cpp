#include "redistribution/piecewise_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fourscore {

namespace {

/// A quarter of the first piece's packing and of the last one's unpacking stay uncovered, and messages are still large.
constexpr int default_pieces = 4;
constexpr int max_pieces = 1024;

/// Does nothing: for an exchange alone.
class NoWork : public PieceWork {
 public:
  void before(int /*piece*/, PhaseClock& /*clock*/) override {}
  void after(int /*piece*/, PhaseClock& /*clock*/) override {}
};

/// Along which axis a block of these extents is cut. Both sides of a message come to the same.
std::size_t axis_to_cut(const PieceSpec& pieces, const Extents& extents, const std::array<int, 3>& order) {
  if (pieces.axis) return *pieces.axis;
  for (const int axis : order)
    if (extents[static_cast<std::size_t>(axis)] > 1) return static_cast<std::size_t>(axis);
  return static_cast<std::size_t>(order[0]);
}

struct Part {
  Block block;
  Index before = 0;  ///< elements of the whole block that lie before this part in a message
};

Part part_of(const Block& whole, std::size_t axis, const std::array<int, 3>& order, int pieces, int piece) {
  const Range range = block_range(whole.extents[axis], pieces, piece);
  Part part{whole, range.low * dense_strides(whole.extents, order)[axis]};
  part.block.extents[axis] = range.size();
  part.block.from_offset += range.low * whole.from_strides[axis];
  part.block.to_offset += range.low * whole.to_strides[axis];
  return part;
}

/// No layout of the messages needs more.
std::size_t bytes_on_the_way(const ExchangeSpec& spec) {
  const int me = mpi::rank_in(spec.comm);
  const Index own = block_between(spec.from, me, spec.to, me).volume();
  return static_cast<std::size_t>(std::max(spec.from.box(me).volume(), spec.to.box(me).volume()) - own) *
         spec.element_bytes;
}

}  // namespace

Parameter pieces_parameter() {
  return {.name = "pieces",
          .summary = fmt::format("pieces that an exchange goes in: 1 to {}", max_pieces),
          .fallback = std::to_string(default_pieces),
          .samples = {"1", "3", "9"}};
}

int pieces_of(const Problem& problem) {
  return static_cast<int>(integer_parameter(problem, "pieces", default_pieces, 1, max_pieces));
}

/// How the messages lie in memory; equal on all ranks but for the addresses.
struct PiecewiseExchange::Layout {
  MessageOrder messages;
  const std::byte* source = nullptr;
  std::byte* spare = nullptr;
  std::byte* staging = nullptr;
  std::byte* result = nullptr;
  int me = 0;
};

PiecewiseExchange::PiecewiseExchange(const ExchangeSpec& spec, const PieceSpec& pieces, const char* exchange)
    : agreement_(agree(spec)),
      comm_(mpi::duplicate(spec.comm)),
      type_(mpi::element_type(spec.element_bytes)),
      element_bytes_(static_cast<Index>(spec.element_bytes)),
      pieces_(static_cast<std::size_t>(pieces.pieces)) {
  require_int_count(agreement_.largest_block, "a block", pieces.exchange == nullptr ? exchange : pieces.exchange);
  const int me = mpi::rank_in(spec.comm);
  const Block own = block_between(spec.from, me, spec.to, me);
  declared().volume.bytes_self = own.volume() * element_bytes_;
  declared().lands_in_source = agreement_.moves_nothing;
  if (agreement_.moves_nothing) return;
  if (pieces.axis && (spec.from.order[0] != static_cast<int>(*pieces.axis) || spec.to.order[0] != spec.from.order[0]))
    throw std::logic_error("blocks are cut along an axis that is not the slowest of both storage orders");

  Layout layout;
  layout.messages = order_of_messages(agreement_, spec);
  layout.source = static_cast<const std::byte*>(spec.source.data());
  layout.spare = static_cast<std::byte*>(spec.spare.data());
  layout.me = me;
  const bool pack = layout.messages.pack;
  const bool unpack = layout.messages.unpack;
  if (pack || unpack) {
    staging_ = Staging(spec, bytes_on_the_way(spec), ordinary_buffer);
    layout.staging = staging_.data();
  }
  declared().lands_in_source = pack && unpack;
  layout.result = lands_in_source() ? static_cast<std::byte*>(spec.source.data()) : layout.spare;
  send_buffer_ = pack ? layout.staging : layout.source;
  receive_buffer_ = unpack && !pack ? layout.staging : layout.spare;
  plan_own(own, layout, pieces);
  plan_outgoing(spec, layout, pieces);
  plan_incoming(spec, layout, pieces);
  state_copies();
}

std::size_t PiecewiseExchange::staging_bytes(const ExchangeSpec& spec) {
  const ExchangeAgreement agreement = agree(spec);
  const MessageOrder messages = order_of_messages(agreement, spec);
  return agreement.moves_nothing || !(messages.pack || messages.unpack) ? 0 : bytes_on_the_way(spec);
}

void PiecewiseExchange::plan_outgoing(const ExchangeSpec& spec, const Layout& layout, const PieceSpec& pieces) {
  const auto& [pack, unpack, order] = layout.messages;
  Index sent = 0;
  for (const int rank : receivers_of(spec)) {
    const Block block = block_between(spec.from, layout.me, spec.to, rank);
    for (int k = 0; k < pieces.pieces; ++k) {
      Piece& piece = pieces_[static_cast<std::size_t>(k)];
      const Part part = part_of(block, axis_to_cut(pieces, block.extents, order), order, pieces.pieces, k);
      const Index count = part.block.volume();
      if (count == 0) continue;
      const Index place = pack ? sent + part.before : part.block.from_offset;
      piece.sends.push_back({rank, count, place});
      declared().volume.bytes_sent += count * element_bytes_;
      declared().volume.messages_sent += 1;
      if (!pack) continue;
      piece.pack.push_back(
          {CopyPlan(part.block.extents, part.block.from_strides, dense_strides(part.block.extents, order),
                    spec.element_bytes, stores_for(static_cast<std::size_t>(count * element_bytes_))),
           layout.source + part.block.from_offset * element_bytes_, layout.staging + place * element_bytes_});
    }
    sent += block.volume();
  }
}

void PiecewiseExchange::plan_incoming(const ExchangeSpec& spec, const Layout& layout, const PieceSpec& pieces) {
  const auto& [pack, unpack, order] = layout.messages;
  // Where messages are packed into the spare, the block that stays waits at its front.
  Index received = pack && unpack ? block_between(spec.from, layout.me, spec.to, layout.me).volume() : 0;
  for (const int rank : senders_to(spec)) {
    const Block block = block_between(spec.from, rank, spec.to, layout.me);
    for (int k = 0; k < pieces.pieces; ++k) {
      Piece& piece = pieces_[static_cast<std::size_t>(k)];
      const Part part = part_of(block, axis_to_cut(pieces, block.extents, order), order, pieces.pieces, k);
      const Index count = part.block.volume();
      if (count == 0) continue;
      const Index place = unpack ? received + part.before : part.block.to_offset;
      piece.receives.push_back({rank, count, place});
      if (!unpack) continue;
      piece.unpack.push_back(
          {CopyPlan(part.block.extents, dense_strides(part.block.extents, order), part.block.to_strides,
                    spec.element_bytes, stores_for(static_cast<std::size_t>(count * element_bytes_))),
           receive_buffer_ + place * element_bytes_, layout.result + part.block.to_offset * element_bytes_});
    }
    received += block.volume();
  }
}

/// The block that stays goes with the pieces too: what a caller does with piece k needs its part of it.
void PiecewiseExchange::plan_own(const Block& own, const Layout& layout, const PieceSpec& pieces) {
  if (own.volume() == 0) return;
  const auto& [pack, unpack, order] = layout.messages;
  const std::size_t axis = axis_to_cut(pieces, own.extents, order);
  for (int k = 0; k < pieces.pieces; ++k) {
    Piece& piece = pieces_[static_cast<std::size_t>(k)];
    const Part part = part_of(own, axis, order, pieces.pieces, k);
    const Block& block = part.block;
    if (block.volume() == 0) continue;
    const auto bytes = static_cast<std::size_t>(element_bytes_);
    const Stores stores = stores_for(static_cast<std::size_t>(block.volume() * element_bytes_));
    const std::byte* from = layout.source + block.from_offset * element_bytes_;
    std::byte* to = layout.result + block.to_offset * element_bytes_;
    if (pack && unpack) {
      const Extents dense = dense_strides(block.extents, order);
      std::byte* waiting = layout.spare + part.before * element_bytes_;
      piece.pack.push_back({CopyPlan(block.extents, block.from_strides, dense, bytes, stores), from, waiting});
      piece.unpack.push_back({CopyPlan(block.extents, dense, block.to_strides, bytes, stores), waiting, to});
    } else {
      auto& steps = pack ? piece.pack : piece.unpack;
      steps.push_back({CopyPlan(block.extents, block.from_strides, block.to_strides, bytes, stores), from, to});
    }
  }
}

void PiecewiseExchange::state_copies() {
  for (const Piece& piece : pieces_) {
    declared().packs = declared().packs || !piece.pack.empty();
    declared().unpacks = declared().unpacks || !piece.unpack.empty();
    declared().bytes_packed += piece.pack.bytes();
    declared().bytes_unpacked += piece.unpack.bytes();
  }
  declared().workspace_bytes = staging_.own_bytes();
}

void PiecewiseExchange::pack() {
  for (const Piece& piece : pieces_) piece.pack.run();
}
void PiecewiseExchange::start() {
  if (agreement_.moves_nothing) return;
  for (int k = 0; k < pieces(); ++k) start_piece(k);
}
void PiecewiseExchange::finish() {
  if (agreement_.moves_nothing) return;
  for (int k = 0; k < pieces(); ++k) finish_piece(k);
}
void PiecewiseExchange::unpack() {
  for (const Piece& piece : pieces_) piece.unpack.run();
}

void PiecewiseExchange::run(PhaseClock& clock) {
  NoWork none;
  run_around(clock, none);
}

void PiecewiseExchange::run_around(PhaseClock& clock, PieceWork& work) {
  const bool moves = !agreement_.moves_nothing;
  for (int k = 0; k < pieces(); ++k) {
    work.before(k, clock);
    if (!piece_at(k).pack.empty()) {
      const Region region(clock, Phase::pack, k);
      piece_at(k).pack.run();
    }
    if (moves) {
      const Region region(clock, Phase::exchange, k);
      start_piece(k);
    }
  }
  // Not before all are packed: unpacking may write where they were.
  for (int k = 0; k < pieces(); ++k) {
    if (moves) {
      const Region region(clock, Phase::exchange, k);
      finish_piece(k);
    }
    if (!piece_at(k).unpack.empty()) {
      const Region region(clock, Phase::unpack, k);
      piece_at(k).unpack.run();
    }
    work.after(k, clock);
  }
}

}  // namespace fourscore
