#include "jobscripts/campaigns/launch_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace fourscore {
namespace {

/// mpirun frames what it says by lines of dashes.
bool says_something(std::string_view line) {
  return std::ranges::any_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
}

std::string_view last_line_that_says_something(std::string_view text) {
  while (!text.empty()) {
    const std::size_t begin = text.rfind('\n') + 1;  // npos + 1 is 0
    if (says_something(text.substr(begin))) return text.substr(begin);
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
  }
  return {};
}

}  // namespace

std::string last_words(const ProcessResult& result, const std::string& program) {
  constexpr std::size_t most = 300;
  const std::string& said = result.stderr_tail;
  const std::string mark = program + ": ";
  const std::size_t at = said.rfind(mark);
  if (at != std::string::npos) {
    const std::size_t begin = at + mark.size();
    return ": " + said.substr(begin, std::min(said.find('\n', begin) - begin, most));
  }
  const std::string_view line = last_line_that_says_something(said);
  return line.empty() ? " and said nothing" : fmt::format(": {}", line.substr(0, most));
}

Verdict failure_of(const ProcessResult& result, double time_limit_s, const std::string& program,
                   const std::string& left) {
  Verdict verdict{"failed", "", result.exit_status, result.signal, result.stderr_tail};
  if (result.timed_out) {
    verdict.status = "timeout";
    verdict.reason = fmt::format("not finished after the time limit of {} s", time_limit_s);
  } else if (result.signal != 0) {
    verdict.reason = fmt::format("the launch was ended by signal {} ({}){}", result.signal, ::strsignal(result.signal),
                                 last_words(result, program));
  } else if (result.exit_status != 0) {
    verdict.reason =
        fmt::format("the launch ended with status {}{}{}", result.exit_status, left, last_words(result, program));
  } else {
    verdict.reason = "the launch ended without an error but left no record";
  }
  return verdict;
}

}  // namespace fourscore
