#include "redistribution/exchange_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

Index offset_in(const Box& box, const Extents& strides, const Extents& index) {
  Index result = 0;
  for (std::size_t a = 0; a < 3; ++a) result += (index[a] - box.low[a]) * strides[a];
  return result;
}

void check_spec(const ExchangeSpec& spec) {
  const int size = mpi::size_of(spec.comm);
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("exchange from {} to {} on {} ranks: {}", spec.from.name, spec.to.name, size, why));
  };
  if (spec.from.ranks() != size || spec.to.ranks() != size)
    refuse(fmt::format("the decompositions have {} and {} ranks", spec.from.ranks(), spec.to.ranks()));
  if (!spec.from.same_indices(spec.to)) refuse("the decompositions permute indices differently");
  const int me = mpi::rank_in(spec.comm);
  const std::array<Index, 2> own{spec.from.box(me).volume(), spec.to.box(me).volume()};
  std::array<Index, 2> all = own;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_INT64_T, MPI_SUM, spec.comm));
  if (all[0] != all[1]) refuse(fmt::format("they hold {} and {} elements", all[0], all[1]));
  const Index needed = std::max(own[0], own[1]) * static_cast<Index>(spec.element_bytes);
  const auto available = static_cast<Index>(std::min(spec.source.bytes(), spec.spare.bytes()));
  if (available < needed) refuse(fmt::format("a buffer has {} bytes; expected at least {}", available, needed));
}

bool contiguous(const Block& block, const Extents& from_strides, const Extents& to_strides) {
  return CopyPlan(block.extents, from_strides, to_strides, 16, Stores::ordinary).is_one_run();
}

/// Whether this rank's elements lie at the same places before and after.
bool stays(const ExchangeSpec& spec, int me) {
  const Box& before = spec.from.box(me);
  const Box& after = spec.to.box(me);
  if (before.empty() && after.empty()) return true;
  if (before != after) return false;
  const Extents extents = before.extents();
  for (std::size_t a = 0; a < 3; ++a)
    if (extents[a] > 1 && spec.from.strides(me)[a] != spec.to.strides(me)[a]) return false;
  return true;
}

}  // namespace

Extents dense_strides(const Extents& extents, const std::array<int, 3>& order) {
  Extents strides{};
  Index stride = 1;
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

Block block_between(const Decomposition& from, int sender, const Decomposition& to, int receiver) {
  const Box& source = from.box(sender);
  const Box& destination = to.box(receiver);
  const Box common = intersect(source, destination);
  if (common.empty()) return {};
  Block block;
  block.extents = common.extents();
  block.from_strides = from.strides(sender);
  block.to_strides = to.strides(receiver);
  block.from_offset = offset_in(source, block.from_strides, common.low);
  block.to_offset = offset_in(destination, block.to_strides, common.low);
  return block;
}

namespace {

std::vector<int> others_with(const Decomposition& decomposition, const Box& box, int me) {
  std::vector<int> ranks;
  for (const Overlap& overlap : decomposition.overlaps(box))
    if (overlap.rank != me) ranks.push_back(overlap.rank);
  return ranks;
}

}  // namespace

std::vector<int> receivers_of(const ExchangeSpec& spec) {
  const int me = mpi::rank_in(spec.comm);
  return others_with(spec.to, spec.from.box(me), me);
}

std::vector<int> senders_to(const ExchangeSpec& spec) {
  const int me = mpi::rank_in(spec.comm);
  return others_with(spec.from, spec.to.box(me), me);
}

std::vector<int> starting_after(int me, std::vector<int> ranks) {
  std::rotate(ranks.begin(), std::ranges::upper_bound(ranks, me), ranks.end());
  return ranks;
}

ExchangeAgreement agree(const ExchangeSpec& spec) {
  check_spec(spec);
  const int me = mpi::rank_in(spec.comm);
  std::array<Index, 7> facts{};
  facts[0] = stays(spec, me) ? 0 : 1;
  const auto note = [&](std::size_t fact, Index value) { facts[fact] = std::max(facts[fact], value); };
  for (const int rank : receivers_of(spec)) {
    const Block sent = block_between(spec.from, me, spec.to, rank);
    note(1, !contiguous(sent, sent.from_strides, dense_strides(sent.extents, spec.from.order)));
    note(3, !contiguous(sent, sent.from_strides, dense_strides(sent.extents, spec.to.order)));
    note(5, sent.volume());
  }
  for (const int rank : senders_to(spec)) {
    const Block received = block_between(spec.from, rank, spec.to, me);
    note(2, !contiguous(received, dense_strides(received.extents, spec.from.order), received.to_strides));
    note(4, !contiguous(received, dense_strides(received.extents, spec.to.order), received.to_strides));
  }
  note(6, std::max(spec.from.box(me).volume(), spec.to.box(me).volume()));
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, facts.data(), facts.size(), MPI_INT64_T, MPI_MAX, spec.agreeing_comm()));
  return {facts[0] == 0, facts[1] != 0, facts[2] != 0, facts[3] != 0, facts[4] != 0, facts[5], facts[6]};
}

