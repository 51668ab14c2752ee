#include "core/phase.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace fourscore {
namespace {

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

double sum(const PhaseClock& clock) {
  double result = 0;
  for (std::size_t p = 0; p < phase_count; ++p) result += clock.seconds(static_cast<Phase>(p));
  return result;
}

TEST(PhaseClock, PhasesAddUpToTheWholeTime) {
  PhaseClock clock;
  const auto begin = std::chrono::steady_clock::now();
  clock.start();
  {
    const Region fft(clock, Phase::fft);
    wait_ms(5);
  }
  wait_ms(3);
  {
    const Region exchange(clock, Phase::exchange);
    wait_ms(4);
  }
  clock.stop();
  const double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_NEAR(sum(clock), total, 1e-4 * total + 1e-6);
  EXPECT_GE(clock.seconds(Phase::fft), 5e-3);
  EXPECT_GE(clock.seconds(Phase::other), 3e-3);
  EXPECT_GE(clock.seconds(Phase::exchange), 4e-3);
}

TEST(PhaseClock, ANestedRegionTakesItsTimeFromTheOuterOne) {
  PhaseClock clock;
  clock.start();
  {
    const Region exchange(clock, Phase::exchange);
    wait_ms(2);
    {
      const Region pack(clock, Phase::pack);
      wait_ms(50);
    }
    EXPECT_LT(clock.seconds(Phase::exchange), 0.050);
    wait_ms(2);
  }
  clock.stop();
  EXPECT_GE(clock.seconds(Phase::pack), 0.050);
  EXPECT_GE(clock.seconds(Phase::exchange), 0.004);
}

TEST(PhaseClock, StartForgetsTheRunBefore) {
  PhaseClock clock;
  clock.start();
  {
    const Region fft(clock, Phase::fft);
    wait_ms(1);
  }
  clock.stop();
  clock.start();
  clock.stop();
  EXPECT_EQ(clock.seconds(Phase::fft), 0);
}

TEST(PhaseClock, ADisabledClockMeasuresNothing) {
  PhaseClock clock(false);
  clock.start();
  {
    const Region fft(clock, Phase::fft);
    wait_ms(1);
  }
  clock.stop();
  EXPECT_EQ(sum(clock), 0);
}

}  // namespace
}  // namespace fourscore
