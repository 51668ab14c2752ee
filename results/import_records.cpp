#include "results/import_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "results/campaign_file.hpp"
#include "results/rank_columns.hpp"
#include "results/record_file.hpp"
#include "results/verify.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* suite_name = "imported";

struct Found {
  fs::path file;
  std::string sha256;  ///< of the file
  json record;
};

/// Throws std::runtime_error with the reason alone.
Found read_loose_record(const fs::path& file) {
  const std::string text = read_regular_file(file).text;
  Found found{file, sha256_hex(text), parse_record(text)};
  if (check_digest(text) == Digest::wrong)
    throw std::runtime_error("its digest \"sha256\" is that of another content: it was changed after it was written");
  if (found.record.contains("campaign"))
    throw std::runtime_error(
        fmt::format("it is a record of campaign {}; copy that campaign's two folders from its archive instead",
                    found.record["campaign"].value("id", "?")));
  (void)PlainName(found.record.value("record_id", ""), "record_id");
  read_rank_columns(found.record, file.parent_path());
  return found;
}

std::string home_of(const json& record) {
  const json provenance = record.value("provenance", json::object());
  return provenance.value("machine_hash", "") + provenance.value("code_hash", "");
}

std::string default_campaign(const std::vector<Found>& records) {
  std::set<std::string> homes;
  for (const Found& found : records) homes.insert(home_of(found.record));
  if (homes.size() > 1)
    throw InputError(fmt::format(
        "the records are of {} machines or builds (provenance.machine_hash and code_hash differ); import those of each "
        "apart, or name one campaign for all with --campaign",
        homes.size()));
  return fmt::format("{}-{}", suite_name, sha256_hex(homes.empty() ? "" : *homes.begin()).substr(0, 8));
}

/// What a campaign has before: its record_ids, and of each point the first launch that is free.
struct Standing {
  std::set<std::string> ids;
  std::map<std::string, int> next_launch;
};

Standing standing_of(const Archive& archive, const std::string& campaign) {
  Standing standing;
  const auto read = [](const fs::path& file) {
    try {
      return read_record(file);
    } catch (const UnreadableRecord&) {
      return json::object();  // verify names it
    }
  };
  for (const json& record : parallel_map(archive.record_files(campaign), read)) {
    standing.ids.insert(record.value("record_id", ""));
    int& next = standing.next_launch[record.value("point_id", "")];
    next = std::max(next, record.value("/campaign/launch"_json_pointer, -1) + 1);
  }
  return standing;
}

json stamp(const std::string& campaign, const Found& found, int launch, std::size_t order, std::size_t of) {
  return {{"id", campaign},   {"suite", suite_name},
          {"launch", launch}, {"order", order},
          {"of", of},         {"imported", {{"file", found.file.filename().string()}, {"sha256", found.sha256}}}};
}

}  // namespace

ImportResult import_records(const Archive& archive, const std::vector<fs::path>& files, const std::string& campaign) {
  if (!campaign.empty()) require_campaign_name(campaign);
  std::vector<std::string> problems;
  std::vector<Found> records;
  for (const fs::path& file : files) {
    try {
      records.push_back(read_loose_record(file));
    } catch (const std::runtime_error& error) {
      problems.push_back(fmt::format("{}: {}", file.string(), error.what()));
    }
  }
  const auto refuse = [&] {
    if (!problems.empty()) throw InputError(fmt::format("nothing was imported:\n{}", fmt::join(problems, "\n")));
  };
  refuse();
  ImportResult result;
  result.campaign = campaign.empty() ? default_campaign(records) : campaign;
  if (is_there(archive.campaign_folder(result.campaign) / "campaign.json"))
    throw InputError(fmt::format("campaign {} has a suite's schedule and takes no other records; choose another name",
                                 result.campaign));

  Standing standing = standing_of(archive, result.campaign);
  std::vector<std::pair<const Found*, fs::path>> planned;
  for (Found& found : records) {
    const std::string id = found.record.value("record_id", "");
    if (!standing.ids.insert(id).second) {
      result.already_there.push_back(found.file);
      continue;
    }
    const std::string point = found.record.value("point_id", "");
    const int launch = standing.next_launch[point]++;
    found.record["campaign"] = stamp(result.campaign, found, launch, planned.size(), records.size());
    planned.emplace_back(&found, archive.record_file(result.campaign, point, launch));
    for (const std::string& problem : problems_of(found.record, planned.back().second))
      problems.push_back(fmt::format("{}: {}", found.file.string(), problem));
  }
  refuse();
  if (planned.empty()) return result;
  archive.create_campaign(result.campaign);
  for (const auto& [found, to] : planned) {
    write_record_once(to, found->record, archive.campaign_folder(result.campaign) / "staging");
    result.imported.emplace_back(found->file, to);
  }
  return result;
}

}  // namespace fourscore
