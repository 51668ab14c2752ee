// Threads within a rank: any number of them, whoever calls MPI, however messages are cut. This program initialises MPI
// with MPI_THREAD_MULTIPLE.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "repeated_runs.hpp"
#include "support/message_of.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

class Node : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
    if (GetParam() == "multiple" && mpi::provided_thread_level() < ThreadLevel::multiple)
      GTEST_SKIP() << "MPI provides no MPI_THREAD_MULTIPLE";
  }
  void TearDown() override { test::adverse = false; }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find("node"); }

  static void check(const Problem& problem) { (void)test::is_right_three_times(variant(), problem); }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

class NodeOfCharm : public testing::Test {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << variant().unavailable();
    if (mpi::provided_thread_level() < ThreadLevel::multiple) GTEST_SKIP() << "MPI provides no MPI_THREAD_MULTIPLE";
  }
  void TearDown() override { test::adverse = false; }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find("node"); }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(Node, IsRightWithAnyNumberOfThreadsAndSegments) {
  std::size_t turn = 0;
  int cases = 0;
  for (const bool adverse : {false, true})
    for (const int threads : {1, 2, 3})
      for (const char* segments : {"1", "2", "5"})
        for (const auto& grid : all_grids(ranks_, 2)) {
          test::adverse = adverse;
          const auto contracts = test::contracts({15, 14, 13});
          Problem problem = contracts[(turn += 3) % contracts.size()];  // 3 and 16 have no common factor
          problem.grid = grid;
          problem.threads = threads;
          problem.parameters = {{"mpi", GetParam()}, {"segments", segments}, {"segment-bytes", "1"}};
          ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
          check(problem);
          ++cases;
        }
  EXPECT_EQ(cases, 18 * static_cast<int>(all_grids(ranks_, 2).size()));
}

TEST_P(Node, HasThreadsWithoutAnythingToDo) {
  for (const std::vector<Index>& shape : {std::vector<Index>{7, 1, 9}, {2, 3, 64}, {3, 2, 2}})
    for (Problem problem : test::contracts(shape)) {
      problem.threads = 3;
      problem.parameters = {{"mpi", GetParam()}, {"segment-bytes", "1"}};
      if (!variant().supports(problem, ranks_)) check(problem);
    }
}

/// Rows of reals and of half a spectrum, shared out: all splits of a stage into passes, both ways.
TEST_P(Node, TransformsRealDataWithAnyNumberOfThreads) {
  for (const std::vector<Index>& shape : {std::vector<Index>{15, 14, 13}, {2, 9, 16}, {7, 3, 10}})
    for (Problem problem : test::contracts(shape))
      for (const int threads : {1, 3}) {
        problem.kind = Kind::r2c;
        problem.threads = threads;
        problem.parameters = {{"mpi", GetParam()}, {"segment-bytes", "1"}};
        if (variant().supports(problem, ranks_)) continue;
        SCOPED_TRACE(test::text_of(problem, nullptr) + " threads " + std::to_string(threads));
        const auto plan = test::make_plan(variant(), problem, nullptr);
        EXPECT_TRUE(test::covers_once(plan->input_layout()));
        EXPECT_TRUE(test::covers_once(plan->output_layout()));
        for (int run = 0; run < 2; ++run) EXPECT_LT(test::error_of_real_run(*plan, problem), 20);
      }
}

