#pragma once
// Who may work on a campaign at one time, and how one begins.

#include <string>
#include <vector>

#include "jobscripts/campaigns/campaign.hpp"
#include "results/archive.hpp"
#include "results/file_lock.hpp"

namespace fourscore {

/// A lock on the campaign, inherited by what runs under it. When the holder is dead and only its last launch is still
/// being ended, waits for that. Throws InputError naming the holder otherwise. Where the file system has no locks,
/// warns once: then a lease keeps out other processes of this host, and those of others as long as it is there.
class CampaignLock {
 public:
  /// alone: a run outside jobs, which nobody measures beside. shared: jobs of one campaign, each on its own nodes, and
  /// of those that name a `host` one on each. submitting: who writes jobs, beside all of these.
  enum class Kind { alone, shared, submitting };
  CampaignLock(const Archive& archive, const std::string& campaign, Kind kind, const std::string& host = {});

 private:
  void take(const std::filesystem::path& file, FileLock::Kind how, Kind kind, const std::string& campaign);

  std::vector<FileLock> locks_;
};

/// The folders of a campaign that a command begins or goes on with. Where nothing came of it, they are removed at the
/// end: no campaign.json was written, no record, and nobody else works on it.
class CampaignFolders {
 public:
  /// Throws ArchiveError where they cannot be made or written.
  CampaignFolders(const Archive& archive, std::string campaign);
  ~CampaignFolders();
  CampaignFolders(const CampaignFolders&) = delete;
  CampaignFolders& operator=(const CampaignFolders&) = delete;

 private:
  void discard() const noexcept;

  const Archive& archive_;
  std::string campaign_;
};

/// Writes campaign.json of a new campaign. False where somebody else has begun it since it was planned: it is to be
/// planned again, because then their seed holds. Throws ArchiveError.
[[nodiscard]] bool begin_campaign(const Campaign& campaign, const Archive& archive, const std::string& launcher);

/// Removes what a killed run left in the staging folder and among the records. The caller holds the lock.
void sweep(const Archive& archive, const std::string& campaign);

}  // namespace fourscore
