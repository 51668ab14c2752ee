// What every variant that can run here promises of its plans, with every exchange it takes. The complete list of cases
// against the transform by its definition is in variant_cases_test.cpp.

#include "interfaces/variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "harness/cost_check.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

class EveryVariant : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << GetParam() << ": " << variant().unavailable();
  }
  [[nodiscard]] const Variant& variant() const { return *VariantRegistry::instance().find(GetParam()); }

  [[nodiscard]] std::vector<const ExchangeMethod*> exchanges() const { return test::exchanges_of(variant()); }
  [[nodiscard]] std::unique_ptr<Plan> make(const Problem& problem, const ExchangeMethod* exchange) const {
    return test::make_plan(variant(), problem, exchange);
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

/// With no grid, and with each grid of two factors that the variant takes.
std::vector<Problem> with_grids(const Problem& problem, const Variant& variant, int ranks) {
  std::vector<Problem> problems;
  if (!variant.supports(problem, ranks)) problems.push_back(problem);
  for (const auto& grid : all_grids(ranks, 2)) {
    if (std::ranges::min(grid) == 1) continue;
    Problem gridded = problem;
    gridded.grid = grid;
    try {
      if (!variant.supports(gridded, ranks)) problems.push_back(gridded);
    } catch (const InputError&) {  // the variant takes other grids
    }
  }
  return problems;
}

TEST_P(EveryVariant, InverseStartsWhereForwardEnds) {
  int cases = 0;
  bool is_taken = false;
  for (const auto& shape : std::vector<std::vector<Index>>{{15, 14, 13}, {12, 10}})
    for (const Problem& contract : test::contracts(test::shape_for(variant(), shape))) {
      if (contract.direction != Direction::forward) continue;
      is_taken = is_taken || !variant().supports(contract, ranks_);
      for (const Problem& problem : with_grids(contract, variant(), ranks_))
        for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant(), problem)) {
          SCOPED_TRACE(test::text_of(problem, exchange));
          Problem inverse = problem;
          inverse.direction = Direction::backward;
          const auto there = make(problem, exchange);
          const auto back = make(inverse, exchange);
          ASSERT_TRUE(there->output_layout().same_boxes(back->input_layout()));
          ASSERT_EQ(there->output_layout().order, back->input_layout().order);
          ASSERT_TRUE(there->output_layout().same_indices(back->input_layout()));
          ASSERT_TRUE(there->input_layout().same_boxes(back->output_layout()));
          PhaseClock clock(false);
          test::write(test::random_field(problem.extents()), there->input_layout(), me_, problem.precision,
                      there->input());
          there->execute(clock);
          const auto elements = there->output_layout().volume(me_);
          std::memcpy(back->input(), there->output(), static_cast<std::size_t>(elements) * problem.element_bytes());
          back->execute(clock);
          EXPECT_LT(test::error_of(test::random_field(problem.extents()), static_cast<long double>(problem.elements()),
                                   back->output_layout(), me_, problem.precision, back->output()),
                    30);
          ++cases;
        }
    }
  // Which shapes a variant takes on how many ranks is held by variant_cases_test.cpp.
  EXPECT_GE(cases, is_taken ? 3 : 0) << "too little was tested";
}

TEST_P(EveryVariant, IsAsRightWhenPlansAreMeasured) {
  Problem problem = test::problem_of({20, 18, 24});
  problem.contract = {LayoutContract::natural, Buffers::out_of_place, Effort::measure};
  if (variant().supports(problem, ranks_)) return;  // serial on more ranks
  for (const ExchangeMethod* exchange : exchanges()) {
    SCOPED_TRACE(test::text_of(problem, exchange));
    const auto plan = make(problem, exchange);
    EXPECT_LT(test::error_of_run(*plan, problem), 20);
  }
}

