#include "core/decomposition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "support/boxes_of.hpp"
#include "support/elements.hpp"
#include "support/turns.hpp"

namespace fourscore {
namespace {

using test::boxes_of;

/// Decompositions of every kind: nested, dealt in whole pieces, dealt by digits, with levels of several dimensions.
std::vector<Decomposition> rules() {
  std::vector<Decomposition> list;
  for (const Extents& shape : {Extents{7, 1, 9}, Extents{2, 3, 64}, Extents{15, 14, 13}, Extents{1, 1, 5}})
    for (const Grid& grid : {Grid{{1, 1, 1}}, Grid{{4, 1, 1}}, Grid{{3, 2, 1}}, Grid{{1, 5, 2}}, Grid{{2, 2, 2}}})
      list.push_back(decompose(shape, grid));
  for (const Extents& shape : {Extents{12, 10, 1}, Extents{5, 3, 7}, Extents{1, 2, 1}}) {
    list.push_back({shape, {3, 2}, {AxisCut{{{0}, {1}}}, AxisCut{}, AxisCut{}}, "nested"});
    list.push_back({shape, {2, 3, 2}, {AxisCut{{{2, 0}}}, AxisCut{{{1}}}, AxisCut{}}, "two dimensions, later first"});
    list.push_back({shape, {2, 2, 3}, {AxisCut{{{0}}}, AxisCut{{{1}, {2}}}, AxisCut{}}, "one nested, one not"});
    for (const Index pieces : {1, 2, 3, 5}) {
      AxisCut cut{{{0, 1}}};
      cut.pieces = pieces;
      list.push_back({shape, {3, 2}, {cut, AxisCut{}, AxisCut{}}, "in whole pieces"});
    }
  }
  for (std::size_t rule = 0, plain = list.size(); rule < plain; ++rule)
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) list.push_back(list[rule].with_fields(axis, 3));
  AxisCut dealt{{{0, 1}}};
  dealt.dealt = DigitOrder{{{4, 15, 3}, {3, 5, 1}, {5, 1, 2}}, {2, 0, 1}};
  list.push_back({{60, 2, 1}, {3, 2}, {dealt, AxisCut{}, AxisCut{}}, "dealt"});
  dealt.order = dealt.dealt;
  list.push_back({{60, 2, 1}, {3, 2}, {dealt, AxisCut{}, AxisCut{}}, "dealt and permuted"});
  for (const auto rule : {Dealing::Rule::blocks, Dealing::Rule::round_robin})
    for (const int ranks : {1, 4, 7, 30}) {
      list.push_back(Decomposition::dealt(decompose({5, 6, 2}, {{5, 3, 1}}), {rule, 15, ranks}, "pencils"));
      list.push_back(Decomposition::dealt(decompose({5, 6, 3}, {{1, 1, 9}}), {rule, 9, ranks}, "slabs, some empty"));
    }
  return list;
}

TEST(Decomposition, EveryElementHasExactlyOneOwner) {
  test::Turns turns;
  for (Decomposition decomposition : rules())
    for (const auto& order : {std::array<int, 3>{0, 1, 2}, std::array<int, 3>{1, 2, 0}}) {
      if (!turns.is_next()) continue;
      SCOPED_TRACE(decomposition.name);
      const Extents shape = decomposition.shape;
      decomposition.order = order;
      std::set<Extents> owned;
      Index elements = 0;
      Index idle = 0;
      for (int rank = 0; rank < decomposition.ranks(); ++rank) {
        const Index volume = decomposition.volume(rank);
        elements += volume;
        idle += volume == 0 ? 1 : 0;
        EXPECT_LE(volume, decomposition.max_volume());
        for (Index offset = 0; offset < volume; ++offset) {
          const Extents index = decomposition.global_index(rank, offset);
          owned.insert(index);
          EXPECT_EQ(decomposition.owner(index), rank);
        }
        Index next = 0;  // what other tests compare by
        test::for_each_element(decomposition, rank, [&](Index offset, const Extents& index) {
          EXPECT_EQ(offset, next++);
          EXPECT_EQ(index, decomposition.global_index(rank, offset));
        });
        EXPECT_EQ(next, volume);
      }
      EXPECT_EQ(decomposition.idle_ranks(), idle);
      EXPECT_EQ(elements, shape[0] * shape[1] * shape[2]);
      EXPECT_EQ(owned.size(), static_cast<std::size_t>(elements));
      EXPECT_EQ(*owned.begin(), (Extents{0, 0, 0}));
      EXPECT_EQ(*owned.rbegin(), (Extents{shape[0] - 1, shape[1] - 1, shape[2] - 1}));
    }
}

std::vector<Overlap> found_one_by_one(const Decomposition& decomposition, const Box& box) {
  std::vector<Overlap> found;
  for (int rank = 0; rank < decomposition.ranks(); ++rank)
    for (const Box& held : decomposition.boxes(rank))
      if (const Box common = intersect(held, box); !common.empty()) found.push_back({rank, common});
  return found;
}

TEST(Decomposition, OverlapsAreThoseOfAllRanksAskedOneByOne) {
  for (const Decomposition& a : rules())
    for (const Decomposition& b : rules()) {
      if (a.shape != b.shape) continue;
      for (int rank = 0; rank < b.ranks(); ++rank)
        for (const Box& held : b.boxes(rank))
          ASSERT_EQ(a.overlaps(held), found_one_by_one(a, held)) << a.name << " with " << b.name;
    }
}

TEST(Decomposition, OfSeveralFieldsDealsEachIndexOfAllToOneRank) {
  const Decomposition one{{7, 5, 3}, {3, 2}, {AxisCut{}, AxisCut{{{0}, {1}}}, AxisCut{}}, "nested"};
  const Decomposition four = one.with_fields(1, 4);
  EXPECT_EQ(four.shape, (Extents{7, 20, 3}));
  for (int rank = 0; rank < one.ranks(); ++rank) {
    EXPECT_EQ(four.box(rank).low[1], 4 * one.box(rank).low[1]);
    EXPECT_EQ(four.box(rank).high[1], 4 * one.box(rank).high[1]);
    EXPECT_EQ(four.volume(rank), 4 * one.volume(rank));
  }
  EXPECT_FALSE(four.same_boxes(decompose({7, 20, 3}, {{1, 6, 1}})));
  EXPECT_THROW((void)Decomposition::of_boxes({1, 1, 1}, {Box{}}).with_fields(1, 2), std::invalid_argument);
  EXPECT_THROW((void)real_in_place_of(one, 2, 5).with_fields(1, 2), std::invalid_argument);
}

TEST(Decomposition, OverlapsOfRealDataAreInReals) {
  const Decomposition real = real_in_place_of(decompose({2, 1, 5}, {{2, 1, 3}}), 2, 9);
  for (Index low = 0; low < 9; ++low)
    for (Index high = low + 1; high <= 9; ++high) {
      const Box box{{0, 0, low}, {2, 1, high}};
      EXPECT_EQ(real.overlaps(box), found_one_by_one(real, box)) << low << " to " << high;
    }
}

TEST(Decomposition, OfALibraryIsItsList) {
  const Decomposition rule = decompose({4, 6, 5}, {{2, 3, 1}});
  const Decomposition list = Decomposition::of_boxes(rule.shape, boxes_of(rule));
  EXPECT_TRUE(list.same_boxes(rule));
  EXPECT_TRUE(rule.same_boxes(list));
  EXPECT_EQ(list.overlaps({{1, 1, 1}, {3, 4, 2}}), rule.overlaps({{1, 1, 1}, {3, 4, 2}}));
  EXPECT_EQ(list.max_volume(), rule.max_volume());
  auto boxes = boxes_of(rule);
  std::swap(boxes[0], boxes[5]);
  EXPECT_FALSE(Decomposition::of_boxes(rule.shape, boxes).same_boxes(rule));
}

TEST(Decomposition, OfDealtPiecesHoldsThemOneAfterAnother) {
  const Decomposition pencils = decompose({4, 6, 5}, {{2, 3, 1}});
  const auto dealt = [&](Dealing::Rule rule, int ranks) {
    return Decomposition::dealt(pencils, {rule, 6, ranks}, "dealt");
  };
  const Decomposition blocks = dealt(Dealing::Rule::blocks, 4);
  EXPECT_EQ(blocks.boxes(0), (std::vector{pencils.box(0), pencils.box(1)}));
  EXPECT_EQ(blocks.boxes(3), std::vector{pencils.box(5)});
  EXPECT_EQ(blocks.box(3), pencils.box(5));
  EXPECT_THROW((void)blocks.box(0), std::logic_error);
  const Decomposition cards = dealt(Dealing::Rule::round_robin, 4);
  EXPECT_EQ(cards.boxes(1), (std::vector{pencils.box(1), pencils.box(5)}));
  EXPECT_EQ(cards.volume(1), 40);
  EXPECT_EQ(cards.global_index(1, 19), (Extents{1, 3, 4}));
  EXPECT_EQ(cards.global_index(1, 20), (Extents{2, 4, 0}));
  EXPECT_EQ(cards.max_volume(), 40);
  EXPECT_EQ(dealt(Dealing::Rule::blocks, 8).idle_ranks(), 2);
  EXPECT_FALSE(blocks.same_boxes(cards));
  EXPECT_FALSE(blocks.same_boxes(pencils));
  EXPECT_TRUE(blocks.same_boxes(dealt(Dealing::Rule::blocks, 4)));
  EXPECT_EQ(redistribution_group(blocks, cards, 3).from.ranks(), 4);
  EXPECT_THROW((void)Decomposition::dealt(pencils, {Dealing::Rule::blocks, 7, 4}, "seven"), std::invalid_argument);
}

TEST(Decomposition, RefusesRulesThatDoNotDealAllRanks) {
  const auto made = [](std::vector<int> grid, std::array<AxisCut, 3> cuts) {
    return Decomposition({4, 4, 4}, std::move(grid), std::move(cuts), "test");
  };
  EXPECT_NO_THROW(made({2}, {AxisCut{{{0}}}, AxisCut{}, AxisCut{}}));
  EXPECT_THROW(made({2}, {}), std::invalid_argument);
  EXPECT_THROW(made({2}, {AxisCut{{{0}}}, AxisCut{{{0}}}, AxisCut{}}), std::invalid_argument);
  EXPECT_THROW(made({0}, {AxisCut{{{0}}}, AxisCut{}, AxisCut{}}), std::invalid_argument);
  AxisCut wrong{{{0}}};
  wrong.order = bit_reversed_parts(8, 2);
  EXPECT_THROW(made({2}, {wrong, AxisCut{}, AxisCut{}}), std::invalid_argument);
}

TEST(Decomposition, OfOneRankAlongAnAxisIsThatWithoutTheAxis) {
  EXPECT_TRUE(
      decompose({8, 8, 8}, {{4, 1, 1}})
          .same_boxes(
              {{8, 8, 8}, {1, 4, 1}, {AxisCut{{{0}, {1}, {2}}}, AxisCut{}, AxisCut{}}, "with dimensions of one"}));
  EXPECT_FALSE(decompose({8, 8, 8}, {{4, 1, 1}}).same_boxes(decompose({8, 8, 8}, {{1, 4, 1}})));
}

/// All ranks that rank `me` reaches by elements that move, directly or through others.
std::set<int> reached(const Decomposition& from, const Decomposition& to, int me) {
  std::set<int> group{me};
  for (bool grows = true; grows;) {
    grows = false;
    for (const int member : std::vector<int>(group.begin(), group.end()))
      for (int rank = 0; rank < from.ranks(); ++rank)
        if ((!intersect(from.box(member), to.box(rank)).empty() ||
             !intersect(from.box(rank), to.box(member)).empty()) &&
            group.insert(rank).second)
          grows = true;
  }
  return group;
}

TEST(RedistributionGroup, HasTheRanksThatReachEachOtherAndNoOtherWhereAllHaveElements) {
  const Extents shape{12, 12, 12};
  const Decomposition z = decompose(shape, {{2, 3, 1}});
  const Decomposition y = decompose(shape, {{2, 1, 3}});
  const Decomposition x = decompose(shape, {{1, 2, 3}});
  const Decomposition rows{shape, {2, 3}, {AxisCut{{{0}, {1}}}, AxisCut{}, AxisCut{}}, "rows"};
  const Decomposition columns{shape, {2, 3}, {AxisCut{}, AxisCut{{{1}, {0}}}, AxisCut{}}, "columns"};
  int cases = 0;
  for (const auto& [from, to] : {std::pair(z, y), {y, x}, {x, z}, {z, rows}, {rows, columns}, {columns, z}, {z, z}})
    for (int rank = 0; rank < 6; ++rank) {
      const RedistributionGroup group = redistribution_group(from, to, rank);
      const std::set<int> expected = reached(from, to, rank);
      ASSERT_EQ(group.from.ranks(), static_cast<int>(expected.size())) << from.name << " to " << to.name;
      EXPECT_EQ(group.to.ranks(), group.from.ranks());
      EXPECT_EQ(group.first, *expected.begin());
      EXPECT_EQ(*std::next(expected.begin(), group.member), rank);
      int member = 0;
      for (const int whole : expected) {
        EXPECT_EQ(group.from.box(member), from.box(whole));
        EXPECT_EQ(group.to.box(member), to.box(whole));
        for (const Overlap& part : group.to.overlaps(group.from.box(member)))
          EXPECT_EQ(part.box, intersect(from.box(whole), to.box(*std::next(expected.begin(), part.rank))));
        ++member;
      }
      ++cases;
    }
  EXPECT_EQ(cases, 42);
}

TEST(RedistributionGroup, JoinsRanksBetweenWhichAnAxisIsDealtOtherwise) {
  const auto cut_by = [](const AxisCut& cut) {
    return Decomposition({12, 1, 1}, {2}, {cut, AxisCut{}, AxisCut{}}, "of two ranks");
  };
  const Decomposition blocks = cut_by(AxisCut{{{0}}});
  const Decomposition pieces = cut_by(AxisCut{{{0}}, 3});
  AxisCut digits{{{0}}};
  digits.dealt = DigitOrder{{{3, 4, 2}, {4, 1, 1}}, {0, 1}};
  for (const Decomposition& other : {pieces, cut_by(digits)}) {
    ASSERT_FALSE(blocks.same_boxes(other));
    EXPECT_EQ(redistribution_group(blocks, other, 1).from.ranks(), 2);
    EXPECT_EQ(redistribution_group(other, blocks, 1).from.ranks(), 2);
    EXPECT_EQ(redistribution_group(other, other, 1).from.ranks(), 1);
  }
}

TEST(RedistributionGroup, OfDifferentProcessGridsIsAllRanks) {
  const RedistributionGroup group =
      redistribution_group(decompose({8, 8, 8}, {{4, 1, 1}}), decompose({8, 8, 8}, {{2, 2, 1}}), 3);
  EXPECT_EQ(group.from.ranks(), 4);
  EXPECT_EQ(group.first, 0);
}

/// One rank of a machine that is not there: arithmetic, and no table of ranks or elements.
TEST(Decomposition, OfManyRanksAndElementsIsARule) {
  constexpr int ranks = 1 << 20;
  const Decomposition z = decompose({Index{1} << 14, Index{1} << 13, Index{1} << 13}, {{1 << 10, 1 << 10, 1}});
  const Decomposition y = decompose(z.shape, {{1 << 10, 1, 1 << 10}});
  EXPECT_EQ(z.ranks(), ranks);
  EXPECT_EQ(y.overlaps(z.box(ranks - 1)).size(), 1U << 10);
  EXPECT_EQ(redistribution_group(z, y, ranks / 2).from.ranks(), 1 << 10);
  AxisCut reversed{{{0}}};
  reversed.order = bit_reversed_parts(Index{1} << 40, ranks);
  const Decomposition line({Index{1} << 40, 1, 1}, {ranks}, {reversed, AxisCut{}, AxisCut{}}, "line");
  EXPECT_EQ(line.owner({1, 0, 0}), ranks / 2);
  EXPECT_EQ(line.global_index(ranks / 2, 1), (Extents{1 + ranks, 0, 0}));
}

TEST(Decomposition, MoreRanksThanExtentsLeavesTheLastRanksEmpty) {
  const Decomposition decomposition = decompose({3, 4, 5}, {{8, 1, 1}});
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(decomposition.box(rank).empty(), rank >= 3);
  EXPECT_EQ(decomposition.max_volume(), 20);
}

TEST(Decomposition, StridesFollowTheStorageOrder) {
  Decomposition decomposition = decompose({4, 5, 6}, {{1, 1, 1}});
  EXPECT_EQ(decomposition.strides(0), (Extents{30, 6, 1}));
  decomposition.order = {2, 0, 1};
  EXPECT_EQ(decomposition.strides(0), (Extents{5, 1, 20}));
  const Extents strides = decomposition.strides(0);
  for (Index offset = 0; offset < 120; ++offset) {
    const Extents index = decomposition.global_index(0, offset);
    EXPECT_EQ(index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2], offset);
  }
}

