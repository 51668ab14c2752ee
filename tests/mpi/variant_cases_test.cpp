// The complete list: every variant x exchange x precision x direction x layout (x placement up to 4 ranks), on shapes
// that do not divide first, against the transform by its definition; and pencils on every grid of the ranks.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>

#include "core/variant.hpp"
#include "mpi/handles.hpp"
#include "mpi/variant_fixture.hpp"

namespace fourscore {
namespace {

/// Not dividing, an extent of 1 inside and at the end, shorter than the ranks, prime, and powers of two for the
/// variants that want them; two extents and one.
const std::vector<std::vector<Index>> shapes{{15, 14, 13}, {7, 1, 9}, {2, 3, 64}, {11, 13, 17}, {10, 9, 1},
                                             {16, 16, 16}, {12, 10},  {9, 8, 16}, {37}};

struct Combination {
  std::string variant;
  std::string exchange;  ///< "none" where the variant takes none
};

/// All that is registered, also what cannot run here.
std::vector<Combination> combinations() {
  std::vector<Combination> list;
  for (const auto& variant : VariantRegistry::instance().names()) {
    if (!VariantRegistry::instance().find(variant)->takes_exchange()) {
      list.push_back({variant, "none"});
      continue;
    }
    for (const auto& exchange : ExchangeRegistry::instance().names()) list.push_back({variant, exchange});
  }
  return list;
}

using ContractKey = std::tuple<Precision, Direction, LayoutContract>;
ContractKey key_of(const Problem& problem) { return {problem.precision, problem.direction, problem.contract.layout}; }

/// Of the two placements of a precision, direction and layout, the one whose turn it is on the shape of this number.
bool has_its_turn(const Problem& problem, std::size_t shape_number) {
  const bool turn = (problem.precision == Precision::double_precision) == (problem.direction == Direction::forward);
  return (turn != (shape_number % 2 == 0)) == (problem.contract.placement == Placement::in_place);
}

class EveryCase : public testing::TestWithParam<Combination> {
 protected:
  void SetUp() override {
    if (const auto reason = variant().unavailable(); !reason.empty())
      GTEST_SKIP() << GetParam().variant << ": " << reason;
    if (variant().takes_exchange() && !exchange()->unavailable().empty())
      GTEST_SKIP() << GetParam().exchange << ": " << exchange()->unavailable();
  }
  static void TearDownTestSuite() {
    if (mpi::rank_in(MPI_COMM_WORLD) == 0)
      std::printf("%d cases so far on %d ranks\n", all_cases_, mpi::size_of(MPI_COMM_WORLD));
  }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find(GetParam().variant); }
  [[nodiscard]] static const ExchangeMethod* exchange() {
    return variant().takes_exchange() ? ExchangeRegistry::instance().find(GetParam().exchange) : nullptr;
  }
  /// How many of the shapes the variant takes under one contract.
  [[nodiscard]] int shapes_taken(const Problem& contract) const {
    return static_cast<int>(std::ranges::count_if(shapes, [&](const auto& shape) {
      Problem problem = contract;
      problem.shape = shape;
      return !variant().supports(problem, ranks_);
    }));
  }
  void check(const Problem& problem) const;

