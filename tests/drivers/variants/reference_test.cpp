// Other people's transforms, each under every contract that it takes: by the definition, there and back. A library that
// is not here is a reason, never a failure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <functional>
#include <ostream>
#include <set>

#include "harness/verifier.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

/// What a library promises, so that one that began to refuse everything would not pass.
struct Promise {
  std::string variant;
  std::set<LayoutContract> layouts;  ///< on more than one rank
  std::set<Effort> efforts;
  bool in_place;
  bool both_precisions;
  bool natural_alone = true;  ///< natural order on one rank
  bool out_of_place = true;
};
void PrintTo(const Promise& promise, std::ostream* out) { *out << promise.variant; }

const std::vector<Promise> promises{
    {"2decomp", {LayoutContract::natural, LayoutContract::transposed}, {Effort::measure}, false, false},
    {"accfft", {LayoutContract::transposed}, {Effort::estimate, Effort::measure}, true, true},
    {"cudecomp", {LayoutContract::transposed}, {Effort::estimate, Effort::measure}, true, true, false},
    {"cufftmp",
     {LayoutContract::natural, LayoutContract::transposed},
     {Effort::estimate, Effort::measure},
     true,
     true,
     true,
     false},
    {"dtfft", {LayoutContract::transposed}, {Effort::measure}, true, true, false},
    {"dtfft-cufft", {LayoutContract::transposed}, {Effort::estimate, Effort::measure}, true, true, false},
    {"heffte", {LayoutContract::natural, LayoutContract::transposed}, {Effort::estimate}, true, true},
    {"heffte-cufft",
     {LayoutContract::natural, LayoutContract::transposed},
     {Effort::estimate, Effort::measure},
     true,
     true},
    {"mkl-cdft",
     {LayoutContract::natural, LayoutContract::transposed},
     {Effort::estimate, Effort::measure},
     true,
     true},
    {"p3dfft", {LayoutContract::natural, LayoutContract::transposed}, {Effort::measure}, true, true}};

