#pragma once
// The innermost loops of CopyPlan. Sizes in bytes are multiples of 8. Streaming ones end with fence_stores().

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// A test defines FOURSCORE_PORTABLE_COPIES to run on any processor what others have without these instructions.
#if defined(__SSE2__) && !defined(FOURSCORE_PORTABLE_COPIES)
#define FOURSCORE_COPIES_WITH_SSE2
// GCC before 13 warns of its own intrinsics for AVX-512 (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
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

#ifdef FOURSCORE_COPIES_WITH_SSE2
// One tile of a transposition, a line of elements in each direction, within the registers. Strides in bytes; the lines
// of `to` are aligned to lines. Loads and stores of whole vectors: a line is written at once.
#if defined(__AVX512F__)
template <bool streaming>
inline void store_line(std::byte* to, __m512d line) {
  if constexpr (streaming)
    _mm512_stream_pd(reinterpret_cast<double*>(to), line);
  else
    _mm512_store_pd(to, line);
}

template <bool streaming>
inline void transpose_tile_16(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                              std::ptrdiff_t to_stride) {
  __m512d row[4];
  for (int i = 0; i < 4; ++i) row[i] = _mm512_loadu_pd(from + i * from_stride);
  const __m512d low01 = _mm512_shuffle_f64x2(row[0], row[1], 0x44);
  const __m512d high01 = _mm512_shuffle_f64x2(row[0], row[1], 0xee);
  const __m512d low23 = _mm512_shuffle_f64x2(row[2], row[3], 0x44);
  const __m512d high23 = _mm512_shuffle_f64x2(row[2], row[3], 0xee);
  store_line<streaming>(to, _mm512_shuffle_f64x2(low01, low23, 0x88));
  store_line<streaming>(to + to_stride, _mm512_shuffle_f64x2(low01, low23, 0xdd));
  store_line<streaming>(to + 2 * to_stride, _mm512_shuffle_f64x2(high01, high23, 0x88));
  store_line<streaming>(to + 3 * to_stride, _mm512_shuffle_f64x2(high01, high23, 0xdd));
}

template <bool streaming>
inline void transpose_tile_8(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                             std::ptrdiff_t to_stride) {
  __m512d pair[8];  // from rows 2 i and 2 i + 1: even columns, then odd ones
  for (int i = 0; i < 4; ++i) {
    const __m512d even = _mm512_loadu_pd(from + 2 * i * from_stride);
    const __m512d odd = _mm512_loadu_pd(from + (2 * i + 1) * from_stride);
    pair[i] = _mm512_unpacklo_pd(even, odd);
    pair[4 + i] = _mm512_unpackhi_pd(even, odd);
  }
  for (int odd = 0; odd < 2; ++odd) {
    const __m512d* rows = pair + 4 * odd;
    // As a transposition of 4 x 4 pairs.
    const __m512d low01 = _mm512_shuffle_f64x2(rows[0], rows[1], 0x44);
    const __m512d high01 = _mm512_shuffle_f64x2(rows[0], rows[1], 0xee);
    const __m512d low23 = _mm512_shuffle_f64x2(rows[2], rows[3], 0x44);
    const __m512d high23 = _mm512_shuffle_f64x2(rows[2], rows[3], 0xee);
    store_line<streaming>(to + odd * to_stride, _mm512_shuffle_f64x2(low01, low23, 0x88));
    store_line<streaming>(to + (2 + odd) * to_stride, _mm512_shuffle_f64x2(low01, low23, 0xdd));
    store_line<streaming>(to + (4 + odd) * to_stride, _mm512_shuffle_f64x2(high01, high23, 0x88));
    store_line<streaming>(to + (6 + odd) * to_stride, _mm512_shuffle_f64x2(high01, high23, 0xdd));
  }
}
#elif defined(__AVX__)
template <bool streaming>
inline void store_half(std::byte* to, __m256d half) {
  if constexpr (streaming)
    _mm256_stream_pd(reinterpret_cast<double*>(to), half);
  else
    _mm256_store_pd(reinterpret_cast<double*>(to), half);
}
inline __m256d load_half(const std::byte* from) { return _mm256_loadu_pd(reinterpret_cast<const double*>(from)); }

