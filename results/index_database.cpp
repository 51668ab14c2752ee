#include "results/index_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/path_kind.hpp"
#include "core/sha256.hpp"
#include "results/file_lock.hpp"
#include "results/index.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

/// What makes the tables of an index.
const std::string& tables_sql() {
  static const std::string sql = [] {
    std::string text = "CREATE TABLE IF NOT EXISTS records (file TEXT PRIMARY KEY";
    for (const auto& [name, type] : index_column_types()) text += fmt::format(", {} {}", name, type);
    return text +
           ") WITHOUT ROWID; CREATE TABLE IF NOT EXISTS unreadable (file TEXT PRIMARY KEY, reason TEXT) WITHOUT ROWID; "
           "CREATE TABLE IF NOT EXISTS briefs (file TEXT PRIMARY KEY, stamp TEXT, status TEXT, brief TEXT, sha256 "
           "TEXT);";
  }();
  return sql;
}

/// Another one for other columns: an index of another version is made anew. `content`: raised where the same columns
/// come to hold something else.
const std::string& index_version() {
  constexpr int content = 5;
  static const std::string version =
      std::to_string(std::stoi(sha256_hex(fmt::format("{}\n{}", content, tables_sql())).substr(0, 7), nullptr, 16));
  return version;
}

std::string version_of(Database& database) {
  Statement version(database, "PRAGMA user_version");
  return version.step() ? version.text(0) : "0";
}

/// What a writer that was killed left beside the index; the caller holds the lock, so nobody is writing it.
void sweep_index(const Archive& archive) {
  std::error_code ignored;
  for (const fs::path& file : children_of(archive.root()))
    if (file.filename().string().starts_with(".index-")) fs::remove(file, ignored);
}

}  // namespace

Database::Database(const fs::path& file, int flags, int patience_ms) {
  std::error_code error;
  // SQLite would wait for the writer of a FIFO.
  if (const auto status = fs::status(file, error); fs::exists(status) && !fs::is_regular_file(status))
    throw IndexError(fmt::format("the index {} is no regular file", file.string()));
  const char* without_locks = "unix-none";
  const int code = sqlite3_open_v2(file.c_str(), &handle_, flags, has_record_locks(file) ? nullptr : without_locks);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(handle_, patience_ms);
    return;
  }
  const std::string reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
  sqlite3_close(handle_);
  throw IndexError(fmt::format("the index {} cannot be opened: {}", file.string(), reason));
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

void Database::fail(const std::string& doing) const {
  throw IndexError(fmt::format("the index says: {} ({:.60})", sqlite3_errmsg(handle_), doing));
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &handle_, nullptr) != SQLITE_OK) database.fail(sql);
}

void Statement::bind(const IndexRow& values) {
  sqlite3_reset(handle_);
  int position = 0;
  for (const auto& value : values) {
    ++position;
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      sqlite3_bind_int64(handle_, position, *whole);
    else if (const auto* real = std::get_if<double>(&value))
      sqlite3_bind_double(handle_, position, *real);
    else if (const auto* string = std::get_if<std::string>(&value))
      sqlite3_bind_text(handle_, position, string->data(), static_cast<int>(string->size()), SQLITE_TRANSIENT);
    else
      sqlite3_bind_null(handle_, position);
  }
}

void Statement::run(const IndexRow& values) {
  bind(values);
  if (sqlite3_step(handle_) != SQLITE_DONE) database_.fail(sqlite3_sql(handle_));
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail("select");
  return code == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

IndexLock::IndexLock(const Archive& archive, int patience_ms) {
  const fs::path file = archive.root() / "index.lock";
  file_ = Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file_.is_open()) throw IndexError(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
  for (int waited_ms = 0; ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0; waited_ms += 20) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (waited_ms >= patience_ms) throw IndexError(fmt::format("{} is held by another writer", file.string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  sweep_index(archive);
}

std::string brief_digest(const std::string& file, const std::string& stamp, const std::string& status,
                         const std::string& brief) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", file, stamp, status, brief));
}

void prepare_index(Database& database) {
  // A rollback journal, not WAL: WAL needs shared memory between hosts, which no network file system has.
  database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL;");
  if (const std::string found = version_of(database); found != "0" && found != index_version())
    throw IndexError(fmt::format("the index is of version {}, this program's is {}", found, index_version()));
  database.execute(tables_sql());
  database.execute("PRAGMA user_version = " + index_version());
}

bool is_current(Database& database) { return version_of(database) == index_version(); }

void store_in_index(Database& database, const std::vector<IndexedRecord>& records) {
  database.execute("BEGIN IMMEDIATE");
  const std::size_t columns = index_columns().size();
  Statement insert(database,
                   fmt::format("INSERT OR REPLACE INTO records ({}) VALUES ({})", fmt::join(index_columns(), ", "),
                               fmt::join(std::vector<std::string>(columns, "?"), ", ")));
  Statement insert_brief(database,
                         "INSERT OR REPLACE INTO briefs (file, stamp, status, brief, sha256) VALUES (?, ?, ?, ?, ?)");
  Statement insert_unreadable(database, "INSERT OR REPLACE INTO unreadable (file, reason) VALUES (?, ?)");
  Statement drop_record(database, "DELETE FROM records WHERE file = ?");
  Statement drop_brief(database, "DELETE FROM briefs WHERE file = ?");
  Statement drop_unreadable(database, "DELETE FROM unreadable WHERE file = ?");
  for (const auto& record : records) {
    if (record.reason.empty()) {
      insert.run(record.row);
      drop_unreadable.run({record.file});
    } else {
      insert_unreadable.run({record.file, record.reason});
      drop_record.run({record.file});
    }
    if (record.reason.empty() && !record.stamp.empty())
      insert_brief.run({record.file, record.stamp, record.status, record.brief,
                        brief_digest(record.file, record.stamp, record.status, record.brief)});
    else
      drop_brief.run({record.file});
  }
  database.execute("COMMIT");
}

void write_index(const Archive& archive, bool anew, int patience_ms, const std::function<void(Database&)>& write) {
  const fs::path index = archive.index_file();
  if (!anew && has_record_locks(archive.root() / "index.lock")) {
    Database database(index, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, patience_ms);
    return write(database);
  }
  std::string name = (archive.root() / ".index-XXXXXX").string();
  const Descriptor made(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.is_open()) throw IndexError(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  std::error_code error;
  try {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    (void)::fchmod(made.get(), 0666U & ~mask);
    if (!anew && names_file(index)) fs::copy_file(index, name, fs::copy_options::overwrite_existing, error);
    if (error) throw IndexError(fmt::format("cannot copy {}: {}", index.string(), error.message()));
    Database database(name, SQLITE_OPEN_READWRITE, patience_ms);
    write(database);
  } catch (...) {
    fs::remove(name, error);
    throw;
  }
  fs::remove(index.string() + "-journal", error);  // the journal of the index that is being replaced
  fs::rename(name, index, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(name, ignored);
  throw IndexError(fmt::format("cannot put the new index in place at {}: {}", index.string(), error.message()));
}

}  // namespace fourscore
