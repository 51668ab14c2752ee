// Binary exchange (gupta1993) beyond the one line of one_dimensional_test.cpp: along the rows and columns of a grid,
// with butterflies of a higher radix, and with passes of its own in place of the local library. Against the transform
// by its definition, in what is sent, and in what is refused.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <cmath>
#include <functional>

#include "harness/cost_check.hpp"
#include "harness/sent_messages.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Parameters = std::map<std::string, std::string>;

const Variant& variant() { return VariantRegistry::instance().get("binary-exchange", "variant"); }

class BinaryExchange : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::has_single_bit(static_cast<unsigned>(ranks_))) GTEST_SKIP() << ranks_ << " ranks are no power of two";
  }
  /// Runs it twice, and each component alone in between, and compares. Nothing where the variant does not take it.
  std::unique_ptr<Plan> check(const Problem& problem) {
    SCOPED_TRACE(test::text_of(problem, nullptr));
    if (variant().supports(problem, ranks_)) return nullptr;
    auto plan = test::make_plan(variant(), problem, nullptr);
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    if (problem.contract.layout == LayoutContract::natural) {
      EXPECT_TRUE(plan->output_layout().same_boxes(plan->input_layout()));
      EXPECT_FALSE(plan->output_layout().permutes());
    }
    EXPECT_EQ(plan->input() == plan->output(), problem.contract.buffers == Buffers::in_place);
    for (int run = 0; run < 2; ++run) {
      EXPECT_LT(test::error_of_run(*plan, problem), 20);
      for (const Component& component : plan->components()) component.run();
    }
    Problem planned = problem;
    planned.grid = plan->facts().grid;
    const Cost cost = variant().cost(planned, ranks_);
    EXPECT_DOUBLE_EQ(static_cast<double>(plan->message_volume().bytes_sent), cost.bytes_per_rank);
    EXPECT_DOUBLE_EQ(static_cast<double>(plan->message_volume().messages_sent), cost.messages_per_rank);
    ++cases_;
    return plan;
  }
  /// The bits of the ranks reversed, along each axis that is cut, and with passes all bits.
  static bool is_reversed(const Decomposition& layout, const std::vector<int>& grid, bool all_bits) {
    for (int rank = 0; rank < layout.ranks(); ++rank)
      for (Index i = 0; i < layout.box(rank).volume(); ++i) {
        const Extents index = layout.global_index(rank, i);
        const Extents extents = layout.box(rank).extents();
        Extents place{i / (extents[1] * extents[2]), i / extents[2] % extents[1], 0};
        const std::array<int, 2> coordinates{grid.size() == 1 ? rank : rank / grid[1],
                                             grid.size() == 1 ? 0 : rank % grid[1]};
        for (std::size_t a = 0; a < grid.size(); ++a) {
          const int bits = std::countr_zero(static_cast<unsigned>(grid[a]));
          const int local_bits = std::countr_zero(static_cast<std::uint64_t>(extents[a]));
          if (all_bits) place[a] = reversed_bits(static_cast<int>(place[a]), local_bits);
          if (index[a] != reversed_bits(coordinates[a], bits) + grid[a] * place[a]) return false;
        }
      }
    return true;
  }

  int cases_ = 0;
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

/// Grids of powers of two for so many ranks.
std::vector<std::vector<int>> grids_of(int ranks) { return all_grids(ranks, 2); }

/// Extents that can be put in natural order on the grid.
std::vector<Index> ordered_shape(const std::vector<int>& grid, Index least) {
  return {std::max(least, Index{grid[0]} * grid[0]), std::max(least, Index{grid[1]} * grid[1])};
}

/// On many ranks, which take turns on few cores, two contracts that differ in all but the precision.
std::vector<Problem> contracts(const std::vector<Index>& shape) {
  std::vector<Problem> list = test::contracts(shape);
  if (mpi::size_of(MPI_COMM_WORLD) > 8)
    std::erase_if(list, [](const Problem& problem) {
      const bool forward = problem.direction == Direction::forward;
      return problem.precision == Precision::single_precision ||
             forward != (problem.contract.layout == LayoutContract::natural) ||
             forward != (problem.contract.buffers == Buffers::in_place);
    });
  return list;
}

