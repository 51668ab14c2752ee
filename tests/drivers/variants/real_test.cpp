// Kind r2c, in both directions: every variant that has it, against the transform by its definition. Padding holds NaN
// before a run, so that nothing read from it passes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

/// Neither extent dividing; an extent of 1, 2 and 3 last; even and odd; two extents and one.
const std::vector<std::vector<Index>> real_shapes{{15, 14, 13}, {8, 9, 16}, {7, 10, 1}, {9, 8, 2},
                                                  {8, 8, 3},    {12, 10},   {9, 15},    {38}};

class RealKind : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
    const auto kinds = variant().facts().kinds;
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
    EXPECT_EQ(plan->input() == plan->output(), problem.contract.buffers == Buffers::in_place);
    for (int run = 0; run < 2; ++run) EXPECT_LT(test::error_of_real_run(*plan, problem), 20) << run;
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(RealKind, IsTheTransformByItsDefinition) {
  int cases = 0;
  std::string refusal;
  for (std::size_t i = 0; i < real_shapes.size(); ++i)
    for (Problem& problem : test::contracts(real_shapes[i])) {
      problem.kind = Kind::r2c;
      // Buffers take turns: in place with even shapes forward and odd ones backward, and the other way round.
      const bool in_place = problem.contract.buffers == Buffers::in_place;
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
    Problem problem = test::problem_of({15, 14, 13}, {}, layout);
    problem.kind = Kind::r2c;
    if (const auto reason = variant().supports(problem, ranks_)) GTEST_SKIP() << *reason;
    const auto there = test::make_plan(variant(), problem, test::exchanges_of(variant()).front());
    problem.direction = Direction::backward;
    const auto back = test::make_plan(variant(), problem, test::exchanges_of(variant()).front());
    EXPECT_TRUE(there->output_layout().same_boxes(back->input_layout()));
    EXPECT_EQ(there->output_layout().order, back->input_layout().order);
    EXPECT_TRUE(there->input_layout().same_boxes(back->output_layout()));
    EXPECT_EQ(there->input_layout(), back->output_layout());
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
  const MessageVolume traffic = plan->message_volume();
  EXPECT_DOUBLE_EQ(static_cast<double>(traffic.bytes_sent + traffic.bytes_read_shared), cost.bytes_per_rank);
  problem.kind = Kind::c2c;
  const double complex_bytes = variant().cost(problem, ranks_).bytes_per_rank;
  EXPECT_NEAR(cost.bytes_per_rank, complex_bytes * (4 * ranks_) / (8 * ranks_ - 2), 1e-6 * complex_bytes);
}

INSTANTIATE_TEST_SUITE_P(Registered, RealKind, testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

TEST(RealKinds, AreThoseOfTheVariantsThatSayTheyHaveThem) {
  for (const char* name : {"serial", "fftw-mpi", "slab", "pencil", "pencil-overlap", "node", "volumetric", "serial-gpu",
                           "slab-gpu", "pencil-gpu"})
    EXPECT_THAT(VariantRegistry::instance().find(name)->facts().kinds, testing::ElementsAre(Kind::c2c, Kind::r2c))
        << name;
}

}  // namespace
}  // namespace fourscore
