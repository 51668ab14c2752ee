#pragma once
// The command line of fft_bench.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/problem.hpp"
#include "harness/sampler.hpp"
#include "hwcounters/counter.hpp"
#include "program/command_line.hpp"

namespace fourscore::bench {

enum class Mode { measure, list, identity, check_points };

struct CounterOptions {
  CounterRequest request;
  std::string cache;  ///< as it was asked for; empty: not asked for
  std::optional<std::filesystem::path> qualification;
};

struct Options {
  Mode mode = Mode::measure;
  Point point;  ///< ranks is filled in once MPI runs
  SamplingOptions sampling;
  bool isolate = false;
  bool timeline = false;                   ///< one more run, traced
  std::optional<CounterOptions> counters;  ///< further runs, counted; nothing for `none`
  std::uint64_t seed = 1;
  std::optional<std::filesystem::path> wisdom;
  std::optional<std::filesystem::path> record;
  /// Where the verified samples wait while optional parts are measured; beside the record unless it was said otherwise.
  std::optional<std::filesystem::path> verified_record;
  nlohmann::json campaign;  ///< null when not given
  std::string launcher = "none";
  std::string started;                  ///< file to create once MPI runs; empty: none
  std::optional<double> launched_at_s;  ///< since the epoch
  bool json = false;
};

/// Throws Exit for --help, --version and a command line that cannot be used (code 2).
[[nodiscard]] Options parse_command_line(int argc, char** argv);

}  // namespace fourscore::bench
