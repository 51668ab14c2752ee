#include "local/tiled/passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "local/tiled/kernels.hpp"
#include "local/tiled/line_plan.hpp"
#include "support/naive_dft.hpp"
#include "support/turns.hpp"

namespace fourscore::local::tiled {
namespace {

using test::Wide;

const LocalFftLibrary& library() { return LocalFftRegistry::instance().get("tiled", "local FFT library"); }

template <class Real>
constexpr Precision precision_of = sizeof(Real) == sizeof(double) ? Precision::double_precision
                                                                  : Precision::single_precision;

/// Values that both precisions have, so that one expected result serves both.
std::vector<std::complex<float>> noise(std::size_t count) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<std::complex<float>> result(count);
  for (auto& value : result) value = {values(random), values(random)};
  return result;
}

/// Outputs of the transform of columns, by the definition.
class Expected {
 public:
  Expected(const std::vector<std::complex<float>>& rows, Index length, Direction direction)
      : length_(static_cast<std::size_t>(length)), columns_(rows.size() / length_) {
    for (Index m = 0; m < length; ++m) {
      const long double angle =
          2 * std::numbers::pi_v<long double> * static_cast<long double>(m) / static_cast<long double>(length);
      roots_.push_back(std::polar(1.0L, direction == Direction::forward ? -angle : angle));
    }
    for (std::size_t column = 0; column < columns_; ++column)
      for (std::size_t j = 0; j < length_; ++j) lines_.emplace_back(rows[j * columns_ + column]);
  }
  [[nodiscard]] Wide at(std::size_t column, std::size_t k) const {
    return test::naive_dft_sum(lines_.data() + column * length_, roots_.data(), length_, k);
  }

 private:
  std::size_t length_, columns_;
  std::vector<Wide> roots_, lines_;
};

LocalFftSpec columns_spec(Index length, Index columns, Precision precision, Direction direction) {
  LocalFftSpec spec;
  spec.axes = {{length, columns, columns}};
  spec.batch = {{columns, 1, 1}};
  spec.precision = precision;
  spec.direction = direction;
  spec.effort = Effort::estimate;
  return spec;
}

/// The largest error over that of the precision, relative to the largest magnitude; at `checked` places of each column.
template <class Real>
double scaled_error(const std::vector<std::complex<float>>& input, Index length, Direction direction,
                    const std::vector<std::size_t>& checked, const std::vector<Wide>& expected) {
  const std::size_t columns = input.size() / static_cast<std::size_t>(length);
  std::vector<std::complex<Real>> data(input.begin(), input.end());
  const auto fft = library().make(columns_spec(length, static_cast<Index>(columns), precision_of<Real>, direction),
                                  data.data(), data.data());
  EXPECT_EQ(fft->describe().find("tiled " + instruction_set()) == 0, !radices_of(length).empty()) << length;
  fft->execute();
  long double largest = 0;
  long double error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const std::complex<Real> found = data[checked[i / columns] * columns + i % columns];
    error = std::max(error, std::abs(expected[i] - Wide(found)));
  }
  return static_cast<double>(error / largest / static_cast<long double>(std::numeric_limits<Real>::epsilon()));
}

void expect_by_definition(Index length, std::size_t columns, std::size_t rows) {
  const auto count = static_cast<std::size_t>(length);
  const auto input = noise(count * columns);
  std::vector<std::size_t> checked;
  for (std::size_t k = 0; k < count; k += std::max<std::size_t>(1, count / rows)) checked.push_back(k);
  checked.push_back(count - 1);
  for (const auto direction : {Direction::forward, Direction::backward}) {
    const Expected definition(input, length, direction);
    std::vector<Wide> expected;
    for (const std::size_t k : checked)
      for (std::size_t column = 0; column < columns; ++column) expected.push_back(definition.at(column, k));
    EXPECT_LT(scaled_error<double>(input, length, direction, checked, expected), 8) << length << to_string(direction);
    EXPECT_LT(scaled_error<float>(input, length, direction, checked, expected), 8) << length << to_string(direction);
  }
}

TEST(Tiled, GivesTheTransformOfEveryLengthTo512) {
  test::Turns turns;
  for (Index length = 1; length <= 512; ++length)
    if (turns.is_next()) expect_by_definition(length, 3, 40);
}

