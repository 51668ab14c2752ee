#include "local/contest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace fourscore::local {
namespace {

using testing::ElementsAre;

/// Runs a contest to its end; time_of(candidate, round) of one rank.
std::size_t winner_of(Contest& contest, const std::function<double(std::size_t, std::size_t)>& time_of) {
  bool decided = false;
  while (!decided) {
    const std::size_t round = contest.rounds();
    for (const std::size_t candidate : contest.order()) contest.add(candidate, time_of(candidate, round));
    decided = contest.judge(contest.view());
  }
  return contest.winner();
}

/// P(a <= B <= b) where B of n throws of a coin is binomial.
double probability(std::size_t n, std::size_t a, std::size_t b) {
  const auto log_of_factorial = [](std::size_t number) { return std::lgamma(static_cast<double>(number) + 1); };
  double sum = 0;
  for (std::size_t k = a; k <= b; ++k)
    sum += std::exp(log_of_factorial(n) - log_of_factorial(k) - log_of_factorial(n - k) -
                    static_cast<double>(n) * std::log(2.0));
  return sum;
}

TEST(BoundOfMedian, HoldsWithNinetyPerCentAndIsTheTightest) {
  for (std::size_t n = 5; n <= 40; ++n) {
    SCOPED_TRACE(n);
    const std::size_t bound = bound_of_median(n);
    EXPECT_GE(probability(n, bound + 1, n - bound - 1), 0.9);
    EXPECT_LT(probability(n, bound + 2, n - bound - 2), 0.9);
  }
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(bound_of_median(n), 0) << n;
}

TEST(Contest, TheFastestWinsAsSoonAsItIsFound) {
  Contest contest(3);
  EXPECT_EQ(winner_of(contest,
                      [](std::size_t candidate, std::size_t) {
                        return std::vector{1.1, 1.0, 1.2}[candidate];
                      }),
            1);
  EXPECT_EQ(contest.rounds(), Contest::least_rounds);
}

TEST(Contest, TheFirstOfEqualsWins) {
  Contest contest(3);
  EXPECT_EQ(winner_of(contest,
                      [](std::size_t candidate, std::size_t) {
                        return std::vector{1.015, 1.01, 1.0}[candidate];
                      }),
            0);
  EXPECT_EQ(contest.rounds(), Contest::least_rounds);
}

TEST(Contest, ACandidateFarSlowerLeavesAfterTwoRounds) {
  Contest contest(3);
  std::vector<std::size_t> ran(3);
  EXPECT_EQ(winner_of(contest,
                      [&](std::size_t candidate, std::size_t) {
                        ++ran[candidate];
                        return std::vector{2.0, 1.0, 1.01}[candidate];
                      }),
            1);
  EXPECT_THAT(ran, ElementsAre(2, Contest::least_rounds, Contest::least_rounds));
}

TEST(Contest, TwoDisturbedRoundsInARowDecideNothingWhereNoneMayLeaveSoEarly) {
  Contest contest(3, Contest::least_rounds);
  const auto time_s = [](std::size_t candidate, std::size_t round) {
    const double disturbed = round < 2 && candidate == 0 ? 2.0 : 1.0;
    return disturbed * std::vector{1.0, 1.2, 1.3}[candidate];
  };
  EXPECT_EQ(winner_of(contest, time_s), 0);
  Contest hasty(3);
  EXPECT_EQ(winner_of(hasty, time_s), 1);
}

TEST(Contest, RoundsGoForthAndBack) {
  Contest contest(3);
  EXPECT_THAT(contest.order(), ElementsAre(0, 1, 2));
  for (const std::size_t candidate : {0, 1, 2}) contest.add(candidate, 1);
  EXPECT_FALSE(contest.judge(contest.view()));
  EXPECT_THAT(contest.order(), ElementsAre(2, 1, 0));
}

TEST(Contest, ADisturbedRoundDoesNotDecide) {
  Contest contest(2);
  EXPECT_EQ(winner_of(contest,
                      [](std::size_t candidate, std::size_t round) {
                        const double disturbed = round == 1 && candidate == 1 ? 9.0 : 1.0;
                        return disturbed * (candidate == 1 ? 1.0 : 1.1);
                      }),
            1);
}

TEST(Contest, CandidatesNotToldApartEndAfterTheLastRoundWithTheLowestMedian) {
  Contest contest(2);
  // 10 % apart in the median, and each as often far off as the other.
  EXPECT_EQ(winner_of(contest,
                      [](std::size_t candidate, std::size_t round) {
                        const double base = candidate == 0 ? 1.1 : 1.0;
                        return round % 3 == 0 ? 0.8 * base : round % 3 == 1 ? base : 1.4 * base;
                      }),
            1);
  EXPECT_EQ(contest.rounds(), Contest::most_rounds);
}

TEST(Contest, TheSlowestRankDecides) {
  // On the other rank candidate 0, the faster one here, takes twice as long.
  Contest here(2);
  Contest there(2);
  bool decided = false;
  while (!decided) {
    for (const std::size_t candidate : here.order()) here.add(candidate, candidate == 0 ? 1.0 : 1.5);
    for (const std::size_t candidate : there.order()) there.add(candidate, candidate == 0 ? 2.0 : 1.5);
    std::vector<double> slowest = here.view();
    const std::vector<double> other = there.view();
    for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], other[i]);
    decided = here.judge(slowest);
    EXPECT_EQ(there.judge(slowest), decided);
    EXPECT_EQ(here.order(), there.order());
  }
  EXPECT_EQ(here.winner(), 1);
  EXPECT_EQ(there.winner(), 1);
}

TEST(Contest, TheChoiceIsNeverFarFromTheBestUnderNoise) {
  const std::vector<double> true_s{1.06, 1.0, 1.3, 1.03, 1.01};
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0, 0.02);
  std::bernoulli_distribution is_disturbed(0.1);
  std::vector<int> chosen(true_s.size());
  for (int contest_number = 0; contest_number < 500; ++contest_number) {
    Contest contest(true_s.size());
    ++chosen[winner_of(contest, [&](std::size_t candidate, std::size_t) {
      return true_s[candidate] * noise(random) * (is_disturbed(random) ? 1.5 : 1.0);
    })];
  }
  EXPECT_EQ(chosen[2], 0);
  EXPECT_LE(chosen[0], 10);  // 6 % slower: in 2 % of the contests at most
  EXPECT_GE(chosen[1], 350);
}

}  // namespace
}  // namespace fourscore::local
