// Ranks that plan together: the same plan on all that do the same work, and no rank that waits for one that failed.

#include "harness/planning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/gather.hpp"
#include "interfaces/exchange.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "support/world.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;

using test::rank;
int ranks() { return mpi::size_of(MPI_COMM_WORLD); }

LocalFftSpec spec_of(Index length, Index rows = 4) {
  LocalFftSpec spec;
  spec.axes = {{length, rows, rows}};
  spec.batch = {{rows, 1, 1}};
  return spec;
}

/// A library whose planning is what a test says.
class Told : public LocalFftLibrary {
 public:
  using Plan = std::function<void(const LocalFftSpec&, PlanningPeers&)>;
  explicit Told(Plan plan) : plan_(std::move(plan)) {}
  [[nodiscard]] Card card() const override { return {"told", "", ""}; }
  [[nodiscard]] std::string version() const override { return "1"; }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& /*spec*/, void* /*in*/,
                                               void* /*out*/) const override {
    return nullptr;
  }
  void plan_together(const LocalFftSpec& spec, void* /*in*/, void* /*out*/, PlanningPeers& peers) const override {
    plan_(spec, peers);
  }
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  Plan plan_;
};

/// The message with which all ranks leave; empty: they do not.
std::string failure_of(const Told::Plan& plan, const std::vector<WantedPlan>& wanted) {
  Agreement agreement(MPI_COMM_WORLD, "planning_test");
  try {
    plan_together(MPI_COMM_WORLD, agreement, Told(plan), wanted);
  } catch (const LeaveTogether& left) {
    return left.message;
  }
  return {};
}

TEST(PlanTogether, ValuesAreTheLargestOfThePeersAndTextsThoseOfTheFirst) {
  std::vector<double> values;
  std::string text;
  bool is_first = false;
  EXPECT_EQ(failure_of(
                [&](const LocalFftSpec&, PlanningPeers& peers) {
                  values.resize(2);
                  peers.agree(
                      "step",
                      [&] {
                        values = {1.0 * rank(), -1.0 * rank()};
                      },
                      values);
                  text = peers.of_first("rank " + std::to_string(rank()));
                  is_first = peers.is_first();
                },
                {{spec_of(8)}}),
            "");
  EXPECT_THAT(values, testing::ElementsAre(ranks() - 1, 0));
  EXPECT_EQ(text, "rank 0");
  EXPECT_EQ(is_first, rank() == 0);
}

TEST(PlanTogether, RanksThatWantTheSameArePeersHoweverManyPlansEachWants) {
  // Even and odd ranks want different plans, and rank 0 one more than all others.
  std::vector<WantedPlan> wanted{{spec_of(rank() % 2 == 0 ? 8 : 9)}, {spec_of(16)}};
  if (rank() == 0) wanted.push_back({spec_of(32)});
  std::map<Index, double> peers_of;
  const auto plan = [&](const LocalFftSpec& spec, PlanningPeers& peers) {
    // The largest of one value for each rank counts the peers.
    std::vector<double> here(static_cast<std::size_t>(ranks()));
    peers.agree(
        "count", [&] { here[static_cast<std::size_t>(rank())] = 1; }, here);
    double& count = peers_of[spec.axes.front().count];
    for (const double one : here) count += one;
  };
  EXPECT_EQ(failure_of(plan, wanted), "");
  const int even = (ranks() + 1) / 2;
  std::map<Index, double> expected{{rank() % 2 == 0 ? 8 : 9, rank() % 2 == 0 ? even : ranks() - even}, {16, ranks()}};
  if (rank() == 0) expected[32] = 1;
  EXPECT_EQ(peers_of, expected);
}

