#pragma once
// Passes over memory whose traffic is known from the way caches work, to hold counters against.

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace fourscore {

enum class TrafficKernel { read, write, copy, streaming_write };
[[nodiscard]] std::string_view to_string(TrafficKernel kernel);

/// The kernels of this build, in the order above; streaming_write only where the compiler has streaming stores.
[[nodiscard]] std::vector<TrafficKernel> traffic_kernels();

/// Bytes between the last-level cache and memory.
struct MemoryTraffic {
  double read_bytes = 0;
  double write_bytes = 0;
};

/// The traffic of one pass over arrays of `bytes` each, far larger than the cache, where such a pass came before: what
/// it leaves dirty in the cache goes out with the next pass, so every pass writes out as much as it stores. A store to
/// part of a line reads the line first; a streaming store of a whole line does not, but on a machine that has none (a
/// simulated one: `streams` false).
[[nodiscard]] MemoryTraffic known_traffic(TrafficKernel kernel, std::size_t bytes, bool streams);

/// Arrays that one kernel passes over: two for copy, one for the others; touched, so that no page is missing.
class TrafficArrays {
 public:
  /// `bytes` is a multiple of `line_bytes`, which is at most 4096. Throws std::bad_alloc.
  TrafficArrays(TrafficKernel kernel, std::size_t bytes, std::size_t line_bytes);
  void pass();

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;
  [[nodiscard]] static Memory allocate(std::size_t bytes);

  TrafficKernel kernel_;
  std::size_t bytes_;
  std::size_t line_bytes_;
  Memory first_;
  Memory second_;
};

/// The memory that a kernel's arrays take.
[[nodiscard]] std::size_t arrays_bytes(TrafficKernel kernel, std::size_t bytes);

}  // namespace fourscore
