#pragma once
// Choosing an archive and campaigns on the command line.

#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// Options of a command that reads campaigns.
struct CampaignsOptions {
  std::string archive;
  std::vector<std::string> campaigns;
  bool json = false;
};

/// The archive of --archive. Throws ArchiveError when there is none.
[[nodiscard]] Archive open_archive(const std::string& option);

/// The campaigns of these names, of a suite the newest, or all. Throws InputError with the nearest name for one that is
/// not there.
[[nodiscard]] std::vector<std::string> chosen_campaigns(const Archive& archive, const std::vector<std::string>& names);

}  // namespace fourscore
