// When a launcher started a program: by the steady clock, whatever becomes of the calendar's.

#include "core/moment.hpp"

#include <gmock/gmock.h>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(Moment, IsTheSameFromItsText) {
  for (const Moment& moment : {Moment{1732637133.25, 0, ""}, Moment{1732637133.25, 77.5, "b-1"}})
    EXPECT_EQ(parse_moment(moment_text(moment), "--launched-at"), moment);
  const Moment then = parse_moment(moment_text(this_moment()), "it");
  EXPECT_THAT(seconds_between(then, this_moment()), Optional(::testing::Lt(60)));
}

TEST(Moment, IsCountedFromByTheSteadyClockOfOneBootElseByTheCalendar) {
  const Moment then{1000, 50, "b"};
  EXPECT_THAT(seconds_between(then, {1003, 52, "b"}), Optional(2.0));
  EXPECT_THAT(seconds_between(then, {900, 52, "b"}), Optional(2.0)) << "the calendar was set back";
  EXPECT_THAT(seconds_between(then, {5000, 52, "b"}), Optional(2.0)) << "the calendar was set forward";
  EXPECT_THAT(seconds_between(then, {1003, 9, "of another machine"}), Optional(3.0));
  EXPECT_THAT(seconds_between({1000, 50, ""}, {1003, 9, ""}), Optional(3.0));
  EXPECT_EQ(seconds_between(then, {900, 9, "of another machine"}), std::nullopt) << "unknown, and never 0";
}

TEST(Moment, OfAnotherTextIsRefusedAndNamed) {
  for (const char* text : {"", "nan", "inf", "-1", "0", "12x", "12,", "12,5", "12,5,", "12,nan,b", ",5,b"})
    EXPECT_THAT(test::message_of([&] { return parse_moment(text, "--launched-at"); }),
                HasSubstr("--launched-at is '" + std::string(text) + "'"));
}

}  // namespace
}  // namespace fourscore