TEST(Decomposition, NamesSayWhatARankHolds) {
  EXPECT_EQ(decompose({8, 8, 8}, {{1, 1, 1}}).name, "whole");
  EXPECT_EQ(decompose({8, 8, 8}, {{4, 1, 1}}).name, "x-slabs 4");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 3, 1}}).name, "z-pencils 2x3");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 1, 3}}).name, "y-pencils 2x3");
  EXPECT_EQ(decompose({8, 8, 8}, {{2, 2, 2}}).name, "blocks 2x2x2");
}

TEST(RealInPlaceOf, CutsWhereTheComplexDataIsCutAndPadsToItsPlace) {
  // 9 reals lie in the place of 5 complex elements, dealt 3 and 2: 6 reals, and 3 with a gap of one.
  const Decomposition complex = decompose({4, 3, 5}, {{2, 1, 2}});
  const Decomposition real = real_in_place_of(complex, 2, 9);
  EXPECT_EQ(real.shape, (Extents{4, 3, 9}));
  EXPECT_EQ(real.box(0), (Box{{0, 0, 0}, {2, 3, 6}}));
  EXPECT_EQ(real.box(1), (Box{{0, 0, 6}, {2, 3, 9}}));
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(real.padding(rank), rank % 2);
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(real.memory_volume(rank), 2 * complex.box(rank).volume());
  EXPECT_EQ(real.strides(1), (Extents{12, 4, 1}));
  EXPECT_EQ(real.place(1, 2), 2);
  EXPECT_EQ(real.place(1, 3), 4);
  EXPECT_EQ(real.global_index(1, 3), (Extents{0, 1, 6}));
  EXPECT_EQ(complex.place(1, 3), 3);
  for (int rank = 0; rank < 4; ++rank)
    for (Index i = 0; i < real.volume(rank); ++i) EXPECT_EQ(test::Places(real, rank)(i), real.place(rank, i));
}

TEST(RealInPlaceOf, MayLeaveARankNothingButPadding) {
  const Decomposition real = real_in_place_of(decompose({1, 1, 3}, {{1, 1, 3}}), 2, 4);
  EXPECT_TRUE(real.box(2).empty());
  EXPECT_EQ(real.memory_volume(2), 2);
}

}  // namespace
}  // namespace fourscore
