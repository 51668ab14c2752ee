// Every variant x exchange x precision x direction x kind on this many ranks, on shapes that do not divide first,
// against the transform by its definition; and pencils on every grid of the ranks. Shapes, layouts and buffer_names
// take turns.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

/// Not dividing, an extent of 1 inside and at the end, shorter than the ranks, prime, and powers of two for the
/// variants that want them; two extents and one, this one prime, a power of two, a square, and neither.
const std::vector<std::vector<Index>> all_shapes{{15, 14, 13}, {7, 1, 9}, {2, 3, 64}, {11, 13, 17}, {10, 9, 1},
                                                 {16, 16, 16}, {12, 10},  {9, 8, 16}, {37},         {64},
                                                 {144},        {60},      {105}};

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

/// What must be tested of every combination at every rank count; layout and placement take turns.
using Key = std::tuple<Precision, Direction, Kind>;
Key key_of(const Problem& problem) { return {problem.precision, problem.direction, problem.kind}; }

/// The contracts by key: each list has every layout and placement.
std::map<Key, std::vector<Problem>> contracts_by_key(const std::vector<Index>& shape) {
  std::map<Key, std::vector<Problem>> lists;
  for (const Problem& problem : test::contracts(shape)) lists[key_of(problem)].push_back(problem);
  return lists;
}

/// Whether it is the turn of these buffers, for their key and layout.
bool has_its_turn(const Problem& problem, std::size_t turn) {
  const bool in_place_first =
      (problem.precision == Precision::double_precision) ==
      ((problem.direction == Direction::forward) == (problem.contract.layout == LayoutContract::natural));
  return (in_place_first != (turn % 2 == 0)) == (problem.contract.buffers == Buffers::in_place);
}

class EveryCase : public testing::TestWithParam<Combination> {
 protected:
  void SetUp() override {
    if (const auto reason = variant().unavailable(); !reason.empty())
      GTEST_SKIP() << GetParam().variant << ": " << reason;
    if (variant().takes_exchange() && !exchange()->unavailable().empty())
      GTEST_SKIP() << GetParam().exchange << ": " << exchange()->unavailable();
    if (variant().takes_exchange())
      if (const auto reason = variant().refuses(*exchange(), {})) GTEST_SKIP() << *reason;
  }
  static void TearDownTestSuite() {
    if (mpi::rank_in(MPI_COMM_WORLD) == 0)
      std::printf("%d cases so far on %d ranks\n", all_cases_, mpi::size_of(MPI_COMM_WORLD));
  }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find(GetParam().variant); }
  [[nodiscard]] static const ExchangeMethod* exchange() {
    return variant().takes_exchange() ? ExchangeRegistry::instance().find(GetParam().exchange) : nullptr;
  }
  /// The first exchange is tried on every shape; the others, whose geometry is the same, take turns.
  [[nodiscard]] static bool on_every_shape() { return test::exchanges_of(variant()).front() == exchange(); }
  /// Differs from exchange to exchange, so that together they meet every shape and contract.
  [[nodiscard]] std::size_t turn() const {
    const auto names = ExchangeRegistry::instance().names();
    const auto place = std::ranges::find(names, GetParam().exchange) - names.begin();
    return static_cast<std::size_t>(place) + static_cast<std::size_t>(ranks_);
  }
  /// The numbers of the shapes that the variant takes under every contract of a list.
  [[nodiscard]] std::vector<std::size_t> shapes_taken(const std::vector<Problem>& list) const {
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < all_shapes.size(); ++i)
      if (std::ranges::all_of(list, [&](Problem problem) {
            problem.shape = all_shapes[i];
            return !variant().supports(problem, ranks_);
          }))
        taken.push_back(i);
    return taken;
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
    EXPECT_TRUE(plan->input_layout().same_boxes(plan->output_layout()));
    EXPECT_EQ(plan->input_layout().order, plan->output_layout().order);
  }
  EXPECT_EQ(plan->input() == plan->output(), problem.contract.buffers == Buffers::in_place);
  if (!problem.grid.empty()) {
    EXPECT_EQ(plan->facts().grid, problem.grid);
  }
  const auto& expected = test::transformed_field(problem.extents(), problem.direction);
  PhaseClock clock;
  for (int run = 0; run < 2; ++run) {
    test::run_on_random_field(*plan, problem, clock);
    EXPECT_LT(test::error_of(expected, 1, plan->output_layout(), me_, problem.precision, plan->output()), 20)
        << "run " << run;
  }
}

/// Plans and runs on many ranks take their time where cores are few: the first exchange meets every shape, with both
/// layouts up to 4 ranks; the others meet three shapes, with contracts that take turns.
TEST_P(EveryCase, IsTheTransformByItsDefinitionInTheLayoutStated) {
  std::size_t number = turn();
  std::size_t max_taken = 0;
  for (const auto& [key, list] : contracts_by_key({1, 1, 1})) {
    const auto taken = shapes_taken(list);
    max_taken = std::max(max_taken, taken.size());
    std::set<LayoutContract> layouts;
    std::size_t cases = 0;
    const auto run = [&](Problem problem, std::size_t shape) {
      problem.shape = all_shapes[shape];
      check(problem);
      layouts.insert(problem.contract.layout);
      ++cases;
      ++all_cases_;
    };
    if (on_every_shape()) {
      for (const std::size_t shape : taken)
        for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
          for (const Problem& problem : list)
            if (problem.contract.layout == layout && has_its_turn(problem, shape) &&
                (ranks_ <= 4 || (shape + number) % 2 == static_cast<std::size_t>(layout)))
              run(problem, shape);
      EXPECT_EQ(cases, taken.size() * (ranks_ <= 4 ? 2 : 1));
    } else {
      const std::size_t wanted = std::min<std::size_t>(3, taken.size());
      for (std::size_t i = 0; i < wanted; ++i)
        run(list[(number + i) % list.size()],
            taken[(number + i * std::max<std::size_t>(1, taken.size() / 3)) % taken.size()]);
      EXPECT_EQ(cases, wanted);
    }
    if (taken.size() > 2) {
      EXPECT_EQ(layouts.size(), 2U);
    }
    ++number;
  }
  if (max_taken == 0) GTEST_SKIP() << "no shape of the list on " << ranks_ << " ranks";
}

