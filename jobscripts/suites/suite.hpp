#pragma once
// Suites: a TOML file (suites/README.md) expanded into measurement points.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "core/settings.hpp"

namespace fourscore {

enum class LaunchOrder { random, listed };
/// The plans that a launch begins with and adds to: its campaign's, those of all campaigns of the archive on
/// this machine, or none, so that the variance of plans shows.
enum class Wisdom { campaign, machine, none };

/// What counts, and how; as in fft_bench's options of these names.
struct CounterChoice {
  std::string counters = "none";
  std::string group{};  ///< empty: the backend's own
  std::string cache{};  ///< the cache of a simulation; empty: as the machine's
  bool operator==(const CounterChoice&) const = default;
};

/// A value of a [[sweep]] or [[component]] table, and the line it stands on: only the program that measures knows
/// whether it can be used.
struct NamedValue {
  std::string program;  ///< a component's; empty in a [[sweep]] or [defaults]
  std::string key;      ///< as of points: "variant", "parameters.NAME"
  std::string value;
  std::uint32_t line = 0;
};

class SuiteWords;

/// What a suite is expanded for. A suite names no machine: "cores" and "nodes" in it stand for these.
struct MachineSize {
  MachineSize(int cores_of_a_node, int number_of_nodes = 1)  // NOLINT: one machine of so many cores is the usual one
      : cores(cores_of_a_node), nodes(number_of_nodes) {}
  int cores;  ///< per node
  int nodes;
  bool is_named = false;  ///< a machine file says so: points that need more are not for it
  bool repacks = false;   ///< such points go on the fewest nodes that have a core for each thread
};

/// A suite after expansion. Points are in the order written, each once, components after transforms.
struct Suite {
  std::filesystem::path file;
  std::filesystem::path folder;  ///< from which it names files
  std::string text;              ///< the file's content, which the campaign keeps
  std::string name;              ///< with "-SIZE" where another size than the first is measured
  std::string description;
  std::vector<std::string> sizes;              ///< that --size takes, the default first; none: the suite is of one size
  std::string size;                            ///< which of them this is
  std::vector<std::string> paper;              ///< what it measures of papers: "lee2018/table-2.1"
  std::vector<std::filesystem::path> plugins;  ///< whose transforms are variants too
  /// By variant: somebody else's program that prints its times, file first, words in braces to be filled in.
  std::map<std::string, std::vector<std::string>> programs;
  int launches = 3;
  Settings settings{.max_time_s = 60};
  double time_limit_s = 120.0;  ///< a launch is ended after this long
  CounterChoice counters;       ///< what is counted in further runs of each launch
  std::string counters_of;      ///< tag of the points that are counted, skipped where they cannot be; empty: all
  Wisdom wisdom = Wisdom::campaign;
  bool checked_once = false;  ///< a point's later launches rely on the checks of its first one
  LaunchOrder order = LaunchOrder::random;
  std::uint64_t seed = 0;  ///< 0: drawn when the campaign starts
  double precision = 0;    ///< launches go on until the median's interval is within this part of it; 0: they do not
  int most_launches = 30;  ///< per point, where precision asks for more
  /// How often a launch is tried again after its job ended during it, by the cause of that.
  std::map<std::string, int> retries{{"node_failure", 3}, {"out_of_memory", 0}, {"timeout", 1},
                                     {"preempted", 10},   {"failed", 1},        {"unknown", 2}};
  double max_oversubscription = 0.0;
  std::vector<Point> points;
  std::vector<std::set<std::string>> tags;      ///< [point]: `--only tag=NAME` takes it by them
  std::vector<NamedValue> values;               ///< all that the tables say
  std::map<std::size_t, std::string> unplaced;  ///< [point] why the machine cannot have the nodes that its table says
  std::size_t dropped_oversubscribed = 0;       ///< points beyond max_oversubscription

  /// Who measures the point: a component, a variant of `programs`, or "" for fft_bench.
  [[nodiscard]] std::string program_of(const Point& point) const;
  /// The command of a program that prints its times; null where another measures the point.
  [[nodiscard]] const std::vector<std::string>* command_of(const Point& point) const;
};

/// 1 to 64 letters, digits and -, not starting with -: of suites and of their sizes.
[[nodiscard]] bool is_suite_name(const std::string& name);

/// Reads and expands a suite for a machine, in the `size` of its sizes; empty: its default. Throws
/// InputError "file:line: key ...: what is allowed", Interrupted when an InterruptGuard was asked to stop, and what
/// `words` throws.
/// File names in it are from `folder`; empty: its own.
[[nodiscard]] Suite load_suite(const std::filesystem::path& file, MachineSize machine, SuiteWords& words,
                               const std::string& size = "", const std::filesystem::path& folder = {});
[[nodiscard]] Suite parse_suite(const std::string& text, const std::filesystem::path& file, MachineSize machine,
                                SuiteWords& words, const std::string& size = "",
                                const std::filesystem::path& folder = {});

/// One launch of one point: indices into the suite's points, from 0.
struct ScheduledLaunch {
  std::size_t point = 0;
  int launch = 0;
  bool operator==(const ScheduledLaunch&) const = default;
};

/// Rounds: every point's launch 0, then every point's launch 1, ... A random order is a fresh permutation in each
/// round, the same for the same seed on every machine; a point is never launched twice in a row unless it is the only
/// one.
[[nodiscard]] std::vector<ScheduledLaunch> schedule_launches(std::size_t points, int launches, LaunchOrder order,
                                                             std::uint64_t seed);

}  // namespace fourscore