class Reference : public testing::TestWithParam<Promise> {
 protected:
  [[nodiscard]] const Variant& variant() const { return *VariantRegistry::instance().find(GetParam().variant); }
  /// Every contract and effort, with the parameters given.
  [[nodiscard]] static std::vector<Problem> problems(const std::vector<Index>& shape,
                                                     const std::map<std::string, std::string>& parameters = {}) {
    std::vector<Problem> list;
    for (const Effort effort : {Effort::estimate, Effort::measure})
      for (Problem problem : test::contracts(shape)) {
        problem.contract.effort = effort;
        problem.parameters = parameters;
        list.push_back(problem);
      }
    return list;
  }
  [[nodiscard]] int contracts_promised() const {
    const Promise& promise = GetParam();
    const std::size_t layouts = ranks_ == 1 && promise.natural_alone ? 2 : promise.layouts.size();
    return static_cast<int>(layouts * promise.efforts.size() * 2 *
                            ((promise.in_place ? 1 : 0) + (promise.out_of_place ? 1 : 0)) *
                            (promise.both_precisions ? 2 : 1));
  }
  void check(const Problem& problem) const;

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

void Reference::check(const Problem& problem) const {
  SCOPED_TRACE(test::text_of(problem, nullptr) + " planner " + to_string(problem.contract.effort));
  const auto plan = test::make_plan(variant(), problem, nullptr);
  ASSERT_TRUE(test::covers_once(plan->input_layout()));
  ASSERT_TRUE(test::covers_once(plan->output_layout()));
  EXPECT_EQ(plan->input() == plan->output(), problem.contract.buffers == Buffers::in_place);
  EXPECT_FALSE(plan->facts().local_ffts.empty());
  PhaseClock clock;
  for (int run = 0; run < 2; ++run) ASSERT_LT(test::error_of_run(*plan, problem), 20) << "run " << run;
  // And back, while the first plan is alive.
  Problem opposite = problem;
  opposite.direction = problem.direction == Direction::forward ? Direction::backward : Direction::forward;
  ASSERT_FALSE(variant().supports(opposite, ranks_));
  const auto back = test::make_plan(variant(), opposite, nullptr);
  ASSERT_TRUE(plan->output_layout().same_boxes(back->input_layout()));
  ASSERT_EQ(plan->output_layout().order, back->input_layout().order);
  const auto elements = plan->output_layout().box(me_).volume();
  test::run_on_random_field(*plan, problem, clock);
  std::memcpy(back->input(), plan->output(), static_cast<std::size_t>(elements) * problem.element_bytes());
  back->execute(clock);
  EXPECT_LT(test::error_of(test::random_field(problem.extents()), static_cast<long double>(problem.elements()),
                           back->output_layout(), me_, problem.precision, back->output()),
            30);
}

TEST_P(Reference, SaysWhyItIsNotHere) {
  ASSERT_NE(VariantRegistry::instance().find(GetParam().variant), nullptr);
  EXPECT_THAT(variant().card().citation, testing::StartsWith("https://"));
  if (variant().unavailable().empty()) GTEST_SKIP() << "it is here";
  EXPECT_THAT(test::message_of([&] { (void)VariantRegistry::instance().get(GetParam().variant, "variant"); }),
              testing::AllOf(testing::HasSubstr(GetParam().variant), testing::HasSubstr(variant().unavailable())));
}

TEST_P(Reference, IsTheTransformByItsDefinitionUnderEveryContractItTakes) {
  if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
  int all = 0;
  for (const std::vector<Index>& shape : std::vector<std::vector<Index>>{{16, 16, 16}, {15, 14, 13}, {9, 8, 16}}) {
    int taken = 0;
    std::string refusal;
    for (const Problem& problem : problems(shape)) {
      if (const auto reason = variant().supports(problem, ranks_)) {
        refusal = *reason;
        EXPECT_FALSE(reason->empty());
        continue;
      }
      ASSERT_NO_FATAL_FAILURE(check(problem));
      ++taken;
    }
    if (shape.front() == 16) {
      EXPECT_EQ(taken, contracts_promised()) << refusal;
    }
    all += taken;
  }
  EXPECT_GT(all, contracts_promised()) << "only one shape was taken";
}

TEST_P(Reference, IsRightOnEveryGridItTakes) {
  if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
  int grids = 0;
  for (const auto& grid : all_grids(ranks_, 2)) {
    bool taken = false;
    for (Problem problem : problems({12, 10, 11})) {
      problem.grid = variant().grid_entries(problem, ranks_) == 2 ? grid : std::vector{ranks_};
      if (variant().supports(problem, ranks_)) continue;
      ASSERT_NO_FATAL_FAILURE(check(problem));
      EXPECT_EQ(test::make_plan(variant(), problem, nullptr)->facts().grid, problem.grid);
      taken = true;
    }
    grids += taken ? 1 : 0;
  }
  EXPECT_GE(grids, 1);
}

TEST(Heffte, IsRightWithEachOfItsOptions) {
  const Variant& heffte = *VariantRegistry::instance().find("heffte");
  if (!heffte.unavailable().empty()) GTEST_SKIP() << heffte.unavailable();
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  for (const std::string algorithm : {"alltoallv", "alltoall", "p2p_plined", "p2p"})
    for (const std::string reorder : {"yes", "no"})
      for (const std::string decomposition : {"pencils", "slabs"})
        for (Problem problem : test::contracts({15, 14, 13})) {
          if (problem.precision == Precision::single_precision) continue;
          problem.parameters = {{"algorithm", algorithm}, {"reorder", reorder}, {"decomposition", decomposition}};
          ASSERT_EQ(heffte.supports(problem, ranks), std::nullopt);
          const auto plan = test::make_plan(heffte, problem, nullptr);
          EXPECT_LT(test::error_of_run(*plan, problem), 20)
              << test::text_of(problem, nullptr) << " " << algorithm << " " << reorder << " " << decomposition;
        }
}

TEST(Heffte, NamesAnOptionThatItDoesNotHave) {
  const Variant& heffte = *VariantRegistry::instance().find("heffte");
  Problem problem = test::problem_of({8, 8, 8}, {{"algorithm", "alltoal"}});
  EXPECT_THAT(test::message_of([&] { return heffte.supports(problem, 1); }),
              testing::AllOf(testing::HasSubstr("alltoal"), testing::HasSubstr("p2p_plined")));
}

/// What libraries on GPUs refuse, and which words say so. It is known without them and without a GPU.
TEST(DeviceReference, NamesWhatItsLibraryDoesNotTake) {
  struct Refusal {
    std::string variant;
    int ranks;
    std::function<void(Problem&)> ask;
    std::string reason;
  };
  const auto natural = [](Problem& problem) { problem.contract.layout = LayoutContract::natural; };
  const auto exchange = [](std::string name) {
    return [name = std::move(name)](Problem& problem) { problem.parameters = {{"backend", name}}; };
  };
  const std::vector<Refusal> refusals{
      {"cudecomp", 2, natural, "layout natural; cuDecomp's transposes leave the result in x-pencils"},
      {"cudecomp", 1,
       [](Problem& problem) {
         problem.shape = {4096, 1024, 1024};
       },
       "counts of MPI"},
      {"cufftmp", 2, [](Problem& problem) { problem.contract.buffers = Buffers::out_of_place; }, "out of place"},
      {"cufftmp", 2,
       [](Problem& problem) {
         problem.shape = {64, 64};
       },
       "3-D shapes"},
      {"cufftmp", 5,
       [](Problem& problem) {
         problem.shape = {8, 4, 16};
       },
       "to 5 ranks: no more than 4"},
      {"cufftmp", 2,
       [](Problem& problem) {
         problem.shape = {8, 4, 1};
       },
       "a last extent of 2 or more"},
      {"cufftmp", 2, [](Problem& problem) { problem.threads = 2; }, "2 threads; cuFFTMp is used with one"}};
  for (const Refusal& refusal : refusals) {
    Problem problem = test::problem_of({16, 16, 16});
    refusal.ask(problem);
    const auto reason = VariantRegistry::instance().find(refusal.variant)->supports(problem, refusal.ranks);
    EXPECT_THAT(reason.value_or("nothing"), testing::HasSubstr(refusal.reason)) << refusal.variant;
  }
  const Variant& cudecomp = *VariantRegistry::instance().find("cudecomp");
  Problem problem = test::problem_of({16, 16, 16});
  for (const std::string name : {"nccl", "nccl-pl", "nvshmem", "nvshmem-pl", "nvshmem-sm", "autotune"}) {
    exchange(name)(problem);
    EXPECT_EQ(cudecomp.supports(problem, 2), std::nullopt) << name;
  }
  exchange("ncll")(problem);
  EXPECT_THROW(static_cast<void>(cudecomp.supports(problem, 2)), InputError);
}

/// Shapes with fewer planes than most tests have ranks, in the first axis, in the second, and in both.
const std::vector<std::vector<Index>> flat_shapes{{840, 2, 3}, {2, 40, 3}, {3, 2, 5},  {2, 2, 2}, {2, 3, 4},
                                                  {1, 8, 6},   {8, 1, 6},  {1, 1, 12}, {7, 1},    {5, 2},
                                                  {2, 9},      {1, 7},     {3, 1, 1}};

/// A slab library deals planes, and may leave ranks without any: what it does not take is a reason of its own.
TEST(SlabReference, IsRightWithMoreRanksThanPlanesOrSaysWhatItsLibraryCannotDo) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  PhaseClock clock(false);
  for (const std::string name : {"fftw-mpi", "mkl-cdft"}) {
    const Variant& variant = *VariantRegistry::instance().find(name);
    if (!variant.unavailable().empty()) continue;
    int with_empty_ranks = 0;
    for (const auto& shape : flat_shapes)
      for (const Kind kind : variant.facts().kinds)
        for (Problem problem : test::contracts(shape)) {
          if (problem.precision == Precision::single_precision) continue;
          problem.kind = kind;
          if (const auto reason = variant.supports(problem, ranks)) {
            EXPECT_THAT(*reason, testing::AnyOf(testing::StartsWith("FFTW-MPI"), testing::StartsWith("MKL's ")));
            EXPECT_THAT(*reason, testing::Not(testing::HasSubstr("can use")));
            continue;
          }
          SCOPED_TRACE(name + " " + test::text_of(problem, nullptr));
          const auto plan = test::make_plan(variant, problem, nullptr);
          Verifier verifier(problem, MPI_COMM_WORLD, *plan, 1);
          for (const Check& check : verifier.check_before(*plan, nullptr))
            EXPECT_TRUE(check.ok) << check.name << ": " << check.finding;
          with_empty_ranks += ranks > std::min(problem.complex_extents()[0], problem.complex_extents()[1]) ? 1 : 0;
        }
    EXPECT_EQ(with_empty_ranks > 0, ranks > 1 && name == "fftw-mpi") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Here, Reference, testing::ValuesIn(promises),
                         [](const auto& instance) { return test::as_test_name(instance.param.variant); });

}  // namespace
}  // namespace fourscore