/// Two plans whose parts take turns, as those of instances do: what one has on its way the other leaves alone.
TEST_P(Node, IsRightInPartsThatTakeTurns) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  for (const bool adverse : {false, true})
    for (const char* style : {"segments", "charm"})
      for (Problem problem : test::contracts({15, 14, 13})) {
        if (problem.precision == Precision::single_precision) continue;
        if (GetParam() == "funneled" && std::string(style) == "charm") continue;
        test::adverse = adverse;
        problem.threads = 2;
        problem.parameters = {{"mpi", GetParam()}, {"style", style}};
        SCOPED_TRACE(test::text_of(problem, nullptr) + " " + style);
        const auto& field = test::random_field(problem.extents());
        const auto& expected = test::transformed_field(problem.extents(), problem.direction);
        std::vector<std::unique_ptr<Plan>> plans;
        for (int i = 0; i < 2; ++i) plans.push_back(test::make_plan(variant(), problem, nullptr));
        for (int run = 0; run < 2; ++run) {
          for (const auto& plan : plans) test::write(field, plan->input_layout(), me, problem.precision, plan->input());
          PhaseClock clock;
          clock.start();
          int parts = 0;
          for (Advance result = Advance::worked; result != Advance::complete; ++parts)
            for (const auto& plan : plans) result = plan->advance(clock);
          EXPECT_GT(parts, ranks_ > 1 ? 1 : 0);
          clock.stop();
          for (const auto& plan : plans)
            EXPECT_LT(test::error_of(expected, 1, plan->output_layout(), me, problem.precision, plan->output()), 20);
        }
      }
}

/// As many messages as pencils have; cut, each becomes as many as asked for.
TEST_P(Node, CutsEachMessageIntoTheSegmentsAskedFor) {
  for (const auto& grid : all_grids(ranks_, 2)) {
    Problem problem = test::contracts({24, 24, 24}).front();
    problem.grid = grid;
    problem.threads = 2;
    problem.parameters = {{"mpi", GetParam()}, {"segments", "1"}};
    const Index whole = test::make_plan(variant(), problem, nullptr)->message_volume().messages_sent;
    Problem pencils = problem;
    pencils.threads = 1;
    pencils.parameters.clear();
    const auto& pencil = VariantRegistry::instance().get("pencil", "variant");
    EXPECT_EQ(whole, test::make_plan(pencil, pencils, &ExchangeRegistry::instance().get("alltoallv", "exchange"))
                         ->message_volume()
                         .messages_sent);
    problem.parameters = {{"mpi", GetParam()}, {"segments", "4"}, {"segment-bytes", "1"}};
    const auto plan = test::make_plan(variant(), problem, nullptr);
    EXPECT_EQ(plan->message_volume().messages_sent, 4 * whole);
    EXPECT_DOUBLE_EQ(variant().cost(problem, ranks_).messages_per_rank, static_cast<double>(4 * whole));
    EXPECT_DOUBLE_EQ(variant().cost(problem, ranks_).bytes_per_rank,
                     static_cast<double>(plan->message_volume().bytes_sent));
    problem.parameters["segment-bytes"] = "1000000";
    EXPECT_EQ(test::make_plan(variant(), problem, nullptr)->message_volume().messages_sent, whole);
  }
}

TEST_P(Node, ComponentsRunAlone) {
  Problem problem = test::contracts({15, 14, 13}).front();
  problem.threads = 2;
  problem.parameters = {{"mpi", GetParam()}, {"segment-bytes", "1"}};
  const auto plan = test::make_plan(variant(), problem, nullptr);
  int exchanges = 0;
  for (int run = 0; run < 2; ++run)
    for (const Component& component : plan->components()) {
      component.run();
      exchanges += component.phase == Phase::exchange ? 1 : 0;
    }
  EXPECT_EQ(exchanges > 0, ranks_ > 1);
}

/// What one thread did in one run: its phases in order, a letter each (o: outside all Regions), and its seconds of one.
struct ThreadRun {
  std::string phases;
  double unpack_s = 0;
};

