// Message-driven pencils: decompositions from one pencil a rank to single lines, whatever order the messages come in.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <set>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "repeated_runs.hpp"
#include "support/message_of.hpp"
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
  test::Turns turns;
  for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
    if (!turns.is_next()) continue;
    const char* const x_state = layout == LayoutContract::natural ? "slabs" : "pencils";
    Problem problem = problem_on({31, 33, 30}, {{"decomposition", "30x30"}, {"x-state", x_state}});
    problem.contract.layout = layout;
    ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
    sent = check(problem) || sent;
  }
  EXPECT_EQ(sent, ranks_ > 1);
}

TEST_F(Overdecomposed, IsRightInWhateverOrderMessagesCome) {
  test::adverse = true;
  test::Turns turns;
  std::size_t turn = 0;
  int cases = 0;
  for (const auto& grid : all_grids(ranks_, 2))
    for (const char* decomposition : {"4x4", "5x7", "13x4", "4x13"})
      for (const char* x_state : {"pencils", "slabs"})
        for (const std::size_t step : {3U, 4U}) {  // 7 and 16 have no common factor
          const auto contracts = test::contracts({15, 14, 13});
          Problem problem = contracts[(turn += step) % contracts.size()];
          problem.grid = grid;
          problem.parameters = {{"decomposition", decomposition}, {"x-state", x_state}};
          if (variant().supports(problem, ranks_)) continue;
          if (turns.is_next()) check(problem);
          ++cases;
        }
  EXPECT_GE(cases, 16);
}

/// lee2018's own map: pencils by their linear numbers, with ranks that get none and slabs beyond the planes.
TEST_F(Overdecomposed, IsRightWithPencilsDealtByTheirNumbers) {
  std::size_t turn = 0;
  for (const bool blocks : {false, true})
    for (const char* decomposition : {"1x1", "1x3", "2x1", "5x7", "13x4"})
      for (const bool slabs : {false, true})
        for (const bool local_messages : {false, true}) {
          test::adverse = blocks != (slabs != local_messages);  // each of them with both
          const auto contracts = test::contracts({15, 14, 13});
          Problem problem = contracts[(turn += 3) % contracts.size()];  // 3 and 16 have no common factor
          problem.parameters = {{"dealing", blocks ? "blocks" : "round-robin"},
                                {"decomposition", decomposition},
                                {"x-state", slabs ? "slabs" : "pencils"},
                                {"local-messages", local_messages ? "yes" : "no"},
                                {"synchronisation", turn % 2 == 0 ? "none" : "broadcast-reduce"}};
          ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
          check(problem);
        }
}

TEST_F(Overdecomposed, HandsMessagesToItselfWhereAsked) {
  std::size_t turn = 0;
  test::Turns turns;
  for (const bool adverse : {false, true})
    for (const auto& grid : all_grids(ranks_, 2))
      for (const char* synchronisation : {"none", "broadcast-reduce"})
        for (const std::size_t step : {3U, 4U}) {
          if (!turns.is_next()) continue;
          test::adverse = adverse;
          const auto contracts = test::contracts({15, 14, 13});
          Problem problem = contracts[(turn += step) % contracts.size()];
          problem.grid = grid;
          problem.parameters = {
              {"decomposition", "9x10"}, {"local-messages", "yes"}, {"synchronisation", synchronisation}};
          ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
          check(problem);
          const auto with = test::make_plan(variant(), problem, nullptr);
          problem.parameters["local-messages"] = "no";
          const auto without = test::make_plan(variant(), problem, nullptr);
          EXPECT_EQ(with->message_volume().messages_sent, without->message_volume().messages_sent);
          EXPECT_GE(with->message_volume().bytes_self, without->message_volume().bytes_self);
          EXPECT_GT(with->facts().workspace_bytes, without->facts().workspace_bytes);
        }
}

