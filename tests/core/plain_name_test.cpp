#include "core/plain_name.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

TEST(PlainNames, HoldWhatStaysInItsFolder) {
  for (const std::string name : {"a", "c-1a2b3c4d", "_x", "0123456789abcdef", "A.b_c-d", "x..y"})
    EXPECT_EQ(PlainName(name).text(), name);
  EXPECT_EQ(PlainName(std::string(PlainName::longest, 'x')).text().size(), PlainName::longest);
}

TEST(PlainNames, CannotHoldWhatLeavesIt) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("/x"), std::string("a/b"),
        std::string("a\\b"), std::string(".hidden"), std::string("-option"), std::string("a b"), std::string("a\nb"),
        std::string("a\0b", 3), std::string("\x1b[2J"), std::string("\xff"), std::string("\xc3\xa9"),
        std::string(PlainName::longest + 1, 'x')})
    EXPECT_THAT(test::message_of([&] { return PlainName(name, "record_id"); }), testing::StartsWith("record_id '"));
}

}  // namespace
}  // namespace fourscore
