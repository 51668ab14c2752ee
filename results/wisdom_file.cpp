// "fourscore-wisdom 2", then for each section a line "section BYTES SHA256 OWNER" and so many bytes of text.

#include "results/wisdom_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include "core/descriptor.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view format_name = "fourscore-wisdom ";
constexpr std::string_view header = "fourscore-wisdom 2";
constexpr std::string_view section_word = "section";

/// The folder is locked, not the file: that is replaced, and a file of locks would be left behind. A lock ends with its
/// process. Where there are no locks, or somebody keeps one for long, the file is written all the same: what another
/// writer added meanwhile is then planned again.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) : folder_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (folder_.is_open() && !is_held_) {
      is_held_ = ::flock(folder_.get(), LOCK_EX | LOCK_NB) == 0;
      const bool is_busy = !is_held_ && (errno == EWOULDBLOCK || errno == EINTR);
      if (!is_busy || std::chrono::steady_clock::now() >= end) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  Descriptor folder_;
  bool is_held_ = false;
};

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Removes what writers that were killed left beside the file (OutputFile's ".NAME.XXXXXX").
void sweep(const fs::path& folder, const fs::path& file) {
  const std::string begin = fmt::format(".{}.", file.filename().string());
  constexpr std::size_t random_letters = 6;
  std::error_code ignored;
  for (const fs::path& left : children_of(folder)) {
    const std::string name = left.filename().string();
    if (!name.starts_with(begin) || name.size() != begin.size() + random_letters) continue;
    if (std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin.size()), name.end(), is_letter_or_digit))
      fs::remove(left, ignored);
  }
}

struct SectionHead {
  std::size_t bytes = 0;
  std::string_view sha256, owner;
};

/// False where the line is none.
bool read_head(std::string_view line, SectionHead& head) {
  std::vector<std::string_view> words;
  for (int word = 0; word < 3; ++word) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return false;
    words.push_back(line.substr(0, space));
    line.remove_prefix(space + 1);
  }
  const auto bytes = number_from<decltype(head.bytes)>(words[1]);
  head.bytes = bytes.value_or(0);
  head.sha256 = words[2];
  head.owner = line;
  return words[0] == section_word && bytes && !line.empty();
}

}  // namespace

WisdomFile parse_wisdom_file(const std::string& text) {
  WisdomFile file;
  std::string_view rest = text;
  const std::size_t first_end = rest.find('\n');
  const std::string_view first = rest.substr(0, first_end);
  const auto damaged = [&](std::string reason) {
    file.damage = std::move(reason);
    return file;
  };
  if (first.size() < header.size() && first_end == std::string_view::npos && header.starts_with(first))
    return damaged(text.empty() ? "it is empty" : "it is cut off in its first line");
  if (!first.starts_with(format_name)) throw NoWisdomFile(fmt::format("expected '{}' as its first line", header));
  if (first != header) return damaged(fmt::format("it is of another fourscore: '{}', expected '{}'", first, header));
  rest.remove_prefix(std::min(rest.size(), header.size() + 1));
  while (!rest.empty()) {
    const std::size_t line_end = rest.find('\n');
    SectionHead head;
    if (line_end == std::string_view::npos || !read_head(rest.substr(0, line_end), head))
      return damaged("the line before a section is cut off or damaged");
    rest.remove_prefix(line_end + 1);
    if (rest.size() < head.bytes)
      return damaged(fmt::format("its section '{}' is cut off: {} bytes of {}", head.owner, rest.size(), head.bytes));
    const std::string_view body = rest.substr(0, head.bytes);
    rest.remove_prefix(head.bytes);
    if (sha256_hex(body) != head.sha256)
      file.damage = fmt::format("its section '{}' is damaged: its SHA-256 is another", head.owner);
    else
      file.sections[std::string(head.owner)] = body;
  }
  return file;
}

std::string wisdom_file_text(const std::map<std::string, std::string>& sections) {
  std::string text = fmt::format("{}\n", header);
  for (const auto& [owner, body] : sections)
    text += fmt::format("{} {} {} {}\n{}", section_word, body.size(), sha256_hex(body), owner, body);
  return text;
}

void update_wisdom_file(const fs::path& file, const std::function<void(std::map<std::string, std::string>&)>& change) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const FolderLock lock(folder);
  if (lock.is_held()) sweep(folder, file);
  WisdomFile now;
  if (is_there(file)) now = parse_wisdom_file(read_regular_file(file).text);
  change(now.sections);
  OutputFile whole(file);
  whole.stream() << wisdom_file_text(now.sections);
  whole.commit();
}

}  // namespace fourscore
