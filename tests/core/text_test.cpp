#include "core/text.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>

namespace fourscore {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split(",a,,", ','), ElementsAre("", "a", "", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, TrimmedHasNoBlanksAtItsEnds) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, ANumberIsTheWholeText) {
  EXPECT_THAT(number_from<int>("-12"), Eq(-12));
  EXPECT_THAT(number_from<std::uint64_t>("18446744073709551615"), Eq(UINT64_MAX));
  EXPECT_THAT(number_from<std::uint64_t>("1f", 16), Eq(31U));
  EXPECT_THAT(number_from<double>("2.5e-3"), Eq(0.0025));
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "1.5", "99999999999"})
    EXPECT_EQ(number_from<int>(text), std::nullopt) << "'" << text << "'";
  EXPECT_EQ(number_from<std::uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(number_from<double>("1,5"), std::nullopt);
  EXPECT_TRUE(std::isnan(number_from<double>("nan").value()));  // who wants a finite one asks for it
}

TEST(Text, ANumberOfTheSystemIsDecimalOrHexadecimal) {
  EXPECT_THAT(number_of_either_base<unsigned>("61"), Eq(61U));
  EXPECT_THAT(number_of_either_base<unsigned>("0x61"), Eq(0x61U));
  for (const char* text : {"", "0x", "6f", "0x6g", "0x100000000", "00x1"})
    EXPECT_EQ(number_of_either_base<unsigned>(text), std::nullopt) << "'" << text << "'";
}

TEST(Text, PluralsEndInSOrEs) {
  EXPECT_EQ(plural(1, "rank"), "1 rank");
  EXPECT_EQ(plural(0, "rank"), "0 ranks");
  EXPECT_EQ(plural(std::size_t{2}, "launch"), "2 launches");
  EXPECT_EQ(plural(3, "process"), "3 processes");
  EXPECT_EQ(plural(1.0, "message"), "1 message");
}

}  // namespace
}  // namespace fourscore
