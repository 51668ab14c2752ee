#include "jobscripts/commands/campaigns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/problem.hpp"
#include "jobscripts/paths.hpp"

namespace fourscore {

Archive open_archive(const std::string& option) {
  Archive archive(std::filesystem::absolute(archive_folder(option)));
  archive.require();
  return archive;
}

std::vector<std::string> chosen_campaigns(const Archive& archive, const std::vector<std::string>& names) {
  auto known = archive.campaigns();
  if (names.empty()) return known;
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto nearest = nearest_name(name, known);
    throw InputError(fmt::format("no campaign '{}' in {}{}", name, archive.root().string(),
                                 nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
  }
  return names;
}

}  // namespace fourscore