  inline static int all_cases_ = 0;
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

void EveryCase::check(const Problem& problem) const {
  SCOPED_TRACE(test::text_of(problem, exchange()));
  const auto plan = test::make_plan(variant(), problem, exchange());
  EXPECT_EQ(plan->input_layout().shape, problem.extents());
  EXPECT_EQ(plan->output_layout().shape, problem.extents());
  EXPECT_TRUE(test::covers_once(plan->input_layout()));
  EXPECT_TRUE(test::covers_once(plan->output_layout()));
  if (problem.contract.layout == LayoutContract::natural) {
    EXPECT_EQ(plan->input_layout().boxes, plan->output_layout().boxes);
    EXPECT_EQ(plan->input_layout().order, plan->output_layout().order);
  }
  EXPECT_EQ(plan->input() == plan->output(), problem.contract.placement == Placement::in_place);
  if (!problem.grid.empty()) {
    EXPECT_EQ(plan->grid(), problem.grid);
  }
  const auto& expected = test::transformed_field(problem.extents(), problem.direction);
  PhaseClock clock;
  for (int run = 0; run < 2; ++run) {
    test::run_on_random_field(*plan, problem, clock);
    EXPECT_LT(test::error_of(expected, 1, plan->output_layout(), me_, problem.precision, plan->output()), 20)
        << "run " << run;
  }
}

TEST_P(EveryCase, IsTheTransformByItsDefinitionInTheLayoutStated) {
  const bool alternates = ranks_ > 4;  // many ranks on few cores take their time: one placement for each, in turn
  std::map<ContractKey, int> cases;
  std::optional<std::string> refusal;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (const Problem& problem : test::contracts(shapes[i])) {
      if (alternates && !has_its_turn(problem, i)) continue;
      if (auto reason = variant().supports(problem, ranks_)) {
        refusal = reason;
        continue;
      }
      check(problem);
      ++cases[key_of(problem)];
      ++all_cases_;
    }
  if (cases.empty()) GTEST_SKIP() << refusal.value_or("no shape");

  EXPECT_EQ(cases.size(), 8U) << "a precision, direction and layout was tested on no shape";
  for (const Problem& contract : test::contracts({1, 1, 1}))
    EXPECT_EQ(cases[key_of(contract)], (alternates ? 1 : 2) * shapes_taken(contract));
}

class EveryPencil : public EveryCase {};

TEST_P(EveryPencil, IsRightOnEveryGridOfTheRanks) {
  int grids = 0;
  int cases = 0;
  for (int rows = 1; rows <= ranks_; ++rows) {
    if (ranks_ % rows != 0) continue;
    ++grids;
    const std::vector<std::vector<Index>> gridded{{15, 14, 13}, {11, 13, 17}};
    for (std::size_t i = 0; i < gridded.size(); ++i)
      for (Problem problem : test::contracts(gridded[i])) {
        if (!has_its_turn(problem, i)) continue;
        problem.grid = {rows, ranks_ / rows};
        ASSERT_FALSE(variant().supports(problem, ranks_)) << *variant().supports(problem, ranks_);
        check(problem);
        ++cases;
      }
  }
  constexpr std::array<int, 9> divisors{0, 1, 2, 2, 3, 2, 4, 2, 4};
  ASSERT_LT(static_cast<std::size_t>(ranks_), divisors.size());
  EXPECT_EQ(grids, divisors[static_cast<std::size_t>(ranks_)]);
  EXPECT_EQ(cases, grids * 2 * 8);  // 2 shapes; precision, direction, layout
  all_cases_ += cases;
}

std::vector<Combination> of_pencils() {
  auto list = combinations();
  std::erase_if(list, [](const Combination& combination) { return combination.variant != "pencil"; });
  return list;
}

std::string name_of(const testing::TestParamInfo<Combination>& instance) {
  return test::as_test_name(instance.param.variant + " with " + instance.param.exchange);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryCase, testing::ValuesIn(combinations()), name_of);
INSTANTIATE_TEST_SUITE_P(Registered, EveryPencil, testing::ValuesIn(of_pencils()), name_of);

/// Counted by hand from what the variants promise: slabs as many ranks as the smaller of the first two extents, pencils
/// any grid that fits. A variant that began to refuse what it took would otherwise only shrink the list.
TEST(Cases, AreAsManyAsTheVariantsPromise) {
  const std::map<std::string, std::array<int, 8>> expected{
      {"slab", {8, 7, 6, 6, 6, 6, 6, 6}}, {"pencil", {7, 6, 6, 6, 5, 6, 5, 5}}, {"serial", {9, 0, 0, 0, 0, 0, 0, 0}}};
  for (const auto& [name, shapes_by_ranks] : expected)
    for (int ranks = 1; ranks <= 8; ++ranks) {
      const Variant& variant = VariantRegistry::instance().get(name, "variant");
      const auto taken = std::ranges::count_if(shapes, [&](const auto& shape) {
        return std::ranges::all_of(test::contracts(shape),
                                   [&](const Problem& problem) { return !variant.supports(problem, ranks); });
      });
      EXPECT_EQ(taken, shapes_by_ranks[static_cast<std::size_t>(ranks - 1)]) << name << " on " << ranks << " ranks";
    }
  for (const auto* name : {"alltoallv", "alltoallw", "p2p", "pairwise", "shared"})
    EXPECT_EQ(ExchangeRegistry::instance().get(name, "exchange").unavailable(), "");
}

}  // namespace
}  // namespace fourscore
