// The volumetric method of eleftheriou2005: three redistributions, each within lines or planes of the mesh, and the
// right transform on every mesh of the ranks, down to one pencil a rank. This program counts the calls of MPI itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/boxes_of.hpp"
#include "support/variant_fixture.hpp"
#include "variants/volumetric/volumetric_layouts.hpp"

namespace {
int collective_calls = 0;
bool reverses_ranks = false;  ///< what MPI_Cart_create does where it may reorder
int cartesian_calls = 0;
}  // namespace

/// An MPI that reorders: ours leave the ranks as they are.
extern "C" int MPI_Cart_create(MPI_Comm comm, int dimensions, const int* extents, const int* periods, int reorder,
                               MPI_Comm* made) {
  ++cartesian_calls;
  EXPECT_EQ(reorder, 1);
  for (int d = 0; d < dimensions; ++d) EXPECT_EQ(periods[d], 1);
  if (!reverses_ranks) return PMPI_Cart_create(comm, dimensions, extents, periods, reorder, made);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  PMPI_Comm_split(comm, 0, -rank, &reversed);
  const int error = PMPI_Cart_create(reversed, dimensions, extents, periods, 0, made);
  PMPI_Comm_free(&reversed);
  return error;
}

extern "C" int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_places, MPI_Datatype send_type,
                             void* receive, const int* receive_counts, const int* receive_places,
                             MPI_Datatype receive_type, MPI_Comm comm) {
  ++collective_calls;
  return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                        receive_type, comm);
}

