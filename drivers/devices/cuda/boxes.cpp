#include "devices/cuda/boxes.hpp"

#include <algorithm>
#include <bit>

namespace fourscore::cuda {

namespace {

/// A thread copies so many units of a long run, one after another.
constexpr unsigned units_of_thread = 8;

bool fits(const BoxCopy& copy, std::size_t unit_bytes) {
  auto all = reinterpret_cast<std::uintptr_t>(copy.from) | reinterpret_cast<std::uintptr_t>(copy.to) | copy.run_bytes;
  for (const auto& loop : copy.loops)
    if (loop.count > 1) all |= static_cast<std::uintptr_t>(loop.from) | static_cast<std::uintptr_t>(loop.to);
  return all % unit_bytes == 0;
}

DeviceBox box_of(const BoxCopy& copy, std::size_t unit_bytes) {
  DeviceBox box{};
  box.from = reinterpret_cast<const char*>(copy.from);
  box.to = reinterpret_cast<char*>(copy.to);
  box.items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    box.counts[i] = static_cast<unsigned>(copy.loops[i].count);
    box.from_strides[i] = copy.loops[i].from;
    box.to_strides[i] = copy.loops[i].to;
    box.items *= box.counts[i];
  }
  box.units = static_cast<unsigned>(copy.run_bytes / unit_bytes);
  const unsigned lanes = std::min(std::bit_ceil(box.units), threads_of_block);
  box.lane_bits = static_cast<unsigned>(std::countr_zero(lanes));
  box.chunk_units = lanes * units_of_thread;
  box.chunks = (box.units + box.chunk_units - 1) / box.chunk_units;
  box.items *= box.chunks;
  return box;
}

/// In half along its longest extent until each part has indices that fit.
void add(BoxCopy copy, std::size_t unit_bytes, Index most, std::vector<DeviceBox>& boxes) {
  const auto units = static_cast<Index>(copy.run_bytes / unit_bytes);
  Index items = (units + units_of_thread - 1) / units_of_thread;  // at least as many as there are
  for (const auto& loop : copy.loops) items *= loop.count;
  if (items == 0) return;
  if (items <= most && units <= most) {
    boxes.push_back(box_of(copy, unit_bytes));
    return;
  }
  const auto longest = std::ranges::max_element(copy.loops, {}, &CopyPlan::Loop::count);
  BoxCopy rest = copy;
  if (longest->count > 1 && units <= most) {
    const Index half = longest->count / 2;
    rest.from += half * longest->from;
    rest.to += half * longest->to;
    rest.loops[static_cast<std::size_t>(longest - copy.loops.begin())].count -= half;
    longest->count = half;
  } else {
    const std::size_t half = static_cast<std::size_t>(units / 2) * unit_bytes;
    rest.from += half;
    rest.to += half;
    rest.run_bytes -= half;
    copy.run_bytes = half;
  }
  add(copy, unit_bytes, most, boxes);
  add(rest, unit_bytes, most, boxes);
}

}  // namespace

std::size_t unit_bytes_of(const std::vector<BoxCopy>& copies) {
  return std::ranges::all_of(copies, [](const BoxCopy& copy) { return fits(copy, 16); }) ? 16 : 8;
}

std::vector<DeviceBox> device_boxes(const std::vector<BoxCopy>& copies, std::size_t unit_bytes, unsigned most) {
  std::vector<DeviceBox> boxes;
  for (const BoxCopy& copy : copies) add(copy, unit_bytes, most, boxes);
  return boxes;
}

long long blocks_of(const std::vector<DeviceBox>& boxes) {
  long long most = 0;
  for (const DeviceBox& box : boxes) {
    const long long items_of_block = threads_of_block >> box.lane_bits;
    most = std::max(most, (box.items + items_of_block - 1) / items_of_block);
  }
  return most;
}

}  // namespace fourscore::cuda
