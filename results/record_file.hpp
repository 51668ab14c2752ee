#pragma once
// A record reaches its final name whole, synced and only once.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fourscore {

/// A record cannot be stored. The message names the file and what the system said.
struct RecordFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The final name is taken: records are never overwritten.
struct RecordExists : RecordFileError {
  using RecordFileError::RecordFileError;
};
/// The folder is missing or may not be written.
struct RecordNotWritable : RecordFileError {
  using RecordFileError::RecordFileError;
};
/// Disk full, quota used up, or the largest file size reached.
struct RecordNoSpace : RecordFileError {
  using RecordFileError::RecordFileError;
};

/// The value as one line of JSON whose last key is "sha256": the SHA-256 of all bytes of the line before those 64
/// digits. A digest that the value has already is replaced.
[[nodiscard]] std::string record_line(nlohmann::json value);
/// The line of a record that was read, with the digest that it has, or without one: what was changed stays changed.
[[nodiscard]] std::string stored_line(nlohmann::json record);

/// Whether a text is what record_line() made.
enum class Digest { right, wrong, absent };
/// `wrong` also where a digest stands anywhere but at the end, or something else stands at the end.
[[nodiscard]] Digest check_digest(std::string_view text);
/// The same of a text that was parsed to `value`: where this has a digest, it is right or wrong however the text is
/// laid out, and never absent.
[[nodiscard]] Digest check_digest(std::string_view text, const nlohmann::json& value);

/// Throws RecordExists or RecordNotWritable when write_record_once(path, ...) would. For use before measuring.
void check_record_path(const std::filesystem::path& path);

/// Writes the text to a temporary file in `staging` (default: the folder of `path`), syncs it, links it to `path`,
/// which must not exist, and syncs the folder. Throws RecordFileError, and nothing is left behind.
void write_once(const std::filesystem::path& path, std::string_view text, const std::filesystem::path& staging = {});

/// Writes the record as record_line() to a temporary file in `staging` (default: the folder of `path`; it must be
/// on the same file system), syncs it, links it to `path`, which must not exist, and syncs the folder. Before it, and
/// in the same way, the file of columns of a record of many ranks (results/rank_columns.hpp). When it throws nothing is
/// left behind; when it returns the record survives a power cut.
void write_record_once(const std::filesystem::path& path, nlohmann::json record,
                       const std::filesystem::path& staging = {});

/// As write_record_once, but takes the place of what stands at `path`, and keeps all values in the one file: for a
/// record that is not finished, and so in no archive yet. At any moment the file is whole, the one or the other.
void replace_unfinished_record(const std::filesystem::path& path, const nlohmann::json& record);

}  // namespace fourscore
