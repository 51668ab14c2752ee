#pragma once
// One campaign: a suite expanded for one machine and one binary, and what of it is done.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobscripts/suites/suite.hpp"
#include "results/archive.hpp"

namespace fourscore {

/// A point of a campaign, with its program's answer about it.
struct CampaignPoint {
  Point point;
  std::string id;
  std::string skip_reason;       ///< why it is not launched; empty when it is
  std::set<std::string> tags{};  ///< from all tables of the suite that have the point
};

/// What campaign.json holds, and the order of launches that follows from it.
struct Campaign {
  std::string id;
  Suite suite;
  std::string suite_sha256;
  std::string machine_hash;
  std::string code_hash;  ///< the hash of fft_bench; with components, of all programs together
  /// By program ("" is fft_bench): its file, and its identity, which is machine, code and their hashes.
  std::map<std::string, std::filesystem::path> programs;
  std::map<std::string, nlohmann::json> identities;
  std::set<std::string> foreign;  ///< those of the programs that are not of fourscore's harness
  std::uint64_t seed = 0;
  std::vector<CampaignPoint> points;
  std::vector<ScheduledLaunch> schedule;  ///< launches of the points that are launched
  std::string revision;                   ///< CampaignRequest::revision
  bool exists = false;                    ///< campaign.json is there already
  nlohmann::json machine;                 ///< CampaignRequest::machine
  bool open_ended = false;                ///< launches beyond the schedule belong to it too

  /// The "campaign" object of a record; order counts from 0 in the schedule.
  [[nodiscard]] nlohmann::json stamp(int launch, std::size_t order) const;
  /// Whether launches of the point are counted.
  [[nodiscard]] bool counts(const Point& point) const;
  /// The "provenance" of a record that no program wrote.
  [[nodiscard]] nlohmann::json provenance(const Point& point, const std::string& launcher,
                                          const std::string& started_at) const;
};

/// "size" of a suite that has sizes, and "paper" of one that measures after a paper: in campaign.json, and where a
/// command shows a suite.
[[nodiscard]] nlohmann::json size_json(const Suite& suite);

struct CampaignRequest {
  std::string name;                         ///< --campaign
  bool fresh = false;                       ///< --fresh
  std::string revision{};                   ///< names the plugin or program that is measured, as its repository does
  std::optional<CounterChoice> counters{};  ///< in place of the suite's
  bool open_ended = false;                  ///< further launches follow, as pairs of a second stage
  nlohmann::json machine;                   ///< what of a machine file decides what is measured; null without one
  /// By program, where those that run are not those that can be asked here: on another machine than this one.
  std::map<std::string, nlohmann::json> identities{};
};

/// Asks fft_bench and the component programs about every point and finds or names the campaign; writes nothing. `bench`
/// is --bench; fft_bench is looked for when a transform is among the points. Throws InputError for points that their
/// program refuses, in component tables with file, line and key, and for a name that another suite, binary or machine
/// has; EnvironmentError when fft_bench is missing. Points of a component that is not built are to be skipped.
[[nodiscard]] Campaign plan_campaign(Suite suite, const std::string& bench, const Archive& archive,
                                     const CampaignRequest& request);

/// Writes campaign.json, once. Throws ArchiveError.
void write_campaign(const Campaign& campaign, const Archive& archive, const std::string& launcher);

}  // namespace fourscore
