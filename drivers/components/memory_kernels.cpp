#include "components/memory_kernels.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace fourscore::component {
namespace {

// One vector and its operations, by what the compiler was told the processor has.
#if defined(__AVX512F__)
using Vector = __m512d;
constexpr const char* name = "AVX-512";
Vector load(const double* from) { return _mm512_load_pd(from); }
void store(double* to, Vector v) { _mm512_store_pd(to, v); }
void stream(double* to, Vector v) { _mm512_stream_pd(to, v); }
Vector all(double value) { return _mm512_set1_pd(value); }
#elif defined(__AVX__)
using Vector = __m256d;
constexpr const char* name = "AVX";
Vector load(const double* from) { return _mm256_load_pd(from); }
void store(double* to, Vector v) { _mm256_store_pd(to, v); }
void stream(double* to, Vector v) { _mm256_stream_pd(to, v); }
Vector all(double value) { return _mm256_set1_pd(value); }
#elif defined(__SSE2__)
using Vector = __m128d;
constexpr const char* name = "SSE2";
Vector load(const double* from) { return _mm_load_pd(from); }
void store(double* to, Vector v) { _mm_store_pd(to, v); }
void stream(double* to, Vector v) { _mm_stream_pd(to, v); }
Vector all(double value) { return _mm_set1_pd(value); }
#else
typedef double Vector __attribute__((vector_size(16)));
constexpr const char* name = "portable";
Vector load(const double* from) { return *reinterpret_cast<const Vector*>(from); }
void store(double* to, Vector v) { *reinterpret_cast<Vector*>(to) = v; }
void stream(double* to, Vector v) { store(to, v); }
Vector all(double value) { return Vector{value, value}; }
#endif

constexpr std::size_t lanes = sizeof(Vector) / sizeof(double);
constexpr std::size_t vectors = kernel_unit / lanes;  // a step of a loop, unrolled

/// Between two steps of a loop: what a compiler cannot see through, it does not replace by a call.
void keep_apart() { asm volatile("" ::: "memory"); }

void fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

template <void (*put)(double*, Vector)>
void write_with(double* to, std::size_t count, double value) {
  const Vector v = all(value);
  for (std::size_t i = 0; i < count; i += kernel_unit) {
    for (std::size_t j = 0; j < vectors; ++j) put(to + i + j * lanes, v);
    keep_apart();
  }
}

template <void (*put)(double*, Vector)>
void copy_with(double* to, const double* from, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kernel_unit) {
    for (std::size_t j = 0; j < vectors; ++j) put(to + i + j * lanes, load(from + i + j * lanes));
    keep_apart();
  }
}

}  // namespace

double read_sum(const double* from, std::size_t count) {
  Vector sums[4] = {all(0), all(0), all(0), all(0)};  // the latency of an addition is hidden by four chains
  for (std::size_t i = 0; i < count; i += kernel_unit)
    for (std::size_t j = 0; j < vectors; ++j) sums[j % 4] += load(from + i + j * lanes);
  const Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double result = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) result += sum[lane];
  return result;
}

void write_all(double* to, std::size_t count, double value) { write_with<store>(to, count, value); }
void copy_all(double* to, const double* from, std::size_t count) { copy_with<store>(to, from, count); }

void triad_all(double* to, const double* a, const double* b, double factor, std::size_t count) {
  const Vector f = all(factor);
  for (std::size_t i = 0; i < count; i += kernel_unit) {
    for (std::size_t j = 0; j < vectors; ++j) {
      const std::size_t at = i + j * lanes;
      store(to + at, load(a + at) + f * load(b + at));
    }
    keep_apart();
  }
}

bool has_streaming_stores() {
#ifdef __SSE2__
  return true;
#else
  return false;
#endif
}

void stream_write_all(double* to, std::size_t count, double value) {
  write_with<stream>(to, count, value);
  fence();
}

void stream_copy_all(double* to, const double* from, std::size_t count) {
  copy_with<stream>(to, from, count);
  fence();
}

const char* vector_name() { return name; }

}  // namespace fourscore::component
