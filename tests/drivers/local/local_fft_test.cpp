#include "interfaces/local_fft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <tuple>

#include "local/split_fft.hpp"
#include "support/message_of.hpp"
#include "support/naive_dft.hpp"
#include "support/turns.hpp"

namespace fourscore {
namespace {

using local::Pass;
using test::Wide;

struct Case {
  Extents shape;
  std::vector<std::size_t> axes;
  Precision precision = Precision::double_precision;
  Direction direction = Direction::forward;
  Effort effort = Effort::estimate;
  bool in_place = true;
  bool single_plan = false;
  int threads = 1;
};

LocalFftSpec spec_of(const Case& c) {
  LocalFftSpec spec;
  for (std::size_t a = 0; a < 3; ++a) {
    Index stride = 1;
    for (std::size_t b = a + 1; b < 3; ++b) stride *= c.shape[b];
    const bool transformed = std::ranges::find(c.axes, a) != c.axes.end();
    (transformed ? spec.axes : spec.batch).push_back({c.shape[a], stride, stride});
  }
  spec.precision = c.precision;
  spec.direction = c.direction;
  spec.effort = c.effort;
  spec.threads = c.threads;
  spec.single_plan = c.single_plan;
  return spec;
}

/// Random values and their transform over the axes.
struct Known {
  std::vector<Wide> given;
  std::vector<Wide> transform;
};

/// Computed once and kept.
const Known& known(const Case& c, Direction direction, bool real) {
  static std::map<std::tuple<Extents, std::vector<std::size_t>, Direction, bool>, Known> all;
  Known& one = all[{c.shape, c.axes, direction, real}];
  if (!one.given.empty()) return one;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> values(-1, 1);
  for (Index i = 0; i < c.shape[0] * c.shape[1] * c.shape[2]; ++i)
    one.given.emplace_back(values(random), real ? 0 : values(random));
  one.transform = one.given;
  for (const std::size_t axis : c.axes)
    test::naive_dft_axis(one.transform, c.shape, axis, direction == Direction::forward ? -1 : 1);
  return one;
}

/// Largest error relative to the largest expected value.
class LargestError {
 public:
  void add(const Wide& expected, const Wide& found) {
    largest_ = std::max(largest_, std::norm(expected));
    const long double error = std::norm(expected - found);
    error_ = std::isfinite(error) ? std::max(error_, error) : std::numeric_limits<long double>::infinity();
  }
  [[nodiscard]] double value() const { return static_cast<double>(std::sqrt(error_ / largest_)); }

 private:
  long double largest_ = 0;
  long double error_ = 0;
};

template <class Real>
double error_of(const LocalFftLibrary& library, const Case& c) {
  const Known& field = known(c, c.direction, false);
  const std::size_t elements = field.given.size();
  std::vector<std::complex<Real>> in(elements);
  std::vector<std::complex<Real>> other(c.in_place ? 0 : elements);
  auto& out = c.in_place ? in : other;
  const auto plan = library.make(spec_of(c), in.data(), out.data());
  for (std::size_t i = 0; i < elements; ++i) in[i] = std::complex<Real>(field.given[i]);
  plan->execute();
  LargestError error;
  for (std::size_t i = 0; i < elements; ++i) error.add(field.transform[i], Wide(out[i]));
  return error.value();
}

double scaled_error(const LocalFftLibrary& library, const Case& c) {
  return c.precision == Precision::double_precision ? error_of<double>(library, c) / 2.3e-16
                                                    : error_of<float>(library, c) / 1.2e-7;
}

class EachLibrary : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const LocalFftLibrary& library() const {
    return LocalFftRegistry::instance().get(GetParam(), "local FFT library");
  }
};

/// Every shape with every set of axes, in 16 ways each, which have any four choices together: the other 16 for the
/// next set and the next shape. `error_of_case`: in units of the precision.
template <class Error>
void expect_right(const std::vector<Extents>& shapes, const std::vector<std::vector<std::size_t>>& axes_sets,
                  const Error& error_of_case) {
  test::Turns turns;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t j = 0; j < axes_sets.size(); ++j) {
      const bool odd = (i + j) % 2 != 0;
      const Extents& shape = shapes[i];
      const auto& axes = axes_sets[j];
      for (const auto precision : {Precision::double_precision, Precision::single_precision})
        for (const auto direction : {Direction::forward, Direction::backward})
          for (const auto effort : {Effort::estimate, Effort::measure})
            for (const bool in_place : {true, false})
              for (const bool single_plan : {true, false}) {
                const bool forward = direction == Direction::forward;
                const bool is_double = precision == Precision::double_precision;
                if ((is_double != (forward != ((effort == Effort::measure) != (in_place != single_plan)))) != odd)
                  continue;
                if (!turns.is_next()) continue;
                EXPECT_LT(error_of_case(Case{shape, axes, precision, direction, effort, in_place, single_plan}), 30)
                    << shape[0] << "x" << shape[1] << "x" << shape[2] << " axes " << axes.size() << " first " << axes[0]
                    << " " << to_string(direction) << " in place " << in_place << " single plan " << single_plan;
              }
    }
}

