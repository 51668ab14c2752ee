#include "jobscripts/commands/campaigns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "core/did_you_mean.hpp"
#include "core/problem.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "results/campaign_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

/// When something of the campaign was written last.
fs::file_time_type written(const Archive& archive, const std::string& campaign) {
  fs::file_time_type last = fs::file_time_type::min();
  for (const fs::path& path : {archive.records_folder(campaign), archive.campaign_folder(campaign) / "campaign.json"}) {
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    if (!error) last = std::max(last, time);
  }
  return last;
}

std::optional<std::string> newest_of(const Archive& archive, const std::vector<std::string>& known,
                                     const std::string& suite) {
  std::optional<std::string> newest;
  for (const std::string& campaign : known)
    if (suite_of_campaign(archive, campaign) == suite &&
        (!newest || written(archive, *newest) < written(archive, campaign)))
      newest = campaign;
  return newest;
}

std::string unknown(const Archive& archive, std::vector<std::string> known, const std::string& name) {
  std::set<std::string> suites;
  for (const std::string& campaign : known) suites.insert(suite_of_campaign(archive, campaign));
  known.insert(known.end(), suites.begin(), suites.end());
  return fmt::format("no campaign or suite '{}' in {}{}", name, archive.root().string(), did_you_mean(name, known));
}

}  // namespace

Archive open_archive(const std::string& option) {
  Archive archive(std::filesystem::absolute(archive_folder(option)));
  archive.require();
  return archive;
}

std::vector<std::string> chosen_campaigns(const Archive& archive, const std::vector<std::string>& names) {
  const auto known = archive.campaigns();
  if (names.empty()) return known;
  std::vector<std::string> chosen;
  for (const auto& name : names) {
    std::optional<std::string> campaign = name;
    if (std::ranges::find(known, name) == known.end()) campaign = newest_of(archive, known, name);
    if (!campaign) throw InputError(unknown(archive, known, name));
    if (std::ranges::find(chosen, *campaign) == chosen.end()) chosen.push_back(*campaign);
  }
  return chosen;
}

}  // namespace fourscore
