#include "jobscripts/campaign_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/errors.hpp"
#include "core/regular_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr double longest_clean_up_s = 20.0;
constexpr double longest_submission_s = 600.0;  ///< a campaign may be hundreds of jobs

/// Some file systems of clusters have no locks. Jobs can do without: no two of them hold one launch.
bool can_do_without(int error, CampaignLock::Kind kind) {
  return kind == CampaignLock::Kind::shared && (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP);
}

std::string refusal(const std::string& campaign, CampaignLock::Kind kind, long pid, std::string host) {
  if (host.empty()) host = "an unknown host";
  if (kind == CampaignLock::Kind::submitting)
    return fmt::format("campaign {} is being submitted by process {} on {}; wait for its end", campaign, pid, host);
  return fmt::format("campaign {} is being run by process {} on {}; two runs of one campaign would measure each other",
                     campaign, pid, host);
}

}  // namespace

CampaignLock::CampaignLock(const Archive& archive, const std::string& campaign, Kind kind) {
  const fs::path file = archive.campaign_folder(campaign) / (kind == Kind::submitting ? "submit.lock" : "lock");
  file_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_.is_open()) throw ArchiveError(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  const auto begin = std::chrono::steady_clock::now();
  while (::flock(file_.get(), (kind == Kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (can_do_without(errno, kind)) return;
    if (errno != EWOULDBLOCK)
      throw ArchiveError(fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
    std::istringstream in(text_or_nothing(file));
    long pid = 0;
    std::string holder_host;
    in >> pid >> holder_host;
    const bool dead = pid > 0 && holder_host == host && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double patience_s = kind == Kind::submitting ? longest_submission_s : dead ? longest_clean_up_s : 0.2;
    if (waited > patience_s) throw InputError(refusal(campaign, kind, pid, holder_host));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const std::string text = fmt::format("{} {}\n", ::getpid(), host);
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), text.data(), text.size(), 0) < 0)
    throw ArchiveError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

void sweep(const Archive& archive, const std::string& campaign) {
  std::error_code error;
  const fs::path staging = archive.campaign_folder(campaign) / "staging";
  if (!fs::is_directory(fs::symlink_status(staging, error)))
    throw ArchiveError(fmt::format(
        "{} is not a folder of its own but a link or a file, and what is in it is swept; remove it", staging.string()));
  for (fs::directory_iterator it(staging, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    fs::remove_all(it->path(), ignored);
  }
  for (fs::directory_iterator it(archive.records_folder(campaign), error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(".") && name.ends_with(".tmp")) fs::remove(it->path(), ignored);
  }
}

}  // namespace fourscore
