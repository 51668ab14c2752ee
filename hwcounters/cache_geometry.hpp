#pragma once
// Which last-level caches a simulation can have.

#include <filesystem>
#include <string>
#include <string_view>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// "SIZE[,WAYS[,LINE]]", as "1MiB", "32MiB,16", "1MiB,16,64": sizes in bytes, with KiB, MiB or GiB behind the number.
/// What is left out is 0. Throws CounterRequestError naming what is wrong and what is expected.
[[nodiscard]] CacheGeometry parse_cache_geometry(std::string_view text);

/// "1MiB,16,64".
[[nodiscard]] std::string to_string(const CacheGeometry& cache);

/// The outermost data cache of processor 0 as Linux describes it in `folder`; zeros for what it does not say.
[[nodiscard]] CacheGeometry machine_cache(const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

/// The cache asked for, completed: where no size is given, all is as in the machine; where one is given, 16 ways and
/// lines of 64 bytes, on every machine. Ways that were not asked for grow to the next number that leaves a power of two
/// of sets. Throws CounterRequestError for what cannot be simulated: size = sets x ways x line, with powers of two of
/// sets and of bytes a line, at least 16 bytes a line and at most 2 GiB in all.
[[nodiscard]] CacheGeometry simulated_cache(const CacheGeometry& asked, const CacheGeometry& machine);
/// Its line in bytes, which is known also where its size is not.
[[nodiscard]] std::uint64_t simulated_line_bytes(const CacheGeometry& asked, const CacheGeometry& machine);

}  // namespace fourscore
