#include "harness/verifier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using Complex = std::complex<double>;

// Beyond these the definition takes longer than a second on one core; then spots are checked.
constexpr Index largest_naive_elements = Index{1} << 18;
constexpr Index largest_naive_products = Index{1} << 24;
constexpr int spots = 8;

double machine_epsilon(Precision precision) {
  return precision == Precision::double_precision ? std::numeric_limits<double>::epsilon()
                                                  : static_cast<double>(std::numeric_limits<float>::epsilon());
}

bool small_enough_for_the_definition(const Extents& shape) {
  const Index n = shape[0] * shape[1] * shape[2];
  return n <= largest_naive_elements && shape[0] + shape[1] + shape[2] <= largest_naive_products / n;
}

auto field_row(const FieldRows& field) {
  return [&field](Index i, Index j, std::span<Complex> out) { field.row(i, j, out); };
}

template <class Real>
void write_row(std::span<const Complex> row, Real* out) {
  for (std::size_t k = 0; k < row.size(); ++k) out[k] = static_cast<Real>(row[k].real());
}

template <class Real>
void write_row(std::span<const Complex> row, std::complex<Real>* out) {
  for (std::size_t k = 0; k < row.size(); ++k)
    out[k] = {static_cast<Real>(row[k].real()), static_cast<Real>(row[k].imag())};
}

template <class Real>
double real_part(Real value) {
  return static_cast<double>(value);
}
template <class Real>
double real_part(std::complex<Real> value) {
  return static_cast<double>(value.real());
}
template <class Real>
double imaginary_part(Real /*value*/) {
  return 0;
}
template <class Real>
double imaginary_part(std::complex<Real> value) {
  return static_cast<double>(value.imag());
}

/// Squares of the largest |computed * scale - expected| and |expected|; infinite where a NaN is met.
template <class Element>
void compare_row(std::span<const Complex> expected, const Element* computed, double scale, double& worst,
                 double& largest) {
  bool nan = false;
  double row_worst = 0;
  double row_largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double re = real_part(computed[k]) * scale - expected[k].real();
    const double im = imaginary_part(computed[k]) * scale - expected[k].imag();
    const double difference = re * re + im * im;
    const double size = expected[k].real() * expected[k].real() + expected[k].imag() * expected[k].imag();
    nan |= difference != difference;
    row_worst = difference > row_worst ? difference : row_worst;
    row_largest = size > row_largest ? size : row_largest;
  }
  worst = std::max(worst, nan ? std::numeric_limits<double>::infinity() : row_worst);
  largest = std::max(largest, row_largest);
}

/// Calls use with the place of element `offset` as a pointer to its type.
template <class Use>
void at_element(Precision precision, bool real, void* buffer, Index offset, const Use& use) {
  if (precision == Precision::double_precision)
    real ? use(static_cast<double*>(buffer) + offset) : use(static_cast<std::complex<double>*>(buffer) + offset);
  else
    real ? use(static_cast<float*>(buffer) + offset) : use(static_cast<std::complex<float>*>(buffer) + offset);
}

/// sum a[k] b[k]. Short stretches in double, their sum in long double: over 10^9 elements the rounding of a plain sum
/// would exceed the error of the FFT that it is to judge.
std::complex<long double> inner_product(std::span<const Complex> a, std::span<const Complex> b) {
  constexpr std::size_t stretch = 64;
  std::complex<long double> sum;
  for (std::size_t begin = 0; begin < a.size(); begin += stretch) {
    double re = 0;
    double im = 0;
    for (std::size_t k = begin; k < std::min(begin + stretch, a.size()); ++k) {
      re += a[k].real() * b[k].real() - a[k].imag() * b[k].imag();
      im += a[k].real() * b[k].imag() + a[k].imag() * b[k].real();
    }
    sum += std::complex<long double>(re, im);
  }
  return sum;
}

