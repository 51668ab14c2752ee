#pragma once
// Passes over memory whose loads and stores are what they are called: written with the processor's vectors, and so that
// no compiler makes a call of memset or memcpy of them, which would choose its stores by size.

#include <cstddef>

namespace fourscore::component {

/// Every array's length in elements is a multiple of this, and every array is aligned to a cache line.
inline constexpr std::size_t kernel_unit = 32;

/// The sum of all elements.
[[nodiscard]] double read_sum(const double* from, std::size_t count);
/// to[i] = value
void write_all(double* to, std::size_t count, double value);
void copy_all(double* to, const double* from, std::size_t count);
/// to[i] = a[i] + factor * b[i]
void triad_all(double* to, const double* a, const double* b, double factor, std::size_t count);

/// Whether this program was built for a processor with stores that go past the caches; those below need them.
[[nodiscard]] bool has_streaming_stores();
void stream_write_all(double* to, std::size_t count, double value);
void stream_copy_all(double* to, const double* from, std::size_t count);

/// "AVX-512", "AVX", "SSE2" or "portable": the vectors of this build.
[[nodiscard]] const char* vector_name();

}  // namespace fourscore::component
