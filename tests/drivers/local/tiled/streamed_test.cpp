// Passes along columns out of place: stored past the caches, and read from parts that lie apart.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "local/tiled/kernels.hpp"
#include "local/tiled/passes.hpp"
#include "support/naive_dft.hpp"

namespace fourscore::local::tiled {
namespace {

using test::Wide;

template <class Real>
constexpr Precision precision_by_size = sizeof(Real) == sizeof(double) ? Precision::double_precision
                                                                       : Precision::single_precision;

std::vector<Wide> wide_noise(std::size_t count) {
  std::mt19937 random(17);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<Wide> result(count);
  for (Wide& value : result) value = Wide(values(random), values(random));
  return result;
}

/// Planes of `length` rows of columns, each row in `stride` elements of aligned memory, whose rest stays as it was.
template <class Real>
class Planes {
 public:
  Planes(Index planes, Index length, Index columns, Index stride, Index offset)
      : planes_(planes),
        length_(length),
        columns_(columns),
        stride_(stride),
        memory_(static_cast<std::size_t>(planes * length * stride + offset) * sizeof(std::complex<Real>)),
        data_(reinterpret_cast<std::complex<Real>*>(memory_.data()) + offset) {
    std::fill_n(data_, planes * length * stride, untouched);
  }
  [[nodiscard]] std::complex<Real>* data() { return data_; }
  [[nodiscard]] Index at(Index x, Index y, Index z) const { return (x * length_ + y) * stride_ + z; }
  void set(const std::vector<Wide>& values, Index first_row, Index rows) {
    for (Index x = 0; x < planes_; ++x)
      for (Index y = 0; y < length_; ++y)
        for (Index z = 0; z < columns_; ++z)
          data_[at(x, y, z)] =
              std::complex<Real>(values[static_cast<std::size_t>((x * rows + first_row + y) * columns_ + z)]);
  }
  void expect(const std::vector<Wide>& expected, const std::string& what) const {
    for (Index x = 0; x < planes_; ++x)
      for (Index y = 0; y < length_; ++y)
        for (Index z = 0; z < stride_; ++z) {
          const Wide found(data_[at(x, y, z)]);
          if (z >= columns_) {
            ASSERT_EQ(found, Wide(untouched)) << what << " wrote beside its lines";
            continue;
          }
          const Wide wanted = expected[static_cast<std::size_t>((x * length_ + y) * columns_ + z)];
          ASSERT_LT(std::abs(wanted - found), 200 * std::numeric_limits<Real>::epsilon())
              << what << " plane " << x << " row " << y << " column " << z;
        }
  }

