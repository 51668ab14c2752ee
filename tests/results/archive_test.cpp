#include "results/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/record.hpp"
#include "core/statistics.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

TEST(Archive, RecordFilesAreNamedAfterPointAndLaunch) {
  const Archive archive("/a");
  EXPECT_EQ(archive.record_file("c", "0123456789abcdef", 7), "/a/records/c/0123456789abcdef-007.json");
  EXPECT_EQ(archive.name_of("/a/records/c/x.json"), "records/c/x.json");
}

TEST(Archive, LaunchesAreKnownByTheNamesOfTheirFiles) {
  using Launch = std::optional<std::pair<std::string, int>>;
  EXPECT_EQ(launch_of_file("/a/5c1e-007.json"), Launch(std::pair("5c1e", 7)));
  EXPECT_EQ(launch_of_file("5c-1e-1000.json"), Launch(std::pair("5c-1e", 1000)));
  for (const char* const name : {"5c1e.json", "5c1e-007.txt", "5c1e-.json", "5c1e-7a.json"})
    EXPECT_EQ(launch_of_file(name), std::nullopt) << name;
}

std::string problem_of(const std::string& text) {
  try {
    (void)parse_record(text);
    return "";
  } catch (const UnreadableRecord& problem) {
    return problem.what();
  }
}

TEST(Records, WhatIsNoneSaysWhy) {
  const std::string newest = std::to_string(record_schema_version), newer = std::to_string(record_schema_version + 1);
  for (const auto& [text, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", "empty"},
           {"{\"schema\"", "not JSON; truncated after 9 bytes?"},
           {"[1]", "not a run record"},
           {R"({"schema": "another"})", "not a run record"},
           {R"({"schema": "fourscore.run-record"})", "is not a positive integer"},
           {R"({"schema": "fourscore.run-record", "schema_version": 0})", "is not a positive integer"},
           {R"({"schema": "fourscore.run-record", "schema_version": 1.5})", "is not a positive integer"},
           {R"({"schema": "fourscore.run-record", "schema_version": )" + newer + "}",
            "schema version " + newer + " is newer than this program's " + newest},
       })
    EXPECT_THAT(problem_of(text), testing::HasSubstr(problem)) << text;
  for (const std::string& version : {std::string("1"), newest})
    EXPECT_THAT(problem_of(R"({"schema": "fourscore.run-record", "schema_version": )" + version + "}"),
                testing::Not(testing::HasSubstr("version")))
        << version;
}

TEST(Records, NestingIsLimitedOutsideOfText) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  const std::string brackets(200, '[');
  std::string siblings;
  for (int i = 0; i < 200; ++i) siblings += "[],{},";
  for (const std::string& text :
       {nested(100), "[\"" + brackets + "\"]", "[\"a\\\"" + brackets + "\"]", "[" + siblings + "1]"})
    EXPECT_THAT(problem_of(text), testing::HasSubstr("not a run record")) << text;
  for (const std::string& text : {nested(101), "[\"a\", " + nested(100) + "]", "[\"a\\\\\", " + nested(100) + "]"})
    EXPECT_THAT(problem_of(text), testing::HasSubstr("nested deeper than 100 levels")) << text;
}

TEST(ParallelMap, KeepsTheOrderAndThrowsWhatAnItemThrew) {
  std::vector<int> items(1000);
  for (int i = 0; i < 1000; ++i) items[static_cast<std::size_t>(i)] = i;
  const auto doubled = parallel_map(items, [](int item) { return 2 * item; });
  for (std::size_t i = 0; i < items.size(); ++i) ASSERT_EQ(doubled[i], 2 * items[i]);
  EXPECT_THROW((void)parallel_map(items, [](int item) { return item == 500 ? throw UnreadableRecord("x") : item; }),
               UnreadableRecord);
}

TEST(Statistics, MedianIsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({3.0}), 3.0);
  EXPECT_EQ(median({5.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({4.0, 1.0, 3.0, 10.0}), 3.5);
}

TEST(Printable, ShowsControlCharactersAndLeavesTextAlone) {
  EXPECT_EQ(printable("plain, gr\xc3\xbc\xc3\x9f and \xf0\x9f\x98\x80"),
            "plain, gr\xc3\xbc\xc3\x9f and \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "an overlong form";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Printable, IsShortenedBetweenCharacters) {
  EXPECT_EQ(shortened("gr\xc3\xbc\xc3\x9f", 3), "gr");
  EXPECT_EQ(shortened("gr\xc3\xbc\xc3\x9f", 4), "gr\xc3\xbc");
  EXPECT_EQ(shortened("short", 100), "short");
}

}  // namespace
}  // namespace fourscore
