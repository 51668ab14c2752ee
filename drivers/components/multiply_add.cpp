#include "components/multiply_add.hpp"

namespace fourscore::component {
namespace {

// The widest that the compiler was told the processor has.
#if defined(__AVX512F__)
constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
constexpr std::size_t vector_bytes = 32;
#else
constexpr std::size_t vector_bytes = 16;
#endif

template <class Real>
struct VectorOf {
  typedef Real type __attribute__((vector_size(vector_bytes)));
};
template <class Real>
using Vector = typename VectorOf<Real>::type;

}  // namespace

template <class Real>
std::size_t multiply_add_lanes() {
  return vector_bytes / sizeof(Real);
}

template <class Real>
void multiply_add_all(Real* x, Real factor, Real addend) {
  auto* const vectors = reinterpret_cast<Vector<Real>*>(x);
  Vector<Real> chains[multiply_add_chains];
  for (std::size_t i = 0; i < multiply_add_chains; ++i) chains[i] = vectors[i];
  for (std::int64_t step = 0; step < multiply_add_steps; ++step)
    for (Vector<Real>& chain : chains) chain = chain * factor + addend;  // one instruction where there is one
  for (std::size_t i = 0; i < multiply_add_chains; ++i) vectors[i] = chains[i];
}

template std::size_t multiply_add_lanes<double>();
template std::size_t multiply_add_lanes<float>();
template void multiply_add_all(double* x, double factor, double addend);
template void multiply_add_all(float* x, float factor, float addend);

}  // namespace fourscore::component
