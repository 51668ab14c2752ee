// A transform that reads its input in blocks that lie apart. The plans that have one: fused_reads_test.

#include "chain/gathered_fft.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::Wide;

struct Case {
  Extents shape;
  std::size_t axis;
  int parts;  ///< blocks along the axis
  Direction direction = Direction::forward;
};

Extents dense(const Extents& shape) { return {shape[1] * shape[2], shape[2], 1}; }

LocalFftSpec spec_of(const Case& c, Precision precision) {
  LocalFftSpec spec;
  const Extents strides = dense(c.shape);
  for (std::size_t a = 0; a < 3; ++a)
    (a == c.axis ? spec.axes : spec.batch).push_back({c.shape[a], strides[a], strides[a]});
  spec.precision = precision;
  spec.direction = c.direction;
  spec.effort = Effort::estimate;
  return spec;
}

/// The blocks are of the array and lie apart, each densely.
template <class Real>
struct Blocks {
  std::vector<std::vector<std::complex<Real>>> memory;
  std::vector<SourceBlock> blocks;
};

template <class Real>
Blocks<Real> cut(const Case& c, const std::vector<std::complex<Real>>& values) {
  Blocks<Real> result;
  const Extents strides = dense(c.shape);
  for (int part = 0; part < c.parts; ++part) {
    SourceBlock block;
    block.box.high = c.shape;
    const Range range = block_range(c.shape[c.axis], c.parts, part);
    block.box.low[c.axis] = range.low;
    block.box.high[c.axis] = range.high;
    const Extents extents = block.box.extents();
    block.strides = dense(extents);
    auto& memory = result.memory.emplace_back();
    for (Index x = 0; x < extents[0]; ++x)
      for (Index y = 0; y < extents[1]; ++y)
        for (Index z = 0; z < extents[2]; ++z)
          memory.push_back(values[static_cast<std::size_t>((block.box.low[0] + x) * strides[0] +
                                                           (block.box.low[1] + y) * strides[1] + z)]);
    block.data = reinterpret_cast<const std::byte*>(memory.data());
    result.blocks.push_back(block);
  }
  return result;
}

/// Multiples of 2^-10, which both precisions have.
std::vector<Wide> random_values(const Extents& shape) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> uniform(-1024, 1024);
  std::vector<Wide> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
  std::ranges::generate(values, [&] { return Wide(uniform(random), uniform(random)) / Wide(1024); });
  return values;
}

/// FFTW's, as if it computed on a device.
class OnADevice : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override { return fftw_.card(); }
  [[nodiscard]] std::string version() const override { return fftw_.version(); }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    made_.push_back(spec);
    return fftw_.make(spec, in, out);
  }
  void import_wisdom(const std::string& text, const std::string& origin) const override {
    fftw_.import_wisdom(text, origin);
  }
  [[nodiscard]] std::string export_wisdom() const override { return fftw_.export_wisdom(); }
  [[nodiscard]] const std::vector<LocalFftSpec>& made() const { return made_; }

 private:
  const LocalFftLibrary& fftw_ = LocalFftRegistry::instance().get("fftw", "local FFT library");
  mutable std::vector<LocalFftSpec> made_;
};

/// Largest error in units of the precision's epsilon and of the largest value.
template <class Real>
double error_of(const Case& c, Precision precision, const std::vector<Wide>& input, const std::vector<Wide>& expected,
                const LocalFftLibrary& library = LocalFftRegistry::instance().get("fftw", "local FFT library")) {
  const std::vector<std::complex<Real>> values(input.begin(), input.end());
  const Blocks<Real> from = cut(c, values);
  std::vector<std::complex<Real>> result(values.size());
  const LocalArray array{c.shape, dense(c.shape), reinterpret_cast<std::byte*>(result.data())};
  const LocalFftSpec spec = spec_of(c, precision);
  EXPECT_TRUE(GatheredFft::serves(spec, array, c.axis, from.blocks));
  GatheredFft fft(library, spec, array, c.axis, from.blocks);
  PhaseClock clock(true);
  clock.start();
  fft.execute(clock);
  clock.stop();

  double largest = 0, error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, static_cast<double>(std::abs(expected[i])));
    error = std::max(error, static_cast<double>(std::abs(expected[i] - Wide(result[i]))));
  }
  return error / largest / static_cast<double>(test::epsilon_of(precision));
}

TEST(GatheredFft, TransformsWhatItGathersAlongAnyAxisWithAStride) {
  for (const Extents& shape : {Extents{7, 5, 9}, {1, 1, 3}, {64, 3, 40}, {3, 64, 40}, {2, 2, 20000}, {100, 300, 3}})
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
      for (const auto direction : {Direction::forward, Direction::backward}) {
        const std::vector<Wide> values = random_values(shape);
        std::vector<Wide> expected = values;
        test::naive_dft_axis(expected, shape, axis, direction == Direction::forward ? -1 : 1);
        for (const int parts : {1, 2, 3, 5}) {
          const Case c{shape, axis, parts, direction};
          const std::string text =
              fmt::format("{}x{}x{} along {} in {} blocks", shape[0], shape[1], shape[2], axis, parts);
          EXPECT_LT(error_of<double>(c, Precision::double_precision, values, expected), 30) << text;
          EXPECT_LT(error_of<float>(c, Precision::single_precision, values, expected), 30) << text;
        }
      }
}