TEST_F(BinaryExchange, IsRightAlongRowsAndColumnsOfEveryGrid) {
  int expected = 0;
  for (const std::vector<int>& grid : grids_of(ranks_))
    for (const Index factor : {1, 3}) {
      std::vector<Index> shape = ordered_shape(grid, 32);
      shape.front() *= factor;
      for (Problem problem : contracts(shape)) {
        problem.grid = grid;
        const auto plan = check(problem);
        ASSERT_TRUE(plan);
        ++expected;
        EXPECT_EQ(plan->facts().grid, grid);
        if (problem.contract.layout == LayoutContract::natural) continue;
        const bool forward = problem.direction == Direction::forward;
        EXPECT_TRUE(is_reversed(forward ? plan->output_layout() : plan->input_layout(), grid, false));
        EXPECT_FALSE((forward ? plan->input_layout() : plan->output_layout()).permutes());
      }
    }
  EXPECT_EQ(cases_, expected);
  EXPECT_GE(cases_, 4 * static_cast<int>(grids_of(ranks_).size()));
}

TEST_F(BinaryExchange, TakesTheMostSquareGridThatFits) {
  const auto grid = [&](const std::vector<Index>& shape) {
    Problem problem = test::problem_of(shape);
    return variant().supports(problem, ranks_) ? std::vector<int>{}
                                               : test::make_plan(variant(), problem, nullptr)->facts().grid;
  };
  EXPECT_EQ(grid({16, 16}), most_square(grids_of(ranks_)));
  EXPECT_EQ(grid({16, 3}), (std::vector<int>{ranks_, 1}));
  EXPECT_EQ(grid({3, 16}), (std::vector<int>{1, ranks_}));
}

TEST_F(BinaryExchange, IsRightWithEveryRadixOnOneLineAndOnGrids) {
  for (const std::string stages : {"direct", "pairwise"})
    for (const std::string radix : {"2", "4", "8", "16"})
      for (const std::string pieces : {"1", "3"})
        for (const std::vector<int>& grid : grids_of(ranks_))
          for (Problem problem : contracts(grid.back() == 1 ? std::vector<Index>{768} : ordered_shape(grid, 16))) {
            if (problem.shape.size() == 2) problem.grid = grid;
            problem.parameters = {{"radix", radix}, {"pieces", pieces}, {"stages", stages}};
            if ((problem.contract.buffers == Buffers::in_place) == (pieces == "1")) check(problem);
          }
  EXPECT_GE(cases_, 16 * std::countr_zero(static_cast<unsigned>(std::max(2, ranks_))));
}

/// Section 6: "the amount of communication remains the same". Counted where it is handed to MPI.
TEST_F(BinaryExchange, SendsInPairwiseStagesOfAnyRadixTheWordsOfRadix2) {
  Problem problem = test::problem_of({3072});
  const auto sent = [&](const Parameters& parameters) {
    problem.parameters = parameters;
    const auto plan = test::make_plan(variant(), problem, nullptr);
    PhaseClock clock(false);
    return count_messages([&] { plan->execute(clock); });
  };
  const SentMessages of_radix_2 = sent({});
  EXPECT_EQ(of_radix_2.messages, std::countr_zero(static_cast<unsigned>(ranks_)));
  EXPECT_EQ(of_radix_2.bytes, of_radix_2.messages * 3072 / ranks_ * 16);
  int compared = 0;
  for (const int radix : {4, 8, 16}) {
    if (radix > ranks_) continue;
    const SentMessages pairwise = sent({{"radix", std::to_string(radix)}, {"stages", "pairwise"}});
    EXPECT_EQ(pairwise.bytes, of_radix_2.bytes) << radix;
    EXPECT_EQ(pairwise.messages, of_radix_2.messages) << radix;
    EXPECT_GT(sent({{"radix", std::to_string(radix)}}).bytes, of_radix_2.bytes) << radix;
    ++compared;
  }
  EXPECT_EQ(compared, std::max(0, std::countr_zero(static_cast<unsigned>(ranks_)) - 1));
}

