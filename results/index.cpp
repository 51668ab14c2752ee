#include "results/index.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "results/statistics.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int index_version = 3;
constexpr int busy_timeout_ms = 10000;

// --- columns -------------------------------------------------------------------------------------------------------

struct Column {
  const char* name;
  const char* type;
  std::function<IndexValue(const json&)> value;
};

const json* at(const json& record, const char* path) {
  const json::json_pointer pointer(path);
  return record.contains(pointer) ? &record[pointer] : nullptr;
}

/// Strings as they are, arrays of numbers joined by `separator`, other values as JSON.
Column text(const char* name, const char* path, std::string separator = "") {
  return {name, "TEXT", [path, separator](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr) return {};
            if (value->is_string()) return value->get<std::string>();
            if (!value->is_array() || separator.empty()) return value->dump();
            std::vector<std::string> parts;
            for (const auto& part : *value) parts.push_back(part.is_string() ? part.get<std::string>() : part.dump());
            return fmt::format("{}", fmt::join(parts, separator));
          }};
}

Column integer(const char* name, const char* path) {
  return {name, "INTEGER", [path](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr || !value->is_number_integer()) return {};
            return value->get<std::int64_t>();
          }};
}

Column real(const char* name, const char* path) {
  return {name, "REAL", [path](const json& record) -> IndexValue {
            const json* value = at(record, path);
            if (value == nullptr || !value->is_number()) return {};
            return value->get<double>();
          }};
}

std::vector<double> times_of(const json& record) {
  std::vector<double> times;
  if (const json* values = at(record, "/samples/time_s"); values != nullptr && values->is_array())
    for (const auto& value : *values)
      if (value.is_number()) times.push_back(value.get<double>());
  return times;
}

Column statistic(const char* name, std::function<IndexValue(const std::vector<double>&, const json&)> of) {
  return {name, std::string_view(name) == "repetitions" ? "INTEGER" : "REAL", [of](const json& record) -> IndexValue {
            const auto times = times_of(record);
            return times.empty() ? IndexValue{} : of(times, record);
          }};
}

IndexValue gflops(const std::vector<double>& times, const json& record) {
  const json* flops = at(record, "/credited_flops");
  const double middle = median(times);
  if (flops == nullptr || !flops->is_number() || !(middle > 0)) return {};
  return flops->get<double>() / middle / 1e9;
}

const std::vector<Column>& columns() {
  using Times = std::vector<double>;
  static const std::vector<Column> table{
      text("record_id", "/record_id"),
      text("point_id", "/point_id"),
      text("campaign", "/campaign/id"),
      text("suite", "/campaign/suite"),
      integer("launch", "/campaign/launch"),
      text("component", "/point/component"),
      text("variant", "/point/variant"),
      text("exchange", "/point/exchange"),
      text("local_fft", "/point/local_fft"),
      text("shape", "/point/shape", "x"),
      {"dims", "INTEGER",
       [](const json& record) -> IndexValue {
         const json* shape = at(record, "/point/shape");
         return shape == nullptr ? IndexValue{} : static_cast<std::int64_t>(shape->size());
       }},
      integer("ranks", "/point/ranks"),
      text("grid", "/point/grid", "x"),
      integer("threads", "/point/threads"),
      integer("instances", "/point/instances"),
      text("placement", "/point/placement"),
      text("precision", "/point/precision"),
      text("kind", "/point/kind"),
      text("direction", "/point/direction"),
      text("layout", "/point/contract/layout"),
      text("buffers", "/point/contract/buffers"),
      text("planner", "/point/contract/planner"),
      text("parameters", "/point/parameters"),
      text("status", "/verdict/status"),
      text("reason", "/verdict/reason"),
      text("flags", "/flags", ","),
      text("started_at", "/provenance/volatile/started_at"),
      text("machine_hash", "/provenance/machine_hash"),
      text("code_hash", "/provenance/code_hash"),
      text("identity_hash", "/provenance/identity_hash"),
      text("revision", "/provenance/identity/code/revision"),
      statistic("repetitions",
                [](const Times& t, const json&) -> IndexValue { return static_cast<std::int64_t>(t.size()); }),
      statistic("min_s",
                [](const Times& t, const json&) -> IndexValue { return *std::min_element(t.begin(), t.end()); }),
      statistic("median_s", [](const Times& t, const json&) -> IndexValue { return median(t); }),
      statistic("max_s",
                [](const Times& t, const json&) -> IndexValue { return *std::max_element(t.begin(), t.end()); }),
      real("plan_s", "/plan/time_s"),
      statistic("gflops", gflops),
  };
  return table;
}

