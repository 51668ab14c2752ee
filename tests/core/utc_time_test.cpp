#include "core/utc_time.hpp"

#include <gtest/gtest.h>

namespace fourscore {
namespace {

using namespace std::chrono_literals;

TEST(UtcText, HasMillisecondsAlsoBefore1970) {
  const std::chrono::system_clock::time_point epoch{};
  EXPECT_EQ(utc_text(epoch), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc_text(epoch + 1'009ms), "1970-01-01T00:00:01.009Z");
  EXPECT_EQ(utc_text(epoch - 45ms), "1969-12-31T23:59:59.955Z");
  EXPECT_EQ(utc_text(epoch - 24h), "1969-12-31T00:00:00.000Z");
}

}  // namespace
}  // namespace fourscore
