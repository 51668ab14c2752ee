// Pencils in pieces: any number of them gives the transform, on every grid; on one rank there is nothing to overlap and
// the plan is pencil's; and the phases of the pieces are those of the whole.

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

Problem problem_in_pieces(int pieces) { return test::problem_of({15, 14, 13}, {{"pieces", std::to_string(pieces)}}); }

TEST(PencilOverlap, IsTheTransformInAnyNumberOfPieces) {
  int cases = 0;
  for (const int pieces : {1, 2, 3, 7, 64})
    for (const auto& grid : all_grids(mpi::size_of(MPI_COMM_WORLD), 2))
      for (Problem problem : test::contracts({15, 14, 13})) {
        if (problem.precision == Precision::single_precision) continue;
        problem.grid = grid;
        problem.parameters = problem_in_pieces(pieces).parameters;
        const auto exchanges = test::exchanges_of(variant("pencil-overlap"));
        const ExchangeMethod* exchange = exchanges[static_cast<std::size_t>(++cases) % exchanges.size()];
        SCOPED_TRACE(test::text_of(problem, exchange) + " in " + std::to_string(pieces));
        const auto plan = test::make_plan(variant("pencil-overlap"), problem, exchange);
        for (int run = 0; run < 2; ++run) EXPECT_LT(test::error_of_run(*plan, problem), 20);
      }
  EXPECT_GE(cases, 5 * 8);
}

TEST(PencilOverlap, IsPencilWhereNothingOverlaps) {
  const auto* exchange = ExchangeRegistry::instance().find("p2p");
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const Problem problem = problem_in_pieces(ranks == 1 ? 4 : 1);
  Problem plain = problem;
  plain.parameters.clear();
  const auto overlapping = test::make_plan(variant("pencil-overlap"), problem, exchange);
  const auto pencil = test::make_plan(variant("pencil"), plain, exchange);
  EXPECT_EQ(overlapping->facts().local_ffts, pencil->facts().local_ffts);
  EXPECT_EQ(overlapping->message_volume(), pencil->message_volume());
  EXPECT_EQ(overlapping->facts().buffer_bytes, pencil->facts().buffer_bytes);
  EXPECT_EQ(overlapping->facts().workspace_bytes, pencil->facts().workspace_bytes);
}

TEST(PencilOverlap, AttributesThePiecesToTheirPhases) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  for (const ExchangeMethod* exchange : test::exchanges_of(variant("pencil-overlap"))) {
    Problem problem = problem_in_pieces(3);
    problem.shape = {48, 40, 36};
    const auto plan = test::make_plan(variant("pencil-overlap"), problem, exchange);
    PhaseClock clock;
    test::run_on_random_field(*plan, problem, clock);
    EXPECT_GT(clock.seconds(Phase::fft), 0);
    EXPECT_EQ(clock.seconds(Phase::pack) > 0, ranks > 1);
    EXPECT_EQ(clock.seconds(Phase::exchange) > 0, ranks > 1);
    EXPECT_EQ(plan->components().size(), ranks == 1 ? 1U : 4U);  // fft, pack, exchange, fft
    for (const Component& component : plan->components()) component.run();
    Problem whole = problem;
    whole.parameters.clear();
    const MessageVolume once = test::make_plan(variant("pencil"), whole, exchange)->message_volume();
    EXPECT_EQ(plan->message_volume().bytes_sent, once.bytes_sent);
    EXPECT_EQ(plan->message_volume().messages_sent, 3 * once.messages_sent);
  }
}

TEST(PencilOverlap, RefusesWhatCannotBeInFlightAndNamesWhatCan) {
  const auto& overlap = variant("pencil-overlap");
  EXPECT_FALSE(overlap.refuses(ExchangeRegistry::instance().get("p2p", "exchange"), {}));
  EXPECT_FALSE(overlap.refuses(ExchangeRegistry::instance().get("ialltoallv", "exchange"), {}));
  const auto reason = overlap.refuses(ExchangeRegistry::instance().get("alltoallw", "exchange"), {});
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("alltoallw"), std::string::npos);
  EXPECT_NE(reason->find("ialltoallv, p2p"), std::string::npos);
  EXPECT_THROW((void)overlap.supports(problem_in_pieces(0), 1), InputError);
}

}  // namespace
}  // namespace fourscore
