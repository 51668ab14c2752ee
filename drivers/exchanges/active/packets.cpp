#include "exchanges/active/packets.hpp"

#include <algorithm>

#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

Index parts(Index whole, Index part) { return (whole + part - 1) / part; }

}  // namespace

PacketCut::PacketCut(const Extents& extents, const std::array<int, 3>& order, Index most)
    : extents_(extents), order_(order), inner_(extents[0] * extents[1] * extents[2]) {
  if (inner_ == 0) return;
  const auto extent = [&](std::size_t position) { return extents_[static_cast<std::size_t>(order_[position])]; };
  for (position_ = 0; position_ < 3; ++position_) {
    inner_ /= extent(position_);
    if (inner_ <= most) break;
    outer_ *= extent(position_);
  }
  pieces_ = parts(extent(position_), std::max<Index>(1, most / inner_));
  piece_ = parts(extent(position_), pieces_);
  pieces_ = parts(extent(position_), piece_);
}

PacketCut::Packet PacketCut::packet(Index number) const {
  Packet result{{0, 0, 0}, extents_};
  const Index first = number % pieces_ * piece_;
  result.low[cut_axis()] = first;
  result.extents[cut_axis()] = std::min(piece_, extents_[cut_axis()] - first);
  Index outer = number / pieces_;
  for (std::size_t position = position_; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order_[position]);
    result.low[axis] = outer % extents_[axis];
    result.extents[axis] = 1;
    outer /= extents_[axis];
  }
  return result;
}

PacketCopies::PacketCopies(const PacketCut& cut, const std::array<int, 3>& order, const Extents& strides,
                           std::size_t element_bytes, Way way, Stores stores)
    : cut_(cut), strides_(strides), element_bytes_(static_cast<Index>(element_bytes)) {
  const auto plan = [&](Index packet) {
    const Extents extents = cut_.packet(packet).extents;
    const Extents within = dense_strides(extents, order);
    return way == Way::into_packets ? CopyPlan(extents, strides, within, element_bytes, stores)
                                    : CopyPlan(extents, within, strides, element_bytes, stores);
  };
  if (cut_.packets() == 0) return;
  whole_ = plan(0);
  if (cut_.ends_smaller()) last_ = plan(cut_.packets() - 1);
}

Index PacketCopies::offset(Index packet) const {
  const Extents low = cut_.packet(packet).low;
  return (low[0] * strides_[0] + low[1] * strides_[1] + low[2] * strides_[2]) * element_bytes_;
}

}  // namespace fourscore