TEST_P(EachLibrary, GivesTheTransformOverAnyAxesOfAnyShape) {
  expect_right({{6, 5, 9}, {16, 8, 32}, {1, 9, 10}, {12, 1, 33}, {8, 24, 40}},
               {{0}, {1}, {2}, {0, 1}, {2, 1}, {0, 2}, {0, 1, 2}},
               [this](const Case& c) { return scaled_error(library(), c); });
}

/// As error_of, of a real transform: rows of reals in the place of rows of complex elements, the last axis halved.
template <class Real>
double real_error_of(const LocalFftLibrary& library, const Case& c) {
  Case half = c;
  half.shape[2] = c.shape[2] / 2 + 1;
  LocalFftSpec spec = spec_of(half);
  std::rotate(spec.axes.begin(), spec.axes.end() - 1,
              spec.axes.end());  // std::ranges::rotate of g++ 12's library is beyond Clang 14  // the halved axis first
  spec.real_length = c.shape[2];
  const Index rows = c.shape[0] * c.shape[1];
  const auto elements = static_cast<std::size_t>(rows * half.shape[2]);
  std::vector<std::complex<Real>> in(elements);
  std::vector<std::complex<Real>> other(c.in_place ? 0 : elements);
  auto& out = c.in_place ? in : other;
  const auto plan = library.make(spec, in.data(), out.data());

  const Known& field = known(c, Direction::forward, true);
  const std::vector<Wide>& space = field.given;
  const std::vector<Wide>& spectrum = field.transform;
  Wide size = 1;
  for (const std::size_t axis : c.axes) size *= static_cast<long double>(c.shape[axis]);
  const bool forward = c.direction == Direction::forward;
  const auto each = [&](auto&& use) {  // real and complex elements with their places, in reals and in elements
    for (Index row = 0; row < rows; ++row) {
      for (Index z = 0; z < c.shape[2]; ++z)
        use(true, static_cast<std::size_t>(row * c.shape[2] + z),
            static_cast<std::size_t>(2 * row * half.shape[2] + z));
      for (Index z = 0; z < half.shape[2]; ++z)
        use(false, static_cast<std::size_t>(row * c.shape[2] + z), static_cast<std::size_t>(row * half.shape[2] + z));
    }
  };
  each([&](bool real, std::size_t element, std::size_t place) {
    if (real && forward) reinterpret_cast<Real*>(in.data())[place] = static_cast<Real>(space[element].real());
    if (!real && !forward) in[place] = std::complex<Real>(spectrum[element]);
  });
  plan->execute();
  LargestError error;
  each([&](bool real, std::size_t element, std::size_t place) {
    if (real == forward) return;
    const Wide expected = real ? space[element] * size : spectrum[element];
    error.add(expected, real ? Wide(reinterpret_cast<const Real*>(out.data())[place]) : Wide(out[place]));
  });
  return error.value();
}

TEST_P(EachLibrary, GivesTheRealTransformOverAnyAxesOfAnyShape) {
  expect_right({{6, 5, 9}, {16, 8, 32}, {1, 9, 10}, {12, 1, 33}, {4, 3, 1}, {3, 4, 2}},
               {{2}, {1, 2}, {0, 2}, {0, 1, 2}}, [this](const Case& c) {
                 return c.precision == Precision::double_precision ? real_error_of<double>(library(), c) / 2.3e-16
                                                                   : real_error_of<float>(library(), c) / 1.2e-7;
               });
}

Case in_direction(Case c, Direction direction) {
  c.direction = direction;
  return c;
}