/// A layout is sound when its boxes tile the coordinates and each axis map is a permutation.
bool covers_once(const Decomposition& layout) {
  Index held = 0;
  for (std::size_t r = 0; r < layout.boxes.size(); ++r) {
    const Box& box = layout.boxes[r];
    if (box.empty()) continue;
    for (std::size_t a = 0; a < 3; ++a)
      if (box.low[a] < 0 || box.high[a] > layout.shape[a]) return false;
    held += box.volume();
    for (std::size_t s = 0; s < r; ++s)
      if (intersect(box, layout.boxes[s]).volume() > 0) return false;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    if (layout.axis_map[a].empty()) continue;
    if (static_cast<Index>(layout.axis_map[a].size()) != layout.shape[a]) return false;
    std::vector<bool> seen(layout.axis_map[a].size(), false);  // one axis may have as many elements as the memory holds
    for (const Index index : layout.axis_map[a]) {
      if (index < 0 || index >= layout.shape[a] || seen[static_cast<std::size_t>(index)]) return false;
      seen[static_cast<std::size_t>(index)] = true;
    }
  }
  return held == layout.shape[0] * layout.shape[1] * layout.shape[2];
}

bool same_places(const Decomposition& a, const Decomposition& b) {
  return a.shape == b.shape && a.boxes == b.boxes && a.order == b.order && a.axis_map == b.axis_map &&
         a.padding == b.padding && (a.padding.empty() || a.padded_axis == b.padded_axis);
}

}  // namespace

Verifier::Verifier(const Problem& problem, MPI_Comm comm, const Plan& plan, std::uint64_t seed)
    : problem_(problem),
      comm_(comm),
      rank_(mpi::rank_in(comm)),
      seed_(seed),
      tolerance_(4 * machine_epsilon(problem.precision) *
                 std::max(1.0, std::log2(static_cast<double>(problem.elements())))),
      symmetry_(problem.real_input()    ? Symmetry::real
                : problem.real_output() ? Symmetry::hermitian
                                        : Symmetry::none),
      input_{LocalRows(plan.input_layout(), rank_, problem.extents()), problem.real_input()},
      output_{LocalRows(plan.output_layout(), rank_, problem.extents()), problem.real_output()},
      input_field_(input_.rows),
      scratch_(static_cast<std::size_t>(std::max(input_.rows.count(2), output_.rows.count(2)))) {
  if (plan.input_layout().shape != problem.input_extents() || plan.output_layout().shape != problem.output_extents())
    throw std::logic_error("the layouts of the plan do not have the shapes of the problem");
  input_field_.assign(timed_field(0));
}

void Verifier::write(const Row& row, void* buffer) {
  const LocalRows& rows = input_.rows;
  const std::span<Complex> values(scratch_.data(), static_cast<std::size_t>(rows.count(2)));
  for (Index i = 0; i < rows.count(0); ++i)
    for (Index j = 0; j < rows.count(1); ++j) {
      row(i, j, values);
      at_element(problem_.precision, input_.real, buffer, rows.offset(i, j),
                 [&](auto* out) { write_row(values, out); });
    }
}

Verifier::Difference Verifier::compare(const Side& side, const Row& row, const void* buffer, double scale) {
  const std::span<Complex> values(scratch_.data(), static_cast<std::size_t>(side.rows.count(2)));
  Difference squares;
  for (Index i = 0; i < side.rows.count(0); ++i)
    for (Index j = 0; j < side.rows.count(1); ++j) {
      row(i, j, values);
      at_element(problem_.precision, side.real, const_cast<void*>(buffer), side.rows.offset(i, j),
                 [&](const auto* computed) { compare_row(values, computed, scale, squares.worst, squares.largest); });
    }
  return {std::sqrt(squares.worst), std::sqrt(squares.largest)};
}

