#pragma once
// Validity flags: what a reader must know before trusting a time. No MPI here.

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// What the ranks of one node may use and hold.
struct NodeFacts {
  struct Rank {
    std::set<int> cores;  ///< physical cores its affinity mask touches
  };
  std::vector<Rank> ranks;
  double plan_bytes = 0;              ///< buffers and workspace of all its ranks
  double last_level_cache_bytes = 0;  ///< in the caches next to those cores; 0: unknown
  /// How many cores the masks touch together, at most, where they are known by processing unit alone.
  std::optional<std::size_t> most_cores{};
  std::set<int> core_kinds{};  ///< kinds of those cores
};

/// Largest |sum of phases - total| / total of a rank that still counts as closed.
inline constexpr double closure_limit = 0.02;

struct FlagFacts {
  std::vector<NodeFacts> nodes;
  int threads = 1;  ///< per rank
  int warmup = 1;
  std::string clock_source;  ///< the kernel's name for it; empty: unknown
  double clock_resolution_s = 0;
  std::optional<double> smallest_sample_s;
  std::optional<double> closure_worst;
  std::vector<double> sample_s, start_skew_s;  ///< from the timed runs; both empty, or of one length
  bool heterogeneous = false;                  ///< the nodes differ in machine or settings
  bool emulated = false;   ///< some of it was measured on a stand-in: for a GPU, one node for several, another machine
  bool simulated = false;  ///< the program ran under a simulator
  bool slowed = false;     ///< a phase was made slower on purpose
  bool foreign = false;    ///< what made the record is not known to be a program of fourscore's harness
  double other_cores = 0;  ///< that other processes kept busy on a node while its energy was counted
};

struct Flag {
  std::string_view name;
  std::string_view short_name;  ///< in tables
  std::string_view holds_when;
};
/// The one list of them. tests/contract/lists.py makes the record's schema of it, and holds the analysis to it.
inline constexpr std::array<Flag, 14> flag_table{{
    {"oversubscribed", "over", "the ranks of a node have more threads than there are cores in their masks together"},
    {"unbound", "unb", "a rank of several on its node may wander over more cores than it has threads"},
    {"in-cache", "cache", "the plans of a node's ranks fit its last-level caches: no memory traffic to speak of"},
    {"cold", "cold", "no warm-up run came before"},
    {"clock-suspect", "clock",
     "the kernel's clock source is slow or adjusted, or the smallest sample is under 1000 of its steps"},
    {"skewed", "skew", "half of the samples or more are shorter than 50 times the skew of their start"},
    {"heterogeneous", "het", "the nodes differ in machine or settings"},
    {"unlike-cores", "unlike", "the ranks of a node may run on cores of several kinds"},
    {"open-breakdown", "open", "the phases of some rank do not add up to its total"},
    {"emulated", "emul",
     "some of it is a stand-in for hardware that is not there: a GPU, several nodes, the machine that hwloc was told "
     "of"},
    {"simulated", "sim", "the program ran under a simulator: its times must not be compared"},
    {"slowed", "slow", "a phase was made slower on purpose, to try out the gate"},
    {"shared-package", "shared",
     "while energy was counted, other processes kept more than a quarter of a core of a node busy"},
    {"foreign", "for", "it is its program's or its file's word alone: fourscore's own harness did not measure it"},
}};
/// A sample shorter than this many times the time between the first rank's start and the last's is mostly waiting.
inline constexpr double min_skews_of_a_sample = 50;
/// More cores than this, busy with work of others, are no idling system any more.
inline constexpr double most_other_cores = 0.25;

/// The entry of a flag, or null.
[[nodiscard]] const Flag* find_flag(std::string_view name);

/// The names of those that hold, in the order of the table.
[[nodiscard]] std::vector<std::string> validity_flags(const FlagFacts& facts);

}  // namespace fourscore
