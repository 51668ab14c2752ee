#include "jobscripts/base/rate.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace fourscore {
namespace {

TEST(LinkRates, AreReadAsTcReadsThem) {
  EXPECT_EQ(parse_link_rate("100mbit", "--rate"), 1e8);
  EXPECT_EQ(parse_link_rate("1.5Gbit", "--rate"), 1.5e9);
  EXPECT_EQ(parse_link_rate("3mbps", "--rate"), 2.4e7) << "bytes per second";
  EXPECT_EQ(parse_link_rate("1mibit", "--rate"), 1024.0 * 1024);
  EXPECT_EQ(parse_link_rate("10000000", "--rate"), 1e7) << "bits per second";
}

/// tc(8), "rates": k, M, G, T are powers of 1000, Ki, Mi, Gi of 1024, bps is bytes a second.
TEST(LinkRates, HaveEveryUnitOfTc) {
  const std::vector<std::pair<const char*, double>> rates{
      {"100000", 1e5},    {"100000bit", 1e5},   {"100kbit", 1e5},    {"5mbit", 5e6},         {"2gbit", 2e9},
      {"0.001tbit", 1e9}, {"100kibit", 102400}, {"5mibit", 5242880}, {"1gibit", 1073741824}, {"100000bps", 8e5},
      {"100kbps", 8e5},   {"5mbps", 4e7},       {"1gbps", 8e9},      {"0.001tbps", 8e9},     {"100KBIT", 1e5}};
  for (const auto& [text, rate] : rates) EXPECT_EQ(parse_link_rate(text, "--rate"), rate) << text;
}

TEST(LinkRates, ThatAreNoneAreRefusedWithWhatIsExpected) {
  for (const char* text : {"", "fast", "mbit", "-5mbit", "1e3mbit", "100ms", "10%", "1.2.3mbit", ".", "5 mbit",
                           "100mbit ", "1000000000000000000mbit"}) {
    try {
      (void)parse_link_rate(text, "--rate");
      ADD_FAILURE() << text << " is no rate";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("expected a rate as tc(8) has it"), std::string::npos) << error.what();
    }
  }
}

TEST(LinkRates, ThatATokenBucketDoesNotHoldAreRefusedWithTheRange) {
  for (const char* text : {"0mbit", "1bit", "63kbit", "11gbit", "1tbit"}) {
    try {
      (void)parse_link_rate(text, "key 'rate'");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "key 'rate' is '" + std::string(text) +
                                               "'; a token bucket (tc-tbf) holds rates from 64kbit to 10gbit here");
    }
  }
  EXPECT_EQ(parse_link_rate("64kbit", "--rate"), 64e3);
  EXPECT_EQ(parse_link_rate("10gbit", "--rate"), 1e10);
}

TEST(TokenBuckets, HoldTwoFramesAtLeastAndGrowWithTheRate) {
  EXPECT_EQ(token_bucket(1e7).burst_bytes, 2 * 1514);
  EXPECT_EQ(token_bucket(1e8).burst_bytes, 2 * 1514);
  EXPECT_EQ(token_bucket(1e9).burst_bytes, 250000);
  EXPECT_EQ(token_bucket(1e9).rate_bits_per_s, 1000000000);
  EXPECT_GT(token_bucket(1e10).queue_bytes, token_bucket(1e10).burst_bytes);
}

TEST(Interconnects, OfALaboratorySayTheRate) {
  EXPECT_EQ(laboratory_interconnect("100mbit"), "netns TCP, 100mbit (tbf)");
  EXPECT_EQ(laboratory_interconnect(""), "netns TCP, not limited");
}

}  // namespace
}  // namespace fourscore