Verifier::Row Verifier::noise_row() const {
  return [this](Index i, Index j, std::span<Complex> out) {
    const LocalRows& rows = input_.rows;
    const Index base = rows.linear(i, j);
    const Index mirror = rows.mirrored_linear(i, j);
    const Index step = rows.linear_step();
    const auto index = rows.index(2);
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = noise(seed_, base + index[k] * step, mirror + rows.mirrored_index(2, index[k]) * step, symmetry_);
  };
}

SparseField Verifier::field(int waves, int spikes, double spike_amplitude, std::uint64_t seed) const {
  return random_field(problem_.extents(), waves, spikes, spike_amplitude, seed, symmetry_);
}

Check Verifier::finish(const std::string& name, const std::string& when, const Difference& difference) const {
  std::array<double, 2> all{difference.worst, difference.largest};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_DOUBLE, MPI_MAX, comm_));
  const double error = all[0] / all[1];
  return {name, when, error, tolerance_, error <= tolerance_};
}

Check Verifier::check_field(const std::string& name, Plan& plan, const SparseField& field) {
  FieldRows input(input_.rows);
  input.assign(field);
  write(field_row(input), plan.input());
  PhaseClock clock(false);
  plan.execute(clock);
  FieldRows output(output_.rows);
  output.assign(transform(field, problem_.direction));
  return finish(name, "before", compare(output_, field_row(output), plan.output()));
}

Check Verifier::check_layouts(const Plan& plan) const {
  const int sizes = mpi::size_of(comm_);
  const bool sound = plan.input_layout().ranks() == sizes && plan.output_layout().ranks() == sizes &&
                     covers_once(plan.input_layout()) && covers_once(plan.output_layout());
  return {"layouts", "before", sound ? 0.0 : 1.0, 0.0, sound};
}

Check Verifier::check_dft(const Plan& plan) {
  const std::vector<Complex> expected = naive_noise_dft(problem_.extents(), problem_.direction, seed_, symmetry_);
  const auto row = [&](Index i, Index j, std::span<Complex> out) {
    const Index base = output_.rows.linear(i, j);
    const auto index = output_.rows.index(2);
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = expected[static_cast<std::size_t>(base + index[k] * output_.rows.linear_step())];
  };
  return finish("dft", "before", compare(output_, row, plan.output()));
}

/// Sums over a whole spectrum from its half: an element counts twice where its mirror image is another one, which then
/// is left out. Of the sum the real part is what the whole would give.
void Verifier::weigh(Index i, Index j, std::span<Complex> row) const {
  if (symmetry_ != Symmetry::hermitian) return;
  const LocalRows& rows = input_.rows;
  const Index n = problem_.shape.back();
  const auto weight = [n](Index index) { return index == 0 || 2 * index == n ? 1.0 : 2.0; };
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::array<std::size_t, 3> local{static_cast<std::size_t>(i), static_cast<std::size_t>(j), k};
    for (std::size_t position = 0; position < 3; ++position)
      if (rows.axis(position) == problem_.last_axis()) row[k] *= weight(rows.index(position)[local[position]]);
  }
}