TEST(Tiled, GivesTheTransformOfFiftyLargerLengths) {
  test::Turns turns;
  int lengths = 0;
  for (Index length = most_length; length > 512 && lengths < 50; --length)
    if (length % 8 <= 1 && !radices_of(length).empty()) {
      if (turns.is_next()) expect_by_definition(length, 2, 3);
      ++lengths;
    }
  EXPECT_EQ(lengths, 50);
}

/// Input and output in larger arrays, whose other elements must stay as they are.
struct Layout {
  Index length;
  Index count;
  Loop along;
  Loop beside;
  bool in_place;
};

template <class Real>
void expect_right_by_each_candidate(const Layout& layout, Direction direction) {
  const auto at = [](Index j, Index i, Index along, Index beside) {
    return static_cast<std::size_t>(1 + j * along + i * beside);  // Nothing is aligned to more than an element.
  };
  const std::complex<Real> untouched(123, 456);
  const auto input = noise(static_cast<std::size_t>(layout.length * layout.count));
  std::vector<Wide> expected(input.begin(), input.end());
  test::naive_dft_axis(expected, {1, layout.length, layout.count}, 1, direction == Direction::forward ? -1 : 1);
  LocalFftSpec spec;
  spec.direction = direction;
  spec.precision = precision_of<Real>;
  Work work;
  work.axes = {{layout.length, layout.along.in_stride, layout.along.out_stride}};
  work.batch = {{layout.count, layout.beside.in_stride, layout.beside.out_stride}};
  const auto list = candidates_of(work, spec);
  ASSERT_FALSE(list.empty());
  for (const Candidate& candidate : list) {
    std::vector<std::complex<Real>> in(
        at(layout.length - 1, layout.count - 1, layout.along.in_stride, layout.beside.in_stride) + 2, untouched);
    std::vector<std::complex<Real>> other(
        at(layout.length - 1, layout.count - 1, layout.along.out_stride, layout.beside.out_stride) + 2, untouched);
    auto& out = layout.in_place ? in : other;
    auto left = out;
    for (Index j = 0; j < layout.length; ++j)
      for (Index i = 0; i < layout.count; ++i)
        in[at(j, i, layout.along.in_stride, layout.beside.in_stride)] =
            std::complex<Real>(input[static_cast<std::size_t>(j * layout.count + i)]);
    // One real further than an element is aligned.
    candidate.plan()->run(reinterpret_cast<std::byte*>(in.data() + 1), reinterpret_cast<std::byte*>(out.data() + 1));
    for (Index j = 0; j < layout.length; ++j)
      for (Index i = 0; i < layout.count; ++i) {
        const std::size_t place = at(j, i, layout.along.out_stride, layout.beside.out_stride);
        ASSERT_LT(std::abs(expected[static_cast<std::size_t>(j * layout.count + i)] - Wide(out[place])),
                  200 * std::numeric_limits<Real>::epsilon())
            << candidate.name << " row " << j << " line " << i << " of " << layout.count;
        left[place] = out[place];
      }
    EXPECT_EQ(left, out) << candidate.name << " wrote beside its lines";
  }
}

void expect_right_wherever_lines_lie(Index length, Index count) {
  const Index wide = count + 3;
  for (const Layout& layout : {Layout{length, count, {1, wide, wide}, {1, 1, 1}, true},              // columns
                               Layout{length, count, {1, 1, 1}, {1, length + 2, length + 2}, true},  // rows
                               Layout{length, count, {1, 3 * wide, 3 * wide}, {1, 3, 3}, true},      // neither
                               Layout{length, count, {1, wide, wide}, {1, 1, 1}, false},  // columns out of place
                               Layout{length, count, {1, 1, 1}, {1, length + 1, length + 2}, false},  // and rows
                               Layout{length, count, {1, wide, 1}, {1, 1, length + 1}, false},        // columns to rows
                               Layout{length, count, {1, 1, wide}, {1, length + 1, 1}, false}})       // rows to columns
    for (const auto direction : {Direction::forward, Direction::backward}) {
      expect_right_by_each_candidate<double>(layout, direction);
      expect_right_by_each_candidate<float>(layout, direction);
    }
}

