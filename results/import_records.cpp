#include "results/import_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "results/campaign_file.hpp"
#include "results/entry.hpp"
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
  std::string sha256;  ///< digest of the file
  json record;
};

/// Throws std::runtime_error with the reason alone. An import writes the record anew with a digest of its own, so it
/// takes only what is as its program wrote it.
Found read_loose_record(const fs::path& file) {
  const std::string text = read_regular_file(file).text;
  Found found{file, sha256_hex(text), parse_record(text)};
  switch (check_digest(text, found.record)) {
    case Digest::right:
      break;
    case Digest::wrong:
      throw std::runtime_error("its digest \"sha256\" is that of another content: it was changed after it was written");
    case Digest::absent:
      throw std::runtime_error("it has no digest \"sha256\"; expected a record as its program wrote it");
  }
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

/// What a file holds is the word of whoever wrote it. Flags that follow from it are set, whatever flags it has.
void set_flags(json& record, bool vouched) {
  if (!has_times(record)) return;
  FlagFacts facts = facts_of(record);
  facts.foreign = !vouched;
  record["flags"] = entry_flags(record, facts);
  record["verified_by"] = verifier_of(record, vouched);
}

/// Gives records their places among the launches of their points, also where other imports do the same.
class Importer {
 public:
  Importer(const Archive& archive, ImportResult& result, std::size_t records, bool vouched)
      : archive_(archive),
        result_(result),
        records_(records),
        vouched_(vouched),
        standing_(standing_of(archive, result.campaign)) {}

  /// Stamps the record with the next launch of its point; false where the campaign has it already.
  bool take(Found& found) {
    if (!standing_.ids.insert(found.record.value("record_id", "")).second) {
      result_.already_there.push_back(found.file);
      return false;
    }
    const int launch = standing_.next_launch[found.record.value("point_id", "")]++;
    found.record["campaign"] = {
        {"id", result_.campaign},
        {"suite", suite_name},
        {"launch", launch},
        {"order", order_++},
        {"of", records_},
        {"imported", {{"file", found.file.filename().string()}, {"sha256", found.sha256}, {"vouched", vouched_}}}};
    set_flags(found.record, vouched_);
    return true;
  }

  [[nodiscard]] fs::path place_of(const Found& found) const {
    return archive_.record_file(result_.campaign, found.record.value("point_id", ""),
                                found.record["campaign"]["launch"].get<int>());
  }

  /// Another import may have taken the place meanwhile, or the record itself.
  void store(Found& found) {
    while (true) {
      const fs::path place = place_of(found);
      try {
        write_record_once(place, found.record, archive_.campaign_folder(result_.campaign) / "staging");
        result_.imported.emplace_back(found.file, place);
        return;
      } catch (const RecordExists&) {
        if (!move_on(found)) throw;
      }
      if (standing_.ids.contains(found.record.value("record_id", ""))) {
        result_.already_there.push_back(found.file);
        return;
      }
    }
  }

 private:
  /// To the launch that is free now; false where it is the same one.
  bool move_on(Found& found) {
    standing_ = standing_of(archive_, result_.campaign);
    json& launch = found.record["campaign"]["launch"];
    const int next = standing_.next_launch[found.record.value("point_id", "")];
    if (launch == next) return false;
    launch = next;
    return true;
  }

  const Archive& archive_;
  ImportResult& result_;
  std::size_t records_;
  bool vouched_;
  std::size_t order_ = 0;
  Standing standing_;
};

}  // namespace

ImportResult import_records(const Archive& archive, const std::vector<fs::path>& files, const std::string& campaign,
                            bool vouched) {
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

  Importer importer(archive, result, records.size(), vouched);
  std::vector<Found*> chosen;
  for (Found& found : records) {
    try {
      if (!importer.take(found)) continue;
    } catch (const json::exception& error) {
      problems.push_back(fmt::format("{}: not of the schema: {}", found.file.string(), error.what()));
      continue;
    }
    chosen.push_back(&found);
    for (const std::string& problem : problems_of(found.record, importer.place_of(found)))
      problems.push_back(fmt::format("{}: {}", found.file.string(), problem));
  }
  refuse();
  if (chosen.empty()) return result;
  archive.create_campaign(result.campaign);
  for (Found* found : chosen) importer.store(*found);
  return result;
}

}  // namespace fourscore
