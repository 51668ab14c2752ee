#include "results/index.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/regular_file.hpp"
#include "results/index_columns.hpp"
#include "results/index_database.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string text_of(const FileStamp& stamp) {
  return fmt::format("{} {} {} {}", stamp.bytes, stamp.inode, stamp.modified_ns, stamp.changed_ns);
}

/// Whether a change after now would show in the stamp: file systems count time in ticks of up to 10 ms, some in
/// seconds.
bool is_settled(const FileStamp& stamp) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  const bool whole_seconds = stamp.modified_ns % second_ns == 0 && stamp.changed_ns % second_ns == 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t age_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - std::max(stamp.modified_ns, stamp.changed_ns);
  return age_ns > (whole_seconds ? 2 * second_ns : second_ns / 20);
}

IndexedRecord read_for_index(const Archive& archive, const fs::path& file) {
  IndexedRecord result{archive.name_of(file), {}};
  try {
    const FileContent content = read_regular_file(file);
    const json record = parse_record(content.text);
    result.row = index_row(record, result.file);
    result.status = record.at("verdict").at("status").get<std::string>();
    result.brief = record_brief(record).dump();
    if (is_settled(content.stamp)) result.stamp = text_of(content.stamp);
  } catch (const UnreadableFile& error) {
    result.reason = error.what();
  } catch (const UnreadableRecord& error) {
    result.reason = error.what();
  }
  return result;
}

std::vector<IndexedRecord> read_all(const Archive& archive, const std::vector<fs::path>& files) {
  return parallel_map(files, [&archive](const fs::path& file) { return read_for_index(archive, file); });
}

void add_rows(const Archive& archive, const std::vector<IndexedRecord>& rows, int patience_ms) {
  const IndexLock lock(archive, patience_ms);
  write_index(archive, false, patience_ms, [&](Database& database) {
    prepare_index(database);
    store_in_index(database, rows);
  });
}

/// A row of the table `briefs`.
struct Brief {
  std::string stamp;
  std::string status;
  std::string brief;
  std::string sha256;
};
using Briefs = std::unordered_map<std::string, Brief>;

/// Has `read` see the index with the bounds of the campaign's file names; nothing where it cannot be read.
template <class Read>
void with_index(const Archive& archive, const std::string& campaign, const Read& read) {
  std::error_code error;
  if (!fs::exists(archive.index_file(), error)) return;
  try {
    Database database(archive.index_file(), SQLITE_OPEN_READONLY, 200);
    const std::string folder = archive.name_of(archive.records_folder(campaign));
    if (is_current(database)) read(database, IndexRow{folder + '/', folder + static_cast<char>('/' + 1)});
  } catch (const IndexError&) {  // what was read until here may be used: each row is checked
    return;
  }
}

Briefs indexed_briefs(const Archive& archive, const std::string& campaign) {
  Briefs briefs;
  with_index(archive, campaign, [&](Database& database, const IndexRow& bounds) {
    Statement select(database, "SELECT file, stamp, status, brief, sha256 FROM briefs WHERE file > ? AND file < ?");
    select.bind(bounds);
    while (select.step())
      briefs.emplace(select.text(0), Brief{select.text(1), select.text(2), select.text(3), select.text(4)});
  });
  return briefs;
}

/// What the index knows of a file, where that is what the file holds.
std::optional<RecordEntry> entry_in_index(const Briefs& briefs, const Archive& archive, const fs::path& file) {
  const auto found = briefs.find(archive.name_of(file));
  if (found == briefs.end()) return std::nullopt;
  const auto& [name, brief] = *found;
  try {
    if (text_of(stamp_of(file)) != brief.stamp) return std::nullopt;
  } catch (const UnreadableFile&) {
    return std::nullopt;
  }
  if (brief_digest(name, brief.stamp, brief.status, brief.brief) != brief.sha256) return std::nullopt;
  return RecordEntry{name, {}, brief.status, brief.brief};
}

}  // namespace

void add_to_index(const Archive& archive, const std::vector<fs::path>& files) {
  add_rows(archive, read_all(archive, files), index_patience_ms);
}

ReindexResult reindex(const Archive& archive) {
  const auto begin = std::chrono::steady_clock::now();
  const IndexLock lock(archive);
  ReindexResult result;
  write_index(archive, true, index_patience_ms, [&](Database& database) {
    const auto rows = read_all(archive, archive.record_files());
    prepare_index(database);
    store_in_index(database, rows);
    for (const auto& row : rows) {
      if (row.reason.empty())
        ++result.records;
      else
        result.unreadable.emplace_back(row.file, row.reason);
    }
  });
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::vector<RecordEntry> record_entries(const Archive& archive, const std::string& campaign) {
  const auto files = archive.record_files(campaign);
  const Briefs briefs = indexed_briefs(archive, campaign);
  const auto known = parallel_map(files, [&](const fs::path& file) { return entry_in_index(briefs, archive, file); });
  std::vector<fs::path> others;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (!known[i]) others.push_back(files[i]);
  const auto rows = read_all(archive, others);
  if (!rows.empty() && !archive.is_read_only()) {
    try {
      add_rows(archive, rows, 0);
    } catch (const IndexError&) {  // read-only, damaged or in use: the next command reads the files again
    }
  }
  std::vector<RecordEntry> entries;
  std::size_t next = 0;
  for (const auto& entry : known) {
    if (entry) {
      entries.push_back(*entry);
      continue;
    }
    const IndexedRecord& row = rows[next++];
    entries.push_back({row.file, row.reason, row.status, row.brief});
  }
  return entries;
}

void complete_index(const Archive& archive) {
  std::vector<fs::path> missing;
  for (const std::string& campaign : archive.campaigns()) {
    std::unordered_set<std::string> known;
    with_index(archive, campaign, [&](Database& database, const IndexRow& bounds) {
      Statement select(database, "SELECT file FROM briefs WHERE file > ? AND file < ?");
      select.bind(bounds);
      while (select.step()) known.insert(select.text(0));
    });
    for (auto& file : archive.record_files(campaign))
      if (!known.contains(archive.name_of(file))) missing.push_back(std::move(file));
  }
  if (missing.empty()) return;
  try {
    add_rows(archive, read_all(archive, missing), 0);
  } catch (const IndexError&) {  // read-only, damaged or in use: whoever reads it reads the files
  }
}

std::set<std::string> indexed_files(const Archive& archive, const std::string& campaign) {
  std::set<std::string> files;
  with_index(archive, campaign, [&](Database& database, const IndexRow& bounds) {
    for (const char* table : {"records", "unreadable"}) {
      Statement select(database, fmt::format("SELECT file FROM {} WHERE file > ? AND file < ?", table));
      select.bind(bounds);
      while (select.step()) files.insert(select.text(0));
    }
  });
  return files;
}

}  // namespace fourscore