MessageOrder order_of_messages(const ExchangeAgreement& agreement, const ExchangeSpec& spec) {
  const int passes_from = agreement.pack_from_order + agreement.unpack_from_order;
  const int passes_to = agreement.pack_to_order + agreement.unpack_to_order;
  if (passes_from <= passes_to) return {agreement.pack_from_order, agreement.unpack_from_order, spec.from.order};
  return {agreement.pack_to_order, agreement.unpack_to_order, spec.to.order};
}

void require_int_count(Index count, const char* what, const char* exchange) {
  constexpr Index most = std::numeric_limits<int>::max();
  if (count > most)
    throw InputError(
        fmt::format("exchange '{}': {} of {} elements is more than MPI's int counts hold; expected at "
                    "most {}: use more ranks or a smaller shape",
                    exchange, what, count, most));
}

/// How the messages lie in memory, equal on all ranks of the plan.
struct PackedBlocks::Layout {
  bool pack;
  bool unpack;
  std::array<int, 3> order;  ///< order of the axes within a message
  std::byte* source;
  std::byte* spare;
  std::byte* result;
};

PackedBlocks::PackedBlocks(const ExchangeSpec& spec, const char* exchange) : agreement_(agree(spec)) {
  require_int_count(agreement_.largest_block, "a block", exchange);
  const int me = mpi::rank_in(spec.comm);
  const Index own = block_between(spec.from, me, spec.to, me).volume();
  message_volume_.bytes_self = own * static_cast<Index>(spec.element_bytes);
  lands_in_source_ = agreement_.moves_nothing;
  if (agreement_.moves_nothing) return;

  const MessageOrder messages = order_of_messages(agreement_, spec);
  Layout layout{messages.pack,
                messages.unpack,
                messages.order,
                static_cast<std::byte*>(spec.source.data()),
                static_cast<std::byte*>(spec.spare.data()),
                nullptr};
  lands_in_source_ = layout.pack != layout.unpack;
  layout.result = lands_in_source_ ? layout.source : layout.spare;
  send_buffer_ = layout.pack ? layout.spare : layout.source;
  receive_buffer_ = layout.pack ? layout.source : layout.spare;
  plan_messages(spec, layout);
}

ExchangeFacts PackedBlocks::facts() const {
  return {!pack_steps_.empty(),
          !unpack_steps_.empty(),
          lands_in_source_,
          message_volume_,
          pack_steps_.bytes(),
          unpack_steps_.bytes(),
          0};
}

PackedMemory PackedBlocks::memory(std::size_t element_bytes) const {
  PackedMemory memory;
  for (const auto& [steps, copies] : {std::pair(&pack_steps_, &memory.pack), std::pair(&unpack_steps_, &memory.unpack)})
    for (const CopyStep& step : *steps) copies->push_back({&step.plan, step.from, step.to, step.overlapping});
  const auto size = static_cast<Index>(element_bytes);
  const auto stretches = [size](std::vector<Message> messages, auto* buffer, auto& list) {
    std::ranges::sort(messages, {}, &Message::displacement);
    for (const Message& message : messages) {
      auto* const first = buffer + message.displacement * size;
      const auto bytes = static_cast<std::size_t>(message.count * size);
      if (!list.empty() && list.back().data() + list.back().size() == first)
        list.back() = {list.back().data(), list.back().size() + bytes};
      else
        list.emplace_back(first, bytes);
    }
  };
  stretches(sends_, send_buffer_, memory.sent);
  stretches(receives_, receive_buffer_, memory.received);
  return memory;
}