template <bool streaming>
inline void transpose_tile_16(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                              std::ptrdiff_t to_stride) {
  for (int a = 0; a < 4; a += 2) {
    __m256d row[4];
    for (int i = 0; i < 4; ++i) row[i] = load_half(from + i * from_stride + 16 * a);
    std::byte* const line = to + a * to_stride;
    store_half<streaming>(line, _mm256_permute2f128_pd(row[0], row[1], 0x20));
    store_half<streaming>(line + 32, _mm256_permute2f128_pd(row[2], row[3], 0x20));
    store_half<streaming>(line + to_stride, _mm256_permute2f128_pd(row[0], row[1], 0x31));
    store_half<streaming>(line + to_stride + 32, _mm256_permute2f128_pd(row[2], row[3], 0x31));
  }
}

template <bool streaming>
inline void transpose_tile_8(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                             std::ptrdiff_t to_stride) {
  for (int a = 0; a < 8; a += 4) {
    __m256d low[4];  // from rows 2 i and 2 i + 1: even columns
    __m256d high[4];
    for (int i = 0; i < 4; ++i) {
      const __m256d even = load_half(from + 2 * i * from_stride + 8 * a);
      const __m256d odd = load_half(from + (2 * i + 1) * from_stride + 8 * a);
      low[i] = _mm256_unpacklo_pd(even, odd);
      high[i] = _mm256_unpackhi_pd(even, odd);
    }
    for (int half = 0; half < 2; ++half) {
      std::byte* const line = to + a * to_stride + 32 * half;
      const int i = 2 * half;
      store_half<streaming>(line, _mm256_permute2f128_pd(low[i], low[i + 1], 0x20));
      store_half<streaming>(line + to_stride, _mm256_permute2f128_pd(high[i], high[i + 1], 0x20));
      store_half<streaming>(line + 2 * to_stride, _mm256_permute2f128_pd(low[i], low[i + 1], 0x31));
      store_half<streaming>(line + 3 * to_stride, _mm256_permute2f128_pd(high[i], high[i + 1], 0x31));
    }
  }
}
#else
template <bool streaming>
inline void store_quarter(std::byte* to, __m128d quarter) {
  if constexpr (streaming)
    _mm_stream_pd(reinterpret_cast<double*>(to), quarter);
  else
    _mm_store_pd(reinterpret_cast<double*>(to), quarter);
}
inline __m128d load_quarter(const std::byte* from) { return _mm_loadu_pd(reinterpret_cast<const double*>(from)); }

template <bool streaming>
inline void transpose_tile_16(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                              std::ptrdiff_t to_stride) {
  for (int a = 0; a < 4; ++a)
    for (int i = 0; i < 4; ++i)
      store_quarter<streaming>(to + a * to_stride + 16 * i, load_quarter(from + i * from_stride + 16 * a));
}

template <bool streaming>
inline void transpose_tile_8(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                             std::ptrdiff_t to_stride) {
  for (int a = 0; a < 8; a += 2) {
    __m128d even[4];
    __m128d odd[4];
    for (int i = 0; i < 4; ++i) {
      even[i] = load_quarter(from + 2 * i * from_stride + 8 * a);
      odd[i] = load_quarter(from + (2 * i + 1) * from_stride + 8 * a);
    }
    std::byte* const line = to + a * to_stride;
    for (int i = 0; i < 4; ++i) store_quarter<streaming>(line + 16 * i, _mm_unpacklo_pd(even[i], odd[i]));
    for (int i = 0; i < 4; ++i) store_quarter<streaming>(line + to_stride + 16 * i, _mm_unpackhi_pd(even[i], odd[i]));
  }
}
#endif
#endif

/// A tile whose lines in `to` are aligned to lines.
template <std::size_t N, bool streaming>
inline void transpose_tile(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to, std::ptrdiff_t to_stride) {
#ifdef FOURSCORE_COPIES_WITH_SSE2
  if constexpr (N == 16)
    transpose_tile_16<streaming>(from, from_stride, to, to_stride);
  else
    transpose_tile_8<streaming>(from, from_stride, to, to_stride);
#else
  constexpr auto size = static_cast<std::ptrdiff_t>(N);
  constexpr std::ptrdiff_t tile = line_bytes / N;
  for (std::ptrdiff_t a = 0; a < tile; ++a)
    for (std::ptrdiff_t b = 0; b < tile; ++b)
      copy_unit<N, streaming>(from + b * from_stride + a * size, to + a * to_stride + b * size);
#endif
}

