#include "variants/node/node_segments.hpp"

#include <algorithm>

#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "variants/node/node_exchange.hpp"

namespace fourscore {

namespace {

/// Segments begin on cache lines of their own: different threads write them.
constexpr std::size_t alignment = 64;

std::size_t padded(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// The box in pieces of at least min_bytes, at most `most` of them, cut along the slowest axis that is long enough:
/// such a piece lies in one run wherever the box does.
std::vector<Box> pieces_of(const Box& box, Index most, Index min_bytes, std::size_t element_bytes) {
  const Extents extents = box.extents();
  Index count = std::clamp<Index>(box.volume() * static_cast<Index>(element_bytes) / min_bytes, 1, most);
  const auto long_enough = std::ranges::find_if(extents, [&](Index extent) { return extent >= count; });
  const auto cut = long_enough != extents.end() ? long_enough : std::ranges::max_element(extents);
  const auto axis = static_cast<std::size_t>(cut - extents.begin());
  count = std::min(count, extents[axis]);
  std::vector<Box> pieces;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const Range range = block_range(Range{box.low[axis], box.high[axis]}, static_cast<int>(count), i);
    Box piece = box;
    piece.low[axis] = range.low;
    piece.high[axis] = range.high;
    pieces.push_back(piece);
  }
  return pieces;
}

std::byte* address(const Decomposition& layout, int rank, const Box& part, std::byte* data, std::size_t element_bytes) {
  const Box& box = layout.box(rank);
  const Extents strides = layout.strides(rank);
  Index offset = 0;
  for (std::size_t a = 0; a < 3; ++a) offset += (part.low[a] - box.low[a]) * strides[a];
  return data + offset * static_cast<Index>(element_bytes);
}

}  // namespace

NodeSegments::NodeSegments(const NodeExchangeSpec& spec) {
  const int me = mpi::rank_in(spec.comm);
  const auto by_rank = [me](std::vector<Overlap> overlaps) {
    std::erase_if(overlaps, [me](const Overlap& overlap) { return overlap.rank == me; });
    // Each rank begins with the rank after it, so that not all send to rank 0 first.
    std::rotate(overlaps.begin(), std::ranges::upper_bound(overlaps, me, {}, &Overlap::rank), overlaps.end());
    return overlaps;
  };
  for (const Overlap& part : by_rank(spec.to.overlaps(spec.from.box(me)))) plan_message(spec, part, true);
  for (const Overlap& part : by_rank(spec.from.overlaps(spec.to.box(me)))) plan_message(spec, part, false);
  const Box kept = intersect(spec.from.box(me), spec.to.box(me));
  if (kept.empty()) return;
  const Stores stores = stores_for(static_cast<std::size_t>(kept.volume()) * spec.element_bytes);
  for (const Box& piece : pieces_of(kept, spec.segments, spec.segment_bytes, spec.element_bytes))
    own.push_back({CopyPlan(piece.extents(), spec.from.strides(me), spec.to.strides(me), spec.element_bytes, stores),
                   address(spec.from, me, piece, spec.source, spec.element_bytes),
                   address(spec.to, me, piece, spec.destination, spec.element_bytes)});
  volume.bytes_self = kept.volume() * static_cast<Index>(spec.element_bytes);
}

void NodeSegments::plan_message(const NodeExchangeSpec& spec, const Overlap& part, bool outgoing) {
  const int me = mpi::rank_in(spec.comm);
  const Decomposition& layout = outgoing ? spec.from : spec.to;
  std::byte* const data = outgoing ? spec.source : spec.destination;
  const Extents strides = layout.strides(me);
  const Stores stores = stores_for(static_cast<std::size_t>(layout.box(me).volume()) * spec.element_bytes);
  int tag = spec.first_tag;
  for (const Box& piece : pieces_of(part.box, spec.segments, spec.segment_bytes, spec.element_bytes)) {
    require_int_count(piece.volume(), "a segment", "node");
    const Extents extents = piece.extents();
    const Extents dense = dense_strides(extents, {0, 1, 2});
    Segment segment;
    segment.rank = part.rank;
    segment.tag = tag++;
    segment.count = static_cast<int>(piece.volume());
    segment.box = address(layout, me, piece, data, spec.element_bytes);
    segment.copy =
        CopyPlan(extents, outgoing ? strides : dense, outgoing ? dense : strides, spec.element_bytes, stores);
    segment.copied = !segment.copy.is_one_run();
    segment.at = segment.box;
    segment.offset = workspace_bytes;
    const std::size_t bytes = static_cast<std::size_t>(segment.count) * spec.element_bytes;
    if (segment.copied) workspace_bytes += padded(bytes);
    if (outgoing) {
      volume.bytes_sent += static_cast<Index>(bytes);
      volume.messages_sent += 1;
    }
    (outgoing ? sends : receives).push_back(segment);
  }
}

Index NodeSegments::bytes_packed() const {
  Index bytes = 0;
  for (const Segment& segment : sends)
    if (segment.copied) bytes += segment.copy.bytes();
  for (const OwnSegment& segment : own) bytes += segment.copy.bytes();
  return bytes;
}

Index NodeSegments::bytes_unpacked() const {
  Index bytes = 0;
  for (const Segment& segment : receives)
    if (segment.copied) bytes += segment.copy.bytes();
  return bytes;
}

Index NodeSegments::bytes_received(Index element_bytes) const {
  Index bytes = 0;
  for (const Segment& segment : receives) bytes += segment.count * element_bytes;
  return bytes;
}

}  // namespace fourscore
