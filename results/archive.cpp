#include "results/archive.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>

#include "core/descriptor.hpp"
#include "core/path_kind.hpp"
#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "results/record_shape.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool is_record_name(const std::string& name) { return name.ends_with(".json") && !name.starts_with("."); }

/// Folders may come and go under other writers: one that is not there is empty.
std::vector<fs::path> children(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> result;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    result.push_back(it->path());
  if (error == std::errc::no_such_file_or_directory && !is_there(folder)) error.clear();
  std::sort(result.begin(), result.end());
  return result;
}

/// Or a link, whatever it leads to.
bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) || fs::is_symlink(path, error);
}

/// Without a limit, text of a few hundred kilobytes exhausts the stack of whoever prints it.
constexpr int deepest_nesting = 100;

bool nested_too_deep(const std::string& text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (!in_string && (c == '[' || c == '{') && ++depth > deepest_nesting) return true;
    if (!in_string && (c == ']' || c == '}')) --depth;
  }
  return false;
}

[[noreturn]] void fail_write(const fs::path& path, const std::string& reason) {
  throw ArchiveError(fmt::format("{} cannot be written: {}", path.string(), reason));
}

/// Modes and quotas lie in many ways; writing a file is the only answer. The size is that of a large record, so that a
/// disk on which a record no longer fits is not taken for a failed launch.
void probe(const fs::path& folder) {
  std::string name = (folder / ".probe-XXXXXX").string();
  const Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) fail_write(folder, std::strerror(errno));
  ::unlink(name.c_str());  // so that nothing is left, whatever ends this process
  const std::string block(1 << 20, '\n');
  for (std::size_t done = 0; done < block.size();) {  // a short write has no reason; the next one has
    const ssize_t written = ::write(file.get(), block.data() + done, block.size() - done);
    if (written < 0 && errno != EINTR) fail_write(folder, std::strerror(errno));
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  if (::fsync(file.get()) != 0) fail_write(folder, std::strerror(errno));
}

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_write(folder, error.message());
}

std::vector<fs::path> children_of(const fs::path& folder) {
  std::error_code ignored;
  return children(folder, ignored);
}

std::string text_to_keep(const fs::path& file) {
  try {
    return read_regular_file(file).text;
  } catch (const UnreadableFile& error) {
    throw ArchiveError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

fs::path Archive::campaign_folder(const std::string& campaign) const { return root_ / "campaigns" / campaign; }
fs::path Archive::records_folder(const std::string& campaign) const { return root_ / "records" / campaign; }

fs::path Archive::record_file(const std::string& campaign, const PlainName& point_id, int launch) const {
  return records_folder(campaign) / fmt::format("{}-{:03}.json", point_id.text(), launch);
}

std::string Archive::name_of(const fs::path& file) const { return file.lexically_relative(root_).generic_string(); }

std::vector<std::string> Archive::campaigns() const {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& folder : children(root_ / "records", error))
    if (is_folder(folder)) names.insert(folder.filename().string());
  for (const auto& folder : children(root_ / "campaigns", error))
    if (is_there(folder / "campaign.json")) names.insert(folder.filename().string());
  return {names.begin(), names.end()};
}

std::vector<fs::path> Archive::record_files(const std::string& campaign) const {
  std::error_code error;
  std::vector<fs::path> result;
  for (auto& file : children(records_folder(campaign), error))
    if (is_record_name(file.filename().string())) result.push_back(std::move(file));
  if (error) result.push_back(records_folder(campaign));
  return result;
}

std::vector<fs::path> Archive::record_files() const {
  std::vector<fs::path> result;
  for (const auto& campaign : campaigns()) {
    auto files = record_files(campaign);
    result.insert(result.end(), std::make_move_iterator(files.begin()), std::make_move_iterator(files.end()));
  }
  std::error_code error;
  (void)children(root_ / "records", error);
  if (error) result.push_back(root_ / "records");
  return result;
}

void Archive::require() const {
  if (!names_folder(root_))
    throw ArchiveError(
        fmt::format("no archive at {}; `fourscore run` makes one, --archive names another", root_.string()));
}

fs::path Archive::wisdom_file(const PlainName& machine_hash) const {
  return root_ / "wisdom" / (machine_hash.text() + ".txt");
}

fs::path Archive::qualification_file(const PlainName& machine_hash, const PlainName& backend,
                                     const PlainName& group) const {
  return root_ / "qualifications" / fmt::format("{}-{}-{}.json", machine_hash.text(), backend.text(), group.text());
}

void Archive::create_campaign(const std::string& campaign) const {
  make_folder(records_folder(campaign));
  make_folder(campaign_folder(campaign) / "staging");
  make_folder(root_ / "wisdom");
  probe(records_folder(campaign));
  probe(campaign_folder(campaign) / "staging");
}

std::optional<std::pair<std::string, int>> launch_of_file(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t dash = stem.rfind('-');
  if (dash == std::string::npos || file.extension() != ".json") return std::nullopt;
  const auto launch = number_from<int>(std::string_view(stem).substr(dash + 1));
  if (!launch || *launch < 0) return std::nullopt;
  return std::pair(stem.substr(0, dash), *launch);
}

json parse_record(const std::string& text) {
  if (text.empty()) throw UnreadableRecord("empty");
  if (nested_too_deep(text)) throw UnreadableRecord(fmt::format("nested deeper than {} levels", deepest_nesting));
  json record = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (record.is_discarded()) throw UnreadableRecord(fmt::format("not JSON; truncated after {} bytes?", text.size()));
  if (!record.is_object() || record.value("schema", json()) != "fourscore.run-record")
    throw UnreadableRecord("not a run record: \"schema\" is not \"fourscore.run-record\"");
  const json version = record.value("schema_version", json());
  if (!version.is_number_integer() || version < 1)
    throw UnreadableRecord("\"schema_version\" is not a positive integer");
  if (version > record_schema_version)
    throw UnreadableRecord(
        fmt::format("schema version {} is newer than this program's {}", version.dump(), record_schema_version));
  if (const std::string problem = shape_problem(record); !problem.empty()) throw UnreadableRecord(problem);
  return record;
}

json read_record(const fs::path& file) {
  try {
    return parse_record(read_regular_file(file).text);
  } catch (const UnreadableFile& error) {
    throw UnreadableRecord(error.what());
  }
}

}  // namespace fourscore