TEST_P(EveryVariant, HasTheSameComponentsOnEveryRankAndTheyRunAlone) {
  for (const Problem& contract : test::contracts(test::shape_for(variant(), {11, 13, 17}))) {
    for (const Problem& problem : with_grids(contract, variant(), ranks_))
      for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant(), problem)) {
        SCOPED_TRACE(test::text_of(problem, exchange));
        const auto plan = make(problem, exchange);
        std::string names;
        for (const Component& component : plan->components()) names += component.name + ";";
        std::array<char, 512> first{};
        std::ranges::copy(names.substr(0, first.size() - 1), first.begin());
        MPI_Bcast(first.data(), first.size(), MPI_CHAR, 0, MPI_COMM_WORLD);
        ASSERT_EQ(names, first.data());
        if (variant().takes_exchange()) {
          EXPECT_THAT(names, testing::HasSubstr("fft-1;"));
          EXPECT_EQ(names.find("exchange-1;") != std::string::npos, ranks_ > 1);
        }
        for (const Component& component : plan->components()) component.run();
        // Alone or not: the plan still computes the transform afterwards.
        EXPECT_LT(test::error_of_run(*plan, problem), 20);
      }
  }
}

TEST_P(EveryVariant, RefusesAGridThatDoesNotMatchTheRanksAndNamesBoth) {
  Problem problem = test::problem_of({64, 64, 64});
  problem.grid = GetParam() == "pencil" ? std::vector<int>{7, 13} : std::vector<int>{91};
  try {
    const auto reason = variant().supports(problem, ranks_);
    EXPECT_TRUE(GetParam().starts_with("serial") && reason) << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("91"), testing::HasSubstr(std::to_string(ranks_))));
  }
}

TEST_P(EveryVariant, SkipsWhatItCannotUseWithAReason) {
  Problem problem = test::problem_of(test::shape_for(variant(), {2, 2, 2}));
  const auto reason = variant().supports(problem, 64);
  if (GetParam() == "fftw-mpi") {  // FFTW leaves ranks without planes
    EXPECT_FALSE(reason) << *reason;
    return;
  }
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, testing::HasSubstr("64"));
}

TEST_P(EveryVariant, SendsWhatItsPapersFormulaSaysOnShapesThatDivide) {
  Problem problem = test::problem_of(test::shape_for(variant(), {16 * ranks_, 8 * ranks_, 4 * ranks_}));
  if (variant().supports(problem, ranks_)) return;
  const Cost cost = variant().cost(problem, ranks_);
  EXPECT_DOUBLE_EQ(cost.flops, problem.credited_flops());
  for (const ExchangeMethod* exchange : exchanges()) {
    const MessageVolume traffic = make(problem, exchange)->message_volume();
    const std::string name = exchange == nullptr ? "none" : exchange->card().name;
    EXPECT_DOUBLE_EQ(static_cast<double>(traffic.bytes_sent + traffic.bytes_read_shared - traffic.bytes_relayed),
                     cost.bytes_per_rank)
        << name;
    // One message for each block is the papers' count; pieces and packets are more, bruck's rounds fewer.
    if (traffic.bytes_read_shared == 0 && name != "bruck" && name != "active" && !name.ends_with("-pipelined")) {
      EXPECT_DOUBLE_EQ(static_cast<double>(traffic.messages_sent), cost.messages_per_rank);
    }
  }
}

/// The volumes of all ranks, as fft_bench gathers them.
std::vector<MessageVolume> declared_by_all(const MessageVolume& mine) {
  constexpr int counts = 6;
  static_assert(sizeof(MessageVolume) == counts * sizeof(Index));
  std::vector<MessageVolume> all(static_cast<std::size_t>(mpi::size_of(MPI_COMM_WORLD)));
  MPI_Allgather(&mine, counts, MPI_INT64_T, all.data(), counts, MPI_INT64_T, MPI_COMM_WORLD);
  return all;
}

