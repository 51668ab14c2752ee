#include "core/field.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include "support/boxes_of.hpp"

namespace fourscore {
namespace {

using Complex = std::complex<double>;

Complex wave_at(const Extents& n, const Extents& k, const Extents& j) {
  double turns = 0;
  for (std::size_t a = 0; a < 3; ++a) turns += static_cast<double>(k[a] * j[a] % n[a]) / static_cast<double>(n[a]);
  return std::polar(1.0, 2 * std::numbers::pi * turns);
}

/// At every element of a rank, in memory order.
std::vector<Complex> evaluated(const SparseField& field, const Decomposition& layout, int rank) {
  LocalRows rows(layout, rank, field.shape);
  RowTile tile(rows);
  FieldRows source;
  source.assign(field);
  std::vector<Complex> values(static_cast<std::size_t>(layout.volume(rank)));
  tile.for_each_place([&] {
    source.enter(tile);
    for (Index i = 0; i < tile.count(0); ++i)
      for (Index j = 0; j < tile.count(1); ++j)
        source.row(i, j,
                   std::span(values).subspan(static_cast<std::size_t>(tile.offset(i, j)),
                                             static_cast<std::size_t>(tile.count(2))));
  });
  return values;
}

TEST(FieldRows, EvaluatesAFieldAtTheGlobalIndexOfEveryElementOfAnyLayout) {
  const Extents shape{5, 6, 7};
  Decomposition layout = decompose(shape, {{2, 1, 3}}).permuted(1, test::even_then_odd_of_six());
  layout.order = {2, 0, 1};
  const SparseField field{shape, {{{2, -1}, {3, 5, 1}}, {{0, 1}, {0, 2, 6}}}, {{{7, 0}, {4, 2, 6}}}};
  Index elements = 0;
  double worst = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const std::vector<Complex> values = evaluated(field, layout, rank);
    for (Index offset = 0; offset < static_cast<Index>(values.size()); ++offset) {
      const Extents global = layout.global_index(rank, offset);
      Complex expected = 0;
      for (const Wave& wave : field.waves) expected += wave.amplitude * wave_at(shape, wave.k, global);
      for (const Spike& spike : field.spikes)
        if (spike.at == global) expected += spike.amplitude;
      worst = std::max(worst, std::abs(values[static_cast<std::size_t>(offset)] - expected));
      ++elements;
    }
  }
  EXPECT_EQ(elements, 210);
  EXPECT_LT(worst, 1e-14);
}

TEST(SparseField, TransformIsTheDefinition) {
  const Extents shape{3, 4, 5};
  const SparseField field{shape, {{{1, 2}, {1, 3, 2}}}, {{{0.5, -1}, {2, 1, 4}}}};
  const Decomposition whole = decompose(shape, {});
  const std::vector<Complex> x = evaluated(field, whole, 0);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    const std::vector<Complex> expected = evaluated(transform(field, direction), whole, 0);
    const double sign = direction == Direction::forward ? -1 : 1;
    double worst = 0;
    for (Index k = 0; k < 60; ++k) {
      const Extents at = whole.global_index(0, k);
      Complex sum = 0;
      for (Index j = 0; j < 60; ++j) {
        const Complex root = wave_at(shape, at, whole.global_index(0, j));
        sum += x[static_cast<std::size_t>(j)] * (sign < 0 ? std::conj(root) : root);
      }
      worst = std::max(worst, std::abs(expected[static_cast<std::size_t>(k)] - sum));
    }
    EXPECT_LT(worst, 1e-12);
  }
}

TEST(SparseField, HasTheSizeOfTermsThatDoNotCancel) {
  const SparseField field{{4, 4, 4},
                          {{{0, 3}, {1, 0, 0}}, {{-4, 0}, {2, 0, 0}}},
                          {{{2, 0}, {0, 0, 0}}, {{-2, 0}, {0, 0, 0}}, {{2.5, 0}, {0, 0, 1}}}};
  EXPECT_DOUBLE_EQ(largest_norm_of_terms(field), std::sqrt(3 * 3 + 4 * 4 + 2 * 2 * 2));
  EXPECT_DOUBLE_EQ(largest_norm_of_terms({{4, 4, 4}, {}, {{{1, 1}, {0, 0, 0}}}}), std::sqrt(2));
}

