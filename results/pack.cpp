#include "results/pack.hpp"

#include "core/errors.hpp"

#ifdef FOURSCORE_LIBARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "results/output_file.hpp"
#include "results/portable_files.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view folder = "archive/";
constexpr const char* manifest_name = "manifest.json";
constexpr const char* schema = "fourscore.pack";

struct CloseWriter {
  void operator()(struct archive* writer) const { archive_write_free(writer); }
};
struct CloseReader {
  void operator()(struct archive* reader) const { archive_read_free(reader); }
};
struct FreeEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};
using Writer = std::unique_ptr<struct archive, CloseWriter>;
using Reader = std::unique_ptr<struct archive, CloseReader>;

struct Ending {
  std::string_view text;
  int (*add_filter)(struct archive*);
};
constexpr std::array endings{
    Ending{".tar.zst", archive_write_add_filter_zstd}, Ending{".tar.gz", archive_write_add_filter_gzip},
    Ending{".tgz", archive_write_add_filter_gzip}, Ending{".tar", archive_write_add_filter_none}};

const Ending& ending_of(const fs::path& file) {
  for (const Ending& ending : endings)
    if (file.filename().string().ends_with(ending.text)) return ending;
  throw InputError(fmt::format("{} does not say how it is packed; expected an ending .tar.zst, .tar.gz, .tgz or .tar",
                               file.string()));
}

/// libarchive's own words.
std::string words_of(struct archive* handle) {
  const char* const words = archive_error_string(handle);
  return words == nullptr ? "no reason is given" : words;
}

/// Times and owners are those of nobody, so that one archive is always packed to the same bytes.
void add(struct archive* writer, const std::string& name, std::string_view text) {
  const std::unique_ptr<struct archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), (std::string(folder) + name).c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(text.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK ||
      archive_write_data(writer, text.data(), text.size()) != static_cast<la_ssize_t>(text.size()))
    throw ArchiveError(fmt::format("{} cannot be packed: {}", name, words_of(writer)));
}

la_ssize_t write_to_stream(struct archive*, void* stream, const void* data, std::size_t bytes) {
  auto& out = *static_cast<std::ostream*>(stream);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return out ? static_cast<la_ssize_t>(bytes) : -1;
}