namespace fourscore {
namespace {

std::vector<Grid> meshes_of(int ranks) {
  std::vector<Grid> meshes;
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; ranks % x == 0 && y <= ranks / x; ++y)
      if (ranks / x % y == 0) meshes.push_back({{x, y, ranks / x / y}});
  return meshes;
}

const Variant& volumetric() { return VariantRegistry::instance().get("volumetric", "variant"); }

/// Ranks that give each other elements between the two layouts agree in these coordinates of the mesh.
void expect_moves_keep(const std::vector<std::size_t>& axes, const Decomposition& from, const Decomposition& to,
                       const Grid& mesh) {
  for (int a = 0; a < mesh.ranks(); ++a)
    for (int b = 0; b < mesh.ranks(); ++b) {
      if (intersect(from.box(a), to.box(b)).empty()) continue;
      for (const std::size_t axis : axes)
        EXPECT_EQ(mesh.coordinates(a)[axis], mesh.coordinates(b)[axis]) << from.name << " to " << to.name;
    }
}

TEST(Deal, GivesEqualPiecesWhereThePapersConditionHolds) {
  int cases = 0;
  for (Index preferred = 1; preferred <= 12; ++preferred)
    for (Index other = 1; other <= 12; ++other)
      for (int parts = 1; parts <= preferred * other; ++parts) {
        const Deal pieces = deal(preferred, other, parts);
        ASSERT_EQ(pieces.preferred * pieces.other, parts);
        if (preferred * other % parts != 0) continue;
        EXPECT_EQ(preferred % pieces.preferred, 0) << preferred << " x " << other << " in " << parts;
        EXPECT_EQ(other % pieces.other, 0) << preferred << " x " << other << " in " << parts;
        ++cases;
      }
  EXPECT_GT(cases, 500);
}

TEST(VolumetricLayouts, CoverTheGridAndMoveWithinLinesAndPlanes) {
  const std::vector<Extents> shapes{{8, 8, 8}, {4, 4, 4}, {7, 5, 9}, {2, 3, 11}};
  for (const Extents& shape : shapes)
    for (const int ranks : {1, 2, 3, 4, 6, 8, 12, 16})
      for (const Grid& mesh : meshes_of(ranks)) {
        const auto [blocks, pencils] = volumetric_layouts(shape, mesh);
        SCOPED_TRACE(blocks.name + " of " + shape_text({shape[0], shape[1], shape[2]}));
        EXPECT_TRUE(test::covers_once(blocks));
        for (std::size_t axis = 0; axis < 3; ++axis) {
          EXPECT_TRUE(test::covers_once(pencils[axis]));
          for (const Box& box : test::boxes_of(pencils[axis])) {
            if (!box.empty()) {
              EXPECT_EQ(box.extents()[axis], shape[axis]);
            }
          }
        }
        expect_moves_keep({0, 1}, blocks, pencils[2], mesh);
        expect_moves_keep({0}, pencils[2], pencils[1], mesh);
        expect_moves_keep({2}, pencils[1], pencils[0], mesh);
        expect_moves_keep({1, 2}, pencils[0], blocks, mesh);
      }
}

TEST(VolumetricLayouts, GiveEachOfNSquaredRanksOnePencil) {
  for (const Index n : {2, 4, 8, 32}) {
    const Extents shape{n, n, n};
    const int ranks = static_cast<int>(n * n);
    ASSERT_EQ(fewest_pencils(shape), ranks);
    const Grid mesh = most_cubic_mesh(shape, ranks);
    const auto [blocks, pencils] = volumetric_layouts(shape, mesh);
    for (const Decomposition* layout : {&blocks, &pencils[0], &pencils[1], &pencils[2]})
      EXPECT_TRUE(std::ranges::all_of(test::boxes_of(*layout), [&](const Box& box) { return box.volume() == n; }))
          << layout->name << " of " << n;
  }
}

TEST(VolumetricMesh, IsMostCubicAndIdlesNoRank) {
  EXPECT_EQ(most_cubic_mesh({64, 64, 64}, 1), (Grid{{1, 1, 1}}));
  EXPECT_EQ(most_cubic_mesh({64, 64, 64}, 2), (Grid{{2, 1, 1}}));
  EXPECT_EQ(most_cubic_mesh({64, 64, 64}, 8), (Grid{{2, 2, 2}}));
  EXPECT_EQ(most_cubic_mesh({64, 64, 64}, 12), (Grid{{3, 2, 2}}));
  EXPECT_EQ(most_cubic_mesh({128, 128, 128}, 1024), (Grid{{16, 8, 8}}));
  EXPECT_EQ(most_cubic_mesh({1, 64, 64}, 2), (Grid{{1, 2, 1}}));
}

class VolumetricPlan : public testing::Test {
 protected:
  [[nodiscard]] static std::unique_ptr<Plan> plan_with(const Problem& problem, const std::string& exchange) {
    return test::make_plan(volumetric(), problem, &ExchangeRegistry::instance().get(exchange, "exchange"));
  }
  [[nodiscard]] static Problem cube_on(const Grid& mesh, Direction direction, LayoutContract layout) {
    Problem problem = test::problem_of({16, 16, 16}, {}, layout);
    problem.direction = direction;
    problem.grid.assign(mesh.extents.begin(), mesh.extents.end());
    return problem;
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

/// Three where all of the mesh's lines and planes have more than one rank, and a fourth back to the blocks; none where
/// the two layouts are one. A mesh of one rank along x has its blocks back after three.
TEST_F(VolumetricPlan, RedistributesThreeTimes) {
  for (const Grid& mesh : meshes_of(ranks_))
    for (const auto direction : {Direction::forward, Direction::backward})
      for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
        const Problem problem = cube_on(mesh, direction, layout);
        const auto plan = plan_with(problem, "alltoallv");
        const auto [x, y, z] = mesh.extents;
        int expected = (z > 1) + (y * z > 1) + (x * y > 1);
        if (layout == LayoutContract::natural && x > 1) ++expected;
        PhaseClock clock(false);
        collective_calls = 0;
        plan->execute(clock);
        EXPECT_EQ(collective_calls, expected) << grid_text(problem.grid);
        EXPECT_LE(collective_calls, layout == LayoutContract::natural ? 4 : 3);
        const auto components = plan->components();
        EXPECT_EQ(std::ranges::count(components, Phase::exchange, &Component::phase), expected);
        if (x == 1) {
          EXPECT_TRUE(plan->input_layout().same_boxes(plan->output_layout()));
        }
      }
}

/// Kept apart, the returns make six of them, and each goes within a line of the mesh.
TEST_F(VolumetricPlan, RedistributesSixTimesWhereReturnsAndDeparturesAreSeparate) {
  for (const Grid& mesh : meshes_of(ranks_))
    for (const auto direction : {Direction::forward, Direction::backward})
      for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
        Problem problem = cube_on(mesh, direction, layout);
        problem.parameters["redistributions"] = "separate";
        const auto plan = plan_with(problem, "alltoallv");
        const auto [x, y, z] = mesh.extents;
        const int ends = layout == LayoutContract::natural ? 2 : 1;
        const int expected = 2 * (z > 1) + 2 * (y > 1) + ends * (x > 1);
        PhaseClock clock(false);
        collective_calls = 0;
        plan->execute(clock);
        EXPECT_EQ(collective_calls, expected) << grid_text(problem.grid);
        for (int rank = 0; rank < ranks_; ++rank)
          for (const RedistributionGroup& group : volumetric().redistributions(problem, ranks_, rank))
            EXPECT_THAT((std::array{x, y, z}), testing::Contains(group.from.ranks())) << grid_text(problem.grid);
        if (16 % (ranks_ * ranks_) != 0) continue;
        const Cost cost = volumetric().cost(problem, ranks_);
        EXPECT_DOUBLE_EQ(static_cast<double>(plan->message_volume().bytes_sent), cost.bytes_per_rank);
        EXPECT_DOUBLE_EQ(static_cast<double>(plan->message_volume().messages_sent), cost.messages_per_rank);
      }
}

/// On 8x8x8 ranks, 5.25 N u / P bytes in place of 3.72, but 42 messages in place of 140.
TEST(VolumetricFormula, OfSeparateRedistributionsHasMoreBytesInFewerMessages) {
  Problem problem = test::problem_of({64, 64, 64}, {}, LayoutContract::natural);
  problem.grid = {8, 8, 8};
  const double share = 64 * 64 * 64 * 16 / 512.0;
  const Cost combined = volumetric().cost(problem, 512);
  EXPECT_DOUBLE_EQ(combined.bytes_per_rank / share, 4 - 2 / 8.0 - 2 / 64.0);
  EXPECT_DOUBLE_EQ(combined.messages_per_rank, 140);
  problem.parameters["redistributions"] = "separate";
  const Cost separate = volumetric().cost(problem, 512);
  EXPECT_DOUBLE_EQ(separate.bytes_per_rank / share, 5.25);
  EXPECT_DOUBLE_EQ(separate.messages_per_rank, 42);
  problem.parameters["redistributions"] = "six";
  EXPECT_THROW((void)volumetric().supports(problem, 512), InputError);
}

TEST_F(VolumetricPlan, CopiesNothingOnOneRank) {
  if (ranks_ > 1) GTEST_SKIP() << "for one rank";
  Problem problem = test::problem_of({16, 12, 10});
  for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
    problem.contract = {layout, Buffers::in_place, Effort::estimate};
    const auto components = plan_with(problem, "alltoallv")->components();
    ASSERT_EQ(components.size(), 1U);
    EXPECT_EQ(components.front().name, "fft-1");
  }
}

