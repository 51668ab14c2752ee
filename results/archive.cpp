#include "results/archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool is_record_name(const std::string& name) { return name.ends_with(".json") && !name.starts_with("."); }

/// Directories may come and go under other writers: what cannot be listed is empty.
std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    result.push_back(it->path());
  std::sort(result.begin(), result.end());
  return result;
}

[[noreturn]] void fail_write(const fs::path& path, const std::string& reason) {
  throw ArchiveError(fmt::format("the archive cannot be written: {}: {}", path.string(), reason));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.message());
}

/// Modes and quotas lie in many ways; writing a file is the only answer. The size is that of a large record, so that a
/// disk on which a record no longer fits is not taken for a failed launch.
void probe(const fs::path& folder) {
  std::string name = (folder / ".probe-XXXXXX").string();
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) fail_write(folder, std::strerror(errno));
  const std::string block(1 << 20, '\n');
  errno = 0;  // a short write sets none
  const bool written =
      ::write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()) && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  ::unlink(name.c_str());
  if (!written) fail_write(folder, std::strerror(error == 0 ? ENOSPC : error));
}

}  // namespace

fs::path Archive::campaign_folder(const std::string& campaign) const { return root_ / "campaigns" / campaign; }
fs::path Archive::records_folder(const std::string& campaign) const { return root_ / "records" / campaign; }

fs::path Archive::record_file(const std::string& campaign, const std::string& point_id, int launch) const {
  return records_folder(campaign) / fmt::format("{}-{:03}.json", point_id, launch);
}

std::string Archive::name_of(const fs::path& file) const { return file.lexically_relative(root_).generic_string(); }

std::vector<std::string> Archive::campaigns() const {
  std::set<std::string> names;
  for (const auto& folder : children(root_ / "records"))
    if (fs::is_directory(folder)) names.insert(folder.filename().string());
  for (const auto& folder : children(root_ / "campaigns"))
    if (fs::exists(folder / "campaign.json")) names.insert(folder.filename().string());
  return {names.begin(), names.end()};
}

std::vector<fs::path> Archive::record_files(const std::string& campaign) const {
  std::vector<fs::path> result;
  for (auto& file : children(records_folder(campaign)))
    if (is_record_name(file.filename().string())) result.push_back(std::move(file));
  return result;
}

std::vector<fs::path> Archive::record_files() const {
  std::vector<fs::path> result;
  for (const auto& folder : children(root_ / "records")) {
    auto files = record_files(folder.filename().string());
    result.insert(result.end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
  }
  return result;
}

void Archive::require() const {
  if (!fs::is_directory(root_))
    throw ArchiveError(
        fmt::format("no archive at {}; `fourscore run` makes one, --archive names another", root_.string()));
}

fs::path Archive::wisdom_file(const std::string& machine_hash) const {
  return root_ / "wisdom" / (machine_hash + ".txt");
}

fs::path Archive::qualification_file(const std::string& machine_hash, const std::string& backend,
                                     const std::string& group) const {
  return root_ / "qualifications" / (machine_hash + "-" + backend + "-" + group + ".json");
}

void Archive::create_campaign(const std::string& campaign) const {
  make_folder(records_folder(campaign));
  make_folder(campaign_folder(campaign) / "staging");
  make_folder(root_ / "wisdom");
  probe(records_folder(campaign));
  probe(campaign_folder(campaign) / "staging");
}

json read_record(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UnreadableRecord(std::strerror(errno));
  std::string text;
  std::error_code error;
  if (const auto bytes = fs::file_size(file, error); !error) text.resize(bytes);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.empty()) throw UnreadableRecord("empty");
  json record = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (record.is_discarded()) throw UnreadableRecord(fmt::format("not JSON; truncated after {} bytes?", text.size()));
  if (!record.is_object() || record.value("schema", json()) != "fourscore.run-record")
    throw UnreadableRecord("not a run record: \"schema\" is not \"fourscore.run-record\"");
  const json version = record.value("schema_version", json());
  if (!version.is_number_integer() || version < 1)
    throw UnreadableRecord("\"schema_version\" is not a positive integer");
  if (version > archive_schema_version)
    throw UnreadableRecord(
        fmt::format("schema version {} is newer than this program's {}", version.dump(), archive_schema_version));
  return record;
}

}  // namespace fourscore