TEST_F(BinaryExchange, IsRightWithPassesOfItsOwn) {
  std::vector<std::pair<std::vector<Index>, std::vector<int>>> cases{{{256}, {}}, {{2048}, {}}};
  for (const std::vector<int>& grid : grids_of(ranks_)) cases.push_back({ordered_shape(grid, 32), grid});
  for (const auto& [shape, grid] : cases)
    for (Problem problem : contracts(shape)) {
      problem.grid = grid;
      problem.parameters = {{"local", "radix-2"}};
      if (ranks_ > 2) problem.parameters["radix"] = grid.empty() ? "4" : "2";
      const auto plan = check(problem);
      ASSERT_TRUE(plan);
      if (problem.contract.layout == LayoutContract::natural) continue;
      const bool forward = problem.direction == Direction::forward;
      EXPECT_TRUE(is_reversed(forward ? plan->output_layout() : plan->input_layout(), plan->facts().grid, true));
    }
  EXPECT_GE(cases_, static_cast<int>(cases.size()) * 2);
}

/// The method can use as many ranks as there are elements.
TEST_F(BinaryExchange, IsRightWithOneElementARank) {
  std::vector<Problem> list = contracts({ranks_});
  for (const std::vector<int>& grid : grids_of(ranks_))
    for (Problem problem : contracts({grid[0], grid[1]})) {
      problem.grid = grid;
      list.push_back(problem);
    }
  for (const std::string local : {"library", "radix-2"})
    for (Problem problem : list) {
      if (problem.contract.layout == LayoutContract::natural && ranks_ > 1) continue;
      problem.parameters = {{"local", local}};
      EXPECT_TRUE(check(problem));
    }
  EXPECT_GE(cases_, 12);
}

TEST_F(BinaryExchange, DeclaresTheMemoryOfArraysThatComeInTogetherAndOfItsFactors) {
  Problem problem = test::problem_of({4096});
  const auto bytes = [&](const Parameters& parameters) {
    problem.parameters = parameters;
    return static_cast<Index>(test::make_plan(variant(), problem, nullptr)->facts().workspace_bytes);
  };
  const Index array = 4096 / ranks_ * 16;
  EXPECT_EQ(bytes({{"local", "radix-2"}}), array - 16) << "one factor less than elements";
  for (const int radix : {4, 8})
    if (radix <= ranks_) {
      const auto text = std::to_string(radix);
      EXPECT_EQ(bytes({{"radix", text}}) - bytes({}), (radix - 2) * array);
      EXPECT_EQ(bytes({{"radix", text}, {"stages", "pairwise"}}), bytes({})) << "one partner at a time";
      EXPECT_EQ(bytes({{"radix", text}, {"local", "radix-2"}}), (radix - 1) * array - 16);
    }
}

/// Figure 1: log2 n iterations, of which log2 p are combinations of ranks and each other one is a pass.
TEST_F(BinaryExchange, HasAPassForEachIterationOfTheAlgorithm) {
  Problem problem = test::problem_of({1024}, {{"local", "radix-2"}});
  const auto plan = test::make_plan(variant(), problem, nullptr);
  const auto count = [&, list = plan->components()](Phase phase) {
    return std::ranges::count(list, phase, &Component::phase);
  };
  const int d = std::countr_zero(static_cast<unsigned>(ranks_));
  EXPECT_EQ(count(Phase::combine), d);
  EXPECT_EQ(count(Phase::exchange), d);
  EXPECT_EQ(count(Phase::fft), 10 - d);
  EXPECT_EQ(count(Phase::twiddle), 0) << "the factors are those of the butterflies";
}

