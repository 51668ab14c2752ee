#include "jobscripts/programs/printed_times.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace fourscore {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Point point_of(int ranks = 2) {
  Point point;
  point.variant = "mine";
  point.exchange = "none";
  point.ranks = ranks;
  point.problem.shape = {4, 3, 2};
  return point;
}

json recorded(const std::string& output, int repetitions = 0) {
  PrintedTimes printed;
  printed.take(output);
  return printed.record(point_of(), repetitions);
}

std::string refusal(const std::string& output, int repetitions = 0) {
  try {
    (void)recorded(output, repetitions);
  } catch (const InputError& error) {
    return error.what();
  }
  return "it was taken";
}

constexpr const char* whole =
    "hello\nranks 2\nwarmup_s 0.5\nsample_s 0.25\nphase fft 0.125\nphase exchange 0.0625\nchecksum a\n"
    "sample_s 2.5e-1\r\n\tphase  fft 0.125\nphase exchange 0\nchecksum a\nsamples: two";

TEST(PrintedTimes, BecomeTheRecordOfALaunch) {
  const json record = recorded(whole);
  EXPECT_EQ(record["samples"]["time_s"], json({0.25, 0.25}));
  EXPECT_EQ(record["samples"]["warmup_s"], json({0.5}));
  EXPECT_EQ(record["samples"]["time_is"], "printed");
  EXPECT_EQ(record["samples"]["rank_total_s"], json({{0.25, 0.25}}));
  EXPECT_EQ(record["samples"]["rank_phase_s"],
            json({{"fft", {{0.125, 0.125}}}, {"exchange", {{0.0625, 0}}}, {"other", {{0.0625, 0.125}}}}));
  EXPECT_EQ(record["samples"]["closure"]["ok"], true);
  EXPECT_EQ(record["checksum"], "a");
  EXPECT_EQ(record["sampling"]["repetitions"], 2);
  EXPECT_EQ(record["point"]["variant"], "mine");
  EXPECT_FALSE(record.contains("verification"));
}

TEST(PrintedTimes, AreTheSameInPiecesOfAnyLength) {
  const std::string text = whole;
  json expected = recorded(text);
  for (std::size_t length = 1; length <= text.size(); ++length) {
    PrintedTimes printed;
    for (std::size_t at = 0; at < text.size(); at += length) printed.take(std::string_view(text).substr(at, length));
    const json record = printed.record(point_of(), 0);
    EXPECT_EQ(record["samples"], expected["samples"]) << length;
  }
}

TEST(PrintedTimes, AreFoundAmongMegabytesOfOtherOutput) {
  PrintedTimes printed;
  const std::string noise(1 << 20, 'x');
  for (int i = 0; i < 20; ++i) printed.take(noise);
  printed.take("\nsample_s 1\n");
  for (int i = 0; i < 20; ++i) printed.take("sample_s" + noise + "\n");
  EXPECT_EQ(printed.record(point_of(), 0)["samples"]["time_s"], json({1.0}));
}

TEST(PrintedTimes, PhasesThatExceedTheirSampleAreNoClosure) {
  const json closure = recorded("sample_s 1\nphase fft 1.5\n")["samples"]["closure"];
  EXPECT_EQ(closure["ok"], false);
  EXPECT_DOUBLE_EQ(closure["worst"], 0.5);
}

struct Wrong {
  const char* output;
  const char* said;
  int repetitions = 0;
};

class WrongTimes : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongTimes, AreRefusedWithTheirLine) {
  EXPECT_THAT(refusal(GetParam().output, GetParam().repetitions), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongTimes,
    ::testing::Values(
        Wrong{"", "it printed no sample among 0 lines"}, Wrong{"a\nb\n", "it printed no sample among 2 lines"},
        Wrong{"a\nsample_s fast\n", "line 2, 'sample_s fast': expected sample_s and seconds above 0"},
        Wrong{"sample_s\n", "line 1, 'sample_s': expected"},
        Wrong{"sample_s 1 s\n", "line 1, 'sample_s 1 s': expected"}, Wrong{"sample_s -1\n", "seconds above 0"},
        Wrong{"sample_s 0\n", "seconds above 0"}, Wrong{"sample_s nan\n", "seconds above 0"},
        Wrong{"sample_s inf\n", "seconds above 0"}, Wrong{"sample_s 1e999\n", "seconds above 0"},
        Wrong{"sample_s 0,5\n", "seconds above 0"}, Wrong{"sample_s 0.1sample_s 0.1\n\n", "print from one rank alone"},
        Wrong{"warmup_s x\nsample_s 1\n", "line 1, 'warmup_s x'"},
        Wrong{"sample_s 1\nwarmup_s 1\n", "the warm-up before the samples"},
        Wrong{"phase fft 1\nsample_s 1\n", "the sample above its phases"},
        Wrong{"sample_s 1\nphase fft\n", "a name and seconds"},
        Wrong{"sample_s 1\nphase fft -1\n", "a name and seconds"},
        Wrong{"sample_s 1\nphase FFT 1\n", "one of fft, pack"},
        Wrong{"sample_s 1\nphase fft 1\nphase fft 1\n", "phase fft once a sample"},
        Wrong{"sample_s 1\nsample_s 1\nphase fft 1\n", "phase fft of the samples before, too"},
        Wrong{"sample_s 1\nphase fft 1\nsample_s 1\n", "sample 2 has no 'phase fft'"},
        Wrong{"sample_s 1\nphase fft 1\nsample_s 1\nsample_s 1\nphase fft 1\n", "sample 2 has no 'phase fft'"},
        Wrong{"sample_s 1\nchecksum a\nchecksum b\n", "line 3, 'checksum b': expected a, as before"},
        Wrong{"sample_s 1\nchecksum a b\n", "one word"}, Wrong{"ranks two\nsample_s 1\n", "how many ranks"},
        Wrong{"ranks 2\nranks 2\nsample_s 1\n", "this line once; print from one rank alone"},
        Wrong{"ranks 1\nsample_s 1\n", "it printed 'ranks 1', asked was 2"},
        Wrong{"sample_s 1\nsample_s 1\nsample_s 1\n", "it printed 3 samples, asked were 2; print from one rank", 2}));

}  // namespace
}  // namespace fourscore
