// Kind r2c, in both directions: every variant that has it, against the transform by its definition. Padding holds NaN
// before a run, so that nothing read from it passes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>

#include "core/variant.hpp"
#include "mpi/handles.hpp"
#include "mpi/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::Field;
using test::Wide;

/// Neither extent dividing; an extent of 1, 2 and 3 last; even and odd; two extents and one.
const std::vector<std::vector<Index>> shapes{{15, 14, 13}, {8, 9, 16}, {7, 10, 1}, {9, 8, 2},
                                             {8, 8, 3},    {12, 10},   {9, 15},    {38}};

struct Transformed {
  Field space;     ///< real values
  Field spectrum;  ///< of them, whole
};

const Transformed& transformed(const Extents& shape) {
  static std::map<Extents, Transformed> all;
  Transformed& pair = all[shape];
  if (!pair.space.values.empty()) return pair;
  for (const Wide& value : test::random_field(shape).values) pair.space.values.emplace_back(value.real());
  pair.spectrum = pair.space;
  test::naive_dft(pair.spectrum.values, shape, -1);
  for (Field* field : {&pair.space, &pair.spectrum})
    for (const Wide& value : field->values) field->largest = std::max(field->largest, std::abs(value));
  return pair;
}

/// One side of a plan as memory.
template <class Real>
struct Memory {
  const Decomposition& layout;
  int me;
  bool real;
  void* data;

  [[nodiscard]] Index volume() const { return layout.boxes[static_cast<std::size_t>(me)].volume(); }
  [[nodiscard]] Wide get(Index i) const {
    const Index at = layout.place(me, i);
    return real ? Wide(static_cast<Real*>(data)[at]) : Wide(static_cast<std::complex<Real>*>(data)[at]);
  }
  void set(Index i, const Wide& value) const {
    const Index at = layout.place(me, i);
    if (real)
      static_cast<Real*>(data)[at] = static_cast<Real>(value.real());
    else
      static_cast<std::complex<Real>*>(data)[at] = std::complex<Real>(value);
  }
  void fill_with_nan() const {
    const auto bytes = static_cast<std::size_t>(layout.memory_volume(me)) * sizeof(Real) * (real ? 1 : 2);
    if (bytes > 0) std::memset(data, 0xff, bytes);
  }
};

/// Largest error in units of epsilon of the largest value expected; infinite where a NaN comes out.
template <class Real>
double error_of_run(Plan& plan, const Problem& problem) {
  const Extents shape = problem.extents();
  const auto& [space, spectrum] = transformed(shape);
  const bool forward = problem.direction == Direction::forward;
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const Memory<Real> in{plan.input_layout(), me, forward, plan.input()};
  const Memory<Real> out{plan.output_layout(), me, !forward, plan.output()};
  out.fill_with_nan();
  in.fill_with_nan();
  const Field& given = forward ? space : spectrum;
  for (Index i = 0; i < in.volume(); ++i) in.set(i, given.values[test::position(shape, in.layout.global_index(me, i))]);
  PhaseClock clock;
  clock.start();
  plan.execute(clock);
  const Field& expected = forward ? spectrum : space;
  const long double factor = forward ? 1 : static_cast<long double>(problem.elements());
  long double worst = 0;
  for (Index i = 0; i < out.volume(); ++i) {
    const Wide value = expected.values[test::position(shape, out.layout.global_index(me, i))] * factor;
    const long double difference = std::abs(value - out.get(i));
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, difference);
  }
  return static_cast<double>(worst / (expected.largest * factor)) / std::numeric_limits<Real>::epsilon();
}