TEST(LocalRows, AreAsLongAsTheArrayOfOneExtent) {
  const LocalRows rows(decompose({4096, 1, 1}, {}), 0);
  EXPECT_EQ(rows.count(0), 1);
  EXPECT_EQ(rows.count(1), 1);
  EXPECT_EQ(rows.count(2), 4096);
}

TEST(LocalRows, FindOnlyWhatTheRankHolds) {
  const Decomposition layout = decompose({8, 4, 2}, {{2, 1, 1}});
  const LocalRows second(layout, 1);
  Extents local{};
  EXPECT_FALSE(second.find({3, 1, 1}, local));
  ASSERT_TRUE(second.find({5, 3, 1}, local));
  EXPECT_EQ(local, (Extents{1, 3, 1}));
}

/// Rows of every box, at places one after another.
TEST(LocalRows, GoThroughAllPiecesThatWereDealt) {
  const Extents shape{5, 6, 2};
  const Decomposition layout =
      Decomposition::dealt(decompose(shape, {{5, 3, 1}}), {Dealing::Rule::round_robin, 15, 4}, "pencils");
  const SparseField field{shape, {{{1, 0}, {1, 2, 0}}}, {{{7, 0}, {4, 2, 1}}}};
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const std::vector<Complex> values = evaluated(field, layout, rank);
    LocalRows rows(layout, rank);
    EXPECT_EQ(rows.boxes(), layout.boxes(rank).size());
    for (Index offset = 0; offset < static_cast<Index>(values.size()); ++offset) {
      const Extents global = layout.global_index(rank, offset);
      const Complex expected = wave_at(shape, {1, 2, 0}, global) + (global == Extents{4, 2, 1} ? 7.0 : 0.0);
      EXPECT_LT(std::abs(values[static_cast<std::size_t>(offset)] - expected), 1e-12);
      Extents local{};
      ASSERT_TRUE(rows.find_in_all(global, local));
      EXPECT_EQ(rows.offset(local[0], local[1], local[2]), offset);
    }
    Extents local{};
    EXPECT_EQ(rows.find_in_all({4, 2, 1}, local), layout.owner({4, 2, 1}) == rank);
  }
}

TEST(UnitRoots, AreWithinTwoRoundingsEvenForLongAxes) {
  const Index n = 1'000'003;
  const std::vector<Index> indices{0, 1, 2, 999, 1000, 500'001, 999'999, n - 1};
  std::vector<Complex> factors(indices.size());
  const Index k = 777'777;
  UnitRoots roots;
  roots.assign(n, k);
  roots.at(indices, factors);
  for (std::size_t c = 0; c < indices.size(); ++c) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k * indices[c] % n) / n;
    EXPECT_NEAR(factors[c].real(), static_cast<double>(std::cos(angle)), 1e-15);
    EXPECT_NEAR(factors[c].imag(), static_cast<double>(std::sin(angle)), 1e-15);
  }
}

TEST(UnitRoots, OfAxesTooLongForTwoTablesAreOfThree) {
  const Index n = Index{1} << 40;
  const std::vector<Index> indices{0, 1, (Index{1} << 39) + 1, n - 1, 123'456'789'012};
  std::vector<Complex> factors(indices.size());
  UnitRoots roots;
  roots.assign(n, 3);
  roots.at(indices, factors);
  for (std::size_t c = 0; c < indices.size(); ++c) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(3 * indices[c] % n) / n;
    EXPECT_NEAR(factors[c].real(), static_cast<double>(std::cos(angle)), 1e-15);
    EXPECT_NEAR(factors[c].imag(), static_cast<double>(std::sin(angle)), 1e-15);
  }
}

