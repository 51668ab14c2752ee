#include "components/benchmark_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "core/problem.hpp"

namespace fourscore::component {
namespace {

const std::vector<std::string> on_or_off{"true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n"};
const std::vector<std::string> formats{"console", "json", "csv"};

struct Flag {
  std::string name;
  std::vector<std::string> values;  ///< allowed; empty: any text
  std::string refusal;              ///< why it may not be on, or not be given at all; empty: it may
};

/// Flags of Google Benchmark 1.6 to 1.9.
const std::vector<Flag>& known_flags() {
  static const std::string sampling = "the record says how long benchmarks ran; use --min-time-s";
  static const std::vector<Flag> flags{
      {"filter", {}, ""},
      {"list_tests", on_or_off, ""},
      {"format", formats, ""},
      {"out", {}, ""},
      {"out_format", formats, ""},
      {"color", {"auto", "true", "false", "yes", "no", "on", "off", "1", "0"}, ""},
      {"counters_tabular", on_or_off, ""},
      {"context", {}, ""},
      {"time_unit", {"ns", "us", "ms", "s"}, ""},
      {"enable_random_interleaving", on_or_off, ""},  // the session knows how many ranks there are
      {"repetitions", {}, "the record says how many were made; use --repetitions"},
      {"min_time", {}, sampling},
      {"min_warmup_time", {}, "the run that is checked is the warm-up"},
      {"perf_counters", {}, "components alone are timed, not counted"},
      {"dry_run", on_or_off, "nothing would be measured; use --benchmark_list_tests, or --repetitions 1"},
      {"report_aggregates_only", on_or_off, "every repetition is shown and recorded"},
      {"display_aggregates_only", on_or_off, "every repetition is shown and recorded"}};
  return flags;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string name_in_environment(const std::string& name) {
  std::string upper = "BENCHMARK_" + name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

struct Given {
  std::string name;
  std::string value;
};
Given parts_of(const std::string& flag) {
  static const std::string prefix = "--benchmark_";
  const auto equals = flag.find('=');
  const std::string name = flag.substr(prefix.size(), equals == std::string::npos ? equals : equals - prefix.size());
  return {name, equals == std::string::npos ? "true" : flag.substr(equals + 1)};
}

bool is_on(const std::string& value) {
  static const std::vector<std::string> off{"0", "f", "n", "false", "no", "off"};
  return std::ranges::find(off, lower(value)) == off.end();
}

/// `shown`: what the user wrote.
void check(const Flag& flag, const std::string& value, const std::string& shown) {
  if (!flag.values.empty() && std::ranges::find(flag.values, lower(value)) == flag.values.end())
    throw InputError(
        fmt::format("{}: '{}' is no value of it; expected {}", shown, value, fmt::join(flag.values, ", ")));
  const bool asked = flag.values.empty() || is_on(value);
  if (!flag.refusal.empty() && asked)
    throw InputError(fmt::format("{} is not for these programs: {}", shown, flag.refusal));
}

const Flag& known_flag(const Given& given, const std::string& shown) {
  const auto known = std::ranges::find(known_flags(), given.name, &Flag::name);
  if (known != known_flags().end()) return *known;
  std::vector<std::string> names;
  for (const Flag& flag : known_flags()) names.push_back(flag.name);
  const auto nearest = nearest_name(given.name, names);
  throw InputError(fmt::format("Google Benchmark does not understand {}{}", shown,
                               nearest ? fmt::format("; did you mean --benchmark_{}?", *nearest) : ""));
}

}  // namespace

std::string benchmark_flag(const std::vector<std::string>& flags, const std::string& name,
                           const std::string& fallback) {
  const char* set = std::getenv(name_in_environment(name).c_str());
  std::string value = set == nullptr ? fallback : set;
  for (const std::string& flag : flags)
    if (Given given = parts_of(flag); given.name == name) value = std::move(given.value);
  return value;
}

bool benchmark_flag_is_on(const std::vector<std::string>& flags, const std::string& name) {
  return is_on(benchmark_flag(flags, name, "false"));
}

void check_benchmark_flags(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    const Given given = parts_of(flag);
    check(known_flag(given, flag), given.value, flag);
  }
  for (const Flag& flag : known_flags()) {
    const std::string name = name_in_environment(flag.name);
    if (const char* value = std::getenv(name.c_str()))
      check(flag, value, fmt::format("environment variable {}={}", name, value));
  }
}

}  // namespace fourscore::component
