#include "offload/ordered_copies.hpp"

#include <algorithm>
#include <utility>

namespace fourscore {

namespace {

/// Copies on a device run all at once, in no order: one that may overlap goes by way of memory of its own, and each
/// that follows another on the same memory waits for it.
class Sequence : public DeviceCopies {
 public:
  void enqueue(Queue& queue) override {
    if (graph)
      graph->enqueue(queue);
    else
      for (const auto& step : steps) step->enqueue(queue);
  }
  /// Several launches become one where the device can.
  void record(Device& device) {
    if (steps.size() > 1)
      graph = device.record([this](Queue& queue) {
        for (const auto& step : steps) step->enqueue(queue);
      });
  }
  std::vector<std::unique_ptr<DeviceCopies>> steps;
  std::unique_ptr<DeviceGraph> graph;
  std::unique_ptr<Buffer> between;
};

Index bytes_of(const BoxCopy& box) {
  Index bytes = static_cast<Index>(box.run_bytes);
  for (const auto& loop : box.loops) bytes *= loop.count;
  return bytes;
}

Index span_of(const BoxCopy& box, Index CopyPlan::Loop::*stride) {
  Index span = static_cast<Index>(box.run_bytes);
  for (const auto& loop : box.loops) span += (loop.count - 1) * loop.*stride;
  return span;
}

bool reads(const BoxCopy& box, const std::vector<BoxCopy>& before) {
  return std::ranges::any_of(before, [&](const BoxCopy& other) {
    return box.from < other.to + span_of(other, &CopyPlan::Loop::to) &&
           other.to < box.from + span_of(box, &CopyPlan::Loop::from);
  });
}

std::pair<BoxCopy, BoxCopy> by_way_of(const BoxCopy& box, std::byte* between) {
  BoxCopy gather = box;
  BoxCopy scatter = box;
  gather.to = between;
  scatter.from = between;
  Index stride = static_cast<Index>(box.run_bytes);
  for (std::size_t i = box.loops.size(); i-- > 0;) {
    gather.loops[i].to = scatter.loops[i].from = stride;
    stride *= box.loops[i].count;
  }
  return {gather, scatter};
}

}  // namespace

std::unique_ptr<DeviceCopies> ordered_copies(Device& device, const std::vector<OrderedCopy>& copies) {
  if (copies.empty()) return nullptr;
  auto sequence = std::make_unique<Sequence>();
  Index between = 0;
  for (const OrderedCopy& copy : copies)
    if (copy.overlapping) between = std::max(between, bytes_of(copy.box));
  if (between > 0) sequence->between = device.allocate(static_cast<std::size_t>(between));
  std::vector<BoxCopy> together;
  const auto flush = [&] {
    if (!together.empty()) sequence->steps.push_back(device.make_copies(together));
    together.clear();
  };
  for (const auto& [box, overlapping] : copies) {
    // The block that stays is copied last or first, and may be copied twice: in the order of the list.
    if (!together.empty() && (overlapping || reads(box, together))) flush();
    if (!overlapping) {
      together.push_back(box);
      continue;
    }
    auto [gather, scatter] = by_way_of(box, static_cast<std::byte*>(sequence->between->data()));
    together.push_back(gather);
    flush();
    together.push_back(scatter);
    flush();
  }
  flush();
  sequence->record(device);
  return sequence;
}

}  // namespace fourscore
