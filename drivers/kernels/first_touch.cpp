#include "kernels/first_touch.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "core/topology.hpp"

namespace fourscore {
namespace {

constexpr std::size_t few_bytes = std::size_t{4} << 20;
int touching_threads = 1;

/// Binds the calling thread. Where the system refuses, it stays where it is.
void stay_on(std::span<const int> units) {
  const auto count = static_cast<std::size_t>(units.back()) + 1;
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  const std::unique_ptr<cpu_set_t, Free> set(CPU_ALLOC(count));
  if (!set) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set.get());
  for (const int unit : units) CPU_SET_S(static_cast<std::size_t>(unit), bytes, set.get());
  (void)::sched_setaffinity(0, bytes, set.get());
}

}  // namespace

void first_touch(void* data, std::size_t bytes, int threads) {
  if (threads <= 1 || bytes < few_bytes) {
    if (bytes > 0) std::memset(data, 0, bytes);
    return;
  }
  const std::vector<int> units = Topology::usable_units();
  const auto shares = static_cast<std::size_t>(threads);
  const auto share = [shares](std::size_t whole, std::size_t i) {
    return whole / shares * i + whole % shares * i / shares;
  };
  std::vector<std::jthread> team;
  for (std::size_t i = 0; i < shares; ++i)
    team.emplace_back([&, i] {
      const std::size_t first = share(units.size(), i);
      const std::size_t count = std::max<std::size_t>(1, share(units.size(), i + 1) - first);
      if (first < units.size()) stay_on(std::span(units).subspan(first, std::min(count, units.size() - first)));
      std::memset(static_cast<std::byte*>(data) + share(bytes, i), 0, share(bytes, i + 1) - share(bytes, i));
    });
}

FirstTouchThreads::FirstTouchThreads(int threads) : before_(touching_threads) { touching_threads = threads; }
FirstTouchThreads::~FirstTouchThreads() { touching_threads = before_; }
int FirstTouchThreads::current() { return touching_threads; }

}  // namespace fourscore
