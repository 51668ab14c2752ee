// How the Verifier sets a plan's output beside the definition of the DFT: all of it, or spots.

#include <algorithm>
#include <array>
#include <complex>

#include "harness/verified_rows.hpp"
#include "harness/verifier.hpp"
#include "mpi/error.hpp"

namespace fourscore {
namespace {

using Complex = std::complex<double>;

// Beyond these the definition takes longer than a second on one core; then spots are checked.
constexpr Index largest_naive_elements = Index{1} << 18;
constexpr Index largest_naive_products = Index{1} << 24;
constexpr std::size_t spots = 8;

}  // namespace

bool Verifier::small_enough_for_the_definition() const {
  const Extents shape = problem_.extents();
  const Index n = shape[0] * shape[1] * shape[2];
  return n <= largest_naive_elements && fields_ * (shape[0] + shape[1] + shape[2]) <= largest_naive_products / n;
}

Check Verifier::check_dft(const Plan& plan) {
  return check_fields("dft", "before", output_, [&](Index field) {
    ArrayRows expected(naive_noise_dft(problem_.extents(), problem_.direction, seed(field), symmetry_));
    const double size = std::max(expected.largest(), transformed_noise_size());
    return compare(output_, {expected, size}, output_of(plan, field));
  });
}

/// Sums over a whole spectrum from its half: an element counts twice where its mirror image is another one, which then
/// is left out. The real part of the sum is what the whole would give.
void Verifier::weigh(Index i, Index j, std::span<Complex> row) const {
  if (symmetry_ != Symmetry::hermitian) return;
  const RowTile& tile = input_.tile;
  const Index n = problem_.shape.back();
  const auto weight = [n](Index index) { return index == 0 || 2 * index == n ? 1.0 : 2.0; };
  for (std::size_t k = 0; k < row.size(); ++k) {
    const std::array<std::size_t, 3> local{static_cast<std::size_t>(i), static_cast<std::size_t>(j), k};
    for (std::size_t position = 0; position < 3; ++position)
      if (tile.rows().axis(position) == problem_.last_axis()) row[k] *= weight(tile.index(position)[local[position]]);
  }
}

Check Verifier::check_spots(const Plan& plan) {
  return check_fields("dft-spots", "before", output_, [&](Index field) { return find_spots(plan, field); });
}

Verifier::Found Verifier::find_spots(const Plan& plan, Index number) {
  // X[k] = sum_j x[j] exp(+-2 pi i k j / n): the wave of index +-k, summed against the noise over this rank's input.
  const Extents shape = problem_.extents();
  SparseField chosen = random_field(problem_.output_extents(), 0, static_cast<int>(spots), 1, mix(seed(number) + 1));
  chosen.shape = shape;
  const SparseField waves = transform(chosen, problem_.direction);
  std::array<std::complex<long double>, spots> wide_sums{};
  std::vector<FieldRows> kernels(spots);
  for (std::size_t s = 0; s < spots; ++s) kernels[s].assign({shape, {{1.0, waves.waves[s].k}}, {}});
  NoiseRows noise_rows(seed(number), symmetry_);
  RowTile& tile = input_.tile;
  tile.for_each_place([&] {
    noise_rows.enter(tile);
    for (FieldRows& kernel : kernels) kernel.enter(tile);
    const auto length = static_cast<std::size_t>(tile.count(2));
    std::vector<Complex> values(length), roots(length);
    for (Index i = 0; i < tile.count(0); ++i)
      for (Index j = 0; j < tile.count(1); ++j) {
        noise_rows.row(i, j, values);
        weigh(i, j, values);
        for (std::size_t s = 0; s < spots; ++s) {
          kernels[s].row(i, j, roots);
          wide_sums[s] += inner_product(values, roots);
        }
      }
  });
  std::array<Complex, spots> sums{};
  for (std::size_t s = 0; s < spots; ++s)
    sums[s] = {static_cast<double>(wide_sums[s].real()), output_.real ? 0 : static_cast<double>(wide_sums[s].imag())};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(2 * spots), MPI_DOUBLE, MPI_SUM, comm_));

  Found found;
  for (std::size_t s = 0; s < spots; ++s) {
    const Extents& at = chosen.spikes[s].at;
    Extents local{};
    if (!output_.rows.find_in_all(at, local)) continue;
    const Index place = output_.interleaving.place(output_.rows.offset(local[0], local[1], local[2]), number);
    at_element(problem_.precision, output_.real, output_of(plan, number).array, place, [&](const auto* computed) {
      const double error = judge_row(
          std::span<const Complex>(&sums[s], 1), Strided(computed, 1), 1, transformed_noise_size(), tolerance_,
          [&](Index) { return at; }, output_.extents, found.wrong);
      found.error = std::max(found.error, error);
    });
  }
  return found;
}

}  // namespace fourscore
