#include "results/archive.hpp"

#include <gtest/gtest.h>

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