TEST(Tiled, ReadsAndWritesLinesThatLieAnywhere) {
  test::Turns turns;
  for (Index count = 1; count <= 150; count += count < 40 ? 1 : 37)
    if (turns.is_next()) expect_right_wherever_lines_lie(24, count);
  // Stages of 16; whole vectors of lines, whose last ones overlap; and too short for these.
  for (const Index length : {256, 128, 112, 60, 105, 8, 2})
    for (const Index count : {3, 4, 19, 33})
      if (turns.is_next()) expect_right_wherever_lines_lie(length, count);
  // First stages in lanes: all in registers, with a last vector that overlaps, and with one, two and three stages more.
  for (const Index length : {512, 448, 160, 96, 80, 72, 64, 36, 32, 16, 4})
    if (turns.is_next()) expect_right_wherever_lines_lie(length, 3);
}

TEST(Tiled, IsRightWithEachInstructionSetOfTheProgram) {
  const std::vector<std::string> names = instruction_sets();
  ASSERT_THAT(names, testing::Contains(instruction_set()));
  for (const std::string& name : names) {
    take_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
    for (const Index length : {256, 105, 64, 24, 2}) expect_right_wherever_lines_lie(length, 19);
    for (const Index length : {512, 160, 128, 72, 32, 16, 4}) expect_right_wherever_lines_lie(length, 3);
  }
  take_instruction_set("");
  EXPECT_EQ(instruction_set(), names.front());
}

/// The middle axis of a box, which lies in a larger array.
template <class Real>
void expect_right_by_threads(const Extents& box, int threads) {
  const Index wide = box[2] + 1, deep = wide * box[1] + 5;
  Work work;
  work.axes = {{box[1], wide, wide}};
  work.batch = {{box[2], 1, 1}, {box[0], deep, deep}};
  LocalFftSpec spec;
  spec.precision = precision_of<Real>;
  spec.threads = threads;
  const auto input = noise(static_cast<std::size_t>(box[0] * box[1] * box[2]));
  std::vector<Wide> expected(input.begin(), input.end());
  test::naive_dft_axis(expected, box, 1, -1);
  for (const Candidate& candidate : candidates_of(work, spec)) {
    const PassPtr pass = candidate.plan();
    std::vector<std::complex<Real>> data(static_cast<std::size_t>(box[0] * deep), {123, 456});
    std::vector<std::complex<Real>> left = data;
    const auto each = [&](auto&& use) {
      for (Index x = 0, i = 0; x < box[0]; ++x)
        for (Index y = 0; y < box[1]; ++y)
          for (Index z = 0; z < box[2]; ++z, ++i)
            use(static_cast<std::size_t>(i), static_cast<std::size_t>(x * deep + y * wide + z));
    };
    each([&](std::size_t i, std::size_t place) { data[place] = std::complex<Real>(input[i]); });
    pass->run(reinterpret_cast<std::byte*>(data.data()), reinterpret_cast<std::byte*>(data.data()));
    each([&](std::size_t i, std::size_t place) {
      ASSERT_LT(std::abs(expected[i] - Wide(data[place])), 200 * std::numeric_limits<Real>::epsilon())
          << candidate.name << " " << threads << " threads, element " << i << " of " << box[0] << " planes of "
          << box[2];
      left[place] = data[place];
    });
    EXPECT_EQ(left, data) << candidate.name << " wrote beside its lines";
  }
}

TEST(Tiled, SharesTheTilesAmongItsThreads) {
  ASSERT_EQ(library().refuses(Kind::c2c, 1), std::nullopt);
  if (!has_threads()) {
    EXPECT_THAT(library().refuses(Kind::c2c, 2).value_or(""), testing::HasSubstr("without OpenMP"));
    return;
  }
  for (const int threads : {1, 2, 3, 5})
    for (const Index planes : {1, 2, 7})
      for (const Index columns : {1, 4, 9, 18, 64, 75}) {
        expect_right_by_threads<double>({planes, 12, columns}, threads);
        expect_right_by_threads<float>({planes, 12, columns}, threads);
      }
  Work columns{{{16, 40, 40}}, {{40, 1, 1}}};
  LocalFftSpec spec;
  spec.threads = 3;
  EXPECT_THAT(candidates_of(columns, spec).front().plan()->describe(), testing::HasSubstr(", 3 threads"));
  // No more threads than tiles.
  columns.batch = {{1, 1, 1}};
  EXPECT_THAT(candidates_of(columns, spec).front().plan()->describe(), testing::Not(testing::HasSubstr("threads")));
}

