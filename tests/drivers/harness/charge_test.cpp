// What a run is charged on a simulated machine, and when.

#include "harness/charge.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace fourscore {
namespace {

const std::map<Phase, Index> charged_bytes{{Phase::fft, 800}, {Phase::pack, 400}, {Phase::exchange, 1000}};

/// A thread takes 1 ns for a flop, or for a byte. `worked` has the charges as they come.
class ChargeTest : public testing::Test {
 protected:
  ChargeTest() {
    machine_.flops_per_s = machine_.memory_bandwidth_bytes_per_s = 1e9;
    machine_.work = [this](double seconds, double moved) { worked_.emplace_back(1e9 * seconds, moved); };
    machine_.enter_exchange = [](int) {};
    machine_.listen_to_threads = [this](auto listener) { tell_ = std::move(listener); };
  }
  [[nodiscard]] Charges charges(RankThreads threads = {}) const {
    return charges_of(machine_, 3200, charged_bytes, threads);
  }

  using Worked = std::vector<std::pair<double, double>>;
  SimulatedMachine machine_;
  Worked worked_;
  std::function<void(Phase, std::int64_t)> tell_;
};

TEST_F(ChargeTest, APhaseTakesTheLongerOfItsFlopsAndItsBytes) {
  const auto& phases = charges().phases;
  EXPECT_DOUBLE_EQ(phases[static_cast<std::size_t>(Phase::fft)].seconds, 3.2e-6);
  EXPECT_DOUBLE_EQ(phases[static_cast<std::size_t>(Phase::pack)].seconds, 0.4e-6);
  EXPECT_EQ(phases[static_cast<std::size_t>(Phase::exchange)].seconds, 0);
}

TEST_F(ChargeTest, AThreadedLibraryShortensTheTransformsAlone) {
  const auto& phases = charges({1, 4}).phases;
  EXPECT_DOUBLE_EQ(phases[static_cast<std::size_t>(Phase::fft)].seconds, 0.8e-6);
  EXPECT_DOUBLE_EQ(phases[static_cast<std::size_t>(Phase::pack)].seconds, 0.4e-6);
}

TEST_F(ChargeTest, OneThreadTakesAnEqualPartInEachRegionOfTheRunBefore) {
  ChargingObserver observer(machine_, charges());
  for (int run = 0; run < 2; ++run) {
    observer.begin_run();
    EXPECT_FALSE(tell_);
    for (const Phase phase : {Phase::fft, Phase::fft, Phase::pack}) observer.switched_to(phase);
    observer.end_run();
    EXPECT_EQ(worked_.empty(), run == 0);
  }
  EXPECT_EQ(worked_, (Worked{{1600, 400}, {1600, 400}, {400, 400}}));
}

TEST_F(ChargeTest, ThreadsTakeTheTimeOfWhatTheyTellByItsBytes) {
  ChargingObserver observer(machine_, charges({4, 1}));
  for (int run = 0; run < 2; ++run) {
    observer.begin_run();
    observer.switched_to(Phase::fft);  // takes no time of its own once threads tell
    for (const std::int64_t told : {300, 100, 0}) tell_(Phase::fft, told);
    tell_(Phase::pack, 50);  // one thread alone
    observer.end_run();
    EXPECT_FALSE(tell_);
  }
  EXPECT_EQ(worked_, (Worked{{2400, 600}, {800, 200}, {400, 400}}));
}

TEST_F(ChargeTest, ThreadsThatTellNothingTakeTheTimeOfOne) {
  ChargingObserver observer(machine_, charges({4, 1}));
  for (int run = 0; run < 2; ++run) {
    observer.begin_run();
    observer.switched_to(Phase::fft);
    observer.end_run();
  }
  EXPECT_EQ(worked_, (Worked{{3200, 800}}));
}

TEST_F(ChargeTest, AComponentAloneIsSharedOutEvenly) {
  const Component half{"fft-1", Phase::fft, nullptr, 400};
  EXPECT_DOUBLE_EQ(charge_of(half, charges(), charged_bytes).seconds, 1.6e-6);
  EXPECT_DOUBLE_EQ(charge_of(half, charges({4, 1}), charged_bytes).seconds, 0.4e-6);
  EXPECT_DOUBLE_EQ(charge_of(half, charges({4, 1}), charged_bytes).bytes, 400);
}

}  // namespace
}  // namespace fourscore