/// Each on every grid that the variant takes, and with each value of each of its parameters.
std::vector<Problem> with_grids_and_parameters(const Problem& problem, const Variant& variant, int ranks) {
  std::vector<Problem> problems;
  const auto add = [&](const Problem& candidate) {
    try {
      if (!variant.supports(candidate, ranks)) problems.push_back(candidate);
    } catch (const InputError&) {  // a value that does not fit
    }
  };
  for (auto& grid : all_grids(ranks, variant.grid_entries(problem, ranks))) {
    Problem gridded = problem;
    gridded.grid = std::move(grid);
    add(gridded);
  }
  for (const Parameter& parameter : variant.facts().parameters)
    for (const std::string& value : parameter.samples) {
      Problem changed = problem;
      changed.parameters[parameter.name] = value;
      add(changed);
    }
  return problems;
}

/// Shapes that the ranks divide twice, once, and not at all. Exchanges take turns.
TEST_P(EveryVariant, IsNotWarnedOfOnAnyGridWithAnyParameter) {
  const Index square = ranks_ * ranks_;
  std::size_t turn = 0;
  int compared = 0;
  for (const auto& shape :
       std::vector<std::vector<Index>>{{square, square, 2 * square}, {8 * ranks_, 2 * ranks_, ranks_}, {15, 14, 13}})
    for (const Kind kind : variant().facts().kinds)
      for (Problem contract : test::contracts(test::shape_for(variant(), shape))) {
        if (contract.precision != Precision::double_precision || contract.direction != Direction::forward ||
            contract.contract.buffers != Buffers::in_place)
          continue;
        contract.kind = kind;
        for (const Problem& problem : with_grids_and_parameters(contract, variant(), ranks_)) {
          const ExchangeMethod* exchange = exchanges()[turn++ % exchanges().size()];
          const auto plan = make(problem, exchange);
          Problem planned = problem;
          planned.grid = plan->facts().grid;
          Cost formula = variant().cost(planned, ranks_);
          const auto declared = declared_by_all(plan->message_volume());
          EXPECT_THAT(differences_from_formula(problem, formula, exchange, declared), testing::IsEmpty())
              << test::text_of(planned, exchange);
          formula.bytes_per_rank += 1;
          if (!differences_from_formula(problem, formula, exchange, declared).empty()) ++compared;
        }
      }
  if (turn == 0) GTEST_SKIP() << "no shape that it takes";
  EXPECT_GT(compared, 0) << "no formula was compared";
}

TEST(CostCheck, NamesWhatDiffersFromTheFormulaInAnEvenCase) {
  Problem problem = test::problem_of({32, 16});
  const std::vector<MessageVolume> declared(4, {300, 3, 100, 0, 0});
  const auto differences = [&](const Cost& formula) {
    return differences_from_formula(problem, formula, nullptr, declared);
  };
  EXPECT_THAT(differences({0, 300, 3}), testing::IsEmpty());
  EXPECT_THAT(differences({0, 300 * (1 + 1e-15), 3}), testing::IsEmpty());
  EXPECT_THAT(differences({0, 300, 4}), testing::ElementsAre("messages: 3 declared, 4 by the formula of cost"));
  EXPECT_THAT(differences({0, 400, 3}), testing::ElementsAre("bytes: 300 declared, 400 by the formula of cost"));
  EXPECT_THAT(differences({0, 400, 4}), testing::SizeIs(2));
  problem.shape = {32, 8};
  EXPECT_THAT(differences({0, 400, 4}), testing::IsEmpty()) << "8 is no multiple of the square of 4";
}

TEST(CostCheck, ComparesNoCountInWhichRanksDiffer) {
  Problem problem = test::problem_of({32, 16});
  std::vector<MessageVolume> declared(4, {300, 3, 100, 0, 0});
  declared[2].bytes_sent = 301;
  EXPECT_THAT(differences_from_formula(problem, {0, 400, 4}, nullptr, declared),
              testing::ElementsAre("messages: 3 declared, 4 by the formula of cost"));
  declared[1].messages_sent = 4;
  EXPECT_THAT(differences_from_formula(problem, {0, 400, 4}, nullptr, declared), testing::IsEmpty());
}

