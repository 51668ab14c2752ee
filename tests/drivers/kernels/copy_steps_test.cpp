#include "kernels/copy_steps.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/grid.hpp"

namespace fourscore {
namespace {

using Words = std::vector<std::uint64_t>;

Index volume(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

Extents dense(const Extents& extents, const std::array<std::size_t, 3>& order) {
  Extents strides{};
  Index stride = 1;
  for (std::size_t position = 3; position-- > 0;) {
    strides[order[position]] = stride;
    stride *= extents[order[position]];
  }
  return strides;
}

struct Piece {
  Extents extents;
  Extents from_strides;
  Extents to_strides;
  Index from_offset;
  Index to_offset;
};

/// An array cut along `axis` into messages that lie one behind the other, each with its axes in `order`.
std::vector<Piece> messages(const Extents& extents, std::size_t axis, int count,
                            const std::array<std::size_t, 3>& order) {
  const Extents whole = dense(extents, {0, 1, 2});
  std::vector<Piece> pieces;
  Index packed = 0;
  for (int k = 0; k < count; ++k) {
    const Range range = block_range(extents[axis], count, k);
    Extents part = extents;
    part[axis] = range.size();
    pieces.push_back({part, whole, dense(part, order), range.low * whole[axis], packed});
    packed += volume(part);
  }
  return pieces;
}

/// Every count-th element of each axis, as the subsets of Danielson and Lanczos.
std::vector<Piece> subsets(const Extents& extents, Index count) {
  const Extents whole = dense(extents, {0, 1, 2});
  std::vector<Piece> pieces;
  Index packed = 0;
  for (Index x = 0; x < count; ++x)
    for (Index y = 0; y < count; ++y)
      for (Index z = 0; z < count; ++z) {
        const Extents part{(extents[0] - x + count - 1) / count, (extents[1] - y + count - 1) / count,
                           (extents[2] - z + count - 1) / count};
        pieces.push_back({part,
                          {count * whole[0], count * whole[1], count * whole[2]},
                          dense(part, {0, 1, 2}),
                          x * whole[0] + y * whole[1] + z * whole[2],
                          packed});
        packed += volume(part);
      }
  return pieces;
}

CopySteps steps_of(const std::vector<Piece>& pieces, std::size_t words, Stores stores, const Words& from, Words& to) {
  CopySteps steps;
  const auto size = static_cast<Index>(8 * words);
  for (const Piece& piece : pieces)
    steps.push_back({CopyPlan(piece.extents, piece.from_strides, piece.to_strides, 8 * words, stores),
                     reinterpret_cast<const std::byte*>(from.data()) + piece.from_offset * size,
                     reinterpret_cast<std::byte*>(to.data()) + piece.to_offset * size});
  return steps;
}

/// Every element arrives once, at its place, and `in_turns` of the steps took turns where stores go past the caches.
void expect_copied(const Extents& extents, const std::vector<Piece>& pieces, std::size_t in_turns) {
  for (const std::size_t words : {std::size_t{1}, std::size_t{2}})
    for (const Stores stores : {Stores::ordinary, Stores::streaming}) {
      Words from(static_cast<std::size_t>(volume(extents)) * words);
      std::iota(from.begin(), from.end(), 1);
      Words to(from.size(), 0);
      Words expected(from.size(), 0);
      for (const Piece& p : pieces)
        for (Index x = 0; x < p.extents[0]; ++x)
          for (Index y = 0; y < p.extents[1]; ++y)
            for (Index z = 0; z < p.extents[2]; ++z)
              for (std::size_t w = 0; w < words; ++w) {
                const Index read =
                    p.from_offset + x * p.from_strides[0] + y * p.from_strides[1] + z * p.from_strides[2];
                const Index write = p.to_offset + x * p.to_strides[0] + y * p.to_strides[1] + z * p.to_strides[2];
                expected[static_cast<std::size_t>(write) * words + w] =
                    from[static_cast<std::size_t>(read) * words + w];
              }
      const CopySteps steps = steps_of(pieces, words, stores, from, to);
      steps.run();
      EXPECT_EQ(to, expected) << words << " words, streaming " << (stores == Stores::streaming);
      EXPECT_EQ(steps.in_turns(), stores == Stores::streaming ? in_turns : 0);
      EXPECT_EQ(steps.bytes(), volume(extents) * static_cast<Index>(8 * words));
    }
}

TEST(CopySteps, MessagesCutAlongTheFastestAxisTakeTurns) {
  // Down to 2 and 3 elements of a row: runs row by row, and shorter ones in turns of several rows and a rest.
  for (const int count : {2, 3, 7, 90})
    expect_copied({20, 25, 256}, messages({20, 25, 256}, 2, count, {0, 1, 2}), count);
}

TEST(CopySteps, SoDoMessagesThatChangeTheOrderOfAxes) {
  for (const auto& order : {std::array<std::size_t, 3>{2, 1, 0}, {2, 0, 1}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}})
    expect_copied({9, 67, 201}, messages({9, 67, 201}, 2, 3, order), 3);
}

TEST(CopySteps, SoDoSubsetsThatAreGatheredFromTheSameRows) {
  // Subsets of one row and of the next one read the same lines; those of another plane do not.
  expect_copied({6, 80, 128}, subsets({6, 80, 128}, 2), 8);
  expect_copied({5, 41, 63}, subsets({5, 41, 63}, 2), 8);
}

TEST(CopySteps, LongPiecesAreCopiedOneAfterTheOther) {
  expect_copied({5, 64, 96}, messages({5, 64, 96}, 1, 2, {0, 1, 2}), 0);
  expect_copied({40, 25, 64}, messages({40, 25, 64}, 0, 4, {0, 1, 2}), 0);
}

TEST(CopySteps, PartsOfDifferentExtentsOrArraysTakeNoTurns) {
  const Extents extents{40, 25, 64};
  std::vector<Piece> pieces = messages(extents, 2, 2, {0, 1, 2});
  Piece rest = pieces[1];  // the second message in two: other rows than those of the first
  pieces[1].extents[0] = 13;
  rest.extents[0] = 27;
  rest.from_offset += 13 * rest.from_strides[0];
  rest.to_offset += 13 * rest.to_strides[0];
  pieces.push_back(rest);
  expect_copied(extents, pieces, 0);
}

TEST(CopySteps, NothingToCopy) {
  CopySteps steps;
  EXPECT_TRUE(steps.empty());
  steps.run();
  steps.push_back({CopyPlan(), nullptr, nullptr});
  steps.push_back({CopyPlan(), nullptr, nullptr});
  steps.run();
  EXPECT_FALSE(steps.empty());
  EXPECT_EQ(steps.bytes(), 0);
}

TEST(CopySteps, WhatMovesWithinAnArrayStaysInItsPlaceOfTheOrder) {
  // The second step reads what lies between the pieces of the first and moves over it: only afterwards.
  const Extents extents{30, 20, 64};
  const std::vector<Piece> pieces = messages(extents, 2, 2, {0, 1, 2});
  Words from(static_cast<std::size_t>(volume(extents)) * 2);
  std::iota(from.begin(), from.end(), 1);
  const Words before = from;
  Words to(from.size(), 0);
  CopySteps steps = steps_of({pieces[1]}, 2, Stores::streaming, from, to);
  auto* const source = reinterpret_cast<std::byte*>(from.data());
  steps.push_back({CopyPlan(pieces[0].extents, pieces[0].from_strides, pieces[0].to_strides, 16, Stores::streaming),
                   source, source, true});
  steps.run();
  EXPECT_EQ(steps.in_turns(), 0U);
  const std::size_t half = to.size() / 2;
  for (std::size_t row = 0; row < 600; ++row)
    for (std::size_t z = 0; z < 64; ++z) {
      ASSERT_EQ(from[row * 64 + z], before[row * 128 + z]) << row;
      ASSERT_EQ(to[half + row * 64 + z], before[row * 128 + 64 + z]) << row;
    }
}

}  // namespace
}  // namespace fourscore
