#include "core/settings.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

namespace fourscore {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Settings, EachHasItsOwnKeyOptionAndMember) {
  std::set<std::string> keys, options;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(keys.emplace(setting.key).second) << setting.key;
    EXPECT_TRUE(options.insert(setting.option()).second) << setting.option();
    EXPECT_FALSE(setting.help.empty()) << setting.key;
  }
}

/// Another value than the default, through the option and the record, of the programs that take it.
TEST(Settings, EachReachesTheProgramAndTheRecord) {
  for (const Setting& setting : all_settings()) {
    Settings changed;
    json value;
    const auto change = [&](auto member) {
      auto& at = changed.*member;
      using Value = std::remove_cvref_t<decltype(at)>;
      if constexpr (std::is_same_v<Value, bool>)
        at = !at;
      else if constexpr (std::is_same_v<Value, std::string>)
        at = std::string(setting.words.back());
      else
        at = static_cast<Value>(3);
      value = at;
    };
    std::visit(change, setting.member);
    for (const bool of_component : {false, true}) {
      const auto options = setting_options(changed, of_component);
      json said = settings_json(changed, of_component);
      const std::string option = setting.option(), key(setting.key);
      if (!is_taken(setting, of_component)) {
        EXPECT_THAT(options, Not(Contains(option)));
        EXPECT_FALSE(said.contains(key));
        continue;
      }
      EXPECT_THAT(options, Contains(option));
      if (!value.is_boolean()) {
        EXPECT_THAT(options, IsSupersetOf({option, value.is_string() ? value.get<std::string>() : std::string("3")}));
      }
      EXPECT_EQ(said.at(key), value) << key;
      json others = settings_json({}, of_component);
      others.erase(key);
      said.erase(key);
      EXPECT_EQ(said, others) << key;
    }
  }
}

TEST(Settings, NumbersAreAlwaysSaidAndTheRestWhereItIsAnother) {
  EXPECT_THAT(setting_options({}, false), ElementsAre("--repetitions", "10", "--warmup", "1"));
  EXPECT_THAT(setting_options({.warmup = 0, .phases = false}, false),
              ElementsAre("--repetitions", "10", "--warmup", "0", "--no-phases"));
  EXPECT_THAT(setting_options({}, true), ElementsAre("--repetitions", "10", "--min-time-s", "0.05"));
}

TEST(Settings, ALimitThatIsNoneIsNotRecorded) {
  EXPECT_FALSE(settings_json({}, false).contains("max_time_s"));
  EXPECT_EQ(settings_json({.max_time_s = 2}, false).at("max_time_s"), 2.0);
}

}  // namespace
}  // namespace fourscore
