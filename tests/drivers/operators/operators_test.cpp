// What each operator makes of a mode: by formulas written down once more here, and the tables against the definition.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "harness/product.hpp"
#include "interfaces/pointwise_operator.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using Complex = std::complex<double>;

Problem problem_of(std::vector<Index> shape, Kind kind = Kind::c2c, const std::string& name = "scale") {
  Problem problem;
  problem.shape = std::move(shape);
  problem.kind = kind;
  problem.direction = Direction::convolution;
  problem.operator_name = name;
  return problem;
}

/// Times N.
Complex factor(const std::string& name, const std::vector<Index>& shape, const Extents& k, int field = 0) {
  const Problem problem = problem_of(shape, Kind::c2c, name);
  const Complex whole = operator_of(problem).factor(problem, k, field) * static_cast<double>(problem.elements());
  const double near = std::round(whole.real());
  return std::abs(whole.real() - near) < 1e-15 ? Complex(near, whole.imag()) : whole;
}

TEST(OperatorsTest, WaveNumbersAreTheNearestToZero) {
  EXPECT_EQ(wave_number(0, 6), 0);
  EXPECT_EQ(wave_number(3, 6), 3);
  EXPECT_EQ(wave_number(4, 6), -2);
  EXPECT_EQ(wave_number(2, 5), 2);
  EXPECT_EQ(wave_number(3, 5), -2);
  EXPECT_EQ(wave_number(0, 1), 0);
}

TEST(OperatorsTest, ScaleGivesTheInputBack) {
  EXPECT_EQ(factor("scale", {4, 5, 6}, {2, -2, 3}), Complex(1));
  EXPECT_EQ(factor("scale", {4, 5, 6}, {0, 0, 0}), Complex(1));
}

TEST(OperatorsTest, PoissonInvertsTheLaplacian) {
  EXPECT_DOUBLE_EQ(factor("poisson", {8, 8, 8}, {1, -2, 3}).real(), -1.0 / 14);
  EXPECT_DOUBLE_EQ(factor("poisson", {8, 8}, {4, 0, 0}).real(), -1.0 / 16);
  EXPECT_EQ(factor("poisson", {8, 8, 8}, {0, 0, 0}), Complex(0));
}

TEST(OperatorsTest, DealiasingKeepsLessThanAThirdOfEachAxis) {
  for (const Index k : {0, 1, -2}) EXPECT_EQ(factor("dealias-2/3", {9, 9, 9}, {k, -k, k}), Complex(1)) << k;
  for (const Index k : {3, -3, 4}) {
    EXPECT_EQ(factor("dealias-2/3", {9, 9, 9}, {k, 0, 0}), Complex(0)) << k;
    EXPECT_EQ(factor("dealias-2/3", {9, 9, 9}, {0, k, 0}), Complex(0)) << k;
    EXPECT_EQ(factor("dealias-2/3", {9, 9, 9}, {0, 0, k}), Complex(0)) << k;
  }
  EXPECT_EQ(factor("dealias-2/3", {10, 1, 1}, {3, 0, 0}), Complex(1));
}

/// What is kept mixes only into what is dropped, or into its own place.
TEST(OperatorsTest, DealiasedModesMixIntoDroppedOnes) {
  for (const Index n : {8, 9, 10, 11, 12})
    for (Index k = -n; k <= n; ++k)
      for (Index l = -n; l <= n; ++l) {
        const auto stays = [&](Index mode) { return factor("dealias-2/3", {n}, {mode, 0, 0}) != Complex(0); };
        if (!stays(k) || !stays(l) || 2 * std::abs(k + l) <= n) continue;
        EXPECT_FALSE(stays(wave_number(((k + l) % n + n) % n, n))) << n << ": " << k << " and " << l;
      }
}

TEST(OperatorsTest, GradientGivesADerivativeForEachAxis) {
  const Problem problem = problem_of({6, 5, 8}, Kind::c2c, "gradient");
  EXPECT_EQ(operator_of(problem).fields(problem), 3);
  EXPECT_EQ(operator_of(problem_of({6, 5}, Kind::c2c, "gradient")).fields(problem_of({6, 5})), 2);
  EXPECT_EQ(factor("gradient", {6, 5, 8}, {-2, 1, 3}, 0), Complex(0, -2));
  EXPECT_EQ(factor("gradient", {6, 5, 8}, {-2, 1, 3}, 1), Complex(0, 1));
  EXPECT_EQ(factor("gradient", {6, 5, 8}, {-2, 1, 3}, 2), Complex(0, 3));
}

TEST(OperatorsTest, GradientOfTheHighestModeOfAnEvenAxisIsZero) {
  EXPECT_EQ(factor("gradient", {6, 6, 6}, {3, 1, 1}, 0), Complex(0));
  EXPECT_EQ(factor("gradient", {6, 6, 6}, {1, 3, 1}, 0), Complex(0, 1));
  EXPECT_EQ(factor("gradient", {5, 5, 5}, {2, 1, 1}, 0), Complex(0, 2));
}

