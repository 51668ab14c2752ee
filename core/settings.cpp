#include "core/settings.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

namespace fourscore {

const std::vector<Setting>& all_settings() {
  using S = Settings;
  static const std::vector<Setting> settings{
      {.key = "repetitions",
       .option = "--repetitions",
       .of = SettingOf::all,
       .member = &S::repetitions,
       .least = 1,
       .most = 1'000'000,
       .help = "timed runs; of each benchmark of a component"},
      {.key = "warmup",
       .option = "--warmup",
       .member = &S::warmup,
       .least = 0,
       .most = 1'000'000,
       .help = "runs before them, kept apart"},
      {.key = "max_time_s",
       .option = "--max-time-s",
       .member = &S::max_time_s,
       .least = 0.001,
       .most = 1e6,
       .help = "no further repetition after this many seconds"},
      {.key = "min_time_s",
       .option = "--min-time-s",
       .of = SettingOf::components,
       .member = &S::min_time_s,
       .least = 1e-6,
       .most = 1e6,
       .help = "a repetition lasts at least this long"},
      {.key = "synchronised",
       .option = "--synchronised",
       .of = SettingOf::components,
       .member = &S::synchronised,
       .help = "begin each iteration together, and take the slowest rank's time of each"},
      {.key = "check",
       .option = "--check",
       .member = &S::check,
       .words = {"all", "spots"},
       .help = "all, or spots: without the inverse, which takes as much memory as the plan"},
      {.key = "isolate", .option = "--isolate", .member = &S::isolate, .help = "also time each component alone"},
      {.key = "timeline",
       .option = "--timeline",
       .member = &S::timeline,
       .help = "one more run, in which every thread writes down what it does when"},
      {.key = "idle_s",
       .option = "--idle-s",
       .member = &S::idle_s,
       .least = 0.001,
       .most = 1000,
       .help = "with counters of a socket or node: read the machine at rest for this long; default: 1 for energy, else "
               "0.2"},
      {.key = "phases", .option = "--no-phases", .member = &S::phases, .help = "do not time the phases"},
  };
  return settings;
}

bool is_taken(const Setting& setting, bool by_components) {
  return setting.of != (by_components ? SettingOf::transforms : SettingOf::components);
}

std::vector<std::string> setting_options(const Settings& settings, bool of_component) {
  std::vector<std::string> options;
  for (const Setting& setting : all_settings()) {
    if (!is_taken(setting, of_component)) continue;
    const auto add = [&](auto member) {
      const auto& value = settings.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      constexpr bool is_number = !std::is_same_v<Value, bool> && std::is_arithmetic_v<Value>;
      if (is_number ? value == Value() && setting.least > 0 : value == Settings().*member) return;
      options.emplace_back(setting.option);
      if constexpr (!std::is_same_v<Value, bool>) options.push_back(fmt::format("{}", value));
    };
    std::visit(add, setting.member);
  }
  return options;
}

nlohmann::json settings_json(const Settings& settings, bool of_component) {
  nlohmann::json said = nlohmann::json::object();
  for (const Setting& setting : all_settings()) {
    if (!is_taken(setting, of_component)) continue;
    const auto say = [&](auto member) {
      const auto& value = settings.*member;
      if constexpr (std::is_same_v<decltype(value), const double&>)
        if (value == 0) return;
      said[std::string(setting.key)] = value;
    };
    std::visit(say, setting.member);
  }
  return said;
}

}  // namespace fourscore