TEST(PlanTogether, AFailureOnOneRankEndsPlanningOnAllWithItsMessage) {
  const int failing = ranks() - 1;
  const auto in_a_step = [&](const LocalFftSpec&, PlanningPeers& peers) {
    for (int step = 0; step < 3; ++step)
      peers.agree("outer " + std::to_string(step),
                  [&] {
                    peers.agree("inner",
                                [&] {
                                  if (rank() == failing && step == 1)
                                    throw std::runtime_error("no memory for candidate 1");
                                },
                                {});
                  },
                  {});
  };
  const auto between_steps = [&](const LocalFftSpec&, PlanningPeers& peers) {
    peers.agree("first", [] {}, {});
    if (rank() == failing) throw std::runtime_error("no memory for candidate 2");
    peers.agree("second", [] {}, {});
    (void)peers.of_first("text");
  };
  const auto at_the_end = [&](const LocalFftSpec&, PlanningPeers&) {
    if (rank() == failing) throw std::runtime_error("no memory for candidate 3");
  };
  EXPECT_THAT(failure_of(in_a_step, {{spec_of(8)}, {spec_of(9)}}), HasSubstr("candidate 1"));
  EXPECT_THAT(failure_of(between_steps, {{spec_of(8)}, {spec_of(9)}}), HasSubstr("candidate 2"));
  EXPECT_THAT(failure_of(at_the_end, {{spec_of(8)}, {spec_of(9)}}), HasSubstr("candidate 3"));
}

TEST(PlanTogether, RanksAtDifferentStepsAreAnErrorAndNotADeadlock) {
  const auto plan = [](const LocalFftSpec&, PlanningPeers& peers) {
    peers.agree(rank() == 0 ? "step of rank 0" : "step of others", [] {}, {});
  };
  const std::string message = failure_of(plan, {{spec_of(8)}});
  if (ranks() == 1)
    EXPECT_EQ(message, "");
  else
    EXPECT_THAT(message, HasSubstr("different steps"));
}

const LocalFftLibrary& fftw() { return LocalFftRegistry::instance().get("fftw", "local FFT library"); }

/// A plan of three axes, of which the slowest is of `length`, with all that SplitPlanner may choose between.
LocalFftSpec three_axes(Index length, bool single_plan) {
  LocalFftSpec spec;
  spec.axes = {{32, 1, 1}, {24, 32, 32}, {length, 768, 768}};
  spec.single_plan = single_plan;
  return spec;
}

TEST(PlanTogether, EveryRankRemembersTheSamePlanWithFftw) {
  for (const bool single_plan : {false, true})
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(testing::Message() << "single plan " << single_plan << ", in place " << in_place);
      // The last rank has other work than the others.
      const Index length = (rank() == ranks() - 1 ? 20 : 16) + (single_plan ? 1 : 0);
      const LocalFftSpec spec = three_axes(length, single_plan);
      const std::unique_ptr<Buffer> in = ordinary_buffer(static_cast<std::size_t>(768 * length) * 16);
      const std::unique_ptr<Buffer> other = ordinary_buffer(static_cast<std::size_t>(768 * length) * 16);
      void* const out = in_place ? in->data() : other->data();
      NotingLibrary noting(fftw());
      EXPECT_EQ(noting.make(spec, in->data(), out)->describe(), "to be planned");
      EXPECT_EQ(noting.make(spec, in->data(), out)->describe(), "to be planned");
      ASSERT_EQ(noting.wanted().size(), 1);
      Agreement agreement(MPI_COMM_WORLD, "planning_test");
      plan_together(MPI_COMM_WORLD, agreement, fftw(), noting.wanted());
      const auto remembered = fftw().make_from_memory(spec, in->data(), out);
      ASSERT_NE(remembered, nullptr);
      const std::string mine = remembered->describe();
      EXPECT_EQ(noting.make(spec, in->data(), out)->describe(), mine);
      EXPECT_EQ(fftw().make(spec, in->data(), out)->describe(), mine);
      const std::string of_rank_0 = mpi::broadcast_text(MPI_COMM_WORLD, 0, mine);
      if (rank() < ranks() - 1) {
        EXPECT_EQ(mine, of_rank_0);
      }
    }
}

TEST(PlanTogether, WhatIsPlannedByEstimateIsMadeAtOnce) {
  std::vector<std::complex<double>> data(64);
  LocalFftSpec spec = spec_of(16);
  spec.effort = Effort::estimate;
  NotingLibrary noting(fftw());
  EXPECT_NE(noting.make(spec, data.data(), data.data())->describe(), "to be planned");
  EXPECT_TRUE(noting.wanted().empty());
}

TEST(PlanTogether, ATransformThatIsStillToBePlannedCannotRun) {
  std::vector<std::complex<double>> data(std::size_t{23} * 4);
  NotingLibrary noting(fftw());
  const auto fft = noting.make(spec_of(23), data.data(), data.data());
  EXPECT_THROW(fft->execute(), std::logic_error);
}

}  // namespace
}  // namespace fourscore