void PackedBlocks::plan_messages(const ExchangeSpec& spec, const Layout& layout) {
  const int me = mpi::rank_in(spec.comm);
  const auto size = static_cast<Index>(spec.element_bytes);
  const Stores pack_stores = stores_for(static_cast<std::size_t>(spec.from.box(me).volume() * size));
  const Stores unpack_stores = stores_for(static_cast<std::size_t>(spec.to.box(me).volume() * size));
  // With two passes the block that stays waits at the front of the receive buffer.
  Index sent = 0;
  Index received = layout.pack && layout.unpack ? block_between(spec.from, me, spec.to, me).volume() : 0;
  CopySteps unpack_others;
  for (const int rank : receivers_of(spec)) {
    const Block block = block_between(spec.from, me, spec.to, rank);
    sends_.push_back({rank, block.volume(), layout.pack ? sent : block.from_offset});
    message_volume_.bytes_sent += block.volume() * size;
    message_volume_.messages_sent += 1;
    if (layout.pack)
      pack_steps_.push_back({CopyPlan(block.extents, block.from_strides, dense_strides(block.extents, layout.order),
                                      spec.element_bytes, pack_stores),
                             layout.source + block.from_offset * size, layout.spare + sent * size});
    sent += block.volume();
  }
  for (const int rank : senders_to(spec)) {
    const Block block = block_between(spec.from, rank, spec.to, me);
    receives_.push_back({rank, block.volume(), layout.unpack ? received : block.to_offset});
    if (layout.unpack)
      unpack_others.push_back({CopyPlan(block.extents, dense_strides(block.extents, layout.order), block.to_strides,
                                        spec.element_bytes, unpack_stores),
                               receive_buffer_ + received * size, layout.result + block.to_offset * size});
    received += block.volume();
  }
  plan_own_block(spec, layout, sent, received);
  unpack_steps_.append(unpack_others);
}

void PackedBlocks::plan_own_block(const ExchangeSpec& spec, const Layout& layout, Index after_sends,
                                  Index after_receives) {
  const int me = mpi::rank_in(spec.comm);
  const Block own = block_between(spec.from, me, spec.to, me);
  if (own.volume() == 0) return;
  const auto size = static_cast<Index>(spec.element_bytes);
  const Stores stores = stores_for(static_cast<std::size_t>(own.volume() * size));
  const std::byte* from = layout.source + own.from_offset * size;
  std::byte* to = layout.result + own.to_offset * size;
  const Extents dense = dense_strides(own.extents, layout.order);
  const CopyPlan direct(own.extents, own.from_strides, own.to_strides, spec.element_bytes, stores);
  const CopyPlan gather(own.extents, own.from_strides, dense, spec.element_bytes, stores);
  const CopyPlan scatter(own.extents, dense, own.to_strides, spec.element_bytes, stores);

  if (!layout.pack && !layout.unpack) {
    unpack_steps_.push_back({direct, from, to});
  } else if (layout.pack && layout.unpack) {
    // Messages are then in the source's order, so that the block can close up within the source.
    pack_steps_.push_back({gather, from, layout.source, true});
    unpack_steps_.push_back({scatter, layout.source, to});
  } else if (direct.preserves_order()) {
    // The source is free of blocks for others after packing, or once all were sent; of theirs until the messages
    // come in, or until they are unpacked.
    (layout.pack ? pack_steps_ : unpack_steps_).push_back({direct, from, to, true});
  } else {
    const Index place = (layout.pack ? after_sends : after_receives) * size;
    auto& steps = layout.pack ? pack_steps_ : unpack_steps_;
    steps.push_back({gather, from, layout.spare + place});
    steps.push_back({scatter, layout.spare + place, to});
  }
}

CollectiveCounts::CollectiveCounts(int ranks, const std::vector<PackedBlocks::Message>& sends,
                                   const std::vector<PackedBlocks::Message>& receives) {
  const auto size = static_cast<std::size_t>(ranks);
  for (auto* counts : {&send_counts, &send_displacements, &receive_counts, &receive_displacements})
    counts->assign(size, 0);
  for (const auto& message : sends) {
    send_counts[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
    send_displacements[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
  }
  for (const auto& message : receives) {
    receive_counts[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
    receive_displacements[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
  }
}

}  // namespace fourscore
