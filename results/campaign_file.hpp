#pragma once
// campaigns/<campaign>/campaign.json, as far as the archive has to know it: which records belong to the campaign.

#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// Letters, digits, - _ . only, not starting with - or ., at most 128. Throws InputError saying so.
void require_campaign_name(const std::string& name);

struct ScheduledRecords {
  bool known = false;              ///< there is a campaign.json, and it can be read
  std::string problem;             ///< why it cannot be read; empty when it can, or when there is none
  std::vector<std::string> names;  ///< names of the record files of the finished campaign, sorted
  bool open_ended = false;         ///< its points may have further launches: for precision, or a second stage

  /// Whether the file may be a further launch of a point of the schedule.
  [[nodiscard]] bool may_follow(const std::string& name) const;
};

/// A record for each launch of the schedule, and one for each point that is skipped.
[[nodiscard]] ScheduledRecords scheduled_records(const Archive& archive, const std::string& campaign);

/// The hash of the machine that a campaign is for; empty where its campaign.json does not say.
[[nodiscard]] std::string machine_of_campaign(const Archive& archive, const std::string& campaign);
/// The suite that a campaign measures; empty where its campaign.json does not say.
[[nodiscard]] std::string suite_of_campaign(const Archive& archive, const std::string& campaign);

}  // namespace fourscore