 private:
  static constexpr std::complex<Real> untouched{123, 456};
  Index planes_, length_, columns_, stride_;
  Scratch memory_;
  std::complex<Real>* data_;
};

template <class Real>
void expect_right_out_of_place(Index length, Index columns, Index offset) {
  constexpr Index planes = 2;
  const Index stride = (columns + 15) / 16 * 16;
  const auto input = wide_noise(static_cast<std::size_t>(planes * length * columns));
  auto expected = input;
  test::naive_dft_axis(expected, {planes, length, columns}, 1, -1);
  LocalFftSpec spec;
  spec.precision = precision_by_size<Real>;
  Planes<Real> in(planes, length, columns, stride, 0);
  Planes<Real> out(planes, length, columns, stride, offset);
  Work work;
  work.axes = {{length, stride, stride}};
  work.batch = {{columns, 1, 1}, {planes, length * stride, length * stride}};
  work.in = reinterpret_cast<std::byte*>(in.data());
  work.out = reinterpret_cast<std::byte*>(out.data());
  int streamed = 0;
  for (const Candidate& candidate : candidates_of(work, spec)) {
    in.set(input, 0, length);
    const PassPtr pass = candidate.plan();
    EXPECT_EQ(pass->describe().find("streamed out") != std::string::npos, candidate.name.ends_with("-streamed"));
    pass->run(work.in, work.out);
    out.expect(expected, candidate.name);
    if (candidate.name.ends_with("-streamed")) ++streamed;
    EXPECT_FALSE(candidate.name.ends_with("-streamed") && candidate.contests) << "its data fits the caches";
  }
  EXPECT_GE(streamed, 1);
}

TEST(TiledStreamed, IsRightWhereRowsAreAlignedAndWhereNot) {
  for (const Index columns : {2, 15, 64, 100})
    for (const Index offset : {0, 1}) {
      expect_right_out_of_place<double>(48, columns, offset);
      expect_right_out_of_place<float>(48, columns, offset);
    }
}

// Nothing is allocated or touched: 16 MiB of output in one pass, and 64 KiB.
TEST(TiledStreamed, ContestsWhereItsDataOutgrowsTheCachesAndGoesFirst) {
  std::byte in{}, out{};
  const auto first = [&](Index columns, std::byte* to) {
    Work work{{{64, columns, columns}}, {{columns, 1, 1}}};
    work.in = &in;
    work.out = to;
    return candidates_of(work, {}).front();
  };
  EXPECT_THAT(first(1 << 20, &out).name, testing::EndsWith("-streamed"));
  EXPECT_TRUE(first(1 << 20, &out).contests);
  EXPECT_THAT(first(64, &out).name, testing::Not(testing::EndsWith("-streamed")));
  EXPECT_THAT(first(1 << 20, &in).name, testing::Not(testing::EndsWith("-streamed")));
}

/// The parts have memory of their own, each with another stride.
template <class Real>
void expect_right_from_parts(Index length, Index columns, const std::vector<Index>& cuts, Direction direction) {
  constexpr Index planes = 3;
  const auto input = wide_noise(static_cast<std::size_t>(planes * length * columns));
  auto expected = input;
  test::naive_dft_axis(expected, {planes, length, columns}, 1, direction == Direction::forward ? -1 : 1);
  std::vector<Planes<Real>> memory;
  std::vector<AxisPart> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Index rows = cuts[i + 1] - cuts[i];
    const Index stride = columns + static_cast<Index>(i);
    memory.emplace_back(planes, rows, columns, stride, 0).set(input, cuts[i], length);
    parts.push_back({cuts[i], cuts[i + 1], memory.back().data(), stride, rows * stride});
  }
  Planes<Real> out(planes, length, columns, columns, 0);
  LocalFftSpec spec;
  spec.precision = precision_by_size<Real>;
  spec.direction = direction;
  spec.axes = {{length, columns, columns}};
  spec.batch = {{columns, 1, 1}, {planes, length * columns, length * columns}};
  const auto fft = fft_of_parts(spec, parts, out.data());
  ASSERT_NE(fft, nullptr);
  fft->execute();
  out.expect(expected, fft->describe());
}

TEST(TiledParts, AreReadInTheirOrderWhereverTheyLie) {
  for (const Index columns : {1, 7, 64, 75})
    for (const auto direction : {Direction::forward, Direction::backward})
      for (const auto& cuts :
           std::vector<std::vector<Index>>{{0, 48}, {0, 24, 48}, {0, 1, 2, 30, 47, 48}, {0, 0, 16, 16, 48, 48}}) {
        expect_right_from_parts<double>(48, columns, cuts, direction);
        expect_right_from_parts<float>(48, columns, cuts, direction);
      }
}

/// A row of every part goes on from plane to plane without a gap, as that of the output does: one loop over columns, of
/// which only the last may be fewer than a vector has lanes.
template <class Real>
void expect_right_from_long_rows(Index length, Index planes, Index columns, Direction direction) {
  const Index row = planes * columns;
  auto expected = wide_noise(static_cast<std::size_t>(length * row));
  std::vector<std::complex<Real>> in(expected.size());
  std::ranges::transform(expected, in.begin(), [](const Wide& value) { return std::complex<Real>(value); });
  test::naive_dft_axis(expected, {length, planes, columns}, 0, direction == Direction::forward ? -1 : 1);
  std::vector<std::complex<Real>> out(in.size());
  LocalFftSpec spec;
  spec.precision = precision_by_size<Real>;
  spec.direction = direction;
  spec.axes = {{length, row, row}};
  spec.batch = {{columns, 1, 1}, {planes, columns, columns}};
  const Index half = length / 2;
  const auto fft = fft_of_parts(
      spec, {{0, half, in.data(), row, columns}, {half, length, in.data() + half * row, row, columns}}, out.data());
  ASSERT_NE(fft, nullptr);
  EXPECT_THAT(fft->describe(), testing::HasSubstr(" beside " + std::to_string(row) + ":1:1 outer 1:1:1"));
  fft->execute();
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_LT(std::abs(expected[i] - Wide(out[i])), 200 * std::numeric_limits<Real>::epsilon()) << i;
}

TEST(TiledParts, HaveOneRestWhereTheirRowsGoOn) {
  for (const Index planes : {1, 3, 5})
    for (const Index columns : {1, 9, 33}) {
      expect_right_from_long_rows<double>(48, planes, columns, Direction::forward);
      expect_right_from_long_rows<float>(48, planes, columns, Direction::backward);
    }
}

TEST(TiledParts, AreGatheredForWhatTilesDoNot) {
  std::complex<double> data;
  const auto taken = [&](LocalFftSpec spec) {
    return fft_of_parts(spec, {{0, spec.axes.front().count, &data, 4, 4}}, &data) != nullptr;
  };
  LocalFftSpec spec;
  spec.axes = {{16, 4, 4}};
  spec.batch = {{4, 1, 1}};
  EXPECT_TRUE(taken(spec));
  auto other = spec;
  other.axes = {{11, 4, 4}};
  EXPECT_FALSE(taken(other));
  other = spec;
  other.threads = 2;
  EXPECT_FALSE(taken(other));
  other = spec;
  other.batch = {{4, 4, 4}};
  EXPECT_FALSE(taken(other));
  other = spec;
  other.batch = {{0, 1, 1}};
  EXPECT_FALSE(taken(other));
}

}  // namespace
}  // namespace fourscore::local::tiled
