// Passes by tiles over the halved axis of real data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "local/tiled/kernels.hpp"
#include "local/tiled/line_plan.hpp"
#include "local/tiled/passes.hpp"
#include "support/naive_dft.hpp"

namespace fourscore::local::tiled {
namespace {

using test::Wide;

/// Lines of `reals` numbers and of their transform, by the definition.
class RealLines {
 public:
  RealLines(Index reals, std::size_t lines) : reals_(static_cast<std::size_t>(reals)), lines_(lines) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> values(-1, 1);
    for (std::size_t i = 0; i < lines * reals_; ++i) space_.emplace_back(values(random));
    for (std::size_t m = 0; m < reals_; ++m) {
      const long double angle =
          2 * std::numbers::pi_v<long double> * static_cast<long double>(m) / static_cast<long double>(reals);
      forward_.push_back(std::polar(1.0L, -angle));
    }
  }
  [[nodiscard]] std::size_t reals() const { return reals_; }
  [[nodiscard]] std::size_t halves() const { return reals_ / 2 + 1; }
  [[nodiscard]] std::size_t lines() const { return lines_; }
  [[nodiscard]] float space(std::size_t line, std::size_t j) const {
    return static_cast<float>(space_[line * reals_ + j].real());
  }
  [[nodiscard]] Wide spectrum(std::size_t line, std::size_t k) const {
    return test::naive_dft_sum(space_.data() + line * reals_, forward_.data(), reals_, k);
  }

 private:
  std::size_t reals_, lines_;
  std::vector<Wide> space_, forward_;
};

struct Way {
  bool in_place;
  Precision precision;
  int threads = 1;
};

template <class T>
std::complex<T>* run(const Candidate& candidate, std::vector<std::complex<T>>& in, std::vector<std::complex<T>>& other,
                     bool in_place) {
  auto& out = in_place ? in : other;
  candidate.plan()->run(reinterpret_cast<std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data()));
  return out.data();
}

/// Each output at one line in 16 or more, the first and the last one at all; what lies beside a line stays.
template <class T>
void expect_right_both_ways(const RealLines& data, const Way& way) {
  const std::size_t stride = data.halves() + 2;
  Work work;
  work.axes = {{static_cast<Index>(data.halves()), 1, 1}};
  work.batch = {{static_cast<Index>(data.lines()), static_cast<Index>(stride), static_cast<Index>(stride)}};
  work.real_length = static_cast<Index>(data.reals());
  const std::complex<T> untouched(123, 456);
  const long double tolerance = 40 * std::numeric_limits<T>::epsilon();
  for (const auto direction : {Direction::forward, Direction::backward}) {
    LocalFftSpec spec;
    spec.precision = way.precision;
    spec.direction = direction;
    spec.threads = way.threads;
    const bool forward = direction == Direction::forward;
    std::vector<std::complex<T>> input(data.lines() * stride, untouched);
    for (std::size_t line = 0; line < data.lines(); ++line) {
      auto* reals = reinterpret_cast<T*>(input.data() + line * stride);
      for (std::size_t j = 0; forward && j < data.reals(); ++j) reals[j] = data.space(line, j);
      for (std::size_t k = 0; !forward && k < data.halves(); ++k)
        input[line * stride + k] = std::complex<T>(data.spectrum(line, k));
      // The first and the last element are real: what stands in their imaginary parts has no say.
      if (!forward) reals[1] = reals[2 * data.halves() - 1] = 5;
    }
    const auto list = candidates_of(work, spec);
    ASSERT_FALSE(list.empty()) << data.reals();
    for (const Candidate& candidate : list) {
      auto in = input;
      std::vector<std::complex<T>> other(input.size(), untouched);
      const std::complex<T>* out = run(candidate, in, other, way.in_place);
      const std::size_t outputs = forward ? data.halves() : data.reals();
      const long double size = std::sqrt(static_cast<long double>(data.reals())) *
                               (forward ? 1.0L : std::sqrt(static_cast<long double>(data.reals())));
      for (std::size_t line = 0; line < data.lines(); ++line) {
        const auto* reals = reinterpret_cast<const T*>(out + line * stride);
        for (std::size_t k = 0; k < outputs; ++k) {
          if ((k + line) % 16 != 0 && k != 0 && k + 1 != outputs) continue;
          const long double error = forward ? std::abs(data.spectrum(line, k) - Wide(out[line * stride + k]))
                                            : std::abs(data.space(line, k) * static_cast<long double>(data.reals()) -
                                                       static_cast<long double>(reals[k]));
          ASSERT_LT(error, tolerance * size) << candidate.name << " " << to_string(direction) << " of " << data.reals()
                                             << ", line " << line << " output " << k;
        }
        for (std::size_t k = forward || way.in_place ? data.halves() : data.halves() - 1; k < stride; ++k)
          ASSERT_EQ(out[line * stride + k], untouched) << candidate.name << " wrote beside its lines";
      }
    }
  }
}

void expect_right(Index reals, std::size_t lines, bool in_place, int threads = 1) {
  const RealLines data(reals, lines);
  expect_right_both_ways<double>(data, {in_place, Precision::double_precision, threads});
  expect_right_both_ways<float>(data, {in_place, Precision::single_precision, threads});
}

TEST(TiledReal, GivesTheTransformOfEveryEvenLengthTo512) {
  int lengths = 0;
  for (Index reals = 4; reals <= 512; reals += 2) {
    if (radices_of(reals / 2).empty()) continue;
    expect_right(reals, 19, lengths++ % 2 == 0);
  }
  EXPECT_GT(lengths, 70);
}

TEST(TiledReal, GivesTheTransformOfLargerLengths) {
  for (const Index reals : {720, 1024, 2000, 2048, 4096, 4410}) expect_right(reals, 3, reals % 3 == 0);
}

TEST(TiledReal, TakesAnyNumberOfLinesWithAnyNumberOfThreads) {
  for (std::size_t lines = 1; lines < 40; ++lines)
    expect_right(32, lines, lines % 2 == 0, has_threads() ? static_cast<int>(lines % 4) + 1 : 1);
}

TEST(TiledReal, IsRightWithEachInstructionSetOfTheProgram) {
  for (const std::string& name : instruction_sets()) {
    take_instruction_set(name);
    for (const Index reals : {4, 6, 48, 120, 512})
      for (const bool in_place : {true, false}) expect_right(reals, 19, in_place);
  }
  take_instruction_set("");
}

TEST(TiledReal, LeavesOddAndOtherLengthsToFftw) {
  const auto none = [](Index reals, Loop axis) {
    Work work{{axis}, {{4, 100, 100}}};
    work.real_length = reals;
    return candidates_of(work, {}).empty();
  };
  EXPECT_TRUE(none(15, {8, 1, 1}));
  EXPECT_TRUE(none(2, {2, 1, 1}));
  EXPECT_TRUE(none(22, {12, 1, 1}));
  EXPECT_TRUE(none(16, {9, 2, 2}));
  EXPECT_FALSE(none(16, {9, 1, 1}));
}

}  // namespace
}  // namespace fourscore::local::tiled
