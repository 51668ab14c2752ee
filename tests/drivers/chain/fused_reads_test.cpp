// Plans whose transform after an exchange reads its input in the memory of several ranks.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "mpi/handles.hpp"
#include "support/pretended_nodes.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class FusedReads : public testing::TestWithParam<std::string> {
 protected:
  /// The plan of 24 x 20 x 18 by this exchange, run and compared.
  std::unique_ptr<Plan> checked_plan(const std::string& exchange, const char* reads, Buffers buffers,
                                     LayoutContract layout) const {
    Problem problem;
    problem.shape = {24, 20, 18};
    problem.contract = {layout, buffers, Effort::estimate};
    if (reads != nullptr) problem.parameters = {{"reads", reads}};
    auto plan = test::make_plan(VariantRegistry::instance().get(GetParam(), "variant"), problem,
                                &ExchangeRegistry::instance().get(exchange, "exchange"));
    PhaseClock clock(true);
    for (int run = 0; run < 3; ++run) test::run_on_random_field(*plan, problem, clock);
    const test::Field& expected = test::transformed_field({24, 20, 18}, Direction::forward);
    EXPECT_LT(test::error_of(expected, 1, plan->output_layout(), mpi::rank_in(MPI_COMM_WORLD), problem.precision,
                             plan->output()),
              30);
    EXPECT_EQ(plan->output() == plan->input(), buffers == Buffers::in_place);
    return plan;
  }

  int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(FusedReads, GoWithTheTransformAfterAnExchangeOfNeighbours) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const auto gathers = Contains(HasSubstr(fmt::format("gathered from {} blocks", ranks_)));
  for (const auto buffers : {Buffers::in_place, Buffers::out_of_place})
    for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
      const auto fused = checked_plan("shared", "fused", buffers, layout);
      EXPECT_THAT(fused->describe_local_ffts(), gathers);
      const auto separate = checked_plan("shared", "separate", buffers, layout);
      EXPECT_THAT(separate->describe_local_ffts(), Not(gathers));
      EXPECT_EQ(fused->message_volume().bytes_read_shared, separate->message_volume().bytes_read_shared);
      EXPECT_GT(fused->workspace_bytes(), separate->workspace_bytes());
      EXPECT_THAT(checked_plan("shared", "auto", buffers, layout)->describe_local_ffts(), Not(gathers))
          << "24 x 20 x 18 is in the caches";
      EXPECT_THAT(checked_plan("p2p", nullptr, buffers, layout)->describe_local_ffts(), Not(gathers));
    }
}

TEST_P(FusedReads, AreNoneWhereBlocksComeInMessages) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const test::EachRankIsANode nodes;
  EXPECT_THAT(checked_plan("shared", "fused", Buffers::in_place, LayoutContract::transposed)->describe_local_ffts(),
              Not(Contains(HasSubstr("gathered"))));
}

INSTANTIATE_TEST_SUITE_P(Chains, FusedReads, testing::Values("slab", "pencil"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace fourscore