class RealKind : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
    const auto kinds = variant().kinds();
    if (std::ranges::find(kinds, Kind::r2c) == kinds.end()) GTEST_SKIP() << GetParam() << " has no kind r2c";
  }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find(GetParam()); }

  void check(const Problem& problem, const ExchangeMethod* exchange) const {
    SCOPED_TRACE(test::text_of(problem, exchange));
    const auto plan = test::make_plan(variant(), problem, exchange);
    EXPECT_EQ(plan->input_layout().shape, problem.input_extents());
    EXPECT_EQ(plan->output_layout().shape, problem.output_extents());
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    EXPECT_EQ(plan->input() == plan->output(), problem.contract.placement == Placement::in_place);
    const bool is_double = problem.precision == Precision::double_precision;
    for (int run = 0; run < 2; ++run)
      EXPECT_LT(is_double ? error_of_run<double>(*plan, problem) : error_of_run<float>(*plan, problem), 20) << run;
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(RealKind, IsTheTransformByItsDefinition) {
  int cases = 0;
  std::string refusal;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (Problem& problem : test::contracts(shapes[i])) {
      problem.kind = Kind::r2c;
      // Buffers take turns: in place with even shapes forward and odd ones backward, and the other way round.
      const bool in_place = problem.contract.placement == Placement::in_place;
      if (in_place != ((i % 2 == 0) == (problem.direction == Direction::forward))) continue;
      if (const auto reason = variant().supports(problem, ranks_)) {
        refusal = *reason;
        continue;
      }
      const auto exchanges = test::exchanges_of(variant());
      // Every exchange on the first shape, one after another on the others.
      for (std::size_t e = 0; e < exchanges.size(); ++e)
        if (i == 0 || e == i % exchanges.size()) {
          check(problem, exchanges[e]);
          ++cases;
        }
    }
  if (cases == 0) GTEST_SKIP() << refusal;
  EXPECT_GE(cases, 8) << "a precision, direction and layout was tested on no shape";
}

TEST_P(RealKind, BackwardStartsWhereForwardEnds) {
  for (const auto layout : {LayoutContract::natural, LayoutContract::transposed}) {
    Problem problem;
    problem.shape = {15, 14, 13};
    problem.kind = Kind::r2c;
    problem.contract = {layout, Placement::in_place, Effort::estimate};
    if (const auto reason = variant().supports(problem, ranks_)) GTEST_SKIP() << *reason;
    const auto there = test::make_plan(variant(), problem, test::exchanges_of(variant()).front());
    problem.direction = Direction::backward;
    const auto back = test::make_plan(variant(), problem, test::exchanges_of(variant()).front());
    EXPECT_EQ(there->output_layout().boxes, back->input_layout().boxes);
    EXPECT_EQ(there->output_layout().order, back->input_layout().order);
    EXPECT_EQ(there->input_layout().boxes, back->output_layout().boxes);
    EXPECT_EQ(there->input_layout().padding, back->output_layout().padding);
  }
}

TEST_P(RealKind, SendsHalfOfWhatTheComplexTransformSends) {
  Problem problem;
  problem.shape = {4 * ranks_, 4 * ranks_, 8 * ranks_ - 2};  // a half spectrum that divides
  problem.contract.effort = Effort::estimate;
  problem.kind = Kind::r2c;
  if (const auto reason = variant().supports(problem, ranks_)) GTEST_SKIP() << *reason;
  const Cost cost = variant().cost(problem, ranks_);
  EXPECT_DOUBLE_EQ(cost.flops, problem.credited_flops());
  const auto plan = test::make_plan(variant(), problem, test::exchanges_of(variant()).front());
  const Traffic traffic = plan->traffic();
  EXPECT_DOUBLE_EQ(static_cast<double>(traffic.bytes_sent + traffic.bytes_read_shared), cost.bytes_per_rank);
  problem.kind = Kind::c2c;
  const double complex_bytes = variant().cost(problem, ranks_).bytes_per_rank;
  EXPECT_NEAR(cost.bytes_per_rank, complex_bytes * (4 * ranks_) / (8 * ranks_ - 2), 1e-6 * complex_bytes);
}

INSTANTIATE_TEST_SUITE_P(Registered, RealKind, testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

TEST(RealKinds, AreThoseOfTheVariantsThatSayTheyHaveThem) {
  for (const char* name : {"serial", "fftw-mpi", "slab", "pencil", "volumetric"})
    EXPECT_THAT(VariantRegistry::instance().find(name)->kinds(), testing::ElementsAre(Kind::c2c, Kind::r2c)) << name;
}

}  // namespace
}  // namespace fourscore