/// Works through every candidate, by writing each decision into wisdom before planning: over each set of axes in place
/// or out of place, over every second set the other one. Where one in five is asked for, of each candidate some.
TEST_P(EachLibrary, IsCorrectByEveryCandidateOfASplit) {
  const std::size_t candidates_for_one = test::one_in() == 1 ? 2 : 7;
  std::size_t cases = 0;
  std::size_t turn = 0;
  for (const bool in_place : {true, false}) {
    ++turn;
    for (const auto& axes : std::vector<std::vector<std::size_t>>{{0}, {2}, {1, 2}, {0, 1, 2}}) {
      const Case c{{8, 21, 35}, axes, Precision::single_precision, Direction::forward, Effort::measure, in_place};
      (void)scaled_error(library(), c);
      for (const auto direction : {Direction::forward, Direction::backward})
        if (axes.back() == 2) (void)real_error_of<float>(library(), in_direction(c, direction));
      const std::string saved = library().export_wisdom();
      for (const char* candidate : {"direct", "by-axis", "by-plane", "by-axis-leave-0", "by-axis-leave-1",
                                    "by-plane-leave-0", "by-plane-leave-1", "by-plane-aside", "copy", "copy-by-plane",
                                    "buffered-128", "buffered-256", "buffered-256-streamed"}) {
        if (turn++ % candidates_for_one != 0) continue;
        std::istringstream lines(saved);
        std::ostringstream changed;
        for (std::string line; std::getline(lines, line);) {
          const auto equals = line.find(" = ");
          changed << (equals == std::string::npos ? line : line.substr(0, equals) + " = " + candidate) << "\n";
        }
        library().import_wisdom(changed.str(), "wisdom");
        EXPECT_LT(scaled_error(library(), c), 30) << candidate << " axes " << axes.size() << " in place " << in_place;
        for (const auto direction : {Direction::forward, Direction::backward}) {
          if (axes.back() != 2) continue;
          EXPECT_LT(real_error_of<float>(library(), in_direction(c, direction)) / 1.2e-7, 30)
              << candidate << " real " << to_string(direction) << ", axes " << axes.size() << " in place " << in_place;
        }
        ++cases;
      }
    }
  }
  EXPECT_GE(cases, (2 * 4 * 13) / candidates_for_one);
}

TEST_P(EachLibrary, PlansAgainFromItsWisdom) {
  const Case c{{32, 16, 48}, {0, 1, 2}, Precision::double_precision, Direction::backward, Effort::measure, true};
  std::vector<std::complex<double>> data(32 * 16 * 48);
  const std::string first = library().make(spec_of(c), data.data(), data.data())->describe();
  const std::string wisdom = library().export_wisdom();
  library().import_wisdom(wisdom, "wisdom");
  EXPECT_EQ(library().make(spec_of(c), data.data(), data.data())->describe(), first);
  EXPECT_THAT(wisdom, testing::HasSubstr("axes 48:1 16:48 32:768"));
}

TEST_P(EachLibrary, AnEmptySpecDoesNothing) {
  std::complex<double> data(1, 2);
  LocalFftSpec spec;
  spec.axes = {{0, 1, 1}};
  spec.batch = {{4, 1, 1}};
  const auto plan = library().make(spec, &data, &data);
  plan->execute();
  EXPECT_EQ(data, (std::complex<double>(1, 2)));
  EXPECT_EQ(plan->credited_flops(), 0);
}

TEST_P(EachLibrary, TransposesWhereStridesDiffer) {
  constexpr Index rows = 6;
  constexpr Index columns = 9;
  std::vector<std::complex<double>> in(rows * columns);
  std::vector<std::complex<double>> out(rows * columns);
  LocalFftSpec spec;
  spec.axes = {{columns, 1, rows}};
  spec.batch = {{rows, columns, 1}};
  const auto plan = library().make(spec, in.data(), out.data());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = {static_cast<double>(i % 5), static_cast<double>(i % 3)};
  std::vector<Wide> expected(in.begin(), in.end());
  plan->execute();
  test::naive_dft_axis(expected, {1, rows, columns}, 2, -1);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      EXPECT_LT(std::abs(expected[row * columns + column] - Wide(out[column * rows + row])), 1e-13);
}

TEST_P(EachLibrary, CreditsFiveNLog2NForEveryTransform) {
  std::vector<std::complex<double>> data(64);
  LocalFftSpec spec;
  spec.axes = {{16, 4, 4}};
  spec.batch = {{4, 1, 1}};
  EXPECT_DOUBLE_EQ(library().make(spec, data.data(), data.data())->credited_flops(), 4 * 5 * 16 * 4.0);
}

TEST_P(EachLibrary, GivesTheSameWithThreadsOrRefusesThem) {
  for (const auto& axes : std::vector<std::vector<std::size_t>>{{0}, {1}, {0, 1, 2}}) {
    const Case c{{16, 12, 20}, axes, Precision::double_precision, Direction::forward, Effort::measure, true, false, 2};
    if (const auto reason = library().refuses(Kind::c2c, 2)) {
      EXPECT_THAT(*reason, testing::HasSubstr("thread"));
      EXPECT_THROW((void)scaled_error(library(), c), InputError);
    } else {
      EXPECT_LT(scaled_error(library(), c), 30);
    }
  }
  EXPECT_EQ(library().refuses(Kind::c2c, 1), std::nullopt);
  const Case none{{4, 4, 4}, {0}, Precision::double_precision, Direction::forward, Effort::estimate, true, false, 0};
  EXPECT_THROW((void)scaled_error(library(), none), InputError);
}

