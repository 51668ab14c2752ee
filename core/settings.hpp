#pragma once
// How a launch measures, said once: suites, command lines, records, their schema and the tables of suites/README.md go
// by this table. What counts and how (counters) is a choice of its own.

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
  std::string_view key;     ///< in suites and in a record's "sampling"
  std::string_view option;  ///< the programs' option; a flag's turns the default round
  SettingOf of = SettingOf::transforms;
  std::variant<int Settings::*, double Settings::*, bool Settings::*, std::string Settings::*> member;
  double least = 0, most = 0;             ///< limits of a number; a time of 0 is never asked for
  std::vector<std::string_view> words{};  ///< that a text may be
  std::string_view help;                  ///< for the option
};

[[nodiscard]] const std::vector<Setting>& all_settings();

/// Whether programs of components (else fft_bench) take it.
[[nodiscard]] bool is_taken(const Setting& setting, bool by_components);

/// The options with which a program measures so: all numbers, as programs differ in their defaults, and the rest where
/// it is not the default.
[[nodiscard]] std::vector<std::string> setting_options(const Settings& settings, bool of_component);

/// What a record says of them: {"repetitions": 10, ...}; a limit that was not asked for is left out.
[[nodiscard]] nlohmann::json settings_json(const Settings& settings, bool of_component);

}  // namespace fourscore
