// Several transforms at once: each right on data of its own, in step with the others, on the ranks it should have.

#include "harness/instances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "harness/sampler.hpp"
#include "harness/verifier.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;

Problem problem_of(int instances, Placement placement, std::vector<Index> shape = {15, 14, 13}) {
  Problem problem;
  problem.shape = std::move(shape);
  problem.instances = instances;
  problem.placement = placement;
  problem.contract.effort = Effort::estimate;
  return problem;
}

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

PlanContext context_of(const Variant& variant, const Problem& problem, const std::string& exchange) {
  return {problem, MPI_COMM_WORLD,
          variant.takes_exchange() ? &ExchangeRegistry::instance().get(exchange, "exchange") : nullptr,
          LocalFftRegistry::instance().get("fftw", "local FFT")};
}

/// Fills all, runs all at once, and says whether every instance here is right.
bool all_right(Instances& instances, const Problem& problem, std::vector<std::size_t>& order) {
  std::vector<std::unique_ptr<Verifier>> verifiers;
  for (const auto& instance : instances.here()) {
    verifiers.push_back(std::make_unique<Verifier>(one_instance(problem), instances.comm(), *instance.plan,
                                                   static_cast<std::uint64_t>(100 + instance.number)));
    verifiers.back()->fill(*instance.plan, 0);
  }
  PhaseClock clock;
  clock.start();
  instances.execute(clock, [&](std::size_t i) { order.push_back(i); });
  clock.stop();
  bool right = true;
  for (std::size_t i = 0; i < verifiers.size(); ++i)
    right = std::ranges::all_of(verifiers[i]->check_after(*instances.here()[i].plan), &Check::ok) && right;
  return right;
}

class InstancesTest : public testing::Test {
 protected:
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_F(InstancesTest, OverAllRanksAreEachRightWithEveryExchange) {
  for (const char* name : {"slab", "pencil", "fftw-mpi"})
    for (const Kind kind : {Kind::c2c, Kind::r2c})
      for (const auto& exchange : ExchangeRegistry::instance().names()) {
        const Variant& method = *VariantRegistry::instance().find(name);
        if (!method.unavailable().empty()) continue;
        if (!method.takes_exchange() && exchange != "alltoallv") continue;
        if (!ExchangeRegistry::instance().find(exchange)->unavailable().empty()) continue;
        if (method.takes_exchange() && method.refuses(ExchangeRegistry::instance().get(exchange, "exchange"), {}))
          continue;
        SCOPED_TRACE(std::string(name) + " " + exchange);
        Problem problem = problem_of(3, Placement::all);
        problem.kind = kind;
        ASSERT_FALSE(supports_instances(method, problem, ranks_));
        Instances instances(method, context_of(method, problem, exchange));
        EXPECT_EQ(instances.here().size(), 3U);
        EXPECT_TRUE(instances.several());
        for (int run = 0; run < 2; ++run) {
          std::vector<std::size_t> order;
          EXPECT_TRUE(all_right(instances, problem, order));
          EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2}));
        }
      }
}

/// Each ends when its own messages are in, so that no order is promised; every one of them ends once.
TEST_F(InstancesTest, OfMessagesAdvanceByTurns) {
  const Variant& method = variant("overdecomposed");
  for (const char* dealing : {"grid", "blocks", "round-robin"})
    for (const char* synchronisation : {"none", "broadcast-reduce"}) {
      Problem problem = problem_of(3, Placement::all);
      problem.parameters = {{"dealing", dealing}, {"decomposition", "5x6"}, {"synchronisation", synchronisation}};
      if (supports_instances(method, problem, ranks_)) continue;
      Instances instances(method, context_of(method, problem, ""));
      for (int run = 0; run < 3; ++run) {
        std::vector<std::size_t> order;
        EXPECT_TRUE(all_right(instances, problem, order));
        std::ranges::sort(order);
        EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2})) << dealing << " " << synchronisation;
      }
    }
}

TEST_F(InstancesTest, OnSubsetsHaveRanksOfTheirOwnAsEvenAsCanBe) {
  for (int count = 2; count <= ranks_; ++count) {
    const Problem problem = problem_of(count, Placement::subset);
    ASSERT_FALSE(supports_instances(variant("slab"), problem, ranks_));
    Instances instances(variant("slab"), context_of(variant("slab"), problem, "alltoallv"));
    ASSERT_EQ(instances.here().size(), 1U);
    const int number = instances.here().front().number;
    const Range range = ranks_of_instance(problem, ranks_, number);
    const int me = mpi::rank_in(MPI_COMM_WORLD);
    const int size = mpi::size_of(instances.comm());
    EXPECT_EQ(size, range.size());
    EXPECT_LE(range.low, me);
    EXPECT_LT(me, range.high);
    EXPECT_LE(size, ranks_ / count + 1);
    EXPECT_GE(size, ranks_ / count);
    std::vector<std::size_t> order;
    EXPECT_TRUE(all_right(instances, problem, order));
    EXPECT_EQ(order, std::vector<std::size_t>{0});
  }
}

