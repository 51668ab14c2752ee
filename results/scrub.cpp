#include "results/scrub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/json_value.hpp"
#include "core/regular_file.hpp"
#include "results/portable_files.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;
using Role = PortableFile::Role;

namespace {

constexpr const char* scrubbed_key = "scrubbed";
const json::json_pointer job_place("/provenance/volatile/job_id");
/// Below these nobody has anything of their own.
constexpr std::array<std::string_view, 8> public_folders{"/usr/",  "/lib/",  "/lib64/", "/bin/",
                                                         "/sbin/", "/proc/", "/sys/",   "/dev/"};
constexpr std::array<std::string_view, 3> folders_of_users{"/home/", "/users/", "/Users/"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool in_word(char c) { return is_letter(c) || c == '-' || c == '_'; }
bool in_path(char c) { return is_letter(c) || std::string_view("-_.+@~%,/").find(c) != std::string_view::npos; }

/// Where `word` stands alone in the text, from `from` on.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(text[at - 1])) && (end == text.size() || !in_word(text[end]))) return at;
  }
  return std::string_view::npos;
}

/// The paths of a text that are absolute, of two names at least, and not public.
std::vector<std::string> paths_in(std::string_view text) {
  std::vector<std::string> paths;
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at > 0 && in_path(text[at - 1])) continue;  // within a word or a relative path
    std::size_t end = at;
    while (end < text.size() && in_path(text[end])) ++end;
    while (end > at && std::string_view("/.,").find(text[end - 1]) != std::string_view::npos) --end;
    std::string path(text.substr(at, end > at ? end - at : 0));
    at = std::max(at, end == 0 ? at : end - 1);
    const bool is_public =
        std::ranges::any_of(public_folders, [&](std::string_view folder) { return path.starts_with(folder); });
    const bool is_url = path.starts_with("//");
    if (std::ranges::count(path, '/') > 1 && !is_public && !is_url) paths.push_back(std::move(path));
  }
  return paths;
}

std::optional<std::string> user_in(std::string_view path) {
  for (const std::string_view folder : folders_of_users)
    if (path.starts_with(folder)) {
      const std::string_view rest = path.substr(folder.size());
      return std::string(rest.substr(0, rest.find('/')));
    }
  return std::nullopt;
}

/// What is private in an archive, and what takes its place.
class Private {
 public:
  explicit Private(const std::vector<std::string>& words) {
    for (const std::string& word : words) learn("words", word, "removed");
  }

  void learn_hosts(const json& record) {
    const json hosts = record.value("/provenance/volatile/hosts"_json_pointer, json::array());
    for (const json& host : hosts) {
      if (!host.is_string()) continue;
      const auto name = host.get<std::string>();
      learn("hosts", name, fmt::format("host-{}", hosts_.size() + 1));
      hosts_.insert(name);
      if (const std::size_t dot = name.find('.'); dot != std::string::npos)
        learn("hosts", name.substr(0, dot), all_["hosts"][name]);
    }
    if (record.contains(job_place)) jobs_.insert({record[job_place].dump(), fmt::format("job-{}", jobs_.size() + 1)});
  }

  /// A number, which stands in other texts by chance: replaced in its own place alone.
  void scrub_job(json& record, Removed& removed) const {
    if (!record.contains(job_place) || record[job_place] == "") return;
    json& job = record[job_place];
    const std::string& instead = jobs_.at(job.dump());
    removed["jobs"][job.is_string() ? job.get<std::string>() : job.dump()] = instead;
    job = instead;
  }

  /// Paths and users of all texts.
  void learn_paths(const json& value) {
    if (value.is_string()) return learn_paths_of(value.get_ref<const std::string&>());
    if (value.is_structured())
      for (const json& part : value) learn_paths(part);
  }
  void learn_paths_of(std::string_view text) {
    for (const std::string& path : paths_in(text)) {
      learn("paths", path, fmt::format("removed/{}", path.substr(path.rfind('/') + 1)));
      if (const auto user = user_in(path)) learn("users", *user, fmt::format("user-{}", all_["users"].size() + 1));
    }
  }

  /// The text without them. Long ones first: a path may hold a user's name.
  [[nodiscard]] std::string scrubbed(std::string text, Removed* removed) const {
    for (const char* rule : {"paths", "hosts", "users", "words"})
      if (const auto found = all_.find(rule); found != all_.end()) replace(text, rule, found->second, removed);
    return text;
  }

  /// Scrubs each text of the value.
  void scrub(json& value, Removed& removed) const {
    if (value.is_string()) {
      value = scrubbed(value.get<std::string>(), &removed);
    } else if (value.is_structured()) {
      for (json& part : value) scrub(part, removed);
    }
  }

  /// The private things that the value's texts and keys hold.
  [[nodiscard]] Removed held_by(const json& value) const {
    Removed held;
    (void)scrubbed(value.dump(-1, ' ', false, json::error_handler_t::replace), &held);
    return held;
  }

 private:
  void learn(const std::string& rule, const std::string& what, const std::string& instead) {
    if (!what.empty() && what != "localhost") all_[rule].emplace(what, instead);
  }

