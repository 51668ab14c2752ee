#pragma once
// How a launch measures, said once: suites, command lines and records go by this table, and tests/contract/lists.py
// makes their schema and the example of suites/README.md of it. What counts and how (counters) is a choice of its own.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fourscore {

/// As a program measures that is told nothing.
struct Settings {
  int repetitions = 10;
  int warmup = 1;
  double max_time_s = 0;  ///< 0: no limit
  double min_time_s = 0.05;
  bool synchronised = false;
  std::string check = "all";
  bool isolate = false;
  bool phases = true;
  bool timeline = false;
  double idle_s = 0;  ///< 0: as the counters do
};

/// Which programs take a setting: fft_bench, those of components, or both.
enum class SettingOf { transforms, components, all };

struct Setting {
  std::string_view key;  ///< in suites and in a record's "sampling"
  SettingOf of = SettingOf::transforms;
  std::variant<int Settings::*, double Settings::*, bool Settings::*, std::string Settings::*> member;
  double least = 0, most = 0;             ///< limits of a number; a time of 0 is never asked for
  std::vector<std::string_view> words{};  ///< that a text may be
  std::string_view help;                  ///< what it does

  /// The programs' option: --max-time-s; or --no-phases of a flag that is on by default.
  [[nodiscard]] std::string option() const;
  [[nodiscard]] bool is_on_by_default() const;
};

[[nodiscard]] inline const std::vector<Setting>& all_settings() {
  using S = Settings;
  static const std::vector<Setting> settings{
      {.key = "repetitions",
       .of = SettingOf::all,
       .member = &S::repetitions,
       .least = 1,
       .most = 1'000'000,
       .help = "timed runs; of each benchmark of a component"},
      {.key = "warmup", .member = &S::warmup, .least = 0, .most = 1'000'000, .help = "runs before them, kept apart"},
      {.key = "max_time_s",
       .member = &S::max_time_s,
       .least = 0.001,
       .most = 1e6,
       .help = "no further repetition after this many seconds"},
      {.key = "min_time_s",
       .of = SettingOf::components,
       .member = &S::min_time_s,
       .least = 1e-6,
       .most = 1e6,
       .help = "a repetition lasts at least this long"},
      {.key = "synchronised",
       .of = SettingOf::components,
       .member = &S::synchronised,
       .help = "begin each iteration together, and take the slowest rank's time of each"},
      {.key = "check",
       .member = &S::check,
       .words = {"all", "spots"},
       .help = "all, or spots: without the inverse, which takes as much memory as the plan"},
      {.key = "isolate", .member = &S::isolate, .help = "also time each component alone"},
      {.key = "timeline",
       .member = &S::timeline,
       .help = "one more run, in which every thread writes down what it does when"},
      {.key = "idle_s",
       .member = &S::idle_s,
       .least = 0.001,
       .most = 1000,
       .help = "with counters of a socket or node: read the machine at rest for this long; default: 1 for energy, else "
               "0.2"},
      {.key = "phases", .member = &S::phases, .help = "time the phases inside the transform"},
  };
  return settings;
}

/// Whether programs of components (else fft_bench) take it.
[[nodiscard]] bool is_taken(const Setting& setting, bool by_components);

/// The options with which a program measures so: all numbers, as programs differ in their defaults, and the rest where
/// it is not the default.
[[nodiscard]] std::vector<std::string> setting_options(const Settings& settings, bool of_component);

/// What a record says of them: {"repetitions": 10, ...}; a limit that was not asked for is left out.
[[nodiscard]] nlohmann::json settings_json(const Settings& settings, bool of_component);

}  // namespace fourscore
