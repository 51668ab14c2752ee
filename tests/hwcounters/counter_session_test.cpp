#include <gmock/gmock.h>

#include <deque>

#include "hwcounters/event_session.hpp"

namespace fourscore {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

/// Gives the readings it was told, one row for each read; fails when there is none left.
class Scripted : public CounterReader {
 public:
  explicit Scripted(std::deque<std::vector<Reading>> rows) : rows_(std::move(rows)) {}
  bool read(std::span<Reading> readings) noexcept override {
    if (rows_.empty()) return false;
    std::copy(rows_.front().begin(), rows_.front().end(), readings.begin());
    rows_.pop_front();
    return true;
  }
  [[nodiscard]] std::string error() const override { return "the script has ended"; }

 private:
  std::deque<std::vector<Reading>> rows_;
};

EventSession session(std::size_t events, std::vector<CounterSource> sources, std::deque<std::vector<Reading>> rows) {
  return {CounterScope::process, events, std::move(sources), std::make_unique<Scripted>(std::move(rows))};
}

/// A counter that always had its turn.
Reading full(std::uint64_t value, std::uint64_t time) { return {true, value, time, time}; }

TEST(EventSession, DifferencesGoToTheBucketOfTheirTime) {
  auto one = session(1, {{}}, {{full(100, 10)}, {full(103, 20)}, {full(110, 30)}, {full(111, 40)}});
  one.start(0, 3);
  one.switch_to(2);
  one.switch_to(0);
  one.stop();
  EXPECT_THAT(one.counts(),
              ElementsAre(ElementsAre(Optional(4.0)), ElementsAre(Optional(0.0)), ElementsAre(Optional(7.0))));
  EXPECT_FALSE(one.multiplexed());
}

TEST(EventSession, StayingInABucketReadsNothing) {
  auto one = session(1, {{}}, {{full(0, 0)}, {full(5, 5)}});
  one.start(0, 1);
  one.switch_to(0);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(5.0))));
}

TEST(EventSession, CountersOfOneEventAreSummedAndScaled) {
  auto one = session(2, {{0, 64.0}, {1, 1.0}, {0, 64.0}},
                     {{full(0, 1), full(0, 1), full(0, 1)}, {full(1, 2), full(7, 2), full(2, 2)}});
  one.start(0, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(192.0), Optional(7.0))));
}

TEST(EventSession, WhatHadTheCounterPartOfTheTimeIsExtrapolatedAndMarked) {
  auto one = session(1, {{}}, {{{true, 0, 0, 0}}, {{true, 300, 100, 75}}, {{true, 310, 200, 175}}});
  one.start(0, 2);
  one.switch_to(1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(DoubleEq(400.0))), ElementsAre(Optional(10.0))));
  EXPECT_TRUE(one.multiplexed());
}

TEST(EventSession, WhatNeverHadTheCounterIsAbsent) {
  auto one = session(2, {{0}, {1}},
                     {{full(0, 0), {true, 0, 0, 0}}, {full(3, 9), {true, 0, 9, 0}}, {full(5, 12), {true, 40, 12, 3}}});
  one.start(0, 2);
  one.switch_to(1);
  one.stop();
  EXPECT_THAT(one.counts(),
              ElementsAre(ElementsAre(Optional(3.0), Eq(std::nullopt)), ElementsAre(Optional(2.0), Optional(40.0))));
  EXPECT_TRUE(one.multiplexed());
}

TEST(EventSession, ACounterThatWasNeverOnIsAbsentAndOneOfAThreadThatSleptIsZero) {
  const Reading off{true, 0, 0, 0};
  auto absent = session(1, {{}}, {{off}, {off}});
  absent.start(0, 1);
  absent.stop();
  EXPECT_THAT(absent.counts(), ElementsAre(ElementsAre(Eq(std::nullopt))));
  auto slept = session(1, {{0}, {0}}, {{full(0, 0), off}, {full(8, 9), off}});
  slept.start(0, 1);
  slept.stop();
  EXPECT_THAT(slept.counts(), ElementsAre(ElementsAre(Optional(8.0))));
}

