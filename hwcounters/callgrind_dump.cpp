#include "hwcounters/callgrind_dump.hpp"

#include <charconv>
#include <optional>

#include "core/text.hpp"
#include "hwcounters/counter.hpp"

namespace fourscore {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string_view::npos;
       begin = text.find_first_not_of(' ', begin)) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

std::uint64_t number_of(std::string_view word) {
  const auto value = number_from<std::uint64_t>(word);
  if (!value) throw CounterError("callgrind wrote a total that is no number: '" + std::string(word) + "'");
  return *value;
}

class Parser {
 public:
  void read(std::string_view line) {
    if (take(line, "part:"))
      open_ = CallgrindDump{};
    else if (take(line, "desc: Trigger:"))
      current().trigger = std::string(trimmed(line));
    else if (take(line, "events:"))
      events_ = words_of(line);
    else if (take(line, "totals:"))
      close(words_of(line));
  }
  std::vector<CallgrindDump> finish() {
    if (open_) throw CounterError("callgrind's last dump ends before its totals");
    return std::move(dumps_);
  }

 private:
  static bool take(std::string_view& line, std::string_view key) {
    if (!line.starts_with(key)) return false;
    line.remove_prefix(key.size());
    return true;
  }
  CallgrindDump& current() {
    if (!open_) open_ = CallgrindDump{};
    return *open_;
  }
  /// Zeros at the end of a line of counts are left out.
  void close(const std::vector<std::string_view>& counts) {
    if (events_.empty() || counts.size() > events_.size())
      throw CounterError("callgrind's totals do not fit its list of events");
    CallgrindDump& dump = current();
    for (std::size_t i = 0; i < events_.size(); ++i)
      dump.totals[std::string(events_[i])] = i < counts.size() ? number_of(counts[i]) : 0;
    dumps_.push_back(std::move(dump));
    open_.reset();
  }

  std::optional<CallgrindDump> open_;
  std::vector<std::string_view> events_;
  std::vector<CallgrindDump> dumps_;
};

}  // namespace

std::vector<CallgrindDump> parse_callgrind_dumps(std::string_view text) {
  Parser parser;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    parser.read(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parser.finish();
}

}  // namespace fourscore