/// Blocks that divide, that do not, that are empty, and one pencil a rank; contracts and exchanges take turns.
TEST_F(VolumetricPlan, IsRightOnEveryMeshOfTheRanks) {
  const std::vector<std::vector<Index>> shapes{{2, 2, 2}, {4, 4, 4}, {8, 4, 16}, {7, 5, 9}, {3, 11, 2}};
  std::size_t turn = 0;
  std::size_t cases = 0;
  for (const Grid& mesh : meshes_of(ranks_))
    for (const auto& shape : shapes) {
      const auto contracts = test::contracts(shape);
      Problem problem = contracts[turn++ % contracts.size()];
      problem.grid.assign(mesh.extents.begin(), mesh.extents.end());
      if (turn / 3 % 2 == 0) problem.parameters["redistributions"] = "separate";
      if (volumetric().supports(problem, ranks_)) continue;
      const auto exchange = turn % 3 == 0 ? "shared" : turn % 3 == 1 ? "alltoallv" : "p2p";
      SCOPED_TRACE(test::text_of(problem, &ExchangeRegistry::instance().get(exchange, "exchange")));
      const auto plan = plan_with(problem, exchange);
      EXPECT_TRUE(test::covers_once(plan->input_layout()));
      EXPECT_TRUE(test::covers_once(plan->output_layout()));
      EXPECT_EQ(plan->facts().grid, problem.grid);
      EXPECT_LT(test::error_of_run(*plan, problem), 20);
      ++cases;
    }
  EXPECT_GE(cases, 3 * meshes_of(ranks_).size());
}

