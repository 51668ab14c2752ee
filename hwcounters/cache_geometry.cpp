#include "hwcounters/cache_geometry.hpp"

#include <bit>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "core/text.hpp"

namespace fourscore {
namespace {

constexpr std::uint64_t usual_ways = 16;
constexpr std::uint64_t usual_line = 64;
constexpr std::uint64_t min_line = 16;    // Valgrind's: no instruction may touch three lines
constexpr std::uint64_t most_ways = 256;  // a set is searched from end to end
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 31;
constexpr const char* expected =
    "expected SIZE[,WAYS[,LINE]] with SIZE = sets x WAYS x LINE, powers of two of sets and of bytes a line (16 at "
    "least), and at most 2GiB: as 1MiB,16,64";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw CounterRequestError("counter cache '" + std::string(text) + "': " + why + "; " + expected);
}

/// A number with or without a unit; false where it is none.
bool read_bytes(std::string_view text, std::uint64_t& bytes) {
  std::uint64_t unit = 1;
  const std::vector<std::pair<std::string_view, std::uint64_t>> units{
      {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}, {"B", 1}};
  for (const auto& [name, factor] : units)
    if (text.ends_with(name)) {
      text.remove_suffix(name.size());
      unit = factor;
      break;
    }
  bytes = number_from<std::uint64_t>(text).value_or(0);
  if (bytes == 0) return false;
  if (bytes > std::numeric_limits<std::uint64_t>::max() / unit) return false;
  bytes *= unit;
  return true;
}

std::string first_word(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

std::uint64_t number_in(const std::filesystem::path& file) {
  const std::string text = first_word(file);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  return *end == 'K' ? value * 1024 : *end == 'M' ? value * 1024 * 1024 : value;
}

/// The smallest number of ways from `wanted` on that leaves a power of two of sets; 0 where there is none.
std::uint64_t fitting_ways(std::uint64_t lines, std::uint64_t wanted) {
  const std::uint64_t odd = lines >> std::countr_zero(lines);
  for (std::uint64_t ways = odd; ways <= most_ways && ways <= lines; ways *= 2)
    if (ways >= wanted || ways == lines) return ways;
  return 0;
}

}  // namespace

CacheGeometry parse_cache_geometry(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    parts.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (parts.size() > 3) refuse(text, "there are " + std::to_string(parts.size()) + " parts");
  CacheGeometry cache;
  std::uint64_t* const values[] = {&cache.size_bytes, &cache.ways, &cache.line_bytes};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!read_bytes(parts[i], *values[i]))
      refuse(text, std::string("no number above 0: '").append(parts[i]).append("'"));
  return cache;
}

std::string to_string(const CacheGeometry& cache) {
  std::ostringstream text;
  if (cache.size_bytes % (1024 * 1024) == 0)
    text << cache.size_bytes / (1024 * 1024) << "MiB";
  else if (cache.size_bytes % 1024 == 0)
    text << cache.size_bytes / 1024 << "KiB";
  else
    text << cache.size_bytes;
  if (cache.ways != 0) text << ',' << cache.ways;
  if (cache.ways != 0 && cache.line_bytes != 0) text << ',' << cache.line_bytes;
  return text.str();
}

CacheGeometry machine_cache(const std::filesystem::path& folder) {
  CacheGeometry cache;
  std::uint64_t outermost = 0;
  for (int index = 0; index < 16; ++index) {
    const auto level_folder = folder / ("index" + std::to_string(index));
    const std::uint64_t level = number_in(level_folder / "level");
    if (level <= outermost || first_word(level_folder / "type") == "Instruction") continue;
    outermost = level;
    cache = {number_in(level_folder / "size"), number_in(level_folder / "ways_of_associativity"),
             number_in(level_folder / "coherency_line_size")};
  }
  return cache;
}

std::uint64_t simulated_line_bytes(const CacheGeometry& asked, const CacheGeometry& of_machine) {
  if (asked.line_bytes != 0) return asked.line_bytes;
  // A cache of a chosen size is the same on every machine.
  return asked.size_bytes != 0 || of_machine.line_bytes == 0 ? usual_line : of_machine.line_bytes;
}

CacheGeometry simulated_cache(const CacheGeometry& asked, const CacheGeometry& of_machine) {
  CacheGeometry cache = asked;
  const CacheGeometry machine = asked.size_bytes == 0 ? of_machine : CacheGeometry{};
  if (cache.size_bytes == 0) cache.size_bytes = machine.size_bytes;
  if (cache.size_bytes == 0)
    throw CounterRequestError(std::string("this machine does not tell the size of its last-level cache: name one; ") +
                              expected);
  cache.line_bytes = simulated_line_bytes(asked, of_machine);
  const std::string text = to_string(cache);
  if (!std::has_single_bit(cache.line_bytes) || cache.line_bytes < min_line)
    refuse(text, "a line of " + std::to_string(cache.line_bytes) + " bytes is no power of two from 16 on");
  if (cache.size_bytes > max_bytes) refuse(text, "it is larger than 2GiB");
  if (cache.size_bytes <= cache.line_bytes || cache.size_bytes % cache.line_bytes != 0)
    refuse(text, "the size is no number of lines of " + std::to_string(cache.line_bytes) + " bytes");
  const std::uint64_t lines = cache.size_bytes / cache.line_bytes;
  if (cache.ways == 0) {
    cache.ways = fitting_ways(lines, machine.ways == 0 ? usual_ways : machine.ways);
    if (cache.ways == 0) refuse(text, "no number of ways up to 256 gives a power of two of sets");
  }
  if (cache.ways > lines || lines % cache.ways != 0 || !std::has_single_bit(lines / cache.ways))
    refuse(to_string(cache),
           std::to_string(lines) + " lines in " + std::to_string(cache.ways) + " ways are no power of two of sets");
  return cache;
}

}  // namespace fourscore