TEST_F(InstancesTest, HaveTheSameComponentsOnEveryRankAlsoOnUnequalSubsets) {
  for (int count = 1; count <= ranks_; ++count)
    for (const auto placement : {Placement::all, Placement::subset}) {
      const Problem problem = problem_of(count, placement);
      Instances instances(variant("slab"), context_of(variant("slab"), problem, "alltoallv"));
      const auto components = instances.components();
      std::string names;
      for (const Component& component : components) names += component.name + ";";
      std::string first = names;
      first.resize(200);
      MPI_Bcast(first.data(), 200, MPI_CHAR, 0, MPI_COMM_WORLD);
      EXPECT_EQ(names, first.c_str());
      EXPECT_THAT(names, HasSubstr("fft-1;"));
      for (const Component& component : components) component.run();
    }
}

TEST_F(InstancesTest, AddUpInCostAndTraffic) {
  const Problem one = problem_of(1, Placement::all);
  const Problem three = problem_of(3, Placement::all);
  EXPECT_DOUBLE_EQ(three.credited_flops(), 3 * one.credited_flops());
  const Cost cost = cost_of_instances(variant("slab"), three, ranks_);
  EXPECT_DOUBLE_EQ(cost.flops, 3 * one.credited_flops());
  EXPECT_DOUBLE_EQ(cost.bytes_per_rank, 3 * variant("slab").cost(one, ranks_).bytes_per_rank);
  const Instances single(variant("slab"), context_of(variant("slab"), one, "alltoallv"));
  const Instances triple(variant("slab"), context_of(variant("slab"), three, "alltoallv"));
  EXPECT_FALSE(single.several());
  EXPECT_EQ(triple.total(&PlanFacts::message_volume).bytes_sent,
            3 * single.total(&PlanFacts::message_volume).bytes_sent);
  EXPECT_EQ(triple.total(&PlanFacts::buffer_bytes), 3 * single.total(&PlanFacts::buffer_bytes));
  const Problem apart = problem_of(ranks_, Placement::subset);
  EXPECT_EQ(Instances(variant("slab"), context_of(variant("slab"), apart, "alltoallv"))
                .total(&PlanFacts::message_volume)
                .bytes_sent,
            0);
}

/// It tells no phases apart: each axis reads and writes the data once, and so does what is sent.
TEST_F(InstancesTest, OfALibraryThatIsOnePieceMoveTheirDataForEachAxisAtLeast) {
  const Variant& library = *VariantRegistry::instance().find("fftw-mpi");
  if (!library.unavailable().empty()) GTEST_SKIP() << library.unavailable();
  if (16 % ranks_ != 0) return;
  const Problem problem = problem_of(2, Placement::all, {16, 16, 4});
  Instances instances(library, context_of(library, problem, "alltoallv"));
  const Index data = 16 * 16 * 4 * 16 / ranks_;
  const Index sent = instances.total(&PlanFacts::message_volume).bytes_sent;
  EXPECT_EQ(sent > 0, ranks_ > 1);
  EXPECT_EQ(instances.min_bytes(problem), (std::map<Phase, Index>{{Phase::other, 2 * 6 * data + 2 * sent}}));
}

TEST_F(InstancesTest, ThatDoNotFitGetTheAllowedValues) {
  const auto reason = supports_instances(variant("slab"), problem_of(5, Placement::subset), 3);
  ASSERT_TRUE(reason);
  EXPECT_THAT(*reason, testing::AllOf(HasSubstr("5 instances"), HasSubstr("3 ranks"), HasSubstr("allowed: 1 to 3")));
  EXPECT_FALSE(supports_instances(variant("slab"), problem_of(5, Placement::all), 3));
  for (const int count : {0, -1, 1025})
    EXPECT_THROW((void)supports_instances(variant("slab"), problem_of(count, Placement::all), 3), InputError);
  EXPECT_FALSE(supports_instances(variant("slab"), problem_of(1024, Placement::all), 3));
  const auto small = supports_instances(variant("serial"), problem_of(2, Placement::subset), 3);
  ASSERT_TRUE(small);
  EXPECT_THAT(*small, HasSubstr("on a subset of 2 ranks"));
  EXPECT_FALSE(supports_instances(variant("serial"), problem_of(3, Placement::subset), 3));
  Problem gridded = problem_of(2, Placement::subset);
  gridded.grid = {2};
  EXPECT_THROW((void)supports_instances(variant("slab"), gridded, 5), InputError);
  EXPECT_FALSE(supports_instances(variant("slab"), gridded, 4));
}

TEST_F(InstancesTest, AreTimedFromTheCommonStartToTheEndOfEach) {
  Problem problem = problem_of(3, Placement::all);
  Instances instances(variant("slab"), context_of(variant("slab"), problem, "alltoallv"));
  SamplingOptions options;
  options.repetitions = 4;
  Sampler sampler(MPI_COMM_WORLD, options);
  const Samples samples = sampler.measure_instances(
      3, [](int) {}, [&](PhaseClock& clock, const Sampler::Done& done) { instances.execute(clock, done); });
  if (mpi::rank_in(MPI_COMM_WORLD) != 0) return;
  ASSERT_EQ(samples.rank_instance_s.size(), static_cast<std::size_t>(ranks_));
  for (std::size_t rank = 0; rank < samples.rank_instance_s.size(); ++rank) {
    const auto& of_rank = samples.rank_instance_s[rank];
    ASSERT_EQ(of_rank.size(), 3U);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_GT(of_rank[0][i], 0);
      EXPECT_LT(of_rank[0][i], of_rank[1][i]);
      EXPECT_LT(of_rank[1][i], of_rank[2][i]);
      EXPECT_LE(of_rank[2][i], samples.rank_total_s[rank][i]);
    }
  }
}

}  // namespace
}  // namespace fourscore
