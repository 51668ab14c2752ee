#include "results/merge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "core/json_value.hpp"
#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "results/output_file.hpp"
#include "results/portable_files.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;
using Role = PortableFile::Role;

namespace {

constexpr std::size_t most_problems_told = 10;

/// A file of an archive, read once.
struct Looked {
  std::string sha256;
  std::string record_id{};  ///< empty for other files
  std::string problem{};    ///< why it cannot be merged; empty: it can
};

Looked look(const fs::path& file, Role role) {
  try {
    const std::string text = read_regular_file(file).text;
    Looked looked{sha256_hex(text)};
    if (role != Role::record) return looked;
    const json record = parse_record(text);
    looked.record_id = value_or(record, "record_id", "");
    if (check_digest(text, record) == Digest::wrong)
      looked.problem = "its digest \"sha256\" is that of another content: it was changed after it was written";
    return looked;
  } catch (const std::runtime_error& error) {
    return {{}, {}, error.what()};
  }
}

/// What is known of the target and of the sources looked at so far.
class Merge {
 public:
  explicit Merge(const Archive& target) : target_(target) {
    if (names_folder(target.root())) add(target, nullptr);
  }

  void add(const Archive& source) { add(source, &result_.sources.emplace_back(MergeResult::Source{source.root()})); }

  /// Throws InputError.
  void require_no_problems() const {
    if (problems_.empty()) return;
    std::vector<std::string> told(problems_.begin(), problems_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                             problems_.size(), most_problems_told)));
    if (told.size() < problems_.size()) told.push_back(fmt::format("and {} more", problems_.size() - told.size()));
    throw InputError(fmt::format("nothing was merged:\n{}", fmt::join(told, "\n")));
  }

  /// Columns before the records that name them, and both before what says that a campaign has them.
  MergeResult write() {
    for (const Role role : {Role::columns, Role::record, Role::document, Role::latest})
      for (const auto& [name, known] : files_)
        if (known.role == role && !known.is_in_target) copy(name, known);
    write_origins();
    return std::move(result_);
  }

 private:
  struct Known {
    Role role;
    fs::path file;
    std::string sha256;
    bool is_in_target;
  };

  void add(const Archive& archive, MergeResult::Source* source) {
    const std::vector<PortableFile> files = portable_files(archive);
    const auto looked = parallel_map(files, [&](const PortableFile& file) {
      return file.role == Role::origins ? Looked{} : look(archive.root() / file.name, file.role);
    });
    Origin origin{archive.root().filename().string(), 0, archive.campaigns(), {}};
    std::string lines;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const PortableFile& file = files[i];
      if (file.role == Role::origins) continue;
      if (!looked[i].problem.empty()) {
        problems_.push_back(fmt::format("{}: {}", (archive.root() / file.name).string(), looked[i].problem));
        continue;
      }
      const bool is_new = take(archive.root() / file.name, file, looked[i], source == nullptr);
      if (file.role != Role::record) continue;
      ++origin.records;
      lines += fmt::format("{} {}\n", file.name, looked[i].sha256);
      if (source != nullptr) source->copied += is_new ? 1 : 0;
    }
    for (Origin& before : origins_of(archive)) add_origin(std::move(before));
    if (source == nullptr) return;
    source->records = origin.records;
    origin.sha256 = sha256_hex(lines);
    add_origin(std::move(origin));
  }

  /// Whether nobody had it before.
  bool take(const fs::path& path, const PortableFile& file, const Looked& looked, bool is_in_target) {
    const auto [known, is_new] = files_.emplace(file.name, Known{file.role, path, looked.sha256, is_in_target});
    if (!is_new && known->second.sha256 != looked.sha256) {
      if (file.role == Role::latest)
        result_.kept.push_back(file.name);
      else
        problems_.push_back(
            fmt::format("{} and {} have one name and two contents", known->second.file.string(), path.string()));
    }
    if (file.role == Role::record && !looked.record_id.empty()) {
      const auto [first, is_first] = file_of_id_.emplace(looked.record_id, file.name);
      if (!is_first && first->second != file.name)
        problems_.push_back(fmt::format("{} has the record_id of {}", path.string(), first->second));
    }
    return is_new;
  }

  void add_origin(Origin origin) {
    if (digests_.insert(origin.sha256).second) origins_.push_back(std::move(origin));
  }

  void copy(const std::string& name, const Known& known) {
    const fs::path to = target_.root() / name;
    const std::string text = text_to_keep(known.file);
    if (sha256_hex(text) != known.sha256)
      throw ArchiveError(
          fmt::format("{} was changed while it was merged; nothing of it was written, and what was "
                      "written before stays",
                      known.file.string()));
    make_folder(to.parent_path());
    write_once(to, text);
  }

  void write_origins() {
    json list = json::array();
    for (const Origin& one : origins_)
      list.push_back(
          {{"name", one.name}, {"records", one.records}, {"campaigns", one.campaigns}, {"sha256", one.sha256}});
    const json content{{"schema", "fourscore.origins"}, {"schema_version", 1}, {"origins", list}};
    write_file(target_.root() / "origins.json", content.dump(2, ' ', false, json::error_handler_t::replace) + '\n',
               Named::by_us);
  }

  const Archive& target_;
  MergeResult result_;
  std::map<std::string, Known> files_;
  std::map<std::string, std::string> file_of_id_;
  std::vector<Origin> origins_;
  std::set<std::string> digests_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<Origin> origins_of(const Archive& archive) {
  const fs::path file = archive.root() / "origins.json";
  if (!is_there(file)) return {};
  try {
    const json content = json::parse(read_regular_file(file).text);
    std::vector<Origin> origins;
    for (const json& one : content.at("origins"))
      origins.push_back({one.at("name"), one.at("records"), one.at("campaigns"), one.at("sha256")});
    return origins;
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

MergeResult merge_archives(const std::vector<Archive>& sources, const Archive& target) {
  Merge merge(target);
  for (const Archive& source : sources) {
    source.require();
    merge.add(source);
  }
  merge.require_no_problems();
  return merge.write();
}

}  // namespace fourscore