TEST(EventSession, AnEventWithoutACounterIsAbsent) {
  auto one = session(2, {{1}}, {{full(0, 0)}, {full(8, 9)}});
  one.start(0, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Eq(std::nullopt), Optional(8.0))));
}

TEST(EventSession, NarrowCountersWrap) {
  const std::uint64_t top = (std::uint64_t{1} << 48) - 10;
  auto one = session(1, {{0, 1.0, 48, false}}, {{{true, top}}, {{true, 5}}});
  one.start(0, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(15.0))));
  auto wide = session(1, {{0, 1.0, 64, false}}, {{{true, ~std::uint64_t{0} - 1}}, {{true, 3}}});
  wide.start(0, 1);
  wide.stop();
  EXPECT_THAT(wide.counts(), ElementsAre(ElementsAre(Optional(5.0))));
}

TEST(EventSession, ACounterThatWasSetBackIsAbsentThere) {
  auto one = session(1, {{0, 1.0, 64, false}}, {{{true, 1000}}, {{true, 10}}, {{true, 14}}});
  one.start(0, 2);
  one.switch_to(1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Eq(std::nullopt)), ElementsAre(Optional(4.0))));
}

TEST(EventSession, WhatShowsNoNumberIsAbsentOnBothSides) {
  auto one = session(1, {{0, 1.0, 64, false}}, {{{true, 1}}, {{false, 0}}, {{true, 8}}, {{true, 9}}});
  one.start(0, 3);
  one.switch_to(1);
  one.switch_to(2);
  one.stop();
  EXPECT_THAT(one.counts(),
              ElementsAre(ElementsAre(Eq(std::nullopt)), ElementsAre(Eq(std::nullopt)), ElementsAre(Optional(1.0))));
}

TEST(EventSession, AFailedReadIsAnErrorNotANumber) {
  auto one = session(1, {{}}, {{full(0, 0)}, {full(1, 1)}});
  one.start(0, 2);
  one.switch_to(1);
  one.stop();
  EXPECT_THROW((void)one.counts(), CounterError);
  auto none = session(1, {{}}, {});
  EXPECT_THROW(none.start(0, 1), CounterError);
}

TEST(EventSession, ABucketThatIsNotThereIsAnError) {
  auto one = session(1, {{}}, {{full(0, 0)}, {full(1, 1)}, {full(2, 2)}});
  one.start(0, 2);
  one.switch_to(2);
  one.stop();
  EXPECT_THROW((void)one.counts(), CounterError);
}

TEST(EventSession, EveryRunStartsFromNothing) {
  auto one = session(1, {{}}, {{full(0, 0)}, {full(5, 5)}, {full(7, 6)}, {full(8, 9)}});
  one.start(0, 1);
  one.stop();
  one.start(0, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(1.0))));
}

TEST(EventSession, EventsThatDoNotFitTogetherAreCountedInRunsOfTheirOwn) {
  // The reader fills in both; what is not of the pass is left alone.
  auto one = session(2, {{0, 1.0, 64, true, 0}, {1, 1.0, 64, true, 1}},
                     {{full(0, 0), full(0, 0)},
                      {full(5, 5), full(900, 9)},
                      {full(5, 5), full(1000, 10)},
                      {full(700, 7), full(1007, 12)}});
  EXPECT_EQ(one.passes(1), 2U);
  one.start(0, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(5.0), Eq(std::nullopt)))) << "the second is yet to come";
  one.start(1, 1);
  one.stop();
  EXPECT_THAT(one.counts(), ElementsAre(ElementsAre(Optional(5.0), Optional(7.0))));
  EXPECT_THROW(one.start(2, 1), std::invalid_argument);
}

TEST(EventSession, SourcesMustBelongToAnEvent) { EXPECT_THROW((void)session(1, {{1}}, {}), std::invalid_argument); }

}  // namespace
}  // namespace fourscore