class EveryPencil : public EveryCase {};

TEST_P(EveryPencil, IsRightOnEveryGridOfTheRanks) {
  int grids = 0;
  std::size_t cases = 0;
  std::size_t number = turn();
  std::vector<std::vector<Index>> gridded{{15, 14, 13}, {11, 13, 17}};
  if (GetParam().variant == "pencil") gridded.push_back({12, 10});  // the others take three extents
  for (const auto& grid : all_grids(ranks_, 2)) {
    ++grids;
    for (const auto& [key, list] : contracts_by_key({1, 1, 1})) {
      Problem problem = list[number % list.size()];
      problem.shape = gridded[number % gridded.size()];
      problem.grid = grid;
      ++number;
      ASSERT_FALSE(variant().supports(problem, ranks_)) << *variant().supports(problem, ranks_);
      check(problem);
      ++cases;
    }
    ++number;
  }
  constexpr std::array<int, 9> divisors{0, 1, 2, 2, 3, 2, 4, 2, 4};
  ASSERT_LT(static_cast<std::size_t>(ranks_), divisors.size());
  EXPECT_EQ(grids, divisors[static_cast<std::size_t>(ranks_)]);
  EXPECT_EQ(cases, static_cast<std::size_t>(grids) * contracts_by_key({1, 1, 1}).size());
  all_cases_ += static_cast<int>(cases);
}

std::vector<Combination> of_pencils() {
  auto list = combinations();
  std::erase_if(list, [](const Combination& combination) { return !combination.variant.starts_with("pencil"); });
  return list;
}

std::string name_of(const testing::TestParamInfo<Combination>& instance) {
  return test::as_test_name(instance.param.variant + " with " + instance.param.exchange);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryCase, testing::ValuesIn(combinations()), name_of);
INSTANTIATE_TEST_SUITE_P(Registered, EveryPencil, testing::ValuesIn(of_pencils()), name_of);

/// Counted by hand from what the variants promise: slabs as many ranks as the smaller of the first two extents, pencils
/// any grid that fits, blocks as many ranks as the axis of fewest pencils has, danielson-lanczos powers of two that the
/// extents have as factors. A variant that began to refuse what it took would otherwise only shrink the list.
TEST(Cases, AreAsManyAsTheVariantsPromise) {
  const std::map<std::string, std::array<int, 8>> expected{{"slab", {8, 7, 6, 6, 6, 6, 6, 6}},
                                                           {"pencil", {8, 7, 7, 7, 6, 7, 6, 6}},
                                                           {"pencil-overlap", {7, 6, 6, 6, 5, 6, 5, 5}},
                                                           {"overdecomposed", {7, 6, 6, 6, 5, 6, 5, 5}},
                                                           {"node", {7, 6, 6, 6, 5, 6, 5, 5}},
                                                           {"serial", {13, 0, 0, 0, 0, 0, 0, 0}},
                                                           {"serial-gpu", {13, 0, 0, 0, 0, 0, 0, 0}},
                                                           {"slab-gpu", {8, 7, 6, 6, 6, 6, 6, 6}},
                                                           {"pencil-gpu", {7, 6, 6, 6, 5, 6, 5, 5}},
                                                           {"volumetric", {7, 7, 7, 7, 7, 7, 6, 5}},
                                                           {"danielson-lanczos", {13, 9, 0, 7, 0, 0, 0, 6}},
                                                           {"binary-exchange", {6, 4, 0, 2, 0, 0, 0, 1}},
                                                           {"transpose", {4, 3, 2, 2, 2, 2, 2, 2}}};
  for (const auto& [name, shapes_by_ranks] : expected)
    for (int ranks = 1; ranks <= 8; ++ranks) {
      const Variant& variant = VariantRegistry::instance().get(name, "variant");
      const auto taken = std::ranges::count_if(all_shapes, [&](const auto& shape) {
        return std::ranges::all_of(test::contracts(shape),
                                   [&](const Problem& problem) { return !variant.supports(problem, ranks); });
      });
      EXPECT_EQ(taken, shapes_by_ranks[static_cast<std::size_t>(ranks - 1)]) << name << " on " << ranks << " ranks";
    }
  for (const auto* name : {"active", "alltoallv", "alltoallw", "bruck", "hierarchical", "ialltoallv",
                           "ialltoallv-pipelined", "p2p", "p2p-pipelined", "pairwise", "rma", "shared"})
    EXPECT_EQ(ExchangeRegistry::instance().get(name, "exchange").unavailable(), "");
}

}  // namespace
}  // namespace fourscore
