// What a tuned point leaves to choose, for launches of any size.

#include "program/candidates.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace fourscore::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Point tuned_pencil(int ranks, const std::string& exchange) {
  Point point;
  point.variant = "pencil";
  point.exchange = exchange;
  point.grid_is_tuned = true;
  point.ranks = ranks;
  point.problem.shape = {4096, 4096, 4096};
  return point;
}

TEST(Candidates, GridsAreTriedFromTheEndsThenFromTheMiddle) {
  using Grid = std::vector<int>;
  EXPECT_THAT(grids_to_try({2, 1}), ElementsAre(Grid{1, 1}));
  EXPECT_THAT(grids_to_try({2, 7}), ElementsAre(Grid{7, 1}, Grid{1, 7}));
  EXPECT_THAT(grids_to_try({2, 4}), ElementsAre(Grid{4, 1}, Grid{1, 4}, Grid{2, 2}));
  EXPECT_THAT(grids_to_try({2, 12}),
              ElementsAre(Grid{12, 1}, Grid{1, 12}, Grid{4, 3}, Grid{3, 4}, Grid{6, 2}, Grid{2, 6}));
  EXPECT_THAT(grids_to_try({3, 8}).front(), ElementsAre(8, 1, 1));
  EXPECT_THAT(grids_to_try({3, 8})[2], ElementsAre(2, 2, 2));
}

TEST(Candidates, AreFewOfVeryManyRanksAndEachMayRun) {
  const Choice one_exchange = resolve_choice(tuned_pencil(720720, "p2p"));  // which has 240 divisors
  EXPECT_FALSE(one_exchange.refusal);
  EXPECT_EQ(one_exchange.candidates.size(), max_tuned_grids);
  const Choice choice = resolve_choice(tuned_pencil(720720, std::string(tuned_word)));
  EXPECT_LE(choice.candidates.size(), max_candidates);
  EXPECT_GT(choice.candidates.size(), max_candidates / 2);
  std::set<std::string> seen;
  for (const ResolvedPoint& one : choice.candidates) {
    EXPECT_FALSE(is_tuned(one.point));
    EXPECT_EQ(one.point.problem.grid[0] * one.point.problem.grid[1], 720720);
    EXPECT_TRUE(seen.insert(one.point.exchange + grid_text(one.point.problem.grid)).second);
    EXPECT_EQ(one.asked().exchange, tuned_word);
    EXPECT_TRUE(one.asked().grid_is_tuned && one.asked().problem.grid.empty());
    EXPECT_EQ(one.exchange->card().name, one.point.exchange);
  }
}

TEST(Candidates, OfAPointThatIsNotTunedThereAreNone) {
  Point point = tuned_pencil(4, "p2p");
  point.grid_is_tuned = false;
  const Choice choice = resolve_choice(point);
  EXPECT_FALSE(choice.refusal);
  EXPECT_TRUE(choice.candidates.empty());
  EXPECT_EQ(choice.resolved.asked(), choice.resolved.point);
}

TEST(Candidates, WhereNoneMayRunTheFirstReasonIsGiven) {
  Point point = tuned_pencil(8, "p2p");
  point.problem.shape = {1, 1, 4};
  const Choice choice = resolve_choice(point);
  ASSERT_TRUE(choice.refusal);
  EXPECT_EQ(choice.refusal->kind, Refusal::Kind::unsupported);
  EXPECT_THAT(choice.refusal->reason, HasSubstr("grid 8x1"));
  EXPECT_TRUE(choice.candidates.empty());
}

/// An explicit grid is the user's: what does not fit is an error in fft_bench, as ever.
TEST(Candidates, AGridThatWasAskedForStaysAMisfit) {
  Point point = tuned_pencil(4, std::string(tuned_word));
  point.grid_is_tuned = false;
  point.problem.grid = {5, 5};
  const Choice choice = resolve_choice(point);
  ASSERT_TRUE(choice.refusal);
  EXPECT_EQ(choice.refusal->kind, Refusal::Kind::misfit);
}

TEST(Candidates, TheVariantsOwnExchangeComesFirst) {
  const Choice choice = resolve_choice(tuned_pencil(4, std::string(tuned_word)));
  EXPECT_EQ(choice.candidates.front().point.exchange, "alltoallv");
  EXPECT_EQ(choice.resolved.point, choice.candidates.front().point);
}

}  // namespace
}  // namespace fourscore::bench