/// A library that reads the blocks itself, for lengths that it has passes for; others are gathered.
TEST(GatheredFft, OfTilesReadsTheBlocksWhereTheyLie) {
  const LocalFftLibrary& tiled = LocalFftRegistry::instance().get("tiled", "local FFT library");
  if (!tiled.unavailable().empty()) return;
  for (const Extents& shape : {Extents{7, 5, 9}, {1, 11, 3}, {64, 3, 40}, {3, 64, 40}, {2, 2, 20000}, {100, 300, 3}})
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}})
      for (const auto direction : {Direction::forward, Direction::backward}) {
        const std::vector<Wide> values = random_values(shape);
        std::vector<Wide> expected = values;
        test::naive_dft_axis(expected, shape, axis, direction == Direction::forward ? -1 : 1);
        for (const int parts : {1, 3, 5}) {
          const Case c{shape, axis, parts, direction};
          EXPECT_LT(error_of<double>(c, Precision::double_precision, values, expected, tiled), 30);
          EXPECT_LT(error_of<float>(c, Precision::single_precision, values, expected, tiled), 30);
        }
      }
  const auto described = [&](Index length) {
    const Case c{{length, 3, 8}, 0, 2};
    std::vector<std::complex<double>> values(static_cast<std::size_t>(length * 24));
    const Blocks<double> from = cut(c, values);
    const LocalArray array{c.shape, dense(c.shape), reinterpret_cast<std::byte*>(values.data())};
    const GatheredFft fft(tiled, spec_of(c, Precision::double_precision), array, 0, from.blocks);
    EXPECT_EQ(fft.gathered_bytes() + fft.transformed_bytes(), 2 * length * 24 * 16);
    EXPECT_EQ(fft.gathered_bytes() == 0, length == 16);
    return fft.describe();
  };
  EXPECT_NE(described(16).find("read from 2 blocks"), std::string::npos);
  EXPECT_NE(described(11).find("gathered from 2 blocks"), std::string::npos);
}

TEST(GatheredFft, OfALibraryOnADeviceIsOneTransformOfTheWholeArray) {
  for (const Extents& shape : {Extents{7, 5, 9}, {64, 3, 40}, {2, 2, 20000}})
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
      const std::vector<Wide> values = random_values(shape);
      std::vector<Wide> expected = values;
      test::naive_dft_axis(expected, shape, axis, -1);
      const OnADevice library;
      const Case c{shape, axis, 3};
      EXPECT_LT(error_of<double>(c, Precision::double_precision, values, expected, library), 30);
      ASSERT_EQ(library.made().size(), 1U);
      EXPECT_EQ(library.made().front().batch, spec_of(c, Precision::double_precision).batch);
    }
}

TEST(GatheredFft, OfNothingDoesNothing) {
  const Case c{{4, 0, 8}, 0, 1};
  const LocalArray array{c.shape, {8, 8, 1}, nullptr};
  GatheredFft fft(LocalFftRegistry::instance().get("fftw", "local FFT library"),
                  spec_of(c, Precision::double_precision), array, 0, {});
  PhaseClock clock;
  fft.execute(clock);
  EXPECT_EQ(fft.gathered_bytes(), 0);
  EXPECT_EQ(fft.transformed_bytes(), 0);
}

TEST(GatheredFft, ServesOneStridedAxisCutAlongItself) {
  const Case c{{8, 6, 4}, 0, 2};
  const std::vector<std::complex<double>> values(8 * 6 * 4);
  const Blocks<double> from = cut(c, values);
  const LocalArray array{c.shape, dense(c.shape), nullptr};
  const LocalFftSpec spec = spec_of(c, Precision::double_precision);
  const auto serves = [&](auto&& change) {
    LocalFftSpec other = spec;
    std::vector<SourceBlock> blocks = from.blocks;
    std::size_t axis = 0;
    change(other, blocks, axis);
    return GatheredFft::serves(other, array, axis, blocks);
  };
  EXPECT_TRUE(serves([](auto&, auto&, auto&) {}));
  EXPECT_FALSE(serves([](auto& s, auto&, auto&) { s.threads = 2; }));
  EXPECT_FALSE(serves([](auto& s, auto&, auto&) { s.single_plan = true; }));
  EXPECT_FALSE(serves([](auto& s, auto&, auto&) { s.real_length = 8; }));
  EXPECT_FALSE(serves([](auto& s, auto&, auto&) { s.axes.push_back({6, 4, 4}); }));
  EXPECT_FALSE(serves([](auto&, auto&, auto& axis) { axis = 2; }));
  EXPECT_FALSE(serves([](auto&, auto& blocks, auto&) { blocks[0].box.high[1] = 5; }));
  EXPECT_FALSE(serves([](auto&, auto& blocks, auto&) { blocks[1].strides = {1, 8, 48}; }));
}

}  // namespace
}  // namespace fourscore
