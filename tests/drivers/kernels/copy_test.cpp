// Built twice: as the programs are, and as copy_portable_test without the instructions of one processor.

#include "kernels/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/copy_kernels.hpp"

namespace fourscore {
namespace {

/// Words of 8 bytes; an element is one or two of them.
using Words = std::vector<std::uint64_t>;

struct Case {
  Extents extents;
  Extents from_strides;
  Extents to_strides;
};

Index span_of(const Extents& extents, const Extents& strides) {
  Index last = 0;
  for (std::size_t a = 0; a < 3; ++a) last += (extents[a] - 1) * strides[a];
  return Box{{0, 0, 0}, extents}.empty() ? 0 : last + 1;
}

/// The storage strides of a box inside an array that is larger by `margin`, with axes in `order`.
Extents strides_in(const Extents& extents, const Extents& margin, const std::array<std::size_t, 3>& order) {
  Extents strides{};
  Index stride = 1;
  for (std::size_t position = 3; position-- > 0;) {
    strides[order[position]] = stride;
    stride *= extents[order[position]] + margin[order[position]];
  }
  return strides;
}

void naive_copy(const Words& from, Words& to, const Case& c, std::size_t words, std::size_t offset) {
  for (Index i = 0; i < c.extents[0]; ++i)
    for (Index j = 0; j < c.extents[1]; ++j)
      for (Index k = 0; k < c.extents[2]; ++k)
        for (std::size_t w = 0; w < words; ++w) {
          const auto read =
              static_cast<std::size_t>(i * c.from_strides[0] + j * c.from_strides[1] + k * c.from_strides[2]);
          const auto write = static_cast<std::size_t>(i * c.to_strides[0] + j * c.to_strides[1] + k * c.to_strides[2]);
          to[(offset + write) * words + w] = from[read * words + w];
        }
}

/// Copies with and without streaming stores, to an aligned and to an odd address; everything outside the box stays.
void expect_equals_naive_copy(const Case& c, std::size_t words) {
  const std::size_t element_bytes = 8 * words;
  Words from(static_cast<std::size_t>(span_of(c.extents, c.from_strides)) * words);
  std::iota(from.begin(), from.end(), 1);
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}})
    for (const Stores stores : {Stores::ordinary, Stores::streaming}) {
      const std::size_t size = (static_cast<std::size_t>(span_of(c.extents, c.to_strides)) + offset + 2) * words;
      Words expected(size, 0);
      Words copied(size, 0);
      naive_copy(from, expected, c, words, offset);
      const CopyPlan plan(c.extents, c.from_strides, c.to_strides, element_bytes, stores);
      plan.run(from.data(), copied.data() + offset * words);
      ASSERT_EQ(copied, expected) << "extents " << c.extents[0] << "x" << c.extents[1] << "x" << c.extents[2]
                                  << " streaming " << (stores == Stores::streaming) << " words " << words;
      ASSERT_EQ(plan.bytes(), c.extents[0] * c.extents[1] * c.extents[2] * static_cast<Index>(element_bytes));
    }
}

std::vector<Case> random_cases(int count) {
  std::mt19937 random(20120501);
  std::vector<Case> cases;
  const auto draw = [&](Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(random); };
  while (static_cast<int>(cases.size()) < count) {
    Case c;
    std::array<std::size_t, 3> order{0, 1, 2};
    Extents margin{};
    for (auto& e : c.extents) e = draw(0, 3) == 0 ? draw(0, 2) : draw(1, 40);
    for (auto* strides : {&c.from_strides, &c.to_strides}) {
      for (auto& m : margin) m = draw(0, 1) * draw(0, 5);
      std::ranges::shuffle(order, random);
      *strides = strides_in(c.extents, margin, order);
    }
    cases.push_back(c);
  }
  return cases;
}

TEST(CopyPlan, EqualsANaiveLoopOnRandomBoxesAndStrides) {
  for (const Case& c : random_cases(400))
    for (const std::size_t words : {1U, 2U}) expect_equals_naive_copy(c, words);
}

