#include "jobscripts/schedulers/slurm/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"

namespace fourscore::slurm {
namespace {

constexpr std::size_t most_hosts = 1'000'000;

[[noreturn]] void refuse(std::string_view list) {
  throw InputError(fmt::format("'{}' is no list of hosts; expected one such as n[01-04,7],login", list));
}

/// A number of Slurm's: digits alone, at most 18.
std::uint64_t number(std::string_view text, std::string_view list) {
  const auto value = number_from<std::uint64_t>(text);
  if (!value || text.size() > 18) refuse(list);
  return *value;
}

/// "01-03,7": 01, 02, 03, 7. A range has the width of its first number.
std::vector<std::string> expand_ranges(std::string_view ranges, std::string_view list) {
  std::vector<std::string> numbers;
  for (const std::string& range : split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string_view first = std::string_view(range).substr(0, dash);
    const std::uint64_t begin = number(first, list);
    const std::uint64_t end =
        dash == std::string::npos ? begin : number(std::string_view(range).substr(dash + 1), list);
    if (end < begin || end - begin >= most_hosts - numbers.size()) refuse(list);
    for (std::uint64_t i = begin; i <= end; ++i) numbers.push_back(fmt::format("{:0{}}", i, first.size()));
  }
  return numbers;
}

/// One entry of a list, of any number of brackets: the first varies slowest.
std::vector<std::string> expand_entry(std::string_view entry, std::string_view list) {
  std::vector<std::string> hosts{""};
  while (!entry.empty()) {
    const std::size_t open = std::min(entry.find('['), entry.size());
    if (entry.substr(0, open).find(']') != std::string_view::npos) refuse(list);
    for (auto& host : hosts) host += entry.substr(0, open);
    entry.remove_prefix(open);
    if (entry.empty()) break;
    const std::size_t close = entry.find(']');
    if (close == std::string_view::npos) refuse(list);
    const auto numbers = expand_ranges(entry.substr(1, close - 1), list);
    if (hosts.size() * numbers.size() > most_hosts) refuse(list);
    std::vector<std::string> longer;
    longer.reserve(hosts.size() * numbers.size());
    for (const auto& host : hosts)
      for (const auto& each : numbers) longer.push_back(host + each);
    hosts = std::move(longer);
    entry.remove_prefix(close + 1);
  }
  return hosts;
}

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  for (std::size_t begin = 0; begin < list.size();) {
    std::size_t end = begin;  // the end of this entry: the first comma outside brackets
    for (int depth = 0; end < list.size() && (list[end] != ',' || depth > 0); ++end) {
      if (list[end] == '[') ++depth;
      if (list[end] == ']') --depth;
    }
    if (end == begin) refuse(list);
    const auto more = expand_entry(list.substr(begin, end - begin), list);
    if (hosts.size() + more.size() > most_hosts) refuse(list);
    hosts.insert(hosts.end(), more.begin(), more.end());
    begin = end + 1;
  }
  return hosts;
}

}  // namespace fourscore::slurm
