// A tuned launch: what is slow is not chosen and not timed for long, what fails is left out, on all ranks alike.

#include "program/tuning.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "harness/gather.hpp"
#include "mpi/handles.hpp"

namespace fourscore::bench {
namespace {

using testing::HasSubstr;

/// Another exchange, later by 5 ms.
class Late : public Exchange {
 public:
  explicit Late(std::unique_ptr<Exchange> inner) : inner_(std::move(inner)) { declared() = inner_->facts(); }
  void pack() override { inner_->pack(); }
  void start() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    inner_->start();
  }
  void finish() override { inner_->finish(); }
  void unpack() override { inner_->unpack(); }

 private:
  std::unique_ptr<Exchange> inner_;
};

enum class Fault { late, fails_to_plan, refuses_on_last_rank };

class FaultyMethod : public ExchangeMethod {
 public:
  explicit FaultyMethod(Fault fault) : fault_(fault) {}
  [[nodiscard]] Card card() const override { return {"faulty", "", ""}; }
  [[nodiscard]] Reason cannot_run_on(MPI_Comm comm) const override {
    const bool last = mpi::rank_in(comm) == mpi::size_of(comm) - 1;
    if (fault_ == Fault::refuses_on_last_rank && last) return "not on the last rank";
    return std::nullopt;
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    if (fault_ == Fault::fails_to_plan) throw std::runtime_error("no plan on purpose");
    return std::make_unique<Late>(ExchangeRegistry::instance().get("alltoallv", "exchange").make(spec));
  }

 private:
  Fault fault_;
};

class Tuning : public testing::Test {
 protected:
  Tuning() {
    options.sampling.repetitions = 2;
    options.point.variant = "slab";
    options.point.problem.shape = {6, 6, 6};
    options.point.ranks = mpi::size_of(MPI_COMM_WORLD);
    options.point.exchange = tuned_word;
    for (const ResolvedPoint& one : resolve_choice(options.point).candidates)
      if (one.point.exchange == "alltoallv" || one.point.exchange == "p2p") candidates.push_back(one);
  }
  /// The first, with this exchange in the place of its own.
  ResolvedPoint with(const ExchangeMethod& method) {
    ResolvedPoint one = candidates.front();
    one.exchange = &method;
    one.point.exchange = "faulty";
    return one;
  }
  Tuned run() { return tune(MPI_COMM_WORLD, agreement, options, candidates); }
  Options options;
  std::vector<ResolvedPoint> candidates;
  Agreement agreement{MPI_COMM_WORLD, "tuning_test"};
};

/// Rank 0 compares the answers of all.
void expect_same_everywhere(const Tuned& tuned, const ResolvedPoint& chosen) {
  const auto all = gather_json(MPI_COMM_WORLD, tuning_json(chosen, tuned));
  for (const auto& one : all) EXPECT_EQ(one, all.front());
}

TEST_F(Tuning, TheFastestIsChosenOnAllRanksAlike) {
  ASSERT_EQ(candidates.size(), 2U);
  const Tuned tuned = run();
  ASSERT_TRUE(tuned.resolved);
  ASSERT_EQ(tuned.tried.size(), 2U);
  EXPECT_EQ(tuned.resolved->point.exchange, tuned.tried[tuned.best].exchange);
  for (const Tried& one : tuned.tried) EXPECT_GE(one.time_s, tuned.tried[tuned.best].time_s);
  EXPECT_EQ(tuned.tried[0].grid, std::vector<int>{options.point.ranks});
  expect_same_everywhere(tuned, *tuned.resolved);
}

TEST_F(Tuning, OneThatTakesTwiceTheBestTimeGetsOneRun) {
  const FaultyMethod late(Fault::late);
  candidates.push_back(with(late));
  const Tuned tuned = run();
  EXPECT_EQ(tuned.tried[0].runs, tuning_runs);
  EXPECT_EQ(tuned.tried[2].runs, 1);
  EXPECT_GE(tuned.tried[2].time_s, 0.005);
  EXPECT_NE(tuned.best, 2U);
}

TEST_F(Tuning, TheFirstHasAllItsRunsHoweverSlow) {
  const FaultyMethod late(Fault::late);
  candidates.insert(candidates.begin(), with(late));
  const Tuned tuned = run();
  EXPECT_EQ(tuned.tried[0].runs, tuning_runs);
  EXPECT_NE(tuned.best, 0U);
}

TEST_F(Tuning, OneThatCannotBePlannedOrRefusesOnOneRankIsLeftOut) {
  const FaultyMethod unplanned(Fault::fails_to_plan), refusing(Fault::refuses_on_last_rank);
  candidates.insert(candidates.begin(), {with(unplanned), with(refusing)});
  const Tuned tuned = run();
  ASSERT_TRUE(tuned.resolved);
  EXPECT_FALSE(tuned.refusal);
  EXPECT_THAT(tuned.tried[0].left_out, HasSubstr("no plan on purpose"));
  EXPECT_THAT(tuned.tried[1].left_out, HasSubstr("not on the last rank"));
  EXPECT_GE(tuned.best, 2U);
  const auto told = tuning_json(*tuned.resolved, tuned);
  EXPECT_FALSE(told["candidates"][0].contains("time_s"));
  EXPECT_THAT(tuning_text(told), HasSubstr("the fastest of 2 candidates, 2 left out"));
  expect_same_everywhere(tuned, *tuned.resolved);
}

TEST_F(Tuning, WhereNoneIsLeftTheFirstReasonIsGiven) {
  const FaultyMethod refusing(Fault::refuses_on_last_rank), unplanned(Fault::fails_to_plan);
  candidates = {with(refusing), with(unplanned)};
  const Tuned tuned = run();
  EXPECT_FALSE(tuned.resolved);
  ASSERT_TRUE(tuned.refusal);
  EXPECT_THAT(tuned.refusal->reason, HasSubstr("not on the last rank"));
}

}  // namespace
}  // namespace fourscore::bench