/// Every way of the parameters together, with the phases that it promises: what test::shape_for does not reach.
TEST_F(BinaryExchange, PassesThroughThePhasesOfItsComponentsOnGridsToo) {
  class Recorder : public PhaseObserver {
   public:
    void switched_to(Phase phase) noexcept override { seen_[static_cast<std::size_t>(phase)] = true; }
    std::array<bool, phase_count> seen_{};
  };
  for (const std::string local : {"library", "radix-2"})
    for (const auto layout : {LayoutContract::natural, LayoutContract::transposed}) {
      Problem problem = test::problem_of({64, 64}, {{"local", local}}, layout);
      const auto plan = test::make_plan(variant(), problem, nullptr);
      Recorder recorder;
      PhaseClock clock(recorder);
      clock.start();
      plan->execute(clock);
      clock.stop();
      std::array<bool, phase_count> promised{};
      for (const Component& component : plan->components())
        if (component.min_bytes != 0) promised[static_cast<std::size_t>(component.phase)] = true;
      for (std::size_t phase = 0; phase + 1 < phase_count; ++phase)
        EXPECT_EQ(recorder.seen_[phase], promised[phase]) << phase_names[phase] << " " << local;
      EXPECT_EQ(promised[static_cast<std::size_t>(Phase::unpack)],
                layout == LayoutContract::natural && (ranks_ > 1 || local == "radix-2"));
    }
}

/// Appendix C: over both phases a rank sends log2 sqrt(p) + log2 sqrt(p) messages of n/p words, as in one dimension.
TEST(BinaryExchangeFormula, OnASquareGridIsThatOfOneDimension) {
  for (const int root : {1, 2, 4}) {
    const int ranks = root * root;
    Problem plane = test::problem_of({64, 64});
    plane.grid = {root, root};
    Problem line = test::problem_of({64 * 64});
    const Cost of_plane = variant().cost(plane, ranks);
    const Cost of_line = variant().cost(line, ranks);
    EXPECT_DOUBLE_EQ(of_plane.messages_per_rank, 2 * std::log2(root));
    EXPECT_DOUBLE_EQ(of_plane.bytes_per_rank, 2 * std::log2(root) * 64 * 64 * 16 / ranks);
    EXPECT_DOUBLE_EQ(of_plane.messages_per_rank, of_line.messages_per_rank);
    EXPECT_DOUBLE_EQ(of_plane.bytes_per_rank, of_line.bytes_per_rank);
    plane.contract.layout = LayoutContract::natural;
    EXPECT_LE(variant().cost(plane, ranks).messages_per_rank, 2 * std::log2(ranks) + 1) << "ordered: 2 d + 1 steps";
  }
}

/// Section 6: log_q p stages with q - 1 partners each, the last of a smaller radix where p is no power of q.
TEST(BinaryExchangeFormula, OfRadixQIsQLessOneMessagesInEachOfLogQPStages) {
  struct Expected {
    int ranks;
    const char* radix;
    double messages;
  };
  for (const Expected& expected :
       {Expected{2, "2", 1}, Expected{4, "2", 2}, Expected{8, "2", 3}, Expected{16, "2", 4}, Expected{4, "4", 3},
        Expected{8, "4", 3 + 1}, Expected{16, "4", 3 + 3}, Expected{8, "8", 7}, Expected{16, "8", 7 + 1},
        Expected{16, "16", 15}, Expected{64, "4", 3 + 3 + 3}, Expected{64, "8", 7 + 7}}) {
    Problem problem = test::problem_of({4096}, {{"radix", expected.radix}});
    ASSERT_FALSE(variant().supports(problem, expected.ranks));
    const Cost cost = variant().cost(problem, expected.ranks);
    EXPECT_DOUBLE_EQ(cost.messages_per_rank, expected.messages) << expected.ranks << " radix " << expected.radix;
    EXPECT_DOUBLE_EQ(cost.bytes_per_rank, expected.messages * 4096 / expected.ranks * 16);
    problem.parameters["pieces"] = "5";
    EXPECT_DOUBLE_EQ(variant().cost(problem, expected.ranks).messages_per_rank, 5 * expected.messages);
    problem.parameters["stages"] = "pairwise";
    EXPECT_DOUBLE_EQ(variant().cost(problem, expected.ranks).messages_per_rank, 5 * std::log2(expected.ranks));
  }
}

