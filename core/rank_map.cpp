#include "core/rank_map.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "core/errors.hpp"
#include "core/problem.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"

namespace fourscore {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26U;
constexpr std::size_t hash_digits = 16;

struct Maps {
  std::mutex mutex;  // simulated ranks share the process
  std::map<std::string, std::vector<int>> by_value;
};
Maps& maps() {
  static Maps all;
  return all;
}

/// Where "#HASH" begins; npos where the value does not end so.
std::size_t hash_mark(const std::string& value) {
  const std::size_t mark = value.rfind('#');
  const bool marks = mark != std::string::npos && value.size() - mark - 1 == hash_digits &&
                     value.find_first_not_of("0123456789abcdef", mark + 1) == std::string::npos;
  return marks ? mark : std::string::npos;
}

std::vector<int> ranks_in(const std::string& text, const std::string& file, std::string_view what) {
  std::vector<int> ranks;
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trimmed(line).empty()) continue;
    const auto rank = number_from<int>(trimmed(line));
    if (!rank || *rank < 0 || *rank >= max_ranks)
      throw InputError(fmt::format("{}: {}, line {}: '{}' is no rank; expected a whole number from 0 on", what, file,
                                   number, trimmed(line)));
    ranks.push_back(*rank);
  }
  return ranks;
}

}  // namespace

std::string read_rank_map(const std::string& value, std::string_view what) {
  const std::size_t mark = hash_mark(value);
  const std::string file = value.substr(map_prefix.size(), mark == std::string::npos ? mark : mark - map_prefix.size());
  std::string text;
  try {
    text = read_regular_file(file, most_bytes).text;
  } catch (const UnreadableFile& error) {
    throw InputError(
        fmt::format("{}: cannot read {}: {}; expected a file with one rank a line", what, file, error.what()));
  }
  const std::string hash = sha256_hex(text).substr(0, hash_digits);
  if (mark != std::string::npos && value.substr(mark + 1) != hash)
    throw InputError(fmt::format("{}: {} has the hash {}; expected {}: it was another when this point was asked for",
                                 what, file, hash, value.substr(mark + 1)));
  std::string named = fmt::format("{}{}#{}", map_prefix, file, hash);
  std::vector<int> ranks = ranks_in(text, file, what);
  const std::lock_guard lock(maps().mutex);
  maps().by_value.try_emplace(named, std::move(ranks));
  return named;
}

const std::vector<int>& rank_map(const std::string& value) {
  const std::lock_guard lock(maps().mutex);
  const auto found = maps().by_value.find(value);
  if (found == maps().by_value.end()) throw InputError(fmt::format("the map {} was not read", value));
  return found->second;
}

}  // namespace fourscore