std::vector<ThreadRun> traced(Plan& plan, std::size_t threads) {
  std::vector<EventLog> logs(threads, EventLog(10'000));
  std::vector<PhaseClock> lanes;
  for (std::size_t thread = 1; thread < threads; ++thread) lanes.emplace_back(logs[thread]);
  PhaseClock clock(logs.front(), lanes);
  clock.start();
  plan.execute(clock);
  clock.stop();
  std::vector<ThreadRun> runs;
  for (const EventLog& log : logs) {
    ThreadRun& run = runs.emplace_back();
    for (const PhaseEvent& event : log.events()) {
      const char letter = event.phase == Phase::other      ? 'o'
                          : event.phase == Phase::exchange ? 'x'
                                                           : phase_names[static_cast<std::size_t>(event.phase)].front();
      if (run.phases.empty() || run.phases.back() != letter) run.phases += letter;
      if (event.phase == Phase::unpack) run.unpack_s += 1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
    }
  }
  return runs;
}

/// Each segment is packed and sent, in turn, and unpacked where it came in; what a thread waits for is the exchange.
/// The last rank comes late, so that the others wait. Thread 0 of funneled asks MPI without a pause meanwhile, and its
/// phases are those of a rank of one thread (phases_test.cpp).
TEST_P(Node, TellsThePhasesOfEveryThreadApart) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  constexpr std::size_t threads = 2;
  constexpr double late_s = 0.2;
  Problem problem = test::problem_of({24, 24, 24}, {{"mpi", GetParam()}, {"segments", "4"}, {"segment-bytes", "1"}});
  problem.grid = {ranks_, 1};
  problem.threads = threads;
  const auto plan = test::make_plan(variant(), problem, nullptr);
  const bool is_late = mpi::rank_in(MPI_COMM_WORLD) == ranks_ - 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (is_late) usleep(static_cast<useconds_t>(1e6 * late_s));
  const std::vector<ThreadRun> runs = traced(*plan, threads);
  const auto sends = static_cast<std::size_t>(plan->message_volume().messages_sent);
  for (std::size_t thread = GetParam() == "funneled" ? 1 : 0; thread < threads; ++thread) {
    const auto& [phases, unpack_s] = runs[thread];
    std::string exchange = "x(px)+(ux)+";  // who packs and sends its own segments
    if (GetParam() == "funneled") exchange = is_late ? "xpx(ux)*" : "xpx(ux)+";
    EXPECT_TRUE(std::regex_match(phases, std::regex("o?xo?(fo?)+" + exchange + "o?(fo?)+"))) << phases;
    if (GetParam() == "multiple") {
      const auto own_sends = (sends + threads - 1 - thread) / threads;
      EXPECT_EQ(std::ranges::count(phases, 'p'), own_sends + 1) << phases << ": what stays is packed once more";
    }
    if (!is_late) {
      EXPECT_LT(unpack_s, late_s / 2) << "thread " << thread << " waited in phase unpack";
    }
  }
}

/// As Charm-NodeFFT was: whole messages, packed by whoever has its turn, taken by whoever is free.
TEST_F(NodeOfCharm, IsRightWithAnyNumberOfThreads) {
  std::size_t turn = 0;
  for (const bool adverse : {false, true})
    for (const int threads : {1, 2, 3})
      for (const char* z_to_y : {"threads", "one-thread"})
        for (const auto& grid : all_grids(ranks_, 2))
          for (int contract = 0; contract < 2; ++contract) {
            test::adverse = adverse;
            const auto contracts = test::contracts({15, 14, 13});
            Problem problem = contracts[(turn += 3) % contracts.size()];  // 3 and 16 have no common factor
            problem.grid = grid;
            problem.threads = threads;
            problem.parameters = {{"style", "charm"}, {"z-to-y", z_to_y}};
            ASSERT_EQ(variant().supports(problem, ranks_), std::nullopt);
            EXPECT_EQ(variant().thread_level(problem), threads > 1 ? ThreadLevel::multiple : ThreadLevel::funneled);
            (void)test::is_right_three_times(variant(), problem);
          }
}

TEST_F(NodeOfCharm, SendsOneMessageToEachRankOfItsRowAndColumn) {
  Problem problem = test::contracts({24, 24, 24}).front();
  problem.contract.layout = LayoutContract::transposed;
  problem.threads = 3;
  problem.parameters = {{"style", "charm"}};
  for (const auto& grid : all_grids(ranks_, 2)) {
    problem.grid = grid;
    const Index messages = test::make_plan(variant(), problem, nullptr)->message_volume().messages_sent;
    EXPECT_EQ(messages, grid[0] - 1 + grid[1] - 1);
    EXPECT_DOUBLE_EQ(variant().cost(problem, ranks_).messages_per_rank, static_cast<double>(messages));
  }
}

/// Table 3.1 of lee2018: 150x150x300, 150x75x300 and 75x75x300 points a node of 300^3.
TEST_F(NodeOfCharm, HasTheGridsOfThePaper) {
  Problem problem = test::contracts({300, 300, 300}).front();
  problem.parameters = {{"style", "charm"}};
  const auto input = [&](int ranks, const Grid& grid) {
    const auto groups = variant().redistributions(problem, ranks, 0);
    ASSERT_FALSE(groups.empty());
    EXPECT_EQ(groups.front().from.box(0).extents(), (Extents{300 / grid.extents[0], 300 / grid.extents[1], 300}));
  };
  input(4, {{2, 2, 1}});
  input(8, {{2, 4, 1}});
  input(16, {{4, 4, 1}});
}

/// Only the step from Z to Y is left to one thread, and the others pack elsewhere.
TEST_F(NodeOfCharm, LeavesTheStepFromZToOneThreadWhereAsked) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  Problem problem = test::problem_of({24, 24, 24});
  problem.grid = {1, ranks_};  // one exchange, from Z to what is whole in Y and X
  problem.threads = 2;
  for (const auto direction : {Direction::forward, Direction::backward})
    for (const char* z_to_y : {"threads", "one-thread"}) {
      problem.direction = direction;
      problem.parameters = {{"style", "charm"}, {"z-to-y", z_to_y}};
      const auto runs = traced(*test::make_plan(variant(), problem, nullptr), 2);
      const bool alone = direction == Direction::forward && std::string(z_to_y) == "one-thread";
      // The block that stays is one segment, and thread 0's; a message more is dealt to thread 1 with three ranks.
      const auto packs = std::ranges::count(runs[1].phases, 'p');
      if (alone) {
        EXPECT_LE(packs, 1) << runs[1].phases;
      }
      if (!alone && ranks_ > 2) {
        EXPECT_GE(packs, 2) << runs[1].phases;
      }
    }
}