void write_pack(const Archive& archive, const std::vector<PortableFile>& files, const Ending& ending, std::ostream& out,
                Pack& pack) {
  json listed = json::object();
  for (const PortableFile& file : files) {
    const std::string text = text_to_keep(archive.root() / file.name);
    listed[file.name] = {{"bytes", text.size()}, {"sha256", sha256_hex(text)}};
    ++pack.files;
    pack.records += file.role == PortableFile::Role::record ? 1 : 0;
    pack.bytes += text.size();
  }
  const Writer writer(archive_write_new());
  archive_write_set_format_pax_restricted(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  if (ending.add_filter(writer.get()) != ARCHIVE_OK)  // or it would start a program
    throw InputError(fmt::format("this libarchive cannot write {}: {}", ending.text, words_of(writer.get())));
  archive_write_set_options(writer.get(), "gzip:!timestamp");
  archive_write_open(writer.get(), &out, nullptr, write_to_stream, nullptr);
  add(writer.get(), manifest_name, json{{"schema", schema}, {"schema_version", 1}, {"files", listed}}.dump(1));
  for (const PortableFile& file : files) {
    const std::string text = text_to_keep(archive.root() / file.name);
    if (sha256_hex(text) != listed[file.name]["sha256"])
      throw ArchiveError(fmt::format("{} was changed while it was packed", (archive.root() / file.name).string()));
    add(writer.get(), file.name, text);
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK)
    throw ArchiveError(fmt::format("packing failed: {}", words_of(writer.get())));
}

/// One pack while it is read.
class Unpacking {
 public:
  /// Throws InputError.
  explicit Unpacking(const fs::path& file) : file_(file), reader_(archive_read_new()) {
    archive_read_support_format_tar(reader_.get());
    archive_read_support_filter_gzip(reader_.get());
    archive_read_support_filter_zstd(reader_.get());
    constexpr std::size_t block = 1 << 16;
    if (archive_read_open_filename(reader_.get(), file.c_str(), block) != ARCHIVE_OK) refuse(words_of(reader_.get()));
    read_manifest();
  }

  Pack into(const fs::path& target) {
    Pack pack;
    std::string name;
    std::string text;
    while (next(name, text)) {
      const auto listed = left_.find(name);
      if (listed == left_.end()) refuse(fmt::format("its manifest has no {}, or it is there twice", name));
      if (sha256_hex(text) != listed->second)
        refuse(fmt::format("{} has another content than its manifest says", name));
      left_.erase(listed);
      fs::create_directories((target / name).parent_path());
      write_once(target / name, text);
      ++pack.files;
      pack.records += role_of(name) == PortableFile::Role::record ? 1 : 0;
      pack.bytes += text.size();
    }
    if (!left_.empty())
      refuse(fmt::format("{} of what its manifest lists is missing, as {}", left_.size(), left_.begin()->first));
    return pack;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(fmt::format("{} is no pack of an archive: {}", file_.string(), reason));
  }

  void read_manifest() {
    std::string name;
    std::string text;
    if (!next(name, text) || name != manifest_name) refuse("it does not begin with archive/manifest.json");
    try {
      const json manifest = json::parse(text);
      if (manifest.at("schema") != schema) refuse(fmt::format("its manifest is not of schema {}", schema));
      if (manifest.at("schema_version") != 1)
        refuse(fmt::format("its schema_version is {}, this fourscore reads 1", manifest.at("schema_version").dump()));
      for (const auto& [listed, facts] : manifest.at("files").items()) {
        if (!role_of(listed)) refuse(fmt::format("its manifest lists '{}', which is no file of an archive", listed));
        left_[listed] = facts.at("sha256").get<std::string>();
      }
    } catch (const json::exception& error) {
      refuse(fmt::format("its manifest cannot be read: {}", error.what()));
    }
  }

  /// The next entry; false after the last. Its name is that of a file of an archive, or of the manifest.
  bool next(std::string& name, std::string& text) {
    struct archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader_.get(), &entry);
    if (status == ARCHIVE_EOF) return false;
    if (status != ARCHIVE_OK) refuse(words_of(reader_.get()));
    const char* const path = archive_entry_pathname(entry);
    const std::string whole = path == nullptr ? "" : path;
    name = whole.starts_with(folder) ? whole.substr(folder.size()) : "";
    if (name != manifest_name && !role_of(name))
      refuse(fmt::format("it holds '{}', which is no file of an archive", whole));
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr)
      refuse(fmt::format("'{}' is no regular file", whole));
    read_text(whole, text);
    return true;
  }

  void read_text(const std::string& name, std::string& text) {
    text.clear();
    std::array<char, 1 << 16> block;  // NOLINT(*-member-init): it is written before it is read
    while (true) {
      const la_ssize_t bytes = archive_read_data(reader_.get(), block.data(), block.size());
      if (bytes < 0) refuse(words_of(reader_.get()));
      if (bytes == 0) return;
      text.append(block.data(), static_cast<std::size_t>(bytes));
      if (text.size() > largest_file_bytes) refuse(fmt::format("'{}' is larger than any record", name));
    }
  }

  fs::path file_;
  Reader reader_;
  std::map<std::string, std::string> left_;  ///< names in the manifest, with the SHA-256 of each
};

void require_free(const fs::path& target) {
  std::error_code error;
  if (!is_there(target) || (names_folder(target) && fs::is_empty(target, error) && !error)) return;
  throw InputError(fmt::format("{} is there already; expected a folder that is not, or is empty", target.string()));
}

/// A folder that is gone at the end of the scope, unless it was given its name.
class PartialFolder {
 public:
  explicit PartialFolder(const fs::path& target)
      : path_(target.parent_path() / fmt::format(".{}.{}.partial", target.filename().string(), ::getpid())) {
    fs::create_directories(path_);
  }
  ~PartialFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

std::string packs_unavailable() { return {}; }

Pack pack_archive(const Archive& archive, const fs::path& file) {
  archive.require();
  const Ending& ending = ending_of(file);
  const std::vector<PortableFile> files = portable_files(archive);
  if (files.empty()) throw InputError(fmt::format("{} holds nothing that could be packed", archive.root().string()));
  check_output(file, archive.root());
  OutputFile output(file);
  Pack pack;
  write_pack(archive, files, ending, output.stream(), pack);
  output.commit();
  return pack;
}

Pack unpack_archive(const fs::path& file, const Archive& target) {
  require_free(target.root());
  Unpacking unpacking(file);
  try {
    const PartialFolder partial(target.root());
    const Pack pack = unpacking.into(partial.path());
    fs::rename(partial.path(), target.root());
    return pack;
  } catch (const fs::filesystem_error& error) {
    throw ArchiveError(fmt::format("cannot unpack: {}", error.what()));
  }
}

}  // namespace fourscore

#else

namespace fourscore {

std::string packs_unavailable() { return "this build has no libarchive; install it and configure anew"; }
Pack pack_archive(const Archive&, const std::filesystem::path&) { throw InputError(packs_unavailable()); }
Pack unpack_archive(const std::filesystem::path&, const Archive&) { throw InputError(packs_unavailable()); }

}  // namespace fourscore

#endif
