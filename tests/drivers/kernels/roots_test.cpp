// Twiddle factors of large orders are as accurate as single sines, from tables far shorter than the order.

#include "kernels/roots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace fourscore {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::complex<double> exact(Index exponent, Index order, Direction direction) {
  const long double angle = (direction == Direction::forward ? -2 : 2) * std::numbers::pi_v<long double> *
                            static_cast<long double>(exponent) / static_cast<long double>(order);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

TEST(Roots, AreWithinTwoRoundingErrorsForAnyOrderAndExponent) {
  for (const Index order : {Index{1}, Index{2}, Index{60}, Index{1} << 22, Index{4194301}, Index{3} << 30})
    for (const auto direction : {Direction::forward, Direction::backward}) {
      const Roots roots(order, direction);
      for (Index i = 0; i < 2000; ++i) {
        const Index exponent = (i * 2654435761) % order;
        EXPECT_LT(std::abs(roots.power(exponent) - exact(exponent, order, direction)), 2 * epsilon)
            << exponent << " of " << order;
      }
    }
}

TEST(Roots, TakeTheExponentAsAProductBeyond64Bits) {
  const Index order = (Index{1} << 40) + 15;
  const Roots roots(Index{1} << 20, Direction::forward);
  EXPECT_EQ(roots.power(order, Index{1} << 40), roots.power(0));
  EXPECT_EQ(roots.power((Index{1} << 40) + 3, (Index{1} << 41) + 5), roots.power(15));
}

template <class Real>
void check_line(bool whole, double tolerance) {
  const Index order = Index{1} << 22;
  const Index length = 5000;
  const Index k = 777;
  const RootLine<Real> line(Roots(order, Direction::forward), k, length, whole);
  EXPECT_EQ(line.bytes() < static_cast<std::size_t>(length) * sizeof(std::complex<Real>) / 2, !whole);
  for (const auto& [low, high] : std::vector<Range>{{0, length}, {100, 101}, {127, 2049}, {4000, length}, {7, 7}}) {
    std::vector<std::complex<Real>> data(static_cast<std::size_t>(high - low + 1), std::complex<Real>(2, 1));
    line.multiply(data.data(), low, high);
    for (Index j = low; j < high; ++j)
      ASSERT_LT(std::abs(std::complex<double>(data[static_cast<std::size_t>(j - low)]) -
                         std::complex<double>(2, 1) * exact(k * j, order, Direction::forward)),
                tolerance)
          << j;
    EXPECT_EQ(data.back(), std::complex<Real>(2, 1)) << "wrote behind the end";
  }
}

TEST(RootLine, MultipliesAnyStretchByItsFactors) {
  for (const bool whole : {true, false}) {
    check_line<double>(whole, 8 * epsilon);
    check_line<float>(whole, 8 * static_cast<double>(std::numeric_limits<float>::epsilon()));
  }
}

}  // namespace
}  // namespace fourscore