TEST_F(NodeOfCharm, SaysWhatItExcludes) {
  Problem problem = test::contracts({15, 14, 13}).front();
  using Parameters = std::map<std::string, std::string>;
  for (const Parameters& parameters :
       {Parameters{{"style", "charm"}, {"segments", "2"}}, Parameters{{"style", "charm"}, {"segment-bytes", "1"}},
        Parameters{{"style", "charm"}, {"mpi", "funneled"}}, Parameters{{"z-to-y", "one-thread"}}}) {
    problem.parameters = parameters;
    EXPECT_THAT(test::message_of([&] { return variant().supports(problem, ranks_); }), testing::HasSubstr("expected"));
  }
  problem.parameters = {{"style", "charm"}, {"mpi", "multiple"}};
  EXPECT_EQ(variant().supports(problem, ranks_), std::nullopt);
}

TEST_P(Node, NamesWhatAParameterMayBe) {
  Problem problem = test::contracts({15, 14, 13}).front();
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"mpi", "several"}, {"segments", "0"}, {"segments", "5000"}, {"segment-bytes", "x"}}) {
    problem.parameters = {{key, value}};
    EXPECT_THAT(test::message_of([&] { return variant().supports(problem, ranks_); }),
                testing::AllOf(testing::HasSubstr(key), testing::HasSubstr("allowed: ")));
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, Node, testing::Values("funneled", "multiple"), [](const auto& i) { return i.param; });

}  // namespace
}  // namespace fourscore
