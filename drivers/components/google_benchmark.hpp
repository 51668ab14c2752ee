#pragma once
// What differs from version to version of Google Benchmark (1.6 to 1.9 and what follows), found by what its headers
// offer.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace fourscore::component::google {

/// 1.8 calls it `skipped`, and tells an error from a wish.
template <class Run>
[[nodiscard]] bool was_skipped(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred;
  else
    return run.skipped != decltype(run.skipped){};
}

/// 1.8 takes seconds or a number of iterations, and tells its reporters which; a number alone has no unit before.
template <class Reporter = benchmark::BenchmarkReporter>
[[nodiscard]] std::string min_time_flag(double seconds) {
  constexpr bool takes_a_unit = requires(Reporter & reporter) { reporter.ReportRunsConfig(0.0, false, 0); };
  return fmt::format("--benchmark_min_time={}{}", seconds, takes_a_unit ? "s" : "");
}

namespace before_1_7 {
/// Found where Google Benchmark has none, and a worse match where it has.
template <class... Nothing>
std::nullptr_t CreateDefaultDisplayReporter(Nothing... /*none*/) {
  return nullptr;
}
}  // namespace before_1_7

using SharedReporter = std::shared_ptr<benchmark::BenchmarkReporter>;

/// 1.9 and before keep the reporter that they make, what follows gives it away.
template <class Made>
[[nodiscard]] SharedReporter shared_reporter(Made made, const std::string& format, bool tabular) {
  using Console = benchmark::ConsoleReporter;
  if constexpr (std::is_pointer_v<Made>) {
    return {made, [](auto* /*kept*/) {}};
  } else if constexpr (!std::is_null_pointer_v<Made>) {
    return SharedReporter(std::move(made));
  } else {
    if (format == "json") return std::make_shared<benchmark::JSONReporter>();
    if (format == "csv") return nullptr;
    return std::make_shared<Console>(tabular ? Console::OO_Tabular : Console::OO_None);
  }
}

/// What shows results on the screen as the flags --benchmark_format and --benchmark_counters_tabular say; null where
/// this version cannot. Once a program.
[[nodiscard]] inline SharedReporter display_reporter(const std::string& format, bool tabular) {
  using namespace benchmark;
  using namespace before_1_7;
  return shared_reporter(CreateDefaultDisplayReporter(), format, tabular);
}

}  // namespace fourscore::component::google