Check Verifier::check_spots(const Plan& plan) {
  // X[k] = sum_j x[j] exp(+-2 pi i k j / n): the wave of index +-k, summed against the noise over this rank's input.
  const Extents shape = problem_.extents();
  SparseField chosen = random_field(problem_.output_extents(), 0, spots, 1, mix(seed_ + 1));
  chosen.shape = shape;
  const SparseField waves = transform(chosen, problem_.direction);
  std::array<std::complex<long double>, spots> wide_sums{};
  std::vector<FieldRows> kernels;
  for (int s = 0; s < spots; ++s) {
    kernels.emplace_back(input_.rows);
    kernels.back().assign({shape, {{1.0, waves.waves[static_cast<std::size_t>(s)].k}}, {}});
  }
  const auto row_length = static_cast<std::size_t>(input_.rows.count(2));
  std::vector<Complex> values(row_length), kernel(row_length);
  const Row fill_noise = noise_row();
  for (Index i = 0; i < input_.rows.count(0); ++i)
    for (Index j = 0; j < input_.rows.count(1); ++j) {
      fill_noise(i, j, values);
      weigh(i, j, values);
      for (std::size_t s = 0; s < spots; ++s) {
        kernels[s].row(i, j, kernel);
        wide_sums[s] += inner_product(values, kernel);
      }
    }
  std::array<Complex, spots> sums{};
  for (std::size_t s = 0; s < spots; ++s)
    sums[s] = {static_cast<double>(wide_sums[s].real()), output_.real ? 0 : static_cast<double>(wide_sums[s].imag())};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2 * spots, MPI_DOUBLE, MPI_SUM, comm_));

  // Noise of variance 1/12 in each part: by Parseval the root mean square of the result is sqrt(N / 6). Real noise has
  // one part, and the mean of two that hermitian noise is has half the variance.
  const double parts = symmetry_ == Symmetry::none ? 2 : 1;
  Difference difference{0, std::sqrt(static_cast<double>(problem_.elements()) * parts / 12)};
  for (std::size_t s = 0; s < spots; ++s) {
    Extents local{};
    if (!output_.rows.find(chosen.spikes[s].at, local)) continue;
    double worst = 0;
    double ignored = 0;
    at_element(problem_.precision, output_.real, plan.output(), output_.rows.offset(local[0], local[1]) + local[2],
               [&](const auto* computed) {
                 compare_row({&sums[s], 1}, computed, 1, worst, ignored);
               });
    difference.worst = std::max(difference.worst, std::sqrt(worst));
  }
  return finish("dft-spots", "before", difference);
}

Check Verifier::check_inverse(const Plan& plan, Plan& inverse) {
  if (!same_places(plan.output_layout(), inverse.input_layout()) ||
      !same_places(plan.input_layout(), inverse.output_layout()))
    return {"inverse-layouts", "before", 1, 0, false};
  const auto bytes =
      static_cast<std::size_t>(plan.output_layout().memory_volume(rank_)) * problem_.output_element_bytes();
  if (bytes > 0) std::memcpy(inverse.input(), plan.output(), bytes);
  PhaseClock clock(false);
  inverse.execute(clock);
  const double scale = 1 / static_cast<double>(problem_.elements());
  return finish("inverse", "before", compare(input_, noise_row(), inverse.output(), scale));
}

std::vector<Check> Verifier::check_before(Plan& plan, const MakeInverse& make_inverse) {
  std::vector<Check> checks{check_layouts(plan)};
  // Where elements are missing or doubled the other checks would read what is not there.
  if (!checks.front().ok) return checks;
  checks.push_back(check_field("plane-waves", plan, field(3, 0, 0, mix(seed_ + 2))));
  checks.push_back(check_field("impulse", plan, field(0, 1, 1, mix(seed_ + 3))));
  write(noise_row(), plan.input());
  PhaseClock clock(false);
  plan.execute(clock);
  checks.push_back(small_enough_for_the_definition(problem_.extents()) ? check_dft(plan) : check_spots(plan));
  if (!make_inverse) return checks;
  if (const auto inverse = make_inverse()) checks.push_back(check_inverse(plan, *inverse));
  return checks;
}

SparseField Verifier::timed_field(int run) const {
  return field(2, 1, static_cast<double>(problem_.elements()), mix(seed_ + 4) + static_cast<std::uint64_t>(run));
}

void Verifier::fill(const Plan& plan, int run) {
  filled_run_ = run;
  input_field_.assign(timed_field(run));
  write(field_row(input_field_), plan.input());
}

Check Verifier::check_after(const Plan& plan) {
  FieldRows output(output_.rows);
  output.assign(transform(timed_field(filled_run_), problem_.direction));
  return finish("last-timed-run", "after", compare(output_, field_row(output), plan.output()));
}

}  // namespace fourscore
