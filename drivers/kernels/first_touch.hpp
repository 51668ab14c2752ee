#pragma once
// Memory lies in the NUMA domain of the core that writes to it first.

#include <cstddef>

namespace fourscore {

/// Writes zeros to `bytes` bytes, in as many contiguous shares as `threads`, share i by a thread on share i of the
/// processing units that the calling thread may use: so the shares lie in the domains in which as many threads, spread
/// over the same units, work on them. One share, or few bytes, is written by the calling thread.
void first_touch(void* data, std::size_t bytes, int threads);

/// While one lives, ordinary_buffer() has its pages touched by so many threads (default: by the one that asks for it).
/// Not for two threads at once.
class FirstTouchThreads {
 public:
  explicit FirstTouchThreads(int threads);
  ~FirstTouchThreads();
  FirstTouchThreads(const FirstTouchThreads&) = delete;
  FirstTouchThreads& operator=(const FirstTouchThreads&) = delete;
  [[nodiscard]] static int current();

 private:
  int before_;
};

}  // namespace fourscore
