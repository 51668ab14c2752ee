#include "core/point_keys.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/record.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;

/// Every key has another value than by default.
Point unusual() {
  Point point;
  const std::map<std::string, std::string> texts{{"variant", "v"},
                                                 {"exchange", "e"},
                                                 {"local_fft", "l"},
                                                 {"shape", "3x4"},
                                                 {"precision", "single"},
                                                 {"kind", "r2c"},
                                                 {"direction", "backward"},
                                                 {"operator", "o"},
                                                 {"ranks", "6"},
                                                 {"nodes", "3"},
                                                 {"placement_of_ranks", "cyclic"},
                                                 {"grid", "2x3"},
                                                 {"active_ranks", "4"},
                                                 {"threads", "5"},
                                                 {"instances", "7"},
                                                 {"placement", "subset"},
                                                 {"fields", "3"},
                                                 {"field_order", "pipelined"},
                                                 {"wire", "zfp"},
                                                 {"other_work", "2ms"},
                                                 {"other_work_load", "memory"},
                                                 {"other_work_place", "during"},
                                                 {"layout", "natural"},
                                                 {"buffers", "out-of-place"},
                                                 {"platform", "p"},
                                                 {"host_order", "hilbert"},
                                                 {"planner", "patient"},
                                                 {"parameters.a", "b"}};
  for (const auto& [key, text] : texts) set_point_value(point, key, text);
  return point;
}

TEST(PointKeys, AreAllDistinctAndSetWhatTheyGet) {
  std::set<std::string_view> names, options, paths;
  for (const PointKey& key : point_keys()) {
    Point point;
    const std::string text = key.get(unusual());
    EXPECT_NE(text, key.get(point)) << key.name;
    key.set(point, text, key.name);
    EXPECT_EQ(key.get(point), text) << key.name;
    names.insert(key.name);
    EXPECT_TRUE(key.option.empty() || options.insert(key.option).second) << key.option;
    paths.insert(key.path);
  }
  for (const auto& all : {names, paths}) EXPECT_EQ(all.size(), point_keys().size());
}

TEST(PointKeys, SetEveryPartOfThePoint) {
  Point point;
  for (const PointKey& key : point_keys())
    if (!key.derived) key.set(point, key.get(unusual()), key.name);
  point.problem.parameters = unusual().problem.parameters;
  EXPECT_EQ(point, unusual());
  EXPECT_EQ(point_from_json(point_json(point)), point);
}

TEST(PointKeys, OptionsOfFftBenchHoldEveryPartOfThePoint) {
  std::string joined;
  for (const auto& option : point_options(unusual())) joined += option + " ";
  EXPECT_EQ(
      joined,
      "--variant v --exchange e --local-fft l --shape 3x4 --precision single --kind r2c --direction backward "
      "--operator o "
      "--ranks 6 --nodes 3 --placement-of-ranks cyclic --platform p --host-order hilbert --grid 2x3 --active-ranks 4 "
      "--threads 5 "
      "--instances 7 "
      "--placement subset --fields 3 --field-order pipelined --layout natural --buffers out-of-place --planner "
      "patient --wire zfp --other-work 2ms --other-work-load memory --other-work-place during --parameter a=b ");
}

TEST(PointKeys, ValuesAreTheSameOfAPointAndOfItsJson) {
  for (const PointKey& key : point_keys())
    EXPECT_EQ(point_value(point_json(unusual()), key.name), point_value(unusual(), key.name)) << key.name;
  EXPECT_EQ(point_value(nlohmann::json::object(), "grid"), "auto");
}

TEST(PointKeys, UnusualValuesNotYetShownAreFurther) {
  EXPECT_EQ(further_values(Point{}, {}), "");
  EXPECT_EQ(
      further_values(unusual(), {"variant", "exchange", "local_fft", "shape", "kind", "direction", "precision", "ranks",
                                 "layout", "buffers", "planner"}),
      ", operator o, nodes 3, placement_of_ranks cyclic, platform p, host_order hilbert, grid 2x3, active_ranks 4, "
      "threads 5, "
      "instances 7, "
      "placement subset, fields 3, field_order pipelined, wire zfp, other_work 2ms, other_work_load memory, "
      "other_work_place during");
}

TEST(PointKeys, ATunedGridIsNeitherAutoNorAnyOther) {
  Point point;
  set_point_value(point, "grid", "2x3");
  set_point_value(point, "grid", "tuned");
  EXPECT_TRUE(is_tuned(point) && point.problem.grid.empty());
  EXPECT_EQ(point_value(point, "grid"), "tuned");
  EXPECT_NE(point_text(point), point_text(Point{}));
  set_point_value(point, "grid", "auto");
  EXPECT_EQ(point, Point{});
  set_point_value(point, "exchange", "tuned");
  EXPECT_TRUE(is_tuned(point));
}

TEST(PointKeys, ErrorsNameWhatTheValueWasGivenFor) {
  for (const PointKey& key : point_keys()) {
    Point point;
    EXPECT_THAT(test::message_of([&] { key.set(point, "", "--the-option"); }), HasSubstr("--the-option")) << key.name;
  }
}

TEST(Parameters, AreNamesAndValues) {
  EXPECT_EQ(parse_parameters({"a=1", "b=x=y", "c="}),
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "x=y"}, {"c", ""}}));
  for (const char* bad : {"a", "=1", ""}) EXPECT_THROW((void)parse_parameters({bad}), InputError) << bad;
  EXPECT_THROW((void)parse_parameters({"a=1", "a=1"}), InputError);
}

}  // namespace
}  // namespace fourscore