  static void replace(std::string& text, const char* rule, const std::map<std::string, std::string>& entries,
                      Removed* removed) {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {  // a longer one before what it begins with
      const auto& [what, instead] = *entry;
      for (std::size_t at = find_word(text, what, 0); at != std::string::npos;
           at = find_word(text, what, at + instead.size())) {
        text.replace(at, what.size(), instead);
        if (removed != nullptr) (*removed)[rule][what] = instead;
      }
    }
  }

  Removed all_;
  std::set<std::string> hosts_;
  std::map<std::string, std::string> jobs_;
};

/// The parts of a record or a campaign that ids and hashes are made of, each with its place.
std::vector<std::pair<std::string, json>> hashed_parts(const json& content) {
  std::vector<std::pair<std::string, json>> parts;
  for (const char* place : {"/point", "/provenance/identity"})
    if (content.contains(json::json_pointer(place))) parts.emplace_back(place, content[json::json_pointer(place)]);
  for (const json& one : value_or(content, "points", json::array()))
    parts.emplace_back("/points", value_or(one, "point", json()));
  for (const json& one : value_or(content, "identities", json::object()))
    parts.emplace_back("/identities", value_or(one, "identity", json()));
  return parts;
}

class Scrub {
 public:
  Scrub(const Archive& archive, const std::vector<std::string>& words)
      : archive_(archive), private_(words), files_(portable_files(archive)) {
    for (const PortableFile& file : files_) learn(file);
  }

  /// Throws InputError.
  void require_ids_to_stay() const {
    std::set<std::string> problems;
    for (const PortableFile& file : files_)
      if (file.role == Role::record || file.role == Role::document) look_at_hashed_parts(file, problems);
    if (!problems.empty())
      throw InputError(
          fmt::format("nothing was written, since ids are made of what is private:\n{}", fmt::join(problems, "\n")));
  }

  ScrubResult write(const Archive& target) {
    for (const PortableFile& file : files_) write(file, target.root() / file.name);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string text_of(const PortableFile& file) const {
    return text_to_keep(archive_.root() / file.name);
  }

  [[nodiscard]] static bool is_json(const PortableFile& file) { return file.name.ends_with(".json"); }

  /// Throws InputError for what is no JSON, or a damaged record.
  [[nodiscard]] json content_of(const PortableFile& file) const {
    const std::string text = text_of(file);
    try {
      json content = file.role == Role::record ? parse_record(text) : json::parse(text);
      if (check_digest(text, content) != Digest::wrong) return content;
    } catch (const std::exception& error) {
      throw InputError(fmt::format("{}: {}", file.name, error.what()));
    }
    throw InputError(fmt::format("{}: its digest is that of another content", file.name));
  }

  void learn(const PortableFile& file) {
    if (file.role == Role::record || (file.role == Role::document && is_json(file))) {
      const json content = content_of(file);
      private_.learn_hosts(content);
      private_.learn_paths(content);
    } else if (file.role == Role::document) {
      private_.learn_paths_of(text_of(file));
    }
  }

  void look_at_hashed_parts(const PortableFile& file, std::set<std::string>& problems) const {
    if (!is_json(file)) return;
    const json content = content_of(file);
    if (!content.is_object()) return;
    for (const auto& [place, part] : hashed_parts(content))
      for (const auto& [rule, entries] : private_.held_by(part))
        for (const auto& [what, instead] : entries)
          problems.insert(fmt::format("{}: {} holds '{}' ({})", file.name, place, what, rule));
  }

  void write(const PortableFile& file, const fs::path& to) {
    switch (file.role) {
      case Role::record:
        return write_record(file, to);
      case Role::columns:
        return store(to, text_of(file));
      case Role::document:
        return is_json(file) ? write_document(file, to) : store(to, private_.scrubbed(text_of(file), &result_.removed));
      case Role::latest:
      case Role::origins:
        result_.left_out.push_back(file.name);
    }
  }

  void write_record(const PortableFile& file, const fs::path& to) {
    json content = content_of(file);
    ++result_.records;
    const Removed removed = scrub(content);
    if (removed.empty()) return store(to, text_of(file));
    json rules = json::array();
    for (const auto& [rule, entries] : removed) rules.push_back(rule);
    content[scrubbed_key] = {{"rules", rules}, {"sha256", value_or(content, "sha256", "")}};
    ++result_.changed;
    store(to, record_line(std::move(content)));
  }

  void write_document(const PortableFile& file, const fs::path& to) {
    json content = content_of(file);
    store(to, scrub(content).empty() ? text_of(file) : record_line(std::move(content)));
  }

  Removed scrub(json& content) {
    Removed removed;
    private_.scrub(content, removed);
    private_.scrub_job(content, removed);
    for (const auto& [rule, entries] : removed) result_.removed[rule].insert(entries.begin(), entries.end());
    return removed;
  }

  static void store(const fs::path& to, std::string_view text) {
    make_folder(to.parent_path());
    write_once(to, text);
  }

  const Archive& archive_;
  Private private_;
  std::vector<PortableFile> files_;
  ScrubResult result_;
};

}  // namespace

ScrubResult scrub_archive(const Archive& archive, const Archive& target, const std::vector<std::string>& words) {
  archive.require();
  if (is_there(target.root()))
    throw InputError(fmt::format("{} is there already; expected a folder that is not", target.root().string()));
  Scrub scrub(archive, words);
  scrub.require_ids_to_stay();
  return scrub.write(target);
}

}  // namespace fourscore