std::vector<std::string> names_of(const Loop& along, const Loop& beside) {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates_of({{along}, {beside}}, {})) names.push_back(candidate.name);
  return names;
}

TEST(Tiled, HasItsFirstStageInLanesWhereVectorsFitALine) {
  const Index lanes = vector_bytes() / static_cast<Index>(sizeof(double));
  const auto contiguous = [](Index length) { return names_of({length, 1, 1}, {5, length, length}); };
  if (lanes == 1) {  // no vectors
    EXPECT_THAT(contiguous(64), testing::Not(testing::Contains(testing::HasSubstr("lanes"))));
    return;
  }
  const auto in_lanes = [](Index radix) { return "tiled-lanes-" + std::to_string(radix); };
  // The first is taken where nothing is timed.
  EXPECT_THAT(contiguous(2 * lanes * lanes), testing::Contains(in_lanes(lanes)));
  EXPECT_EQ(contiguous(2 * lanes * lanes).front(), in_lanes(2 * lanes));
  EXPECT_EQ(contiguous(lanes * lanes).front(), in_lanes(lanes));
  for (const Index length : {lanes * (lanes - 1), lanes * lanes * 3 / 2 + 1, lanes * lanes + lanes / 2})
    EXPECT_THAT(contiguous(length), testing::Not(testing::Contains(testing::HasSubstr("lanes")))) << length;
  const Index length = lanes * lanes;
  EXPECT_THAT(names_of({length, 5, 5}, {5, 1, 1}), testing::Not(testing::Contains(testing::HasSubstr("lanes"))));
}

TEST(Tiled, FetchesTheNextTileOfWhatNoCacheKeeps) {
  const auto columns = [](Index count) { return names_of({64, count, count}, {count, 1, 1}); };
  constexpr Index mebibyte_of_rows = (Index{1} << 20) / (64 * 16);
  EXPECT_THAT(columns(47 * mebibyte_of_rows), testing::Not(testing::Contains("tiled-512-fetched")));
  EXPECT_THAT(columns(48 * mebibyte_of_rows), testing::IsSupersetOf({"tiled-512-fetched", "tiled-1024-fetched"}));
  // These are right too: more columns than are checked everywhere else.
  const Work work{{{4, 1 << 20, 1 << 20}}, {{1 << 20, 1, 1}}};
  std::vector<std::complex<double>> data(std::size_t{4} << 20);
  test::Turns turns;
  for (const Candidate& candidate : candidates_of(work, {})) {
    if (!candidate.name.ends_with("-fetched") || !turns.is_next()) continue;
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i % 1021);
    auto* bytes = reinterpret_cast<std::byte*>(data.data());
    candidate.plan()->run(bytes, bytes);
    for (std::size_t i = 0; i < data.size() / 4; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 4; ++j) sum += static_cast<double>((i + (j << 20)) % 1021);
      ASSERT_EQ(data[i], std::complex<double>(sum)) << candidate.name << " column " << i;
    }
  }
}

TEST(Tiled, HasWiderTilesWhereRowsAreLongEnough) {
  const auto names = [](Index columns, Index stride) { return names_of({64, stride, stride}, {columns, 1, 1}); };
  EXPECT_THAT(names(8, 8), testing::ElementsAre("tiled"));
  EXPECT_THAT(names(32, 32), testing::ElementsAre("tiled", "tiled-512"));
  EXPECT_THAT(names(64, 64), testing::ElementsAre("tiled", "tiled-512", "tiled-1024"));
  // The first is taken where nothing is timed.
  EXPECT_THAT(names(1024, 1024), testing::ElementsAre("tiled-1024", "tiled-512", "tiled"));
}

