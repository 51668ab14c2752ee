#pragma once
// Is a counter backend to be believed on this machine? It counts kernels of known traffic, and the figures are
// compared.

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hwcounters/counter.hpp"
#include "hwcounters/group.hpp"
#include "qualification/traffic_kernels.hpp"

namespace fourscore {

/// A counted figure may be off its known one by this share.
inline constexpr double qualification_limit = 0.10;

/// Bytes that a backend counted; absent where its group has no such metric.
struct CountedTraffic {
  EventCount read_bytes;
  EventCount write_bytes;
  EventCount all_bytes;
};

struct KernelResult {
  TrafficKernel kernel = TrafficKernel::read;
  MemoryTraffic known;
  CountedTraffic counted;
  std::optional<double> ratio;  ///< counted over known
};

/// Counted over known of what is read, of what is written and of both together, where there is both a figure and
/// something to be counted: the one of these farthest from 1. Absent where nothing was counted.
[[nodiscard]] std::optional<double> ratio_of(const MemoryTraffic& known, const CountedTraffic& counted);
/// The ratio farthest from 1. Absent where a kernel has none.
[[nodiscard]] std::optional<double> worst_ratio(const std::vector<KernelResult>& kernels);

/// Bytes that can still be had, from a /proc/meminfo; nothing where it does not say.
[[nodiscard]] std::optional<std::size_t> available_memory(const std::filesystem::path& meminfo = "/proc/meminfo");

/// The size of the arrays: what is asked for, else 16 times the cache (caches that keep a part of what streams through
/// them keep little of that), less where memory is short, but never under 4 times. In whole lines. Throws
/// CounterRequestError for a size under 4 times the cache, or arrays larger than `memory`, with the figures.
[[nodiscard]] std::size_t array_size(std::size_t asked, const CacheGeometry& cache, std::optional<std::size_t> memory);

/// Counts every kernel and compares. JSON as results/README.md has it, without what is only known outside (schema,
/// machine, time). Throws CounterRequestError and CounterError.
[[nodiscard]] nlohmann::json qualify(CounterBackend& backend, const CounterRequest& request, std::size_t asked_bytes);

}  // namespace fourscore