TEST_P(EachLibrary, TransformsAtOtherPlacesThanThoseItWasMadeFor) {
  const Case c{{6, 10, 12}, {0, 2}, Precision::double_precision, Direction::forward, Effort::measure, false};
  constexpr std::size_t elements = 6 * 10 * 12;
  std::vector<std::complex<double>> in(elements), out(elements), other_in(elements), other_out(elements);
  const auto plan = library().make(spec_of(c), in.data(), out.data());
  for (std::size_t i = 0; i < elements; ++i)
    in[i] = other_in[i] = {static_cast<double>(i % 7), static_cast<double>(i % 4)};
  plan->execute();
  plan->execute_at(other_in.data(), other_out.data());
  EXPECT_EQ(out, other_out);
  EXPECT_GT(std::abs(out.front()), 0);
}

TEST_P(EachLibrary, SaysWhichItIs) {
  EXPECT_EQ(library().card().name, GetParam());
  EXPECT_FALSE(library().version().empty());
}

TEST_P(EachLibrary, RefusesWisdomThatIsNotItsOwn) {
  for (const char* content : {"", "something else\n", "plans of nobody\n"})
    EXPECT_THAT(test::message_of([&] { return library().import_wisdom(content, "wisdom file w"); }),
                testing::StartsWith("wisdom file w cannot be used: "))
        << content;
}

TEST_P(EachLibrary, EstimateLeavesTheDataAlone) {
  std::vector<std::complex<double>> data(512, {3, 4});
  Case c{{8, 8, 8}, {0, 1, 2}};
  const auto plan = library().make(spec_of(c), data.data(), data.data());
  for (const auto& value : data) ASSERT_EQ(value, (std::complex<double>(3, 4)));
}

/// The libraries that this program has; what it lacks is off with a reason.
std::vector<std::string> built() {
  std::vector<std::string> names;
  for (const std::string& name : LocalFftRegistry::instance().names())
    if (LocalFftRegistry::instance().find(name)->unavailable().empty()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Local, EachLibrary, testing::ValuesIn(built()),
                         [](const auto& instance) { return instance.param; });

// Its own clock would not see what the next pass loses. Nothing is timed here: the first candidate is taken. Nor is the
// memory touched, most of which is never there.
TEST(LocalLibraries, APassGoesPastTheCachesOnlyWhereItsDataOutgrowsThem) {
  const auto& fftw = LocalFftRegistry::instance().get("fftw", "local FFT library");
  const auto described = [&](Index columns) {
    using Memory = std::unique_ptr<void, decltype(&std::free)>;
    const auto bytes = static_cast<std::size_t>(64 * columns) * sizeof(std::complex<double>);
    const Memory in(std::malloc(bytes), &std::free);
    const Memory out(std::malloc(bytes), &std::free);
    LocalFftSpec spec;
    spec.axes = {{64, columns, columns}};
    spec.batch = {{columns, 1, 1}};
    spec.effort = Effort::estimate;
    return fftw.make(spec, in.get(), out.get())->describe();
  };
  EXPECT_THAT(described(64), testing::Not(testing::HasSubstr("streamed out")));  // 64 KiB
  EXPECT_THAT(described(1 << 20), testing::HasSubstr("streamed out"));           // 1 GiB, more than is counted on
}

// Nothing is timed, so the columns' stride decides: 1 KiB crowds them into few sets of a cache, 960 B does not.
TEST(LocalLibraries, AnEstimatedPlanCopiesColumnsThatCrowdTheCache) {
  const auto& fftw = LocalFftRegistry::instance().get("fftw", "local FFT library");
  std::vector<std::complex<double>> data(static_cast<std::size_t>(8 * 64 * 64));
  const auto described = [&](Index side) {
    return fftw.make(spec_of({{8, side, side}, {1, 2}}), data.data(), data.data())->describe();
  };
  EXPECT_THAT(described(64), testing::HasSubstr("blocks 256 B wide"));
  EXPECT_THAT(described(60), testing::Not(testing::HasSubstr("blocks")));
}

TEST(LocalLibraries, AreFftwAndThoseThatSayWhyTheyAreNotHere) {
  EXPECT_THAT(built(), testing::Contains("fftw"));
  for (const char* name : {"mkl", "pocketfft", "fftw-api"}) {
    const LocalFftLibrary* library = LocalFftRegistry::instance().find(name);
    ASSERT_NE(library, nullptr) << name;
    if (library->unavailable().empty()) continue;
    std::complex<double> data;
    LocalFftSpec spec;
    spec.axes = {{1, 1, 1}};
    EXPECT_ANY_THROW((void)library->make(spec, &data, &data)) << name;
  }
}

}  // namespace
}  // namespace fourscore
