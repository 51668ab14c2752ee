#pragma once
// The command line of fft_bench.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/settings.hpp"
#include "harness/sampler.hpp"
#include "hwcounters/counter.hpp"
#include "program/common_options.hpp"

namespace fourscore::bench {

struct CounterOptions {
  CounterRequest request;
  std::string cache;  ///< as it was asked for; empty: not asked for
  std::optional<std::filesystem::path> qualification;
};

/// How much is checked before timing: `spots` leaves out the inverse, whose plan takes as much memory as the plan
/// itself; `waves` what Verifier::check_waves() leaves out, where another launch has checked it.
enum class CheckExtent { all, spots, waves };

struct Options : CommonOptions {
  Point point;  ///< ranks, nodes and their placement are filled in once MPI runs
  Settings settings;
  SamplingOptions sampling;  ///< those of them that the Sampler takes
  CheckExtent extent = CheckExtent::all;
  std::optional<CounterOptions> counters;  ///< further runs, counted; nothing for `none`
  std::uint64_t seed = 1;
  std::optional<std::filesystem::path> wisdom;
  std::optional<std::filesystem::path> checked_by;  ///< a record whose checks may stand for this launch's
  std::string relied_on;                            ///< the id of that record, where they do
  std::filesystem::path launches;                   ///< a list of launches in place of all other options; empty: none
  int launches_before = 0;                          ///< that the same MPI job makes before this one
  std::vector<std::filesystem::path> plugins;       ///< open by the time that the point is read
  /// Where the verified samples wait while optional parts are measured; beside the record unless it was said otherwise.
  std::optional<std::filesystem::path> verified_record;
  bool json = false;
  bool fom = false;
};

/// Throws Exit for --help, --version and a command line that cannot be used (code 2).
[[nodiscard]] Options parse_command_line(int argc, char** argv);

}  // namespace fourscore::bench
