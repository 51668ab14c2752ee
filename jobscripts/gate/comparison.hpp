#pragma once
// A comparison of two builds: two campaigns of one suite, whose launches are pairs (docs/gate.md).

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct ComparedSide {
  std::string label;  ///< what a person calls it: a revision, a file
  std::filesystem::path bench;
  std::string code_hash;
  std::string campaign;                ///< the campaign of its launches
  std::vector<std::string> arguments;  ///< further ones of its fft_bench
  std::vector<std::filesystem::path> plugins{};
  std::filesystem::path program{};  ///< that prints its times
  std::string revision{};           ///< that the plugin or program was built from
};

/// Pairs of the points, numbered from first_launch on: launch k of both campaigns is pair k.
struct ComparisonStage {
  std::string name;  ///< "screen": all points; "confirm": those that it flagged
  int first_launch = 0;
  int launches = 0;
  std::map<std::string, int> points;     ///< pairs of each, by id, at most `launches`; empty: all points, and all pairs
  std::vector<int> looks{};              ///< pairs after which the analysis is asked what is decided, before the last
  std::map<std::string, int> stopped{};  ///< pairs after which a look ended a point, by id

  /// The pairs of this point.
  [[nodiscard]] int pairs_of(const std::string& id) const;
  /// The stage as far as its first `pairs` pairs.
  [[nodiscard]] ComparisonStage up_to(int pairs) const;
};

struct Comparison {
  std::string name;
  std::string suite;
  ComparedSide base, candidate;
  std::uint64_t seed = 0;
  std::vector<ComparisonStage> stages;
};

/// comparisons/<name>/ of the archive.
[[nodiscard]] std::filesystem::path comparison_folder(const Archive& archive, const std::string& name);
[[nodiscard]] std::filesystem::path comparison_file(const Archive& archive, const std::string& name);

/// Writes comparison.json, in place of the one that is there. Throws RecordFileError, ArchiveError.
void write_comparison(const Comparison& comparison, const Archive& archive);

/// Takes seed and stages of the comparison.json that is there, if one is. Throws InputError where it is not of these
/// two campaigns, or cannot be read.
void go_on_with(Comparison& comparison, const Archive& archive);

}  // namespace fourscore
