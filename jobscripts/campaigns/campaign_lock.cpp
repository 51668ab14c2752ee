#include "jobscripts/campaigns/campaign_lock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "jobscripts/base/output.hpp"
#include "results/archive.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr double longest_clean_up_s = 20.0;
constexpr double longest_submission_s = 600.0;  ///< a campaign may be hundreds of jobs

std::string refusal(const std::string& campaign, CampaignLock::Kind kind, const LockHolder& holder,
                    const fs::path& file) {
  const std::string host = holder.host.empty() ? "an unknown host" : printable(holder.host);
  const std::string lease = is_there(FileLock::lease_of(file)) && holder.host != this_host()
                                ? fmt::format("; if that process is gone, remove {}", FileLock::lease_of(file).string())
                                : "";
  if (kind == CampaignLock::Kind::submitting)
    return fmt::format("campaign {} is being submitted by process {} on {}; wait for its end{}", campaign, holder.pid,
                       host, lease);
  return fmt::format(
      "campaign {} is being run by process {} on {}; two runs of one campaign would measure each other{}", campaign,
      holder.pid, host, lease);
}

void warn_once(const fs::path& file, int lacking) {
  static bool warned = false;
  if (std::exchange(warned, true)) return;
  say("warning: the file system of {} has no locks ({}), so {} says who works there: begin, submit and cancel this "
      "campaign from one host at a time\n",
      printable(file.parent_path().string()), std::generic_category().message(lacking),
      printable(FileLock::lease_of(file).filename().string()));
}

bool is_empty_or_missing(const fs::path& folder) {
  std::error_code error;
  return !is_there(folder) || fs::is_empty(folder, error);
}

/// Removes the folders of a campaign of which there is nothing.
void discard_empty(const Archive& archive, const std::string& campaign) {
  const fs::path folder = archive.campaign_folder(campaign);
  const auto is_begun = [&] {
    return is_there(folder / "campaign.json") || !is_empty_or_missing(archive.records_folder(campaign));
  };
  if (!is_there(folder) || is_begun()) return;
  const auto lock = FileLock::attempt(folder / "lock", FileLock::Kind::exclusive);
  if (!lock || is_begun()) return;  // somebody else's
  std::error_code ignored;
  ::rmdir(archive.records_folder(campaign).c_str());
  ::rmdir((folder / "staging").c_str());
  for (const fs::path& file : children_of(folder))
    if (const std::string name = file.filename().string(); name.ends_with("lock") || name.ends_with("lock.lease"))
      fs::remove(file, ignored);
  ::rmdir(folder.c_str());  // not where more is in it
}

}  // namespace

CampaignLock::CampaignLock(const Archive& archive, const std::string& campaign, Kind kind, const std::string& host) {
  const fs::path folder = archive.campaign_folder(campaign);
  if (!host.empty()) take(folder / fmt::format("{}.lock", host), FileLock::Kind::exclusive, kind, campaign);
  take(folder / (kind == Kind::submitting ? "submit.lock" : "lock"),
       kind == Kind::shared ? FileLock::Kind::shared : FileLock::Kind::exclusive, kind, campaign);
}

void CampaignLock::take(const fs::path& file, FileLock::Kind how, Kind kind, const std::string& campaign) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    try {
      if (auto lock = FileLock::attempt(file, how)) {
        // Jobs can do without: no two of them hold one launch.
        if (lock->lacking() != 0 && how == FileLock::Kind::exclusive) warn_once(file, lock->lacking());
        locks_.push_back(std::move(*lock));
        return;
      }
    } catch (const std::system_error& error) {
      throw ArchiveError(error.what());
    }
    const LockHolder holder = FileLock::holder(file);
    const bool dead = holder.pid > 0 && holder.host == this_host() && ::kill(static_cast<pid_t>(holder.pid), 0) != 0 &&
                      errno == ESRCH;
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool elsewhere = is_there(FileLock::lease_of(file)) && holder.host != this_host();
    const double patience_s = kind == Kind::submitting && !elsewhere ? longest_submission_s
                              : dead                                 ? longest_clean_up_s
                                                                     : 0.2;
    if (waited > patience_s) throw InputError(refusal(campaign, kind, holder, file));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

CampaignFolders::CampaignFolders(const Archive& archive, std::string campaign)
    : archive_(archive), campaign_(std::move(campaign)) {
  try {
    archive_.create_campaign(campaign_);
  } catch (...) {
    discard();
    throw;
  }
}

CampaignFolders::~CampaignFolders() { discard(); }

void CampaignFolders::discard() const noexcept {
  try {
    discard_empty(archive_, campaign_);
  } catch (const std::exception&) {  // what cannot be removed stays
  }
}

bool begin_campaign(const Campaign& campaign, const Archive& archive, const std::string& launcher) {
  if (campaign.exists) return true;
  const CampaignLock lock(archive, campaign.id, CampaignLock::Kind::submitting);
  if (is_there(archive.campaign_folder(campaign.id) / "campaign.json")) return false;
  write_campaign(campaign, archive, launcher);
  return true;
}

void sweep(const Archive& archive, const std::string& campaign) {
  std::error_code error;
  const fs::path staging = archive.campaign_folder(campaign) / "staging";
  if (!fs::is_directory(fs::symlink_status(staging, error)))
    throw ArchiveError(fmt::format(
        "{} is not a folder of its own but a link or a file, and what is in it is swept; remove it", staging.string()));
  std::error_code ignored;
  for (const fs::path& left : children_of(staging)) fs::remove_all(left, ignored);
  for (const fs::path& file : children_of(archive.records_folder(campaign)))
    if (const std::string name = file.filename().string(); name.starts_with(".") && name.ends_with(".tmp"))
      fs::remove(file, ignored);
}

}  // namespace fourscore
