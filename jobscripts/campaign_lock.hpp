#pragma once
// Who may work on a campaign at one time.

#include <string>

#include "core/descriptor.hpp"
#include "results/archive.hpp"

namespace fourscore {

/// flock(2) on the campaign, inherited by what runs under it. When the holder is dead and only its last launch is still
/// being ended, waits for that. Throws InputError naming the holder otherwise.
class CampaignLock {
 public:
  /// alone: a run outside jobs, which nobody measures beside. shared: jobs of one campaign, each on its own nodes.
  /// submitting: who writes jobs, beside both.
  enum class Kind { alone, shared, submitting };
  CampaignLock(const Archive& archive, const std::string& campaign, Kind kind);

 private:
  Descriptor file_;
};

/// Removes what a killed run left in the staging folder and among the records. The caller holds the lock.
void sweep(const Archive& archive, const std::string& campaign);

}  // namespace fourscore