/// Longer than a tile along two axes, with a spike in the last tile, and a wave that a restart would not go on with.
TEST(FieldRows, GoesOnFromTileToTile) {
  const Extents shape{1, RowTile::max_extent + 3, 2};
  for (const std::array<int, 3> order : {std::array{0, 1, 2}, std::array{0, 2, 1}}) {
    Decomposition layout = decompose(shape, {});
    layout.order = order;
    const SparseField field{shape, {{{1, 0.5}, {0, 4321, 1}}}, {{{7, 0}, {0, RowTile::max_extent + 1, 1}}}};
    const std::vector<Complex> values = evaluated(field, layout, 0);
    for (const Index offset : {Index{0}, Index{1}, RowTile::max_extent, 2 * RowTile::max_extent + 5,
                               2 * RowTile::max_extent + 3, RowTile::max_extent + 4}) {
      const Extents at = layout.global_index(0, offset);
      Complex expected = Complex{1, 0.5} * wave_at(shape, {0, 4321, 1}, at);
      if (at == field.spikes[0].at) expected += 7;
      EXPECT_LT(std::abs(values[static_cast<std::size_t>(offset)] - expected), 1e-13) << offset;
    }
  }
}

TEST(NaiveNoiseDft, AgreesWithTheUnseparatedDefinition) {
  const Extents shape{3, 2, 5};
  const Decomposition whole = decompose(shape, {});
  const auto result = naive_noise_dft(shape, Direction::backward, 9);
  for (Index k = 0; k < 30; ++k) {
    Complex sum = 0;
    for (Index j = 0; j < 30; ++j)
      sum += noise(9, j) * wave_at(shape, whole.global_index(0, k), whole.global_index(0, j));
    EXPECT_LT(std::abs(result[static_cast<std::size_t>(k)] - sum), 1e-13);
  }
}

TEST(RandomField, HasWavesAndSpikesOfAnyPhaseAnywhereAndTheSameForASeed) {
  const Extents shape{5, 3, 2};
  const SparseField field = random_field(shape, 200, 200, 7.0, 1);
  ASSERT_EQ(field.waves.size(), 200U);
  ASSERT_EQ(field.spikes.size(), 200U);
  std::set<Extents> wave_numbers, places;
  std::array<int, 4> quadrants{};
  const auto count = [&](const std::complex<double>& amplitude) {
    ++quadrants[(amplitude.real() < 0 ? 1U : 0U) + (amplitude.imag() < 0 ? 2U : 0U)];
  };
  for (const Wave& wave : field.waves) {
    EXPECT_NEAR(std::abs(wave.amplitude), 1.0, 1e-12);
    wave_numbers.insert(wave.k);
    count(wave.amplitude);
  }
  for (const Spike& spike : field.spikes) {
    EXPECT_NEAR(std::abs(spike.amplitude), 7.0, 1e-11);
    places.insert(spike.at);
    count(spike.amplitude);
  }
  for (const int of_a_quadrant : quadrants) EXPECT_GT(of_a_quadrant, 50);
  for (const auto& indices : {wave_numbers, places}) {
    EXPECT_GT(indices.size(), 25U) << "nearly all of the 30";
    for (const Extents& at : indices)
      for (std::size_t a = 0; a < 3; ++a) EXPECT_TRUE(at[a] >= 0 && at[a] < shape[a]);
  }
  const SparseField again = random_field(shape, 200, 200, 7.0, 1), other = random_field(shape, 200, 200, 7.0, 2);
  EXPECT_EQ(again.waves[0].amplitude, field.waves[0].amplitude);
  EXPECT_NE(other.waves[0].amplitude, field.waves[0].amplitude);
}

TEST(Noise, IsWhiteEnoughAndExactInSinglePrecision) {
  std::set<std::pair<double, double>> distinct;
  Complex mean = 0;
  double square = 0;
  constexpr int count = 20'000;
  for (Index i = 0; i < count; ++i) {
    const Complex value = noise(1, i);
    EXPECT_EQ(static_cast<double>(static_cast<float>(value.real())), value.real());
    distinct.emplace(value.real(), value.imag());
    mean += value;
    square += std::norm(value);
  }
  EXPECT_EQ(distinct.size(), static_cast<std::size_t>(count));
  EXPECT_LT(std::abs(mean) / count, 0.02);
  EXPECT_NEAR(square / count, 1.0 / 6, 0.005);
}

}  // namespace
}  // namespace fourscore
