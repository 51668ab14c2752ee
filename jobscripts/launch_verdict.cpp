#include "jobscripts/launch_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace fourscore {
namespace {

/// The last line in which the program itself says what went wrong: mpirun says much more after it.
std::string own_words(const std::string& stderr_tail, const std::string& program) {
  const std::string mark = program + ": ";
  const std::size_t at = stderr_tail.rfind(mark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + mark.size();
  return ": " + stderr_tail.substr(begin, std::min<std::size_t>(stderr_tail.find('\n', begin) - begin, 300));
}

}  // namespace

Verdict failure_of(const ProcessResult& result, double time_limit_s, const std::string& program,
                   const std::string& left) {
  Verdict verdict{"failed", "", result.exit_status, result.signal, result.stderr_tail};
  if (result.timed_out) {
    verdict.status = "timeout";
    verdict.reason = fmt::format("not finished after the time limit of {} s", time_limit_s);
  } else if (result.signal != 0) {
    verdict.reason = fmt::format("the launch was ended by signal {} ({})", result.signal, ::strsignal(result.signal));
  } else if (result.exit_status != 0) {
    verdict.reason = fmt::format("the launch ended with status {}{}{}", result.exit_status, left,
                                 own_words(result.stderr_tail, program));
  } else {
    verdict.reason = "the launch ended without an error but left no record";
  }
  return verdict;
}

}  // namespace fourscore
