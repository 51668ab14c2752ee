#include "qualification/traffic_kernels.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/copy_kernels.hpp"

namespace fourscore {
namespace {

constexpr std::size_t page_bytes = 4096;

// One word of each line: a store to part of a line has to read the line first on every processor, also on those that
// spare the read when they see whole lines being written. Volatile, so that each access is made, as it stands here.
using Word = volatile std::uint64_t;

void read_lines(const std::byte* from, std::size_t bytes, std::size_t line) {
  for (std::size_t i = 0; i < bytes; i += line) (void)*reinterpret_cast<const Word*>(from + i);
}

void write_lines(std::byte* to, std::size_t bytes, std::size_t line) {
  for (std::size_t i = 0; i < bytes; i += line) *reinterpret_cast<Word*>(to + i) = i;
}

void copy_lines(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t line) {
  for (std::size_t i = 0; i < bytes; i += line)
    *reinterpret_cast<Word*>(to + i) = *reinterpret_cast<const Word*>(from + i);
}

void stream_lines(std::byte* to, std::size_t bytes) {
  alignas(copy_kernels::line_bytes) std::array<std::byte, copy_kernels::line_bytes> line{std::byte{1}};
  for (std::size_t i = 0; i < bytes; i += line.size()) copy_kernels::stream_line(line.data(), to + i);
  copy_kernels::fence_stores();
}

}  // namespace

std::string_view to_string(TrafficKernel kernel) {
  switch (kernel) {
    case TrafficKernel::read:
      return "read";
    case TrafficKernel::write:
      return "write";
    case TrafficKernel::copy:
      return "copy";
    case TrafficKernel::streaming_write:
      return "streaming-write";
  }
  return "unknown";
}

std::vector<TrafficKernel> traffic_kernels() {
  std::vector<TrafficKernel> kernels{TrafficKernel::read, TrafficKernel::write, TrafficKernel::copy};
  if (!copy_kernels::portable) kernels.push_back(TrafficKernel::streaming_write);
  return kernels;
}

MemoryTraffic known_traffic(TrafficKernel kernel, std::size_t bytes, bool streams) {
  const auto once = static_cast<double>(bytes);
  switch (kernel) {
    case TrafficKernel::read:
      return {once, 0};
    case TrafficKernel::write:
      return {once, once};
    case TrafficKernel::copy:
      return {2 * once, once};
    case TrafficKernel::streaming_write:
      return {streams ? 0 : once, once};
  }
  return {};
}

std::size_t arrays_bytes(TrafficKernel kernel, std::size_t bytes) {
  return kernel == TrafficKernel::copy ? 2 * bytes : bytes;
}

void TrafficArrays::Free::operator()(std::byte* memory) const { std::free(memory); }

TrafficArrays::Memory TrafficArrays::allocate(std::size_t bytes) {
  const std::size_t whole_pages = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(page_bytes, whole_pages)));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory.get(), 1, whole_pages);
  return memory;
}

TrafficArrays::TrafficArrays(TrafficKernel kernel, std::size_t bytes, std::size_t line_bytes)
    : kernel_(kernel), bytes_(bytes), line_bytes_(line_bytes), first_(allocate(bytes)) {
  if (kernel == TrafficKernel::copy) second_ = allocate(bytes);
}

void TrafficArrays::pass() {
  switch (kernel_) {
    case TrafficKernel::read:
      return read_lines(first_.get(), bytes_, line_bytes_);
    case TrafficKernel::write:
      return write_lines(first_.get(), bytes_, line_bytes_);
    case TrafficKernel::copy:
      return copy_lines(first_.get(), second_.get(), bytes_, line_bytes_);
    case TrafficKernel::streaming_write:
      return stream_lines(first_.get(), bytes_);
  }
}

}  // namespace fourscore