/// One line of `to`, aligned to a line, from as many rows as it has elements.
template <std::size_t N, bool streaming>
inline void gather_line(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to) {
#ifdef FOURSCORE_COPIES_WITH_SSE2
  if constexpr (N == 8) {
    for (int i = 0; i < 8; i += 2) {
      const auto* low = reinterpret_cast<const double*>(from + i * from_stride);
      const auto* high = reinterpret_cast<const double*>(from + (i + 1) * from_stride);
      const __m128d both = _mm_loadh_pd(_mm_load_sd(low), high);
      if constexpr (streaming)
        _mm_stream_pd(reinterpret_cast<double*>(to + 8 * i), both);
      else
        _mm_store_pd(reinterpret_cast<double*>(to + 8 * i), both);
    }
    return;
  }
#endif
  for (std::size_t i = 0; i < line_bytes / N; ++i)
    copy_unit<N, streaming>(from + static_cast<std::ptrdiff_t>(i) * from_stride, to + i * N);
}

/// to[a * to_stride + b] = from[b * from_stride + a] (elements of N bytes, strides in bytes) for a < reads, b < writes.
///
/// Lines are fetched and written once and whole, even where all rows fall into one set of the cache. Few rows of the
/// source are read at a time, from one end to the other, for two lines of each row of `to`: a processor sees the next
/// line of as many streams coming as it has places for, and with strides of a power of two of no more than a set of
/// its second cache has ways. With 32 rows the bandwidth halves (docs/measurements/components.md). At the edges stores
/// are ordinary: parts of lines are dear to stream.
template <std::size_t N, bool streaming>
inline void transpose(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to, std::ptrdiff_t to_stride,
                      std::ptrdiff_t reads, std::ptrdiff_t writes) {
  constexpr auto size = static_cast<std::ptrdiff_t>(N);
  constexpr auto line = static_cast<std::ptrdiff_t>(line_bytes);
  constexpr std::ptrdiff_t tile = line / size;
  constexpr std::ptrdiff_t block = 2 * tile;  // rows of the source
  const auto source = [&](std::ptrdiff_t a, std::ptrdiff_t b) { return from + b * from_stride + a * size; };
  const auto target = [&](std::ptrdiff_t a, std::ptrdiff_t b) { return to + a * to_stride + b * size; };
  // Elements before the first whole line of row a.
  const auto head = [&](std::ptrdiff_t a) {
    const auto past = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(target(a, 0)) % line_bytes);
    return (line - past) % line / size;
  };
  const bool whole_elements = is_aligned(to, N) && to_stride % size == 0;
  const bool in_lines = whole_elements && to_stride % line == 0;
  // Row a of `to`, from its first whole line at or after b0 to that at or after b0 + block; the first block has the
  // head.
  const auto row = [&](std::ptrdiff_t a, std::ptrdiff_t b0) {
    const std::ptrdiff_t first = whole_elements ? head(a) : 0;
    const std::ptrdiff_t end = std::min(writes, b0 + first + block);
    std::ptrdiff_t b = b0 == 0 ? 0 : b0 + first;
    for (; b < std::min(end, first); ++b) copy_unit<N, false>(source(a, b), target(a, b));
    if (whole_elements)
      for (; b + tile <= end; b += tile) gather_line<N, streaming>(source(a, b), from_stride, target(a, b));
    for (; b < end; ++b) copy_unit<N, false>(source(a, b), target(a, b));
  };
  const std::ptrdiff_t head_of_all = in_lines ? head(0) : 0;
  for (std::ptrdiff_t b0 = 0; b0 < writes; b0 += block) {
    const std::ptrdiff_t first = b0 + head_of_all;
    std::ptrdiff_t a = 0;
    // Whole tiles go by way of the registers.
    if (in_lines && (b0 > 0 || head_of_all == 0) && first + block <= writes)
      for (; a + tile <= reads; a += tile)
        for (std::ptrdiff_t b = first; b < first + block; b += tile)
          transpose_tile<N, streaming>(source(a, b), from_stride, target(a, b), to_stride);
    for (; a < reads; ++a) row(a, b0);
  }
}

}  // namespace fourscore::copy_kernels

#undef FOURSCORE_COPIES_WITH_SSE2
