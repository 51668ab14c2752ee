// Message-driven pencils: decompositions from one pencil a rank to single lines, whatever order the messages come in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/variant.hpp"
#include "mpi/adverse_messages.hpp"
#include "mpi/handles.hpp"
#include "mpi/variant_fixture.hpp"

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
  /// Plans, and runs three times on other data each, without a pause in between. Whether anything was sent.
  bool check(const Problem& problem) const {
    std::string what = test::text_of(problem, nullptr);
    for (const auto& [key, value] : problem.parameters) what += " " + key + "=" + value;
    SCOPED_TRACE(what);
    const auto plan = test::make_plan(variant(), problem, nullptr);
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    const auto& field = test::random_field(problem.extents());
    const auto& expected = test::transformed_field(problem.extents(), problem.direction);
    PhaseClock clock(false);
    for (int run = 1; run <= 3; ++run) {
      test::Field scaled = field;
      for (auto& value : scaled.values) value *= run;
      test::write(scaled, plan->input_layout(), me_, problem.precision, plan->input());
      test::counted_sends.bytes = test::counted_sends.messages = 0;
      test::counted_sends.on = true;
      plan->execute(clock);
      test::counted_sends.on = false;
      EXPECT_LT(test::error_of(expected, run, plan->output_layout(), me_, problem.precision, plan->output()), 20)
          << "run " << run;
      EXPECT_EQ(plan->traffic().bytes_sent, test::counted_sends.bytes);
      EXPECT_EQ(plan->traffic().messages_sent, test::counted_sends.messages);
    }
    return plan->traffic().messages_sent > 0;
  }
  [[nodiscard]] std::vector<std::vector<int>> grids() const {
    std::vector<std::vector<int>> list;
    for (int rows = 1; rows <= ranks_; ++rows)
      if (ranks_ % rows == 0) list.push_back({rows, ranks_ / rows});
    return list;
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
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
  for (const auto& grid : grids())
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

TEST_F(Overdecomposed, DealsAsManyPencilsAsAskedFor) {
  for (const char* pencils : {"1", "2", "3", "6"}) check(problem_on({24, 24, 24}, {{"pencils", pencils}}));
}

TEST_F(Overdecomposed, CostsWhatItsFormulaSaysWhereAllDivides) {
  for (const auto& grid : grids())
    for (const char* x_state : {"pencils", "slabs"}) {
      Problem problem = problem_on({24, 24, 72}, {{"decomposition", "12x12"}, {"x-state", x_state}});
      problem.grid = grid;
      problem.contract.layout = LayoutContract::transposed;
      if (variant().supports(problem, ranks_)) continue;
      const auto plan = test::make_plan(variant(), problem, nullptr);
      const Cost cost = variant().cost(problem, ranks_);
      EXPECT_DOUBLE_EQ(cost.bytes_per_rank, static_cast<double>(plan->traffic().bytes_sent)) << grid_text(grid);
      EXPECT_DOUBLE_EQ(cost.messages_per_rank, static_cast<double>(plan->traffic().messages_sent)) << grid_text(grid);
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
