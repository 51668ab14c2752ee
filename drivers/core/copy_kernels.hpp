#pragma once
// The innermost loops of CopyPlan. Sizes in bytes are multiples of 8. Streaming ones end with fence_stores().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// A test defines FOURSCORE_PORTABLE_COPIES to run on any processor what others have without these instructions.
#if defined(__SSE2__) && !defined(FOURSCORE_PORTABLE_COPIES)
#define FOURSCORE_COPIES_WITH_SSE2
#include <immintrin.h>
#endif

namespace fourscore::copy_kernels {

constexpr std::size_t line_bytes = 64;
#ifdef FOURSCORE_COPIES_WITH_SSE2
constexpr bool portable = false;
#else
constexpr bool portable = true;
#endif

inline bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Copies N bytes (8 or 16) with one ordinary or streaming store; a streaming one wants `to` aligned to N.
template <std::size_t N, bool streaming>
inline void copy_unit(const std::byte* from, std::byte* to) {
#ifdef FOURSCORE_COPIES_WITH_SSE2
  if constexpr (streaming && N == 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return;
  }
#ifdef __x86_64__
  if constexpr (streaming && N == 8) {
    long long value = 0;
    std::memcpy(&value, from, 8);
    _mm_stream_si64(reinterpret_cast<long long*>(to), value);
    return;
  }
#endif
#elif defined(__clang__)
  if constexpr (streaming && N == 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, 8);
    __builtin_nontemporal_store(value, reinterpret_cast<std::uint64_t*>(to));
    return;
  }
#endif
  std::memcpy(to, from, N);
}

/// A whole cache line; `to` aligned to it.
inline void stream_line(const std::byte* from, std::byte* to) {
#if defined(FOURSCORE_COPIES_WITH_SSE2) && defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(FOURSCORE_COPIES_WITH_SSE2) && defined(__AVX__)
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to + 32), high);
#elif defined(FOURSCORE_COPIES_WITH_SSE2)
  for (std::size_t i = 0; i < line_bytes; i += 16) copy_unit<16, true>(from + i, to + i);
#else
  for (std::size_t i = 0; i < line_bytes; i += 8) copy_unit<8, true>(from + i, to + i);
#endif
}

/// Streaming stores are weakly ordered: other threads, and MPI, may read the data only after this.
inline void fence_stores() {
#ifdef FOURSCORE_COPIES_WITH_SSE2
  _mm_sfence();
#endif
}

inline void copy_run(const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::size_t worth_a_call = 256;
  if (bytes > worth_a_call) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::size_t i = 0;
  for (; i + 16 <= bytes; i += 16) std::memcpy(to + i, from + i, 16);
  if (i < bytes) std::memcpy(to + i, from + i, 8);
}

/// `to` aligned to 8.
inline void stream_run(const std::byte* from, std::byte* to, std::size_t bytes) {
  std::size_t i = 0;
  if (bytes >= 8 && !is_aligned(to, 16)) {
    copy_unit<8, true>(from, to);
    i = 8;
  }
  for (; i + 16 <= bytes && !is_aligned(to + i, line_bytes); i += 16) copy_unit<16, true>(from + i, to + i);
  for (; i + line_bytes <= bytes; i += line_bytes) stream_line(from + i, to + i);
  for (; i + 16 <= bytes; i += 16) copy_unit<16, true>(from + i, to + i);
  if (i < bytes) copy_unit<8, true>(from + i, to + i);
}

/// to[a * to_stride + b] = from[b * from_stride + a] (elements of N bytes, strides in bytes) for a < reads, b < writes.
/// Tiles are whole lines on both sides, so that each line is fetched and written once even where all rows fall into
/// one set of the cache; a block of tiles keeps the pages of both sides in the TLB.
template <std::size_t N, bool streaming>
inline void transpose(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to, std::ptrdiff_t to_stride,
                      std::ptrdiff_t reads, std::ptrdiff_t writes) {
  constexpr auto size = static_cast<std::ptrdiff_t>(N);
  constexpr std::ptrdiff_t tile = line_bytes / N;
  constexpr std::ptrdiff_t block = 8 * tile;
  const auto element = [&](std::ptrdiff_t a, std::ptrdiff_t b) {
    copy_unit<N, streaming>(from + b * from_stride + a * size, to + a * to_stride + b * size);
  };
  for (std::ptrdiff_t b0 = 0; b0 < writes; b0 += block) {
    const std::ptrdiff_t b1 = std::min(writes, b0 + block);
    for (std::ptrdiff_t a0 = 0; a0 < reads; a0 += tile) {
      const std::ptrdiff_t a1 = std::min(reads, a0 + tile);
      std::ptrdiff_t b = b0;
      if (a1 - a0 == tile)
        for (; b + tile <= b1; b += tile)
          for (std::ptrdiff_t a = 0; a < tile; ++a)
            for (std::ptrdiff_t i = 0; i < tile; ++i) element(a0 + a, b + i);
      for (std::ptrdiff_t a = a0; a < a1; ++a)
        for (std::ptrdiff_t i = b; i < b1; ++i) element(a, i);
    }
  }
}

}  // namespace fourscore::copy_kernels

#undef FOURSCORE_COPIES_WITH_SSE2