std::string answer(const std::vector<Index>& shape, int ranks, const Parameters& parameters,
                   const std::vector<int>& grid = {}, LayoutContract layout = LayoutContract::transposed,
                   int threads = 1) {
  Problem problem = test::problem_of(shape, parameters, layout);
  problem.grid = grid;
  problem.threads = threads;
  try {
    return variant().supports(problem, ranks).value_or("taken");
  } catch (const InputError& error) {
    return fmt::format("error: {}", error.what());
  }
}

TEST(BinaryExchangeInput, SaysWhichValuesAreAllowed) {
  EXPECT_THAT(answer({64}, 4, {{"radix", "3"}}), AllOf(HasSubstr("error"), HasSubstr("'3'"), HasSubstr("2, 4, 8, 16")));
  EXPECT_THAT(answer({64}, 4, {{"radix", "32"}}), AllOf(HasSubstr("error"), HasSubstr("'32'")));
  EXPECT_THAT(answer({64}, 4, {{"stages", "twice"}}), AllOf(HasSubstr("error"), HasSubstr("direct, pairwise")));
  EXPECT_THAT(answer({64}, 4, {{"local", "fftw"}}), AllOf(HasSubstr("error"), HasSubstr("library, radix-2")));
  EXPECT_THAT(answer({64}, 4, {{"local", "radix-2"}, {"twiddles", "on-the-fly"}}),
              AllOf(HasSubstr("error"), HasSubstr("on-the-fly"), HasSubstr("precomputed")));
  EXPECT_EQ(answer({64}, 4, {{"local", "radix-2"}, {"twiddles", "precomputed"}}), "taken");
  EXPECT_THAT(answer({64, 64}, 4, {}, {4}), AllOf(HasSubstr("error"), HasSubstr("1 entries"), HasSubstr("takes 2")));
  EXPECT_THAT(answer({64, 64}, 4, {}, {4, 2}), AllOf(HasSubstr("error"), HasSubstr("8 ranks")));
}

TEST(BinaryExchangeInput, SkipsWhatTheMethodCannotDoWithAReason) {
  const auto natural = LayoutContract::natural;
  EXPECT_THAT(answer({64, 64, 64}, 4, {}), HasSubstr("takes 1 to 2"));
  EXPECT_THAT(answer({64, 64}, 6, {}, {2, 3}), HasSubstr("power of two"));
  EXPECT_THAT(answer({63, 64}, 4, {}, {2, 2}), AllOf(HasSubstr("63"), HasSubstr("axis x"), HasSubstr("2x2")));
  EXPECT_THAT(answer({64, 62}, 4, {}, {1, 4}), AllOf(HasSubstr("62"), HasSubstr("axis y")));
  EXPECT_THAT(answer({63, 61}, 4, {}), HasSubstr("2x2"));
  EXPECT_THAT(answer({64, 8}, 16, {}, {4, 4}, natural), AllOf(HasSubstr("16"), HasSubstr("axis y")));
  EXPECT_EQ(answer({64, 8}, 16, {}, {4, 4}), "taken");
  EXPECT_EQ(answer({64, 8}, 16, {}, {}, natural), "taken") << "8x2 fits";
  EXPECT_THAT(answer({64}, 4, {{"radix", "8"}}), AllOf(HasSubstr("radix 8"), HasSubstr("4")));
  EXPECT_THAT(answer({64, 64}, 4, {{"radix", "4"}}), AllOf(HasSubstr("radix 4"), HasSubstr("2x2")));
  EXPECT_EQ(answer({64, 64}, 4, {{"radix", "4"}}, {4, 1}), "taken");
  EXPECT_THAT(answer({96}, 4, {{"local", "radix-2"}}), AllOf(HasSubstr("96"), HasSubstr("power of two")));
  EXPECT_EQ(answer({96}, 4, {}), "taken");
  EXPECT_THAT(answer({64}, 4, {{"local", "radix-2"}}, {}, natural, 2), AllOf(HasSubstr("one thread"), HasSubstr("2")));
}

}  // namespace
}  // namespace fourscore