/// The rank order of the plan follows the communicator's: where MPI reorders, so do the boxes that the plan shows.
TEST_F(VolumetricPlan, IsRightOnACartesianCommunicatorWhoseRanksMpiReorders) {
  std::size_t turn = 0;
  for (const bool reverses : {false, true})
    for (const Grid& mesh : meshes_of(ranks_))
      for (const Kind kind : volumetric().facts().kinds)
        for (std::size_t third = 0; third < 3; ++third) {
          const auto contracts = test::contracts({7, 6, 8});
          Problem problem = contracts[(turn + 5 * third) % contracts.size()];
          problem.kind = kind;
          problem.grid.assign(mesh.extents.begin(), mesh.extents.end());
          if (volumetric().supports(problem, ranks_)) continue;
          const auto exchange = turn % 3 == 0 ? "shared" : turn % 3 == 1 ? "active" : "alltoallv";
          ++turn;
          SCOPED_TRACE(test::text_of(problem, &ExchangeRegistry::instance().get(exchange, "exchange")));
          const auto plain = plan_with(problem, exchange);
          EXPECT_EQ(cartesian_calls, 0);
          problem.parameters["topology"] = "cart";
          reverses_ranks = reverses;
          const auto plan = plan_with(problem, exchange);
          EXPECT_EQ(cartesian_calls, 1);
          cartesian_calls = 0;
          EXPECT_EQ(plan->facts().grid, problem.grid);
          const int in_mesh = reverses ? ranks_ - 1 - me_ : me_;
          EXPECT_EQ(plan->input_layout().box(me_), plain->input_layout().box(in_mesh));
          EXPECT_EQ(plan->output_layout().box(me_), plain->output_layout().box(in_mesh));
          EXPECT_EQ(plan->input_layout().padding(me_), plain->input_layout().padding(in_mesh));
          EXPECT_TRUE(test::covers_once(plan->input_layout()));
          EXPECT_TRUE(test::covers_once(plan->output_layout()));
          if (kind == Kind::r2c) {
            EXPECT_LT(test::error_of_real_run(*plan, problem), 20);
            continue;
          }
          EXPECT_LT(test::error_of_run(*plan, problem), 20);
        }
  EXPECT_GT(turn, 0U);
  Problem problem = test::problem_of({8, 8, 8}, {{"topology", "torus"}});
  EXPECT_THROW((void)volumetric().supports(problem, ranks_), InputError);
}

TEST_F(VolumetricPlan, TakesAsManyRanksAsAnAxisHasPencilsAndNoMore) {
  Problem problem = test::problem_of({4, 4, 4});
  EXPECT_FALSE(volumetric().supports(problem, 16));
  ASSERT_TRUE(volumetric().supports(problem, 17));
  EXPECT_THAT(*volumetric().supports(problem, 17), testing::AllOf(testing::HasSubstr("17"), testing::HasSubstr("16")));
  problem.shape = {2, 3, 64};
  EXPECT_FALSE(volumetric().supports(problem, 6));
  EXPECT_TRUE(volumetric().supports(problem, 7));
  problem.grid = {1, 2, 3};
  EXPECT_FALSE(volumetric().supports(problem, 6));
  EXPECT_THROW((void)volumetric().supports(problem, 5), InputError);
  problem.grid = {3, 2};
  EXPECT_THROW((void)volumetric().supports(problem, 6), InputError);
}

}  // namespace
}  // namespace fourscore