// --- SQLite --------------------------------------------------------------------------------------------------------

class Statement;

class Database {
 public:
  Database(const fs::path& file, int flags) {
    const int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
    if (code == SQLITE_OK) {
      sqlite3_busy_timeout(handle_, busy_timeout_ms);
      return;
    }
    const std::string reason = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    throw IndexError(fmt::format("the index {} cannot be opened: {}", file.string(), reason));
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql) {
    if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
  }
  [[noreturn]] void fail(const std::string& doing) const {
    throw IndexError(fmt::format("the index says: {} ({:.60})", sqlite3_errmsg(handle_), doing));
  }
  [[nodiscard]] sqlite3* get() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql) : database_(database) {
    if (sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &handle_, nullptr) != SQLITE_OK) database.fail(sql);
  }
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void insert(const IndexRow& row) {
    sqlite3_reset(handle_);
    int position = 0;
    for (const auto& value : row) bind(++position, value);
    if (sqlite3_step(handle_) != SQLITE_DONE) database_.fail("insert");
  }
  [[nodiscard]] bool step() {
    const int code = sqlite3_step(handle_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail("select");
    return code == SQLITE_ROW;
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes == nullptr ? "NULL" : std::string(bytes);
  }
  [[nodiscard]] int width() const { return sqlite3_column_count(handle_); }

 private:
  void bind(int position, const IndexValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      sqlite3_bind_int64(handle_, position, *whole);
    else if (const auto* real = std::get_if<double>(&value))
      sqlite3_bind_double(handle_, position, *real);
    else if (const auto* string = std::get_if<std::string>(&value))
      sqlite3_bind_text(handle_, position, string->data(), static_cast<int>(string->size()), SQLITE_TRANSIENT);
    else
      sqlite3_bind_null(handle_, position);
  }

  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// One writer at a time, by flock(2): SQLite's own locks are not trusted on shared file systems, and a row added while
/// the index is being rebuilt would be lost with the old file.
class IndexLock {
 public:
  explicit IndexLock(const Archive& archive) {
    const fs::path file = archive.root() / "index.lock";
    fd_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw IndexError(fmt::format("cannot open {}: {}", file.string(), std::strerror(errno)));
    for (int waited_ms = 0; ::flock(fd_, LOCK_EX | LOCK_NB) != 0; waited_ms += 20) {
      if (errno != EWOULDBLOCK && errno != EINTR) break;  // no flock here: SQLite's locks must do
      if (waited_ms >= busy_timeout_ms) {
        ::close(fd_);
        throw IndexError(fmt::format("{} is held by another writer", file.string()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  ~IndexLock() { ::close(fd_); }
  IndexLock(const IndexLock&) = delete;
  IndexLock& operator=(const IndexLock&) = delete;

 private:
  int fd_ = -1;
};

void prepare(Database& database) {
  // A rollback journal, not WAL: WAL needs shared memory between hosts, which no network file system has.
  database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL;");
  std::string sql = "CREATE TABLE IF NOT EXISTS records (file TEXT PRIMARY KEY";
  for (const auto& column : columns()) sql += fmt::format(", {} {}", column.name, column.type);
  database.execute(
      sql +
      ") WITHOUT ROWID; CREATE TABLE IF NOT EXISTS unreadable (file TEXT PRIMARY KEY, reason TEXT) WITHOUT ROWID;");
  {
    Statement version(database, "PRAGMA user_version");
    const std::string found = version.step() ? version.text(0) : "0";
    if (found != "0" && found != std::to_string(index_version))
      throw IndexError(fmt::format("the index is of version {}, this program's is {}", found, index_version));
  }
  database.execute(fmt::format("PRAGMA user_version = {}", index_version));
}

std::string insert_sql() {
  return fmt::format("INSERT OR REPLACE INTO records ({}) VALUES (?{})", fmt::join(index_columns(), ", "),
                     fmt::join(std::vector<std::string>(columns().size(), ", ?"), ""));
}

struct Indexed {
  IndexRow row;
  std::string name;
  std::string reason;  ///< why it is unreadable
};

std::vector<Indexed> read_rows(const Archive& archive, const std::vector<fs::path>& files) {
  return parallel_map(files, [&archive](const fs::path& file) {
    Indexed result{{}, archive.name_of(file), {}};
    try {
      result.row = index_row(read_record(file), result.name);
    } catch (const UnreadableRecord& error) {
      result.reason = error.what();
    }
    return result;
  });
}

void store(Database& database, const std::vector<Indexed>& rows) {
  database.execute("BEGIN IMMEDIATE");
  Statement insert(database, insert_sql());
  Statement insert_unreadable(database, "INSERT OR REPLACE INTO unreadable (file, reason) VALUES (?, ?)");
  for (const auto& indexed : rows) {
    if (indexed.reason.empty())
      insert.insert(indexed.row);
    else
      insert_unreadable.insert({indexed.name, indexed.reason});
  }
  database.execute("COMMIT");
}

}  // namespace

const std::vector<std::string>& index_columns() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result{"file"};
    for (const auto& column : columns()) result.emplace_back(column.name);
    return result;
  }();
  return names;
}

IndexRow index_row(const json& record, const std::string& name) {
  for (const char* required : {"/point_id", "/point", "/verdict/status"})
    if (at(record, required) == nullptr) throw UnreadableRecord(fmt::format("\"{}\" is missing", required));
  IndexRow row{name};
  for (const auto& column : columns()) row.push_back(column.value(record));
  return row;
}

void add_to_index(const Archive& archive, const std::vector<fs::path>& files) {
  const auto rows = read_rows(archive, files);
  const IndexLock lock(archive);
  Database database(archive.index_file(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  prepare(database);
  store(database, rows);
}

ReindexResult reindex(const Archive& archive) {
  const auto begin = std::chrono::steady_clock::now();
  const IndexLock lock(archive);
  const fs::path temporary = archive.root() / fmt::format(".index-{}.sqlite", ::getpid());
  std::error_code error;
  fs::remove(temporary, error);
  ReindexResult result;
  try {
    const auto rows = read_rows(archive, archive.record_files());
    Database database(temporary, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    prepare(database);
    store(database, rows);
    for (const auto& indexed : rows) {
      if (indexed.reason.empty())
        ++result.records;
      else
        result.unreadable.emplace_back(indexed.name, indexed.reason);
    }
  } catch (...) {
    fs::remove(temporary, error);
    throw;
  }
  fs::remove(archive.index_file().string() + "-journal", error);  // of the index that is being replaced
  fs::rename(temporary, archive.index_file(), error);
  if (error) throw IndexError(fmt::format("cannot put the new index in place: {}", error.message()));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

std::string dump_index(const Archive& archive) {
  Database database(archive.index_file(), SQLITE_OPEN_READONLY);
  std::string text;
  for (const char* sql : {"SELECT * FROM records ORDER BY file", "SELECT * FROM unreadable ORDER BY file"}) {
    Statement select(database, sql);
    while (select.step()) {
      for (int column = 0; column < select.width(); ++column) text += select.text(column) + '\x1f';
      text += '\n';
    }
  }
  return text;
}

}  // namespace fourscore