TEST(CopyPlan, TransposesBoxesLargerThanATileInEveryOrder) {
  std::array<std::size_t, 3> order{0, 1, 2};
  // The second in whole lines, so that tiles are written from registers; the third with edges beside them.
  for (const auto& [extents, margin] :
       {std::pair{Extents{67, 5, 131}, Extents{0, 0, 0}}, std::pair{Extents{64, 8, 136}, Extents{0, 0, 0}},
        std::pair{Extents{61, 6, 43}, Extents{3, 2, 5}}}) {
    do {
      for (const std::size_t words : {1U, 2U})
        expect_equals_naive_copy(
            {extents, strides_in(extents, {0, 0, 0}, {0, 1, 2}), strides_in(extents, margin, order)}, words);
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST(CopyPlan, MergesWhatIsContiguousInBothArrays) {
  const Extents whole = strides_in({4, 5, 6}, {0, 0, 0}, {0, 1, 2});
  EXPECT_TRUE(CopyPlan({4, 5, 6}, whole, whole, 16, Stores::ordinary).is_one_run());
  EXPECT_TRUE(
      CopyPlan({1, 3, 6}, whole, strides_in({1, 3, 6}, {0, 0, 0}, {0, 1, 2}), 16, Stores::ordinary).is_one_run());
  EXPECT_TRUE(CopyPlan({0, 5, 6}, whole, {1, 1, 1}, 16, Stores::ordinary).is_one_run());
  EXPECT_TRUE(CopyPlan().is_one_run());
  EXPECT_FALSE(
      CopyPlan({2, 3, 6}, whole, strides_in({2, 3, 6}, {0, 0, 0}, {0, 1, 2}), 16, Stores::ordinary).is_one_run());
  EXPECT_FALSE(
      CopyPlan({4, 5, 6}, whole, strides_in({4, 5, 6}, {0, 0, 0}, {2, 1, 0}), 16, Stores::ordinary).is_one_run());
}

TEST(CopyPlan, MovesABoxWithinOneArrayWhereTheOrderStays) {
  int moved = 0;
  for (const Case& c : random_cases(600)) {
    const CopyPlan plan(c.extents, c.from_strides, c.to_strides, 16, Stores::ordinary);
    if (!plan.preserves_order() || plan.bytes() == 0) continue;
    const auto room =
        static_cast<std::size_t>(std::max(span_of(c.extents, c.from_strides), span_of(c.extents, c.to_strides)));
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, room / 3, room})
      for (const bool up : {false, true}) {
        Words array((room + shift) * 2);
        std::iota(array.begin(), array.end(), 1);
        const std::size_t read = up ? 0 : shift;
        const std::size_t write = up ? shift : 0;
        const Words source(array.begin() + static_cast<std::ptrdiff_t>(2 * read), array.end());
        Words expected((room + shift) * 2, 0);
        naive_copy(source, expected, c, 2, write);
        plan.run_overlapping(array.data() + 2 * read, array.data() + 2 * write);
        for (std::size_t i = 0; i < expected.size(); ++i)
          if (expected[i] != 0) {
            ASSERT_EQ(array[i], expected[i]);
          }
        ++moved;
      }
  }
  EXPECT_GT(moved, 100);
}

TEST(CopyPlan, RefusesToReorderWithinOneArrayAndOtherElementSizes) {
  const CopyPlan transposition({4, 1, 4}, {4, 4, 1}, {1, 4, 4}, 16, Stores::ordinary);
  EXPECT_FALSE(transposition.preserves_order());
  Words array(32);
  EXPECT_THROW(transposition.run_overlapping(array.data(), array.data()), std::logic_error);
  EXPECT_THROW(CopyPlan({1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 4, Stores::ordinary), std::invalid_argument);
}

TEST(CopyBox, CopiesSmallAndLargeBoxes) {
  for (const Index n : {3, 60}) {
    const Extents extents{n, n, n};
    const Case c{extents, strides_in(extents, {1, 0, 2}, {0, 1, 2}), strides_in(extents, {0, 0, 0}, {1, 0, 2})};
    Words from(static_cast<std::size_t>(span_of(extents, c.from_strides)) * 2);
    std::iota(from.begin(), from.end(), 1);
    Words expected(static_cast<std::size_t>(n * n * n) * 2);
    Words copied(expected.size());
    naive_copy(from, expected, c, 2, 0);
    copy_box(from.data(), c.from_strides, copied.data(), c.to_strides, extents, 16);
    EXPECT_EQ(copied, expected);
  }
}

TEST(CopyKernels, AreThoseThisProgramWasBuiltToTest) {
#if defined(FOURSCORE_PORTABLE_COPIES) || !defined(__SSE2__)
  EXPECT_TRUE(copy_kernels::portable);
#else
  EXPECT_FALSE(copy_kernels::portable);
#endif
}

TEST(CopyKernels, StreamRunsOfEveryLengthFromAndToEveryPlaceInALine) {
  constexpr std::size_t words = 40;
  Words from(words);
  std::iota(from.begin(), from.end(), 1);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines((words + 8) / 8);
  auto* const start = reinterpret_cast<std::byte*>(lines.data());
  for (std::size_t read = 0; read < 8; ++read)
    for (std::size_t write = 0; write < 8; ++write)
      for (std::size_t count = 0; count + 8 <= words; ++count) {
        Words expected(words + 8, 0);
        std::copy_n(from.data() + read, count, expected.data() + write);
        std::memset(start, 0, 8 * expected.size());
        copy_kernels::stream_run(reinterpret_cast<const std::byte*>(from.data() + read), start + 8 * write, 8 * count);
        copy_kernels::fence_stores();
        ASSERT_EQ(std::memcmp(start, expected.data(), 8 * expected.size()), 0) << read << " " << write << " " << count;
      }
}

TEST(StoresFor, StreamsWhatOutgrowsTheCacheOnly) {
  EXPECT_EQ(stores_for(4096), Stores::ordinary);
  EXPECT_EQ(stores_for(std::size_t{1} << 30), Stores::streaming);
}

}  // namespace
}  // namespace fourscore
