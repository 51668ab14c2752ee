#include "hwcounters/sysfs_pmu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "core/did_you_mean.hpp"
#include "core/text.hpp"
#include "hwcounters/counter.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!stream || !std::getline(stream, line)) return std::nullopt;
  return line;
}

constexpr auto number = number_of_either_base<std::uint64_t>;

/// "config:0-7,32-35"
std::optional<BitField> parse_format(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  BitField field;
  const std::string_view word = text.substr(0, colon);
  if (word == "config1")
    field.word = 1;
  else if (word == "config2")
    field.word = 2;
  else if (word != "config")
    return std::nullopt;
  try {
    for (const int bit : parse_cpu_list(text.substr(colon + 1))) {
      if (bit > 63) return std::nullopt;
      field.bits.push_back(static_cast<unsigned>(bit));
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return field;
}

/// Sets the bits of `field`; false where the value has more.
bool place(const BitField& field, std::uint64_t value, std::uint64_t (&config)[3]) {
  for (const unsigned bit : field.bits) {
    if ((value & 1) != 0) config[field.word] |= std::uint64_t{1} << bit;
    value >>= 1;
  }
  return value == 0;
}

/// How many of the base unit a unit of sysfs is. Bandwidth events say MiB for what their scale makes of CAS commands.
double unit_factor(std::string_view unit) {
  if (unit == "KiB") return 1024.0;
  if (unit == "MiB") return 1024.0 * 1024.0;
  if (unit == "GiB") return 1024.0 * 1024.0 * 1024.0;
  return 1.0;
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (trimmed(text).empty()) return cpus;
  for (const std::string& entry : split(text, ',')) {
    const std::string_view part = trimmed(entry);
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last > 1'000'000)
      throw std::invalid_argument(fmt::format("'{}' is no list like 0-3,8", text));
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

PmuEncoding PmuUnit::encode(std::string_view terms, bool named) const {
  PmuEncoding encoding;
  encoding.type = type;
  const auto known = [this] {
    std::vector<std::string> names = events;
    for (const auto& [term, field] : format) names.push_back(term);
    return names;
  };
  for (const std::string& entry : split(terms, ',')) {
    const std::string_view term = trimmed(entry);
    const std::size_t equals = term.find('=');
    const std::string key(trimmed(term.substr(0, equals)));
    const auto value =
        equals == std::string_view::npos ? std::optional<std::uint64_t>(1) : number(trimmed(term.substr(equals + 1)));
    if (!value)
      throw CounterRequestError(fmt::format("'{}' of unit {}: the value must be a number like 12 or 0x0c", term, name));
    if (const auto field = format.find(key); field != format.end()) {
      if (!place(field->second, *value, encoding.config))
        throw CounterRequestError(fmt::format("'{}' of unit {} has {} bits; {:#x} does not fit", key, name,
                                              field->second.bits.size(), *value));
    } else if (key == "config" || key == "config1" || key == "config2") {
      encoding.config[key == "config" ? 0 : key.back() - '0'] |= *value;
    } else if (named && equals == std::string_view::npos &&
               std::find(events.begin(), events.end(), key) != events.end()) {
      const auto text = first_line(folder / "events" / key);
      if (!text) throw CounterError(fmt::format("{} cannot be read", (folder / "events" / key).string()));
      const PmuEncoding event = encode(*text, false);
      for (std::size_t word = 0; word < 3; ++word) encoding.config[word] |= event.config[word];
      const auto scale = first_line(folder / "events" / (key + ".scale"));
      const auto unit = first_line(folder / "events" / (key + ".unit"));
      if (scale) std::istringstream(*scale) >> encoding.scale;
      encoding.scale *= unit_factor(unit ? trimmed(*unit) : "");
    } else {
      throw CounterRequestError(fmt::format("'{}' is neither an event nor a term of unit {}{}; there is: {}", key, name,
                                            did_you_mean(key, known()), fmt::join(known(), ", ")));
    }
  }
  return encoding;
}

std::vector<std::string> SysfsPmus::names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root_ / "bus/event_source/devices", error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

PmuUnit SysfsPmus::read_unit(const std::string& name) const {
  PmuUnit unit;
  unit.name = name;
  unit.folder = root_ / "bus/event_source/devices" / name;
  const auto fail = [&](const char* file, const std::string& text) -> CounterError {
    return CounterError(fmt::format("{} has '{}', which is not understood", (unit.folder / file).string(), text));
  };
  const std::string type = first_line(unit.folder / "type").value_or("");
  const auto value = number(trimmed(type));
  if (!value) throw fail("type", type);
  unit.type = static_cast<std::uint32_t>(*value);
  if (const auto mask = first_line(unit.folder / "cpumask")) {
    unit.uncore = true;
    try {
      unit.cpus = parse_cpu_list(*mask);
    } catch (const std::invalid_argument&) {
      throw fail("cpumask", *mask);
    }
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(unit.folder / "format", error))
    if (const auto field = parse_format(trimmed(first_line(entry.path()).value_or(""))))
      unit.format[entry.path().filename().string()] = *field;
  for (const auto& entry : fs::directory_iterator(unit.folder / "events", error))
    if (entry.path().extension().empty()) unit.events.push_back(entry.path().filename().string());
  std::sort(unit.events.begin(), unit.events.end());
  return unit;
}

std::vector<PmuUnit> SysfsPmus::find(const std::string& name) const {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  const std::vector<std::string> all = names();
  for (const std::string& candidate : all) {
    if (candidate == name) return {read_unit(name)};
    if (!candidate.starts_with(name + "_")) continue;
    if (const auto box = number(std::string_view(candidate).substr(name.size() + 1)))
      found.emplace_back(*box, candidate);
  }
  std::sort(found.begin(), found.end());
  std::vector<PmuUnit> units;
  for (const auto& [box, candidate] : found) units.push_back(read_unit(candidate));
  if (!units.empty()) return units;
  throw CounterError(
      fmt::format("the kernel shows no unit '{}'{}; it shows: {}. A virtual machine usually has none; on "
                  "the machine itself a newer kernel or its module may be needed",
                  name, did_you_mean(name, all), all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "))));
}

bool SysfsPmus::has_core_counters() const {
  const std::vector<std::string> all = names();
  return std::any_of(all.begin(), all.end(), [](const std::string& name) {
    return name == "cpu" || name == "cpu_core" || name.starts_with("armv8_") || name.starts_with("armv9_");
  });
}

int SysfsPmus::socket_of(int cpu) const {
  const auto text =
      first_line(root_ / "devices/system/cpu" / fmt::format("cpu{}", cpu) / "topology/physical_package_id");
  const auto value = text ? number(trimmed(*text)) : std::nullopt;
  return value ? static_cast<int>(*value) : -1;
}

}  // namespace fourscore