/// Table 2.1 of lee2018 has 25 to 900 pencils a state on 128 ranks.
TEST_F(Overdecomposed, LeavesRanksWithoutPencilsWhereThereAreTooFew) {
  for (const char* decomposition : {"5x5", "8x8", "10x10", "15x15", "30x30"})
    for (const char* dealing : {"blocks", "round-robin"}) {
      Problem problem = problem_on({300, 300, 300}, {{"decomposition", decomposition}, {"x-state", "slabs"}});
      if (ranks_ == 1 && std::string(decomposition) < "2") {
        EXPECT_NE(variant().supports(problem, 128), std::nullopt) << decomposition;
      }
      problem.parameters["dealing"] = dealing;
      EXPECT_EQ(variant().supports(problem, 128), std::nullopt) << decomposition;
      EXPECT_EQ(variant().grid_entries(problem, 128), 1U);
    }
  Problem few = problem_on({12, 12, 12}, {{"decomposition", "1x1"}, {"dealing", "blocks"}});
  const auto plan = test::make_plan(variant(), few, nullptr);
  EXPECT_EQ(plan->input_layout().volume(mpi::rank_in(MPI_COMM_WORLD)), mpi::rank_in(MPI_COMM_WORLD) == 0 ? 1728 : 0);
  EXPECT_EQ(plan->input_layout().idle_ranks(), ranks_ - 1);
}

/// Summed over the ranks, what the formula gives as the mean of those that have pencils.
TEST_F(Overdecomposed, CostsWhatIsCountedWherePencilsAreDealtByTheirNumbers) {
  std::size_t turn = 0;
  test::Turns turns;
  for (const char* dealing : {"blocks", "round-robin"})
    for (const char* decomposition : {"1x1", "1x2", "5x7", "6x6"})
      for (const char* x_state : {"pencils", "slabs"}) {
        ++turn;
        for (const Problem& contract : test::contracts({15, 14, 13})) {
          if (test::quarter_of(contract) != turn % 4 || !turns.is_next()) continue;
          Problem problem = contract;
          problem.parameters = {{"dealing", dealing}, {"decomposition", decomposition}, {"x-state", x_state}};
          const auto plan = test::make_plan(variant(), problem, nullptr);
          std::array<Index, 2> sums{plan->message_volume().bytes_sent, plan->message_volume().messages_sent};
          MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
          const Cost cost = variant().cost(problem, ranks_);
          const auto pencils = parse_grid(decomposition, "test");
          const double busy = std::min(ranks_, pencils[0] * pencils[1]);
          EXPECT_NEAR(cost.bytes_per_rank * busy, static_cast<double>(sums[0]), 1e-6);
          EXPECT_NEAR(cost.messages_per_rank * busy, static_cast<double>(sums[1]), 1e-6);
        }
      }
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
  for (const auto& grid : all_grids(ranks_, 2))
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
  EXPECT_EQ(reason({{"decomposition", "2x2"}, {"dealing", "blocks"}}, {}, 9), "");
  EXPECT_EQ(reason({{"dealing", "round-robin"}}, {}, 1'000'000), "");
  EXPECT_THAT(reason({{"decomposition", "15x13"}, {"dealing", "blocks"}}, {}, 4),
              testing::HasSubstr("D1 from 1 to 14 and D2 from 1 to 13"));
  EXPECT_THROW((void)reason({{"dealing", "blocks"}}, {2, 2}, 4), InputError);
  EXPECT_THROW((void)reason({{"dealing", "cards"}}, {}, 4), InputError);
  EXPECT_THROW((void)reason({{"local-messages", "some"}}, {}, 4), InputError);
  EXPECT_THROW((void)reason({{"synchronisation", "barrier"}}, {}, 4), InputError);
}

/// 1000 x 1000 lines on one rank are 4 10^9 messages.
TEST_F(Overdecomposed, RefusesTablesBeyondTheMemory) {
  const Problem problem = problem_on({10'000, 10'000, 10'000}, {{"decomposition", "10000x10000"}});
  ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
  EXPECT_THAT(test::message_of([&] { return test::make_plan(variant(), problem, nullptr); }),
              testing::HasSubstr("expected fewer pencils"));
}

/// This program initialises MPI for one thread, so that a plan of more must not be made.
TEST(Node, NamesTheThreadLevelThatIsMissing) {
  const Variant& node = VariantRegistry::instance().get("node", "variant");
  if (mpi::provided_thread_level() >= ThreadLevel::multiple) GTEST_SKIP() << "MPI gives more than was asked for";
  Problem problem = test::contracts({15, 14, 13}).front();
  problem.threads = 2;
  problem.parameters["mpi"] = "multiple";
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::multiple);
  EXPECT_THAT(test::message_of([&] { return test::make_plan(node, problem, nullptr); }),
              testing::HasSubstr("needs MPI_THREAD_MULTIPLE, but MPI provides MPI_THREAD_FUNNELED"));
  problem.threads = 1;
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::funneled);
  problem.threads = 2;
  problem.parameters["mpi"] = "funneled";
  EXPECT_EQ(node.thread_level(problem), ThreadLevel::funneled);
}

}  // namespace
}  // namespace fourscore
