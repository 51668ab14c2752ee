#include "core/other_work.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/record.hpp"

namespace fourscore {
namespace {

TEST(WorkBeside, EqualTimesHaveOneText) {
  for (const auto& [text, canonical] : std::initializer_list<std::pair<const char*, const char*>>{{"2ms", "2ms"},
                                                                                                  {"2000us", "2ms"},
                                                                                                  {"0.002s", "2ms"},
                                                                                                  {"1.5ms", "1500us"},
                                                                                                  {"1500ns", "1500ns"},
                                                                                                  {"100s", "100s"},
                                                                                                  {"1e3ms", "1s"},
                                                                                                  {"1us", "1us"},
                                                                                                  {"none", ""}})
    EXPECT_EQ(work_time_text(parse_work_time(text)), canonical) << text;
}

TEST(WorkBeside, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "0ms", "-1ms", "2", "ms", "inf s", "infs", "nans", "999ns", "101s", "2 ms", "2m", "None"})
    EXPECT_THROW((void)parse_work_time(text), InputError) << text;
}

TEST(WorkBeside, PointsWithoutHaveTheIdentityThatTheyHad) {
  Point point;
  point.variant = "slab";
  point.problem.shape = {4, 4, 4};
  const std::string before = point_id(point);
  EXPECT_EQ(point_json(point).dump().find("other_work"), std::string::npos);
  point.problem.other_work.time_ns = 1000;
  EXPECT_NE(point_id(point), before);
  EXPECT_EQ(point_from_json(point_json(point)), point);
}

}  // namespace
}  // namespace fourscore
