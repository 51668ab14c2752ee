#pragma once
// The index's file: SQLite behind move-free owners, its tables, and the lock under which it is written.

#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/descriptor.hpp"
#include "results/archive.hpp"
#include "results/index_columns.hpp"

namespace fourscore {

/// Long enough for another writer to finish.
inline constexpr int index_patience_ms = 10000;

/// Throws IndexError, as all of this page.
class Database {
 public:
  /// Without SQLite's locks where the file system has none: a file there is never changed in place (write_index), so
  /// a reader needs none.
  Database(const std::filesystem::path& file, int flags, int patience_ms = index_patience_ms);
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  [[noreturn]] void fail(const std::string& doing) const;
  [[nodiscard]] sqlite3* get() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Runs it with these values, to the end.
  void run(const IndexRow& values);
  /// Values for step().
  void bind(const IndexRow& values);
  /// False after the last row.
  [[nodiscard]] bool step();
  /// "" for NULL.
  [[nodiscard]] std::string text(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

/// One writer at a time, by flock(2): SQLite's own locks are not trusted on shared file systems, and a row added while
/// the index is being rebuilt would be lost with the old file. Whoever gets the lock removes what killed writers left.
/// Where the file system has no locks it holds nothing: the file of the last of two writers stays, and the rows of the
/// other are read from their records again.
class IndexLock {
 public:
  explicit IndexLock(const Archive& archive, int patience_ms = index_patience_ms);

 private:
  Descriptor file_;
};

/// A record file as it goes into the index.
struct IndexedRecord {
  std::string file;    ///< relative to the archive
  std::string reason;  ///< why it is unreadable; then nothing else is there
  IndexRow row{};
  std::string status{};
  std::string brief{};  ///< record_brief() as text
  std::string stamp{};  ///< stamp of the file that was read; empty where the file is too new to tell a change by it
};

/// SHA-256 over what a reader of the table `briefs` relies on.
[[nodiscard]] std::string brief_digest(const std::string& file, const std::string& stamp, const std::string& status,
                                       const std::string& brief);

/// Makes the tables that are not there.
void prepare_index(Database& database);
/// Whether it is of this program's version, and may be read.
[[nodiscard]] bool is_current(Database& database);
void store_in_index(Database& database, const std::vector<IndexedRecord>& records);

/// Has `write` change the index, or a new one in its place where `anew`: beside it, renamed at the end. Without locks
/// here, what is added goes into a copy too. The caller holds the lock.
void write_index(const Archive& archive, bool anew, int patience_ms, const std::function<void(Database&)>& write);

}  // namespace fourscore