TEST(Tiled, AlignmentBelowThatOfAnElementIsEnough) {
  constexpr std::size_t length = 16, columns = 9;
  const auto input = noise(length * columns);
  std::vector<Wide> expected(input.begin(), input.end());
  test::naive_dft_axis(expected, {1, length, columns}, 1, -1);
  std::vector<double> reals(2 * length * columns + 1);
  auto* data = reinterpret_cast<std::complex<double>*>(reals.data() + 1);
  const auto fft =
      library().make(columns_spec(length, columns, Precision::double_precision, Direction::forward), data, data);
  std::copy(input.begin(), input.end(), data);
  fft->execute();
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LT(std::abs(expected[i] - Wide(data[i])), 1e-13);
}

TEST(Tiled, ReachesElementsBeyondTwoToThe31) {
  constexpr Index length = 8, stride = Index{1} << 29, columns = 5;
  constexpr std::size_t bytes =
      static_cast<std::size_t>((length - 1) * stride + columns) * sizeof(std::complex<double>);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED) << "no " << bytes << " bytes of addresses";
  auto* data = static_cast<std::complex<double>*>(memory);
  LocalFftSpec spec = columns_spec(length, columns, Precision::double_precision, Direction::forward);
  spec.axes = {{length, stride, stride}};
  const auto input = noise(length * columns);
  const Expected expected(input, length, Direction::forward);
  for (Index j = 0; j < length; ++j)
    for (Index i = 0; i < columns; ++i)
      data[j * stride + i] = std::complex<double>(input[static_cast<std::size_t>(j * columns + i)]);
  const auto fft = library().make(spec, data, data);
  EXPECT_THAT(fft->describe(), testing::HasSubstr("tiled"));
  fft->execute();
  for (Index k = 0; k < length; ++k)
    for (Index i = 0; i < columns; ++i)
      EXPECT_LT(
          std::abs(expected.at(static_cast<std::size_t>(i), static_cast<std::size_t>(k)) - Wide(data[k * stride + i])),
          1e-13);
  ::munmap(memory, bytes);
}

TEST(Tiled, SplitsALengthIntoTwoStagesOrMore) {
  int lengths = 0;
  for (const Index largest : {8, 16})
    for (Index length = 2; length <= most_length; ++length) {
      const auto radices = radices_of(length, largest);
      Index rest = length;
      for (const Index prime : {2, 3, 5, 7})
        while (rest % prime == 0) rest /= prime;
      ASSERT_EQ(radices.empty(), rest != 1) << length;
      if (rest != 1) continue;
      ++lengths;
      Index product = 1;
      for (const Index radix : radices) product *= radix;
      ASSERT_EQ(product, length);
      ASSERT_GE(radices.size(), 2U);
      ASSERT_LE(std::ranges::max(radices), largest);
    }
  EXPECT_GT(lengths, 600);
  EXPECT_THAT(radices_of(128), testing::ElementsAre(4, 4, 8));
  EXPECT_THAT(radices_of(256), testing::ElementsAre(4, 8, 8));
  EXPECT_THAT(radices_of(16, 16), testing::ElementsAre(4, 4));
  EXPECT_THAT(radices_of(48, 16), testing::ElementsAre(16, 3));
  EXPECT_THAT(radices_of(128, 16), testing::ElementsAre(8, 16));
  EXPECT_THAT(radices_of(256, 16), testing::ElementsAre(16, 16));
  EXPECT_THAT(radices_of(1024, 16), testing::ElementsAre(8, 8, 16));
}

TEST(Tiled, LeavesWhatItHasNoStagesForToFftw) {
  for (const Index length : {Index{-4}, Index{0}, Index{1}, Index{11}, Index{2 * 13}, Index{2 * most_length}})
    EXPECT_TRUE(radices_of(length).empty()) << length;
  EXPECT_TRUE(candidates_of({{{8, 1, 1}, {8, 8, 8}}, {}}, {}).empty());
}

TEST(Tiled, SaysForWhichInstructionsItWasDispatched) {
  EXPECT_THAT(library().version(), testing::HasSubstr(" for " + instruction_set() + ", fftw-3"));
  EXPECT_GE(vector_bytes(), 8);
  EXPECT_EQ(largest_radix(), vector_bytes() == 64 ? 16 : 8);
}

}  // namespace
}  // namespace fourscore::local::tiled
