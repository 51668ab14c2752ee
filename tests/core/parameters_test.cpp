#include "core/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace fourscore {
namespace {

using test::message_of;

Problem with(const std::string& name, const std::string& value) {
  Problem problem;
  problem.parameters[name] = value;
  return problem;
}

TEST(Parameters, WhatIsNotGivenHasItsDefault) {
  EXPECT_EQ(integer_parameter(Problem{}, "pieces", 4, 1, 8), 4);
  EXPECT_EQ(choice_parameter(Problem{}, "order", {"unordered", "ordered"}), "unordered");
}

TEST(Parameters, WhatIsGivenIsTaken) {
  EXPECT_EQ(integer_parameter(with("pieces", "8"), "pieces", 4, 1, 8), 8);
  EXPECT_EQ(choice_parameter(with("order", "ordered"), "order", {"unordered", "ordered"}), "ordered");
}

TEST(Parameters, ANumberThatDoesNotFitGetsTheAllowedOnes) {
  for (const char* text : {"0", "9", "4x", "", "-1", "1e3", "99999999999999999999"})
    EXPECT_EQ(message_of([&] { return integer_parameter(with("pieces", text), "pieces", 4, 1, 8); }),
              std::string("parameter 'pieces' is '") + text + "'; allowed: 1 to 8");
}

TEST(Parameters, AnUnknownChoiceGetsTheNearestAndTheAllowedOnes) {
  EXPECT_EQ(message_of([] {
              return choice_parameter(with("order", "orderd"), "order", {"unordered", "ordered"});
            }),
            "parameter 'order' is 'orderd', did you mean 'ordered'?; allowed: unordered, ordered");
}

}  // namespace
}  // namespace fourscore
