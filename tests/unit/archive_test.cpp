#include "results/archive.hpp"

#include <gtest/gtest.h>

#include "core/record.hpp"
#include "results/statistics.hpp"

namespace fourscore {
namespace {

TEST(Archive, ReadsTheSchemaThatTheDriverWrites) { EXPECT_EQ(archive_schema_version, record_schema_version); }

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

}  // namespace
}  // namespace fourscore
