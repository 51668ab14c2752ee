// The parameters of the two ways to transform one long line (gupta1993): every value against the transform by its
// definition, what is sent, and what is refused. Their defaults run with all others in variant_cases_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <numeric>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

class OneDimensional : public testing::Test {
 protected:
  [[nodiscard]] static const Variant& variant(const std::string& name) {
    return VariantRegistry::instance().get(name, "variant");
  }
  /// Runs it and compares. Nothing where the variant does not take the problem.
  std::unique_ptr<Plan> check(const std::string& name, const Problem& problem, const std::string& exchange) {
    SCOPED_TRACE(name + " " + test::text_of(problem, nullptr));
    if (variant(name).supports(problem, ranks_)) return nullptr;
    auto plan = test::make_plan(
        variant(name), problem,
        variant(name).takes_exchange() ? &ExchangeRegistry::instance().get(exchange, "exchange") : nullptr);
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    for (int run = 0; run < 2; ++run) EXPECT_LT(test::error_of_run(*plan, problem), 20);
    ++cases_;
    return plan;
  }

  int cases_ = 0;
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

/// Every other of the contracts, so that each value of each choice comes with each other one in turn.
std::vector<Problem> some_contracts(const std::vector<Index>& shape, std::size_t turn) {
  std::vector<Problem> chosen;
  const auto all = test::contracts(shape);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::popcount(i + 0U) % 2 == static_cast<int>(turn % 2)) chosen.push_back(all[i]);
  return chosen;
}

TEST_F(OneDimensional, TransposeIsRightInAnyNumberOfDimensionsFromColumnsAndFromBlocks) {
  const int most = std::max(2, static_cast<int>(std::bit_width(static_cast<unsigned>(ranks_))));
  std::size_t turn = 0;
  for (int dimensions = 2; dimensions <= most; ++dimensions)
    for (const std::string input : {"", "blocks"})
      for (const std::vector<Index>& shape : std::vector<std::vector<Index>>{{1024}, {720}}) {
        ++turn;
        for (Problem problem : some_contracts(shape, turn)) {
          problem.parameters["dimensions"] = std::to_string(dimensions);
          if (!input.empty()) problem.parameters["input"] = input;
          const auto plan = check("transpose", problem, turn % 2 == 0 ? "shared" : "alltoallv");
          if (!plan) continue;
          const std::vector<int> grid = plan->facts().grid;
          EXPECT_EQ(grid.size(), static_cast<std::size_t>(dimensions - 1));
          EXPECT_EQ(std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>()), ranks_);
          if (plan->message_volume().bytes_read_shared > 0) continue;
          Index messages = 0;  // section 5.1: among the ranks of one dimension of the grid at a time
          for (const int group : grid) messages += group - 1;
          if (input == "blocks" || problem.contract.layout == LayoutContract::natural) messages += ranks_ - 1;
          if (problem.contract.layout == LayoutContract::natural) messages += ranks_ - 1;
          EXPECT_LE(plan->message_volume().messages_sent, messages);
        }
      }
  EXPECT_GE(cases_, 16);
}

TEST_F(OneDimensional, BinaryExchangeIsRightInPiecesAndWithEitherTwiddles) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks_))) GTEST_SKIP() << ranks_ << " ranks are no power of two";
  for (const std::string pieces : {"1", "3", "40"})
    for (const std::string twiddles : {"on-the-fly", "precomputed"})
      for (Problem problem : some_contracts({704}, pieces.size())) {
        problem.parameters = {{"pieces", pieces}, {"twiddles", twiddles}};
        check("binary-exchange", problem, "");
      }
  EXPECT_EQ(cases_, 3 * 2 * 8);
}

