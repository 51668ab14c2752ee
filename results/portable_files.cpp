#include "results/portable_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "results/rank_columns.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using Role = PortableFile::Role;

namespace {

constexpr const char* origins_name = "origins.json";

/// Whether PlainName takes it.
bool is_plain(const std::string& name) {
  try {
    (void)PlainName(name, "name");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::optional<Role> role_in_campaign(const std::string& file) {
  if (file == "campaign.json" || file == "suite.toml") return Role::document;
  if (file == "wisdom.txt") return Role::latest;
  return std::nullopt;
}

std::optional<Role> role_below(const std::string& folder, const std::string& file) {
  if (folder == "qualifications" && file.ends_with(".json")) return Role::latest;
  if (folder == "wisdom" && file.ends_with(".txt")) return Role::latest;
  if (folder == "certifications" && file.ends_with(".json"))
    return file.starts_with("rates-") ? Role::latest : Role::document;
  return std::nullopt;
}

/// In a folder of a campaign or a comparison.
std::optional<Role> role_below(const std::string& folder, const std::string&, const std::string& file) {
  if (folder == "records" && file.ends_with(columns_suffix)) return Role::columns;
  if (folder == "records" && file.ends_with(".json")) return Role::record;
  if (folder == "campaigns") return role_in_campaign(file);
  if (folder == "comparisons" && file == "comparison.json") return Role::document;
  if (folder == "comparisons" && file == "wisdom.txt") return Role::latest;
  return std::nullopt;
}

void add_files(const Archive& archive, const fs::path& folder, std::vector<PortableFile>& files) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = archive.name_of(it->path());
    if (const auto role = role_of(name)) files.push_back({std::move(name), *role});
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw ArchiveError(fmt::format("the archive cannot be read: {}: {}", folder.string(), error.message()));
}

}  // namespace

std::optional<Role> role_of(const std::string& name) {
  const std::vector<std::string> parts = split(name, '/');
  if (!std::ranges::all_of(parts, is_plain)) return std::nullopt;
  if (parts.size() == 1) return name == origins_name ? std::optional(Role::origins) : std::nullopt;
  if (parts.size() == 2) return role_below(parts[0], parts[1]);
  return parts.size() == 3 ? role_below(parts[0], parts[1], parts[2]) : std::nullopt;
}

std::vector<PortableFile> portable_files(const Archive& archive) {
  std::vector<PortableFile> files;
  for (const char* name : {"records", "campaigns", "comparisons"})
    for (const fs::path& folder : children_of(archive.root() / name)) add_files(archive, folder, files);
  for (const char* name : {"certifications", "qualifications", "wisdom", ""})
    add_files(archive, *name == '\0' ? archive.root() : archive.root() / name, files);
  std::ranges::sort(files, {}, &PortableFile::name);
  return files;
}

}  // namespace fourscore
