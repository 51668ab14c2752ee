// The pairwise method of haynes2000: strided subsets in, log2 P exchanges with one partner each, blocks out, however
// the splits are shared over the axes, and by messages of either kind. This program counts the calls of MPI itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <chrono>
#include <set>
#include <thread>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"
#include "variants/danielson_lanczos/strided_subsets.hpp"

namespace {
int pairwise_calls = 0;
int collective_calls = 0;
int arrays_put = 0;
int flags = 0;
int windows_made = 0;
bool is_late = false;    ///< this rank dawdles once its partner knows of its array, and has not combined the partner's
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
int MPI_Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  ++arrays_put;
  partners.insert(target);
  return PMPI_Put(data, count, type, target, place, target_count, target_type, window);
}
int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  ++flags;
  const int error = PMPI_Accumulate(data, count, type, target, place, target_count, target_type, op, window);
  PMPI_Win_flush(target, window);
  if (is_late) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return error;
}
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  ++windows_made;
  return PMPI_Win_allocate(bytes, unit, info, comm, base, window);
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
  [[nodiscard]] Reason refusal(const std::vector<Index>& shape, int ranks, const std::string& split = "auto") const {
    Problem problem = test::problem_of(shape, {{"split", split}});
    return variant().supports(problem, ranks);
  }
  void check(Problem problem, const std::string& split, const std::string& messages = "two-sided") {
    SCOPED_TRACE(test::text_of(problem, nullptr) + " split " + split + " " + messages);
    problem.parameters["messages"] = messages;
    const bool one_sided = messages == "one-sided";
    windows_made = 0;
    const auto plan = test::make_plan(variant(), problem, nullptr);
    EXPECT_TRUE(test::covers_once(plan->input_layout()));
    EXPECT_TRUE(test::covers_once(plan->output_layout()));
    EXPECT_EQ(windows_made, one_sided && ranks_ > 1 ? 1 : 0);
    EXPECT_EQ(plan->input() == plan->output(), problem.contract.buffers == Buffers::in_place);
    PhaseClock clock;
    for (int run = 0; run < 3; ++run) {
      pairwise_calls = collective_calls = arrays_put = flags = windows_made = 0;
      partners.clear();
      test::run_on_random_field(*plan, problem, clock);
      EXPECT_EQ(pairwise_calls, one_sided ? 0 : splits_);
      EXPECT_EQ(arrays_put, one_sided ? splits_ : 0);
      EXPECT_EQ(flags, one_sided ? splits_ : 0) << "one for each array that is put, and none to ask";
      EXPECT_EQ(windows_made, 0) << "planned before";
      EXPECT_EQ(static_cast<int>(partners.size()), splits_) << "each exchange has a partner of its own";
      EXPECT_EQ(collective_calls, problem.contract.layout == LayoutContract::natural && ranks_ > 1 ? 1 : 0);
      EXPECT_LT(test::error_of_result(*plan, problem), 20);
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

/// The same messages of the other kind: blocks that 2 does not divide, one to three extents, every contract.
TEST_F(DanielsonLanczos, IsRightOverOneSidedMessages) {
  int planned = 0;
  for (const std::vector<Index>& shape :
       std::vector<std::vector<Index>>{{56}, {24, 40}, {24, 1, 13}, {5, 7, 40}, {8, 24, 16}})
    for (Problem problem : test::contracts(shape)) {
      const std::string split = shape.size() == 3 && shape[0] == 8 && ranks_ > 1 ? "xyz" : "auto";
      problem.parameters["split"] = split;
      check(problem, split, "one-sided");
      ++planned;
    }
  EXPECT_EQ(planned, 5 * 16);
}

/// Ranks that run ahead, or behind, never meet the array of another run: none asks whether its place is free.
TEST_F(DanielsonLanczos, KeepsRunsApartOverOneSidedMessagesWhoeverIsLate) {
  Problem problem = test::problem_of({16, 8, 3}, {{"messages", "one-sided"}});
  const auto plan = test::make_plan(variant(), problem, nullptr);
  const auto& field = test::random_field(problem.extents());
  const auto& expected = test::transformed_field(problem.extents(), problem.direction);
  PhaseClock clock(false);
  constexpr int runs = 24;
  for (int run = 1; run <= runs; ++run) {
    is_late = run % (ranks_ + 1) == me_;
    test::Field scaled = field;
    for (auto& value : scaled.values) value *= run;
    test::write(scaled, plan->input_layout(), me_, problem.precision, plan->input());
    plan->execute(clock);
    EXPECT_LT(test::error_of(expected, run, plan->output_layout(), me_, problem.precision, plan->output()), 20) << run;
  }
  is_late = false;
}

/// Equation 5 counts messages and bytes, whichever way they go. A flag follows each array that is put.
TEST_F(DanielsonLanczos, SendsAsMuchByMessagesOfEitherKind) {
  Problem problem = test::problem_of({16, 8, 3});
  for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
    problem.contract = {layout, Buffers::in_place, Effort::estimate};
    problem.parameters["messages"] = "two-sided";
    const auto two_sided = test::make_plan(variant(), problem, nullptr);
    const Cost cost = variant().cost(problem, ranks_);
    problem.parameters["messages"] = "one-sided";
    const auto one_sided = test::make_plan(variant(), problem, nullptr);
    MessageVolume expected = two_sided->message_volume();
    expected.control_messages_sent = splits_;
    EXPECT_EQ(one_sided->message_volume(), expected);
    EXPECT_EQ(variant().cost(problem, ranks_).messages_per_rank, cost.messages_per_rank);
    EXPECT_EQ(variant().cost(problem, ranks_).bytes_per_rank, cost.bytes_per_rank);
    if (layout == LayoutContract::transposed) {
      EXPECT_DOUBLE_EQ(static_cast<double>(expected.bytes_sent), cost.bytes_per_rank);
      EXPECT_EQ(expected.messages_sent, splits_);
    }
    const auto workspace = [](const Plan& plan) { return static_cast<Index>(plan.facts().workspace_bytes); };
    const Index array = 16 * 8 * 3 / ranks_ * 16;
    EXPECT_GE(workspace(*one_sided) - workspace(*two_sided), 2 * splits_ * array);
    EXPECT_LE(workspace(*one_sided) - workspace(*two_sided), 2 * splits_ * (array + 128));
  }
}

TEST_F(DanielsonLanczos, SaysWhereThereAreNoWindows) {
  Problem problem = test::problem_of({16, 16, 16});
  EXPECT_EQ(variant().cannot_run_on(problem, MPI_COMM_WORLD), std::nullopt);
  problem.parameters["messages"] = "one-sided";
  EXPECT_EQ(variant().cannot_run_on(problem, MPI_COMM_WORLD), std::nullopt);
  problem.instances = 2;
  EXPECT_EQ(variant().cannot_run_on(problem, MPI_COMM_WORLD), std::nullopt);
  problem.placement = Placement::subset;
#ifdef OPEN_MPI
  EXPECT_THAT(variant().cannot_run_on(problem, MPI_COMM_WORLD).value_or(""),
              testing::AllOf(testing::HasSubstr("messages=one-sided"), testing::HasSubstr("placement all")));
#endif
  problem.parameters["messages"] = "two-sided";
  EXPECT_EQ(variant().cannot_run_on(problem, MPI_COMM_WORLD), std::nullopt);
  problem.parameters["messages"] = "shmem";
  EXPECT_THROW((void)variant().supports(problem, ranks_), InputError);
}

TEST_F(DanielsonLanczos, GoesFromEveryPthPlaneToContiguousBlocks) {
  Problem problem = test::problem_of({16, 8, 8});
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
  Problem problem = test::problem_of({8, 8, 16});
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
    Problem problem = test::problem_of(shape, {{"split", split}});
    problem.grid = grid;
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
