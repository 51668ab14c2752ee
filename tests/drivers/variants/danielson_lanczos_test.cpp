// The pairwise method of haynes2000: strided subsets in, log2 P exchanges with one partner each, blocks out, however
// the splits are shared over the axes. This program counts the calls of MPI itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <set>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"
#include "variants/danielson_lanczos/strided_subsets.hpp"

namespace {
int pairwise_calls = 0;
int collective_calls = 0;
std::set<int> partners;  // NOLINT(cert-err58-cpp)
}  // namespace

extern "C" {
int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status* status) {
  ++pairwise_calls;
  partners.insert({to, from});
  return PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
                       receive_tag, comm, status);
}
int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_places, MPI_Datatype send_type,
                  void* receive, const int* receive_counts, const int* receive_places, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  ++collective_calls;
  return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                        receive_type, comm);
}
}

namespace fourscore {
namespace {

class DanielsonLanczos : public testing::Test {
 protected:
  [[nodiscard]] static const Variant& variant() {
    return VariantRegistry::instance().get("danielson-lanczos", "variant");
  }
  [[nodiscard]] std::optional<std::string> refusal(const std::vector<Index>& shape, int ranks,
                                                   const std::string& split = "auto") const {
    Problem problem;
    problem.shape = shape;
    problem.parameters["split"] = split;
    return variant().supports(problem, ranks);
  }
  void check(const Problem& problem, const std::string& split) {
    SCOPED_TRACE(test::text_of(problem, nullptr) + " split " + split);
    const auto plan = test::make_plan(variant(), problem, nullptr);
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    PhaseClock clock;
    for (int run = 0; run < 2; ++run) {
      pairwise_calls = collective_calls = 0;
      partners.clear();
      test::run_on_random_field(*plan, problem, clock);
      EXPECT_EQ(pairwise_calls, splits_);
      EXPECT_EQ(static_cast<int>(partners.size()), splits_) << "each exchange has a partner of its own";
      EXPECT_EQ(collective_calls, problem.contract.layout == LayoutContract::natural && ranks_ > 1 ? 1 : 0);
      EXPECT_LT(test::error_of(test::transformed_field(problem.extents(), problem.direction), 1, plan->output_layout(),
                               me_, problem.precision, plan->output()),
                20);
    }
    if (splits_ > 0) {
      EXPECT_GT(clock.seconds(Phase::combine), 0);
      EXPECT_GT(clock.seconds(Phase::exchange), 0);
    }
    ++cases_;
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
  const int splits_ = std::countr_zero(static_cast<unsigned>(ranks_));
  int cases_ = 0;
};

TEST_F(DanielsonLanczos, IsRightHoweverTheSplitsAreShared) {
  for (const std::string split : {"auto", "x", "y", "z", "xy", "xz", "yz", "xyz"})
    for (Problem problem : test::contracts({8, 24, 16})) {
      problem.parameters["split"] = split;
      check(problem, split);
    }
  EXPECT_EQ(cases_, 8 * 16);
}

/// One and two extents; rows longer than a table of phase factors; blocks that 2 does not divide; an axis of 1 element.
TEST_F(DanielsonLanczos, IsRightInOneAndTwoDimensionsAndOnOddBlocks) {
  int planned = 0;
  for (const std::vector<Index>& shape :
       std::vector<std::vector<Index>>{{4160}, {56}, {24, 40}, {3, 56}, {24, 1, 13}, {5, 7, 40}, {40, 7, 5}})
    for (const Problem& problem : test::contracts(shape)) {
      if (shape[0] > 1000 && problem.contract.buffers == Buffers::in_place) continue;
      check(problem, "auto");
      ++planned;
    }
  EXPECT_EQ(planned, 6 * 16 + 8);
}

TEST_F(DanielsonLanczos, GoesFromEveryPthPlaneToContiguousBlocks) {
  Problem problem;
  problem.shape = {16, 8, 8};
  problem.contract.effort = Effort::estimate;
  const Decomposition blocks = decompose(problem.extents(), Grid{{ranks_, 1, 1}});
  const auto forward = test::make_plan(variant(), problem, nullptr);
  EXPECT_TRUE(forward->output_layout().same_boxes(blocks));
  EXPECT_FALSE(forward->output_layout().permutes());
  for (int rank = 0; rank < ranks_; ++rank) {
    std::set<Index> planes;
    for (Index i = 0; i < forward->input_layout().box(rank).volume(); ++i)
      planes.insert(forward->input_layout().global_index(rank, i)[0]);
    std::set<Index> expected;
    for (Index plane = reversed_bits(rank, splits_); plane < 16; plane += ranks_) expected.insert(plane);
    EXPECT_EQ(planes, expected);
  }
  problem.direction = Direction::backward;
  const auto backward = test::make_plan(variant(), problem, nullptr);
  EXPECT_TRUE(backward->input_layout().same_boxes(blocks));
  EXPECT_TRUE(backward->output_layout().same_indices(forward->input_layout()));
}

TEST_F(DanielsonLanczos, TakesTheGridItIsGiven) {
  Problem problem;
  problem.shape = {8, 8, 16};
  problem.contract.effort = Effort::estimate;
  problem.grid = {1, 1, ranks_};
  check(problem, "auto");
  EXPECT_EQ(test::make_plan(variant(), problem, nullptr)->facts().grid, problem.grid);
}

TEST_F(DanielsonLanczos, SaysWhyItCannotSplit) {
  using testing::HasSubstr;
  const auto text = [](const std::optional<std::string>& reason) { return reason.value_or("no reason"); };
  EXPECT_THAT(text(refusal({16, 16, 16}, 3)), HasSubstr("3 ranks are no power of two"));
  EXPECT_THAT(text(refusal({15, 14, 13}, 4)), testing::AllOf(HasSubstr("2 even/odd splits"), HasSubstr("y 1")));
  EXPECT_FALSE(refusal({15, 14, 13}, 2));
  EXPECT_FALSE(refusal({15, 14, 13}, 2, "y"));
  EXPECT_THAT(text(refusal({15, 14, 13}, 2, "xz")), HasSubstr("xz"));
  EXPECT_FALSE(refusal({2, 2, 2}, 8));
  EXPECT_TRUE(refusal({2, 2, 2}, 16));
}

TEST_F(DanielsonLanczos, RefusesUnusableSplitsAndNamesWhatIsAllowed) {
  const auto message = [&](const std::vector<Index>& shape, const std::string& split, const std::vector<int>& grid) {
    Problem problem;
    problem.shape = shape;
    problem.grid = grid;
    problem.parameters["split"] = split;
    try {
      return variant().supports(problem, 4).value_or("taken");
    } catch (const InputError& error) {
      return std::string("error: ") + error.what();
    }
  };
  using testing::HasSubstr;
  EXPECT_THAT(message({16, 16}, "z", {}),
              testing::AllOf(HasSubstr("error"), HasSubstr("split"), HasSubstr("x, y, xy")));
  EXPECT_THAT(message({16, 16}, "2", {}), testing::AllOf(HasSubstr("error"), HasSubstr("'2'")));
  EXPECT_THAT(message({16, 16}, "x", {2, 2}), testing::AllOf(HasSubstr("error"), HasSubstr("2x2"), HasSubstr("'x'")));
  EXPECT_THAT(message({16, 16}, "auto", {4}), testing::AllOf(HasSubstr("error"), HasSubstr("takes 2")));
  EXPECT_THAT(message({16, 18}, "auto", {1, 4}), HasSubstr("does not divide"));
  EXPECT_EQ(message({16, 16}, "xy", {2, 2}), "taken");
}

}  // namespace
}  // namespace fourscore