TEST(CostCheck, ComparesNoMessagesOfAnExchangeThatMergesOrCutsThem) {
  Problem problem = test::problem_of({32, 16});
  const auto differences = [&](const char* exchange, const MessageVolume& each) {
    return differences_from_formula(problem, {0, 300, 3}, &ExchangeRegistry::instance().get(exchange, "exchange"),
                                    std::vector<MessageVolume>(4, each));
  };
  EXPECT_THAT(differences("alltoallv", {300, 2, 100, 0, 0}), testing::SizeIs(1));
  EXPECT_THAT(differences("bruck", {400, 2, 100, 0, 100}), testing::IsEmpty());
  EXPECT_THAT(differences("shared", {0, 0, 100, 300, 0}), testing::IsEmpty());
  EXPECT_THAT(differences("p2p-pipelined", {300, 12, 100, 0, 0}), testing::IsEmpty());
  EXPECT_THAT(differences("p2p-pipelined", {200, 12, 100, 0, 0}), testing::SizeIs(1)) << "bytes are compared";
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryVariant, testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

/// The exchanges of a plan share the nodes' windows, in which ranks write to the part of their leader.
TEST(Hierarchical, IsRightBetweenNodesRunAfterRun) {
  const Variant& pencil = VariantRegistry::instance().get("pencil", "variant");
  const ExchangeMethod& hierarchical = ExchangeRegistry::instance().get("hierarchical", "exchange");
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  Problem problem = test::problem_of({15, 14, 13}, {}, LayoutContract::natural);
  const auto& expected = test::transformed_field(problem.extents(), problem.direction);
  std::size_t relayed = 0;
  for (const char* ranks_per_node : {"1", "2", "3"}) {
    setenv("FOURSCORE_RANKS_PER_NODE", ranks_per_node, 1);
    for (const char* leaders : {"1", "2"})
      for (Problem gridded : with_grids(problem, pencil, ranks)) {
        gridded.parameters["leaders"] = leaders;
        SCOPED_TRACE(test::text_of(gridded, &hierarchical) + " ranks a node " + ranks_per_node);
        const auto plan = test::make_plan(pencil, gridded, &hierarchical);
        PhaseClock clock(false);
        for (int run = 1; run <= 4; ++run) {
          test::Field scaled = test::random_field(problem.extents());
          for (auto& value : scaled.values) value *= run;
          test::write(scaled, plan->input_layout(), me, problem.precision, plan->input());
          plan->execute(clock);
          EXPECT_LT(test::error_of(expected, run, plan->output_layout(), me, problem.precision, plan->output()), 20)
              << "run " << run;
        }
        for (const Component& component : plan->components()) component.run();
        relayed += static_cast<std::size_t>(plan->message_volume().bytes_relayed);
      }
    unsetenv("FOURSCORE_RANKS_PER_NODE");
  }
  MPI_Allreduce(MPI_IN_PLACE, &relayed, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(relayed > 0, ranks > 2);
}

TEST(Pencil, ChoosesOneExchangeWhileItCan) {
  const Variant& pencil = VariantRegistry::instance().get("pencil", "variant");
  Problem problem = test::problem_of({64, 4, 64});
  EXPECT_FALSE(pencil.supports(problem, 4));
  EXPECT_EQ(pencil.cost(problem, 4).messages_per_rank, 3);   // 4 x 1
  EXPECT_EQ(pencil.cost(problem, 16).messages_per_rank, 6);  // 4 x 4
  EXPECT_TRUE(pencil.supports(problem, 17));
  EXPECT_TRUE(pencil.supports(problem, 5));
}

}  // namespace
}  // namespace fourscore
