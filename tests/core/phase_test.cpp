#include "core/phase.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace fourscore {
namespace {

void wait_ms(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

double sum(const PhaseClock& clock) {
  double result = 0;
  for (std::size_t p = 0; p < phase_count; ++p) result += clock.seconds(static_cast<Phase>(p));
  return result;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(PhaseClock, PhasesAddUpToTheWholeTime) {
  PhaseClock clock;
  const auto before = std::chrono::steady_clock::now();
  clock.start();
  const auto begin = std::chrono::steady_clock::now();
  {
    const Region fft(clock, Phase::fft);
    wait_ms(5);
  }
  wait_ms(3);
  {
    const Region exchange(clock, Phase::exchange);
    wait_ms(4);
  }
  const double within_s = seconds_since(begin);
  clock.stop();
  const double around_s = seconds_since(before);
  constexpr double rounding_s = 1e-9;
  EXPECT_GE(sum(clock) + rounding_s, within_s);
  EXPECT_LE(sum(clock), around_s + rounding_s);
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

std::vector<std::string> texts(const EventLog& log) {
  std::vector<std::string> result;
  for (const PhaseEvent& event : log.events()) {
    const std::string_view phase = phase_names[static_cast<std::size_t>(event.phase)];
    result.push_back(event.piece == no_piece ? std::string(phase) : fmt::format("{} {}", phase, event.piece));
  }
  return result;
}

TEST(EventLog, HoldsEveryStretchInOrderWithoutGaps) {
  EventLog log(100);
  PhaseClock clock(log);
  clock.start();
  {
    const Region instance(clock, Phase::other, 4);
    const Region exchange(clock, Phase::exchange);
    wait_ms(1);
    {
      const Region pack(clock, Phase::pack, 2);
      wait_ms(1);
    }
    wait_ms(1);
  }
  {
    const Region fft(clock, Phase::fft);
    wait_ms(1);
  }
  clock.stop();
  std::vector<std::string> named;
  for (const std::string& text : texts(log))
    if (!text.starts_with("other")) named.push_back(text);
  EXPECT_EQ(named, (std::vector<std::string>{"exchange 4", "pack 2", "exchange 4", "fft"}));
  std::array<double, phase_count> sums{};
  for (std::size_t i = 0; i < log.events().size(); ++i) {
    const PhaseEvent& event = log.events()[i];
    EXPECT_LT(event.begin_ns, event.end_ns);
    if (i > 0) {
      EXPECT_EQ(event.begin_ns, log.events()[i - 1].end_ns);
    }
    sums[static_cast<std::size_t>(event.phase)] += 1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
  }
  for (std::size_t p = 0; p < phase_count; ++p) EXPECT_NEAR(sums[p], clock.seconds(static_cast<Phase>(p)), 1e-8);
}

TEST(EventLog, CountsWhatItHasNoRoomFor) {
  EventLog log(3);
  PhaseClock clock(log, {}, false);
  clock.start();
  for (int i = 0; i < 10; ++i) {
    const Region fft(clock, Phase::fft, i);
    std::this_thread::sleep_for(std::chrono::microseconds(10));
  }
  clock.stop();
  EXPECT_EQ(texts(log), (std::vector<std::string>{"fft 0", "fft 1", "fft 2"}));
  EXPECT_EQ(log.dropped(), 7U);
}

TEST(EventLog, EachThreadHasItsOwnAndCountsNoPhaseOfTheRank) {
  std::vector<EventLog> logs(3, EventLog(1000));
  std::vector<PhaseClock> lanes;
  for (std::size_t i = 1; i < logs.size(); ++i) lanes.emplace_back(logs[i], std::span<PhaseClock>{}, false);
  PhaseClock clock(logs[0], lanes);
  clock.start();
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < 4; ++t)  // one more than there are lanes
    threads.emplace_back([&clock, t] {
      for (int i = 0; i < 100; ++i) {
        const Region unpack(clock.lane(t), Phase::unpack, static_cast<std::int32_t>(t));
        std::this_thread::sleep_for(std::chrono::microseconds(10));
      }
    });
  for (std::thread& thread : threads) thread.join();
  clock.stop();
  EXPECT_EQ(texts(logs[0]), (std::vector<std::string>{"other"}));
  EXPECT_EQ(texts(logs[1]), std::vector<std::string>(100, "unpack 1"));
  EXPECT_EQ(texts(logs[2]), std::vector<std::string>(100, "unpack 2"));
  EXPECT_EQ(clock.seconds(Phase::unpack), 0);
}

TEST(PhaseClock, TellsAnObserverOfEverySwitchBetweenStartAndStop) {
  class Listener : public PhaseObserver {
   public:
    void switched_to(Phase phase) noexcept override { heard.push_back(phase); }
    std::vector<Phase> heard;
  } listener;
  PhaseClock clock(listener);
  clock.start();
  {
    const Region exchange(clock, Phase::exchange);
    const Region pack(clock, Phase::pack);
  }
  clock.stop();
  EXPECT_EQ(listener.heard,
            (std::vector<Phase>{Phase::exchange, Phase::pack, Phase::exchange, Phase::other, Phase::other}));
}

TEST(EventLog, WithoutATimelineFurtherThreadsHaveDisabledClocks) {
  PhaseClock clock;
  EXPECT_TRUE(clock.lane(0).enabled());
  EXPECT_FALSE(clock.lane(1).enabled());
  PhaseClock off(false);
  EXPECT_FALSE(off.lane(1).enabled());
}

}  // namespace
}  // namespace fourscore
