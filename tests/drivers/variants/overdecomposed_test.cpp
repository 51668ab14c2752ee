// Message-driven pencils: decompositions from one pencil a rank to single lines, whatever order the messages come in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "repeated_runs.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using Parameters = std::map<std::string, std::string>;

class Overdecomposed : public testing::Test {
 protected:
  void TearDown() override {
    test::adverse = false;
    test::counted_sends.on = false;
  }
  [[nodiscard]] static const Variant& variant() { return VariantRegistry::instance().get("overdecomposed", "variant"); }
  [[nodiscard]] static Problem problem_on(const std::vector<Index>& shape, const Parameters& parameters) {
    Problem problem = test::contracts(shape).front();
    problem.parameters = parameters;
    return problem;
  }
  static bool check(const Problem& problem) { return test::is_right_three_times(variant(), problem); }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_F(Overdecomposed, IsRightWithThirtyTimesThirtyPencils) {
  bool sent = false;
  for (const char* x_state : {"pencils", "slabs"})
    for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
      Problem problem = problem_on({31, 33, 30}, {{"decomposition", "30x30"}, {"x-state", x_state}});
      problem.contract.layout = layout;
      ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
      sent = check(problem) || sent;
    }
  EXPECT_EQ(sent, ranks_ > 1);
}

TEST_F(Overdecomposed, IsRightInWhateverOrderMessagesCome) {
  test::adverse = true;
  std::size_t turn = 0;
  int cases = 0;
  for (const auto& grid : test::grids_of_the_ranks())
    for (const char* decomposition : {"4x4", "5x7", "13x4", "4x13"})
      for (const char* x_state : {"pencils", "slabs"})
        for (int contract = 0; contract < 4; ++contract) {
          const auto contracts = test::contracts({15, 14, 13});
          Problem problem = contracts[(turn += 3) % contracts.size()];  // 3 and 16 have no common factor
          problem.grid = grid;
          problem.parameters = {{"decomposition", decomposition}, {"x-state", x_state}};
          if (variant().supports(problem, ranks_)) continue;
          check(problem);
          ++cases;
        }
  EXPECT_GE(cases, 16);
}

/// Every event of a timeline that works on one pencil says on which.
TEST_F(Overdecomposed, NumbersItsPencilsInATimeline) {
  Problem problem = problem_on({15, 14, 13}, {{"decomposition", "6x6"}});
  problem.contract.layout = LayoutContract::natural;
  const auto plan = test::make_plan(variant(), problem, nullptr);
  EventLog log(100'000);
  PhaseClock clock(log);
  clock.start();
  plan->execute(clock);
  clock.stop();
  ASSERT_EQ(log.dropped(), 0U);
  std::map<Phase, std::set<int>> pieces;
  for (const PhaseEvent& event : log.events()) {
    if (event.phase == Phase::fft || event.phase == Phase::pack || event.phase == Phase::unpack) {
      EXPECT_NE(event.piece, no_piece) << phase_names[static_cast<std::size_t>(event.phase)];
      pieces[event.phase].insert(event.piece);
    }
  }
  // 36 pencils a state, of which the states Z, Y and X are transformed; the way back through Y to Z only moves them.
  std::size_t transformed = pieces[Phase::fft].size();
  MPI_Allreduce(MPI_IN_PLACE, &transformed, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(transformed, 3U * 36U);
  if (ranks_ > 1) {
    EXPECT_GT(pieces[Phase::unpack].size(), 1U);
  }
}

TEST_F(Overdecomposed, DealsAsManyPencilsAsAskedFor) {
  for (const char* pencils : {"1", "2", "3", "6"}) check(problem_on({24, 24, 24}, {{"pencils", pencils}}));
}

TEST_F(Overdecomposed, CostsWhatItsFormulaSaysWhereAllDivides) {
  for (const auto& grid : test::grids_of_the_ranks())
    for (const char* x_state : {"pencils", "slabs"}) {
      Problem problem = problem_on({24, 24, 72}, {{"decomposition", "12x12"}, {"x-state", x_state}});
      problem.grid = grid;
      problem.contract.layout = LayoutContract::transposed;
      if (variant().supports(problem, ranks_)) continue;
      const auto plan = test::make_plan(variant(), problem, nullptr);
      const Cost cost = variant().cost(problem, ranks_);
      EXPECT_DOUBLE_EQ(cost.bytes_per_rank, static_cast<double>(plan->message_volume().bytes_sent)) << grid_text(grid);
      EXPECT_DOUBLE_EQ(cost.messages_per_rank, static_cast<double>(plan->message_volume().messages_sent))
          << grid_text(grid);
    }
}

TEST_F(Overdecomposed, ComponentsRunAlone) {
  const auto plan = test::make_plan(variant(), problem_on({15, 14, 13}, {{"decomposition", "9x9"}}), nullptr);
  std::memset(plan->input(), 0, 1);
  int exchanges = 0;
  for (int run = 0; run < 2; ++run)
    for (const Component& component : plan->components()) {
      component.run();
      exchanges += component.phase == Phase::exchange ? 1 : 0;
    }
  EXPECT_EQ(exchanges > 0, ranks_ > 1);
}

TEST_F(Overdecomposed, SaysWhichDecompositionsFit) {
  const auto reason = [&](const Parameters& parameters, const std::vector<int>& grid, int ranks) {
    Problem problem = problem_on({15, 14, 13}, parameters);
    problem.grid = grid;
    return variant().supports(problem, ranks).value_or("");
  };
  EXPECT_EQ(reason({{"decomposition", "14x13"}}, {}, 4), "");
  EXPECT_EQ(reason({{"decomposition", "15x13"}, {"x-state", "slabs"}}, {}, 4), "");
  EXPECT_THAT(reason({{"decomposition", "15x13"}}, {}, 4), testing::HasSubstr("D1 from P1 to 14 and D2 from P2 to 13"));
  EXPECT_THAT(reason({{"decomposition", "3x9"}}, {4, 1}, 4),
              testing::HasSubstr("decomposition 3x9 does not fit a grid of 4x1"));
  EXPECT_THAT(reason({{"pencils", "200"}}, {}, 1), testing::HasSubstr("200 pencils a rank do not fit 1 ranks"));
  EXPECT_THAT(reason({}, {15, 1}, 15), testing::HasSubstr("15x1"));
  EXPECT_THROW((void)reason({{"decomposition", "10"}}, {}, 1), InputError);
  EXPECT_THROW((void)reason({{"decomposition", "axb"}}, {}, 1), InputError);
  EXPECT_THROW((void)reason({{"decomposition", "4x4"}, {"pencils", "2"}}, {}, 1), InputError);
  EXPECT_THROW((void)reason({{"x-state", "planes"}}, {}, 1), InputError);
}

/// This program initialises MPI for one thread, so that a plan of more must not be made.
TEST(Node, NamesTheThreadLevelThatIsMissing) {
  const Variant& node = VariantRegistry::instance().get("node", "variant");
  if (mpi::provided_thread_level() >= ThreadLevel::multiple) GTEST_SKIP() << "MPI gives more than was asked for";
  Problem problem = test::contracts({15, 14, 13}).front();
  problem.threads = 2;
  problem.parameters["mpi"] = "multiple";
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::multiple);
  try {
    (void)test::make_plan(node, problem, nullptr);
    FAIL() << "planned all the same";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs MPI_THREAD_MULTIPLE, but MPI provides MPI_THREAD_FUNNELED"));
  }
  problem.threads = 1;
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::funneled);
  problem.threads = 2;
  problem.parameters["mpi"] = "funneled";
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::funneled);
}

}  // namespace
}  // namespace fourscore
