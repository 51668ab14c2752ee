#pragma once
// Kind r2c: known real fields, their spectra by the definition, and plans that are run and compared.

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore::test {

struct Transformed {
  Field space;     ///< real values
  Field spectrum;  ///< the whole spectrum of them
};

/// Computed once and kept, until there are hundreds of them.
inline const Transformed& transformed_real(const Extents& shape) {
  constexpr std::size_t most_kept = 200;
  static std::map<Extents, Transformed> all;
  if (all.size() > most_kept) all.clear();
  Transformed& pair = all[shape];
  if (!pair.space.values.empty()) return pair;
  for (const Wide& value : random_field(shape).values) pair.space.values.emplace_back(value.real());
  pair.spectrum = pair.space;
  naive_dft(pair.spectrum.values, shape, -1);
  for (Field* field : {&pair.space, &pair.spectrum})
    for (const Wide& value : field->values) field->largest = std::max(field->largest, std::abs(value));
  return pair;
}

/// One side of a plan as memory.
template <class Real>
struct Memory {
  const Decomposition& layout;
  int me;
  bool real;
  void* data;

  [[nodiscard]] Index volume() const { return layout.volume(me); }
  [[nodiscard]] Wide get(Index i) const {
    const Index at = layout.place(me, i);
    return real ? Wide(static_cast<Real*>(data)[at]) : Wide(static_cast<std::complex<Real>*>(data)[at]);
  }
  void set(Index i, const Wide& value) const {
    const Index at = layout.place(me, i);
    if (real)
      static_cast<Real*>(data)[at] = static_cast<Real>(value.real());
    else
      static_cast<std::complex<Real>*>(data)[at] = std::complex<Real>(value);
  }
  void fill_with_nan() const {
    const auto bytes = static_cast<std::size_t>(layout.memory_volume(me)) * sizeof(Real) * (real ? 1 : 2);
    if (bytes > 0) std::memset(data, 0xff, bytes);
  }
};

/// Writes the known field, times `scale`, as rank `me` of the plan's; the padding and the output hold NaN.
template <class Real>
void fill_real(Plan& plan, const Problem& problem, int me, long double scale = 1) {
  const Extents shape = problem.extents();
  const bool forward = problem.direction == Direction::forward;
  const Memory<Real> in{plan.input_layout(), me, forward, plan.input()};
  const Memory<Real> out{plan.output_layout(), me, !forward, plan.output()};
  out.fill_with_nan();
  in.fill_with_nan();
  const auto& pair = transformed_real(shape);
  const Field& given = forward ? pair.space : pair.spectrum;
  for (Index i = 0; i < in.volume(); ++i)
    in.set(i, given.values[position(shape, in.layout.global_index(me, i))] * scale);
}

/// Largest error of the output in units of epsilon of the largest value expected; infinite where a NaN came out.
template <class Real>
double error_of_real(Plan& plan, const Problem& problem, int me, long double scale = 1) {
  const Extents shape = problem.extents();
  const bool forward = problem.direction == Direction::forward;
  const Memory<Real> out{plan.output_layout(), me, !forward, plan.output()};
  const auto& pair = transformed_real(shape);
  const Field& expected = forward ? pair.spectrum : pair.space;
  const long double factor = scale * (forward ? 1 : static_cast<long double>(problem.elements()));
  long double worst = 0;
  for (Index i = 0; i < out.volume(); ++i) {
    const Wide value = expected.values[position(shape, out.layout.global_index(me, i))] * factor;
    const long double squared = std::norm(value - out.get(i));
    if (!std::isfinite(squared)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, squared);
  }
  return static_cast<double>(std::sqrt(worst) / (expected.largest * factor)) / std::numeric_limits<Real>::epsilon();
}

/// Fills, runs, and compares.
template <class Real>
double error_of_real_run(Plan& plan, const Problem& problem) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  fill_real<Real>(plan, problem, me);
  PhaseClock clock;
  clock.start();
  plan.execute(clock);
  return error_of_real<Real>(plan, problem, me);
}

}  // namespace fourscore::test