/// Long lines reach every stretch of the two-level tables, many blocks of columns, and the rest behind the last one.
TEST_F(OneDimensional, LongLinesAreRightToTheLastElement) {
  for (const std::string name : {"binary-exchange", "transpose"}) {
    Problem problem = test::problem_of({2 * 2 * 2 * 2 * 2 * 2 * 3 * 5 * 7 * 11});
    if (variant(name).supports(problem, ranks_)) continue;
    const auto plan =
        test::make_plan(variant(name), problem, &ExchangeRegistry::instance().get("alltoallv", "exchange"));
    Problem opposite = problem;
    opposite.direction = Direction::backward;
    const auto back =
        test::make_plan(variant(name), opposite, &ExchangeRegistry::instance().get("alltoallv", "exchange"));
    PhaseClock clock(false);
    test::run_on_random_field(*plan, problem, clock);
    const auto volume = plan->output_layout().box(me_).volume();
    const auto* result = static_cast<std::complex<double>*>(plan->output());
    std::copy(result, result + volume, static_cast<std::complex<double>*>(back->input()));
    // One line of the definition: the sum of the outputs is n times the first input.
    std::complex<double> sum = std::accumulate(result, result + volume, std::complex<double>{});
    MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const auto n = static_cast<double>(problem.elements());
    const auto& field = test::random_field(problem.extents());
    EXPECT_LT(std::abs(sum / n - std::complex<double>(field.values.front())), 1e-12) << name;
    back->execute(clock);
    EXPECT_LT(test::error_of(field, n, back->output_layout(), me_, problem.precision, back->output()), 30) << name;
    ++cases_;
  }
  EXPECT_GE(cases_, 1);
}

TEST_F(OneDimensional, SaysWhichValuesAreAllowed) {
  using testing::AllOf;
  using testing::HasSubstr;
  const auto supports = [&](const std::string& name, const std::map<std::string, std::string>& parameters,
                            LayoutContract layout) {
    return test::message_of([&] {
      Problem problem = test::problem_of({64}, parameters, layout);
      (void)variant(name).supports(problem, 4);
    });
  };
  const auto transposed = LayoutContract::transposed;
  EXPECT_THAT(supports("binary-exchange", {{"pieces", "17"}}, transposed),
              AllOf(HasSubstr("pieces"), HasSubstr("17"), HasSubstr("16")));
  EXPECT_THAT(supports("binary-exchange", {{"twiddles", "none"}}, transposed),
              AllOf(HasSubstr("none"), HasSubstr("precomputed")));
  EXPECT_THAT(supports("transpose", {{"dimensions", "4"}}, transposed),
              AllOf(HasSubstr("dimensions"), HasSubstr("4"), HasSubstr("3")));
  EXPECT_THAT(supports("transpose", {{"input", "rows"}}, transposed), AllOf(HasSubstr("rows"), HasSubstr("columns")));
  EXPECT_THAT(supports("transpose", {{"input", "columns"}}, LayoutContract::natural),
              AllOf(HasSubstr("columns"), HasSubstr("blocks")));
  EXPECT_EQ(supports("transpose", {{"dimensions", "3"}, {"input", "blocks"}}, LayoutContract::natural), "no error");
}

TEST_F(OneDimensional, SkipsWhatTheMethodsCannotDoWithAReason) {
  using testing::HasSubstr;
  const auto reason = [&](const std::string& name, Index n, int ranks, LayoutContract layout) {
    Problem problem = test::problem_of({n}, {}, layout);
    return variant(name).supports(problem, ranks).value_or("taken");
  };
  const auto natural = LayoutContract::natural;
  const auto transposed = LayoutContract::transposed;
  EXPECT_THAT(reason("binary-exchange", 60, 3, transposed), HasSubstr("power of two"));
  EXPECT_THAT(reason("binary-exchange", 62, 4, transposed), HasSubstr("62"));
  EXPECT_THAT(reason("binary-exchange", 60, 4, natural), HasSubstr("16"));
  EXPECT_EQ(reason("binary-exchange", 60, 4, transposed), "taken");
  EXPECT_THAT(reason("transpose", 37, 1, transposed), HasSubstr("37"));  // prime: no view
  EXPECT_EQ(reason("transpose", 64, 8, transposed), "taken");            // p = sqrt(n)
  EXPECT_THAT(reason("transpose", 64, 9, transposed), HasSubstr("9"));
  EXPECT_EQ(reason("transpose", 105, 7, transposed), "taken");
  EXPECT_THAT(reason("transpose", 105, 7, natural), HasSubstr("common divisor"));
}

}  // namespace
}  // namespace fourscore
