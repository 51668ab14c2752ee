#include "hwcounters/callgrind_dump.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hwcounters/counter.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

/// As Callgrind 3.19 wrote it with --combine-dumps=yes --dump-line=no --simulate-wb=yes for a program that reads 4 MiB,
/// then writes 4 MiB, through a simulated cache of 1 MiB with lines of 64 bytes; lists of functions are shortened.
constexpr const char* recorded = R"(# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 18261
cmd:  ./kernel
part: 1


desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: LL cache: 1048576 B, 64 B, 16-way associative

desc: Timerange: Basic block 0 - 524291
desc: Trigger: Client Request: before

positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw
summary: 2097172 524290 10 4 65537 5 4 65537 5 0 2


ob=(1) ./kernel
fl=(1) ???
fn=(0) main
0 4 0 2 1 0 2 1 0 2
cfn=(2) rd
calls=1 0 
0 2097158 524290 2 2 65537 1 2 65537 1 0 2

totals: 2097162 524290 4 3 65537 3 3 65537 3 0 2

part: 2

desc: Timerange: Basic block 1048583 - 1572873
desc: Trigger: Client Request: 1

positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw
summary: 2097168 2 524295 3 2 65538 3 2 65538 2 0 49157


fn=(0)
0 2097167 2 524295 2 2 65539 2 2 65539 0 0 49156

totals: 2097167 2 524295 2 2 65539 2 2 65539 0 0 49156

part: 3

desc: Timerange: Basic block 2629123 - 2629130
desc: Trigger: Program termination

positions: line
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw ILdmr DLdmr DLdmw
summary: 18446744073698012593 18446744073707453184


totals: 10 0 6 1 0 2 1 0 2 1
)";

TEST(CallgrindDump, EachPartHasItsTriggerAndItsTotals) {
  const auto dumps = parse_callgrind_dumps(recorded);
  ASSERT_EQ(dumps.size(), 3U);
  EXPECT_EQ(dumps[0].trigger, "Client Request: before");
  EXPECT_EQ(dumps[1].trigger, "Client Request: 1");
  EXPECT_EQ(dumps[2].trigger, "Program termination");
  EXPECT_EQ(dumps[0].totals.at("Ir"), 2097162U);
  EXPECT_EQ(dumps[0].totals.at("DLmr"), 65537U);
  EXPECT_EQ(dumps[1].totals.at("DLmw"), 65539U);
  EXPECT_EQ(dumps[1].totals.at("DLdmw"), 49156U);
}

TEST(CallgrindDump, ZerosAtTheEndOfALineAreLeftOutAndStillCounts) {
  const auto dumps = parse_callgrind_dumps(recorded);
  EXPECT_EQ(dumps.at(0).totals.at("DLdmr"), 2U);
  EXPECT_EQ(dumps.at(0).totals.at("DLdmw"), 0U);
  EXPECT_EQ(dumps.at(2).totals.at("DLdmw"), 0U);
  EXPECT_EQ(dumps.at(2).totals.size(), 12U);
}

TEST(CallgrindDump, APartThatEndsBeforeItsTotalsIsAnError) {
  const std::string text(recorded);
  EXPECT_THROW((void)parse_callgrind_dumps(text.substr(0, text.rfind("totals:"))), CounterError);
}

TEST(CallgrindDump, TotalsThatAreNoNumbersOrTooManyAreAnError) {
  EXPECT_THROW((void)parse_callgrind_dumps("part: 1\nevents: Ir\ntotals: 1x\n"), CounterError);
  EXPECT_THROW((void)parse_callgrind_dumps("part: 1\nevents: Ir\ntotals: 1 2\n"), CounterError);
  EXPECT_THROW((void)parse_callgrind_dumps("part: 1\ntotals: 1\n"), CounterError);
}

TEST(CallgrindDump, NothingWrittenIsNoDump) { EXPECT_TRUE(parse_callgrind_dumps("").empty()); }

TEST(Callgrind, RunsUnderValgrindWithTheCacheThatWasAskedFor) {
  const CounterBackend& backend = counter_backend("callgrind");
  EXPECT_TRUE(backend.simulates());
  CounterRequest request;
  request.cache.size_bytes = 1 << 20;
  EXPECT_EQ(backend.simulated_cache(request), (CacheGeometry{1 << 20, 16, 64}));
  EXPECT_EQ(backend.constants(request).at("line"), 64);
  CounterRequest wide = request;
  wide.cache.line_bytes = 128;
  EXPECT_EQ(backend.constants(wide).at("line"), 128) << "what a miss loads";
  if (!backend.unavailable().empty()) GTEST_SKIP() << backend.unavailable();
  const auto prefix = backend.launch_prefix(request);
  ASSERT_FALSE(prefix.empty());
  EXPECT_THAT(prefix.front(), testing::EndsWith("/valgrind"));
  EXPECT_THAT(prefix, testing::Contains("--LL=1048576,16,64"));
  EXPECT_THAT(prefix, testing::Contains("--simulate-wb=yes"));
}

TEST(Callgrind, SaysWhatToInstallWithoutValgrindInThePath) {
  const CounterBackend& backend = counter_backend("callgrind");
  const std::string path = ::getenv("PATH") == nullptr ? "" : ::getenv("PATH");
  if (!backend.unavailable().empty()) GTEST_SKIP() << backend.unavailable();
  ::setenv("PATH", "/proc/nowhere", 1);
  const std::string reason = backend.unavailable();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(reason, testing::HasSubstr("valgrind"));
}

TEST(Callgrind, NamesTheEventsItKnowsAndCountsOnlyUnderValgrind) {
  CounterBackend& backend = counter_backend("callgrind");
  if (!backend.unavailable().empty()) GTEST_SKIP() << backend.unavailable();
  const auto open = [&](const char* event) { return backend.open({{"fills", event}}, {}); };
  EXPECT_THAT(test::message_of<CounterRequestError>([&] { return open("LLmr"); }), testing::HasSubstr("DLmr"));
  EXPECT_THROW((void)open("DLmr"), CounterError);
}

}  // namespace
}  // namespace fourscore
