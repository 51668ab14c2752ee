#include "harness/energy_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "harness/verified_rows.hpp"
#include "interfaces/truncation.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using Energies = std::vector<double>;  // by field

/// One side of the plan on this rank, row by row.
class SideRows {
 public:
  SideRows(const Decomposition& layout, int rank, const Problem& problem, bool real)
      : rows_(layout, rank, problem.extents()), tile_(rows_), precision_(problem.precision), real_(real) {}

  /// visit(tile, i, j, row): `row` is a pointer to the elements, of their type.
  template <class Visit>
  void for_each_row(void* data, const Visit& visit) {
    tile_.for_each_place([&] {
      for (Index i = 0; i < tile_.count(0); ++i)
        for (Index j = 0; j < tile_.count(1); ++j)
          at_element(precision_, real_, data, tile_.offset(i, j), [&](auto* row) { visit(tile_, i, j, row); });
    });
  }

 private:
  LocalRows rows_;
  RowTile tile_;
  Precision precision_;
  bool real_;
};

template <class Element>
double norm_of(Element element) {
  return real_part(element) * real_part(element) + imaginary_part(element) * imaginary_part(element);
}

Symmetry symmetry_of(const Problem& problem) { return problem.real_input() ? Symmetry::real : Symmetry::none; }

void write_input(const Plan& plan, const Problem& problem, int rank, RowSource& source) {
  std::vector<std::complex<double>> values;
  SideRows(plan.input_layout(), rank, problem, problem.real_input())
      .for_each_row(plan.input(), [&](const RowTile& tile, Index i, Index j, auto* row) {
        values.resize(static_cast<std::size_t>(tile.count(2)));
        if (i == 0 && j == 0) source.enter(tile);
        source.row(i, j, values);
        write_row(values, Strided(row, 1));
      });
}

void write_noise(const Plan& plan, const Problem& problem, int rank, std::uint64_t seed) {
  NoiseRows noise(seed, symmetry_of(problem));
  write_input(plan, problem, rank, noise);
}

/// Sums over the whole spectrum, of which r2c has half: a mode whose mirror image was left out counts twice.
Energies energies_by_factors(const Plan& forward, const Problem& problem, int rank) {
  const PointwiseOperator& pointwise = operator_of(problem);
  const Extents held = forward.output_layout().shape;
  const auto weight = [&](const Extents& mode) {
    const Index last = mode[problem.last_axis()];
    return problem.kind == Kind::c2c || last == 0 || 2 * last == problem.shape.back() ? 1.0 : 2.0;
  };
  std::vector<long double> sums(static_cast<std::size_t>(pointwise.fields(problem)));
  SideRows(forward.output_layout(), rank, problem, false)
      .for_each_row(forward.output(), [&](const RowTile& tile, Index i, Index j, const auto* row) {
        for (Index m = 0; m < tile.count(2); ++m) {
          const Extents mode = tile.global(i, j, m);
          Extents k{};
          for (std::size_t a = 0; a < 3; ++a) k[a] = wave_number_at(problem, held, a, mode[a]);
          const double energy = weight(mode) * norm_of(row[m]) * static_cast<double>(problem.elements());
          for (std::size_t f = 0; f < sums.size(); ++f)
            sums[f] += energy * std::norm(pointwise.factor(problem, k, static_cast<int>(f)));
        }
      });
  return {sums.begin(), sums.end()};
}

Energies energies_of_outputs(const Plan& plan, const Problem& problem, int rank) {
  std::vector<void*> outputs{plan.output()};
  outputs.insert(outputs.end(), plan.facts().further_outputs.begin(), plan.facts().further_outputs.end());
  Energies energies;
  for (void* const output : outputs) {
    long double sum = 0;
    SideRows(plan.output_layout(), rank, problem, problem.real_output())
        .for_each_row(output, [&](const RowTile& tile, Index, Index, const auto* row) {
          for (Index m = 0; m < tile.count(2); ++m) sum += norm_of(row[m]);
        });
    energies.push_back(static_cast<double>(sum));
  }
  return energies;
}

void sum_over_ranks(MPI_Comm comm, Energies& energies) {
  FOURSCORE_MPI(
      MPI_Allreduce(MPI_IN_PLACE, energies.data(), static_cast<int>(energies.size()), MPI_DOUBLE, MPI_SUM, comm));
}

}  // namespace

Check check_energy(const Problem& problem, MPI_Comm comm, RoundTrip& plan, std::uint64_t seed, double tolerance) {
  const int rank = mpi::rank_in(comm);
  PhaseClock clock(false);
  write_noise(plan, problem, rank, seed);
  plan.forward().execute(clock);
  Energies expected = energies_by_factors(plan.forward(), problem, rank);
  write_noise(plan, problem, rank, seed);
  plan.execute(clock);
  Energies found = energies_of_outputs(plan, problem, rank);
  sum_over_ranks(comm, expected);
  sum_over_ranks(comm, found);
  Check check{"energy", "before", 0, tolerance, true};
  for (std::size_t field = 0; field < expected.size(); ++field) {
    const double size = expected[field] > 0 ? std::sqrt(expected[field]) : 1;
    const double error = std::abs(std::sqrt(found[field]) - std::sqrt(expected[field])) / size;
    if (error <= check.error) continue;
    check.error = error;
    check.ok = error <= tolerance;  // false for NaN
    if (!check.ok)
      check.finding =
          fmt::format("the energy of field {} is {:.6g} in place of {:.6g}", field + 1, found[field], expected[field]);
  }
  return check;
}

Check check_kept_modes(const Problem& problem, MPI_Comm comm, RoundTrip& plan, std::uint64_t seed, double tolerance) {
  const int rank = mpi::rank_in(comm);
  const Extents n = problem.extents(), held = plan.forward().output_layout().shape;
  const SparseField given = random_modes(n, mix(seed + 6), symmetry_of(problem));
  FieldRows rows;
  rows.assign(given);
  write_input(plan, problem, rank, rows);
  PhaseClock clock(false);
  plan.forward().execute(clock);
  const double size = largest_norm_of_terms(given) * static_cast<double>(problem.elements());
  double error = 0;
  SideRows(plan.forward().output_layout(), rank, problem, false)
      .for_each_row(plan.forward().output(), [&](const RowTile& tile, Index i, Index j, const auto* row) {
        for (Index m = 0; m < tile.count(2); ++m) {
          const Extents mode = tile.global(i, j, m);
          std::complex<double> difference(real_part(row[m]), imaginary_part(row[m]));
          for (const Wave& wave : given.waves) {
            bool here = true;
            for (std::size_t a = 0; a < 3; ++a)
              here = here && (wave_number_at(problem, held, a, mode[a]) - wave.k[a]) % n[a] == 0;
            if (here) difference -= wave.amplitude * static_cast<double>(problem.elements());
          }
          const double distance = std::abs(difference) / size;
          error = distance <= error ? error : distance;  // also where it is not a number
        }
      });
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, comm));
  Check check{"kept modes of the forward half", "before", error, tolerance, error <= tolerance};
  if (!check.ok) check.finding = "waves do not have their peaks among the kept modes";
  return check;
}

}  // namespace fourscore
