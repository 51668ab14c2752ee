#include "results/campaign_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// "5c1e…-007.json" for ["5c1e…", 7]; empty for anything else.
std::string name_of_launch(const Archive& archive, const json& entry) {
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number_unsigned() ||
      entry[1] > 1'000'000)
    return {};
  return archive.record_file("", entry[0].get<std::string>(), entry[1].get<int>()).filename().string();
}

/// Throws UnreadableRecord.
std::vector<std::string> names_in(const Archive& archive, const json& content) {
  std::vector<std::string> names;
  for (const char* key : {"schedule", "points"})
    if (!content.contains(key) || !content[key].is_array())
      throw UnreadableRecord(fmt::format("key '{}' is no array", key));
  for (const json& entry : content["schedule"]) {
    names.push_back(name_of_launch(archive, entry));
    if (names.back().empty())
      throw UnreadableRecord(fmt::format("key 'schedule' holds {}; expected [point_id, launch]", entry.dump()));
  }
  for (const json& point : content["points"]) {
    if (!point.is_object()) throw UnreadableRecord("key 'points' holds what is no object");
    if (!point.contains("skipped")) continue;
    names.push_back(name_of_launch(archive, json::array({point.value("point_id", json()), 0U})));
    if (names.back().empty()) throw UnreadableRecord("key 'points' has an element without a point_id");
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

void require_campaign_name(const std::string& name) { (void)PlainName(name, "campaign name"); }

bool ScheduledRecords::may_follow(const std::string& name) const {
  const std::size_t dash = name.rfind('-');
  if (!open_ended || dash == std::string::npos) return false;
  const std::string point = name.substr(0, dash + 1);  // in the order of names, its launches come next
  const auto first = std::lower_bound(names.begin(), names.end(), point);
  return first != names.end() && first->starts_with(point);
}

ScheduledRecords scheduled_records(const Archive& archive, const std::string& campaign) {
  ScheduledRecords result;
  const fs::path file = archive.campaign_folder(campaign) / "campaign.json";
  if (!is_there(file)) return result;
  try {
    const std::string text = read_regular_file(file).text;
    const json content = json::parse(text, nullptr, false);
    if (!content.is_object() || content.value("schema", json()) != "fourscore.campaign")
      throw UnreadableRecord("not a campaign's description");
    if (check_digest(text, content) == Digest::wrong) throw UnreadableRecord("its digest is that of another content");
    result.names = names_in(archive, content);
    result.open_ended = content.value("open_ended", json()) == json(true);
    result.known = true;
  } catch (const std::runtime_error& error) {
    result.problem = error.what();
  }
  return result;
}

namespace {

/// The text of a key of campaign.json; empty where there is none.
std::string text_of_campaign(const Archive& archive, const std::string& campaign, const char* key) {
  try {
    const std::string text = read_regular_file(archive.campaign_folder(campaign) / "campaign.json").text;
    const json content = json::parse(text, nullptr, false);
    if (content.is_object() && content.contains(key) && content[key].is_string())
      return content[key].get<std::string>();
  } catch (const UnreadableFile&) {
  }
  return {};
}

}  // namespace

std::string machine_of_campaign(const Archive& archive, const std::string& campaign) {
  return text_of_campaign(archive, campaign, "machine_hash");
}

std::string suite_of_campaign(const Archive& archive, const std::string& campaign) {
  return text_of_campaign(archive, campaign, "suite");
}

}  // namespace fourscore