TEST(OperatorsTest, NoFactorIsLargerThanTheLargest) {
  for (const auto& name : OperatorRegistry::instance().names()) {
    const Problem problem = problem_of({6, 5, 4}, Kind::c2c, name);
    const PointwiseOperator& one = operator_of(problem);
    for (int field = 0; field < one.fields(problem); ++field) {
      double most = 0;
      for (Index linear = 0; linear < problem.elements(); ++linear) {
        const Extents k{wave_number(linear / 20, 6), wave_number(linear / 4 % 5, 5), wave_number(linear % 4, 4)};
        most = std::max(most, std::abs(one.factor(problem, k, field)));
      }
      EXPECT_DOUBLE_EQ(most, one.largest_factor(problem, field)) << name << " " << field;
    }
  }
}

/// For every mode, in every order in memory, cut along each axis, of whole and of half spectra.
TEST(OperatorsTest, TablesAreTheDefinition) {
  int compared = 0;
  for (const auto& name : OperatorRegistry::instance().names())
    for (const Kind kind : {Kind::c2c, Kind::r2c})
      for (const std::array<int, 3>& order : {std::array{0, 1, 2}, std::array{2, 0, 1}, std::array{1, 2, 0}}) {
        const Problem problem = problem_of({6, 5, 8}, kind, name);
        const PointwiseOperator& one = operator_of(problem);
        Decomposition layout = decompose(problem.complex_extents(), Grid{{2, 2, 1}});
        layout.order = order;
        for (int rank = 0; rank < 4; ++rank) {
          Product product(one, problem, layout, rank);
          const auto volume = static_cast<std::size_t>(layout.volume(rank));
          for (int field = 0; field < product.fields(); ++field) {
            std::vector<Complex> spectrum(volume, Complex(2, 3)), result(volume);
            product.multiply(field, spectrum.data(), result.data());
            for (std::size_t i = 0; i < volume; ++i) {
              const Extents index = layout.global_index(rank, static_cast<Index>(i));
              Extents k{};
              for (std::size_t a = 0; a < 3; ++a) {
                const Index n = problem.extents()[a];
                k[a] = index[a] <= n / 2 ? index[a] : index[a] - n;
              }
              const Complex expected = one.factor(problem, k, field) * Complex(2, 3);
              EXPECT_NEAR(std::abs(result[i] - expected), 0, 1e-15) << name << " " << i;
              ++compared;
            }
            product.multiply(field, spectrum.data(), spectrum.data());
            EXPECT_EQ(spectrum, result) << name << ": in place";
          }
        }
      }
  EXPECT_GT(compared, 1000);
}

/// More threads than rows, too.
TEST(OperatorsTest, ThreadsShareTheRows) {
  for (const int threads : {2, 3, 50}) {
    Problem problem = problem_of({6, 5, 8}, Kind::c2c, "gradient");
    const Decomposition layout = decompose(problem.extents(), Grid{{1, 1, 1}});
    std::vector<Complex> spectrum(240), expected(240), result(240);
    for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] = {static_cast<double>(i), 1};
    Product(operator_of(problem), problem, layout, 0).multiply(1, spectrum.data(), expected.data());
    problem.threads = threads;
    Product shared(operator_of(problem), problem, layout, 0);
    for (int run = 0; run < 100; ++run) {
      std::ranges::fill(result, Complex());
      shared.multiply(1, spectrum.data(), result.data());
      ASSERT_EQ(result, expected) << threads << " threads, run " << run;
    }
  }
}

TEST(OperatorsTest, SinglePrecisionIsMultipliedToo) {
  Problem problem = problem_of({4, 4, 4}, Kind::c2c, "gradient");
  problem.precision = Precision::single_precision;
  const Decomposition layout = decompose(problem.extents(), Grid{{1, 1, 1}});
  Product product(operator_of(problem), problem, layout, 0);
  std::vector<std::complex<float>> spectrum(64, {0, 1}), result(64);
  product.multiply(2, spectrum.data(), result.data());
  EXPECT_EQ(result[1], std::complex<float>(-1.0F / 64, 0));
  EXPECT_EQ(result[2], std::complex<float>(0));
  EXPECT_EQ(result[3], std::complex<float>(1.0F / 64, 0));
}

TEST(OperatorsTest, AnUnknownOperatorIsAnErrorWithTheNearestName) {
  EXPECT_THAT(test::message_of([] {
                (void)operator_of(problem_of({4, 4, 4}, Kind::c2c, "poison"));
              }),
              testing::HasSubstr("did you mean 'poisson'?"));
}

TEST(OperatorsTest, AnAxisBeyondTheTablesIsRefused) {
  EXPECT_FALSE(supports_product(problem_of({Product::max_extent, 2})));
  const auto reason = supports_product(problem_of({2, Product::max_extent + 1}));
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("at most 1048576"), std::string::npos) << *reason;
}

}  // namespace
}  // namespace fourscore
