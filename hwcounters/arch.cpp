#include "hwcounters/arch.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/text.hpp"
#include "hwcounters/group.hpp"

namespace fourscore {
namespace {

/// Models `first` to `last` of one family.
struct Models {
  unsigned family;
  unsigned first;
  unsigned last;
  const char* name;
};

// Intel SDM volume 4, table 2-1 (signatures of family 6). Cascade Lake and Cooper Lake are steppings of Skylake-SP's
// model with the same memory controllers and core events.
constexpr Models intel[] = {
    {6, 0x55, 0x55, "intel-skylake-sp"},     {6, 0x6a, 0x6a, "intel-ice-lake-sp"},
    {6, 0x6c, 0x6c, "intel-ice-lake-sp"},    {6, 0x8f, 0x8f, "intel-sapphire-rapids"},
    {6, 0xcf, 0xcf, "intel-emerald-rapids"}, {6, 0xad, 0xae, "intel-granite-rapids"},
};

// AMD's processor programming references name the models of each family; families 17h to 1Ah.
constexpr Models amd[] = {
    {0x17, 0x30, 0x4f, "amd-zen2"}, {0x17, 0x60, 0x7f, "amd-zen2"}, {0x17, 0x90, 0x91, "amd-zen2"},
    {0x17, 0xa0, 0xaf, "amd-zen2"}, {0x19, 0x00, 0x0f, "amd-zen3"}, {0x19, 0x20, 0x5f, "amd-zen3"},
    {0x19, 0x10, 0x1f, "amd-zen4"}, {0x19, 0x60, 0xaf, "amd-zen4"}, {0x1a, 0x00, 0x2f, "amd-zen5"},
    {0x1a, 0x40, 0x4f, "amd-zen5"}, {0x1a, 0x60, 0x7f, "amd-zen5"},
};

/// Implementer (0x41: Arm) and primary part number of MIDR_EL1, from the cores' technical reference manuals.
struct Part {
  unsigned implementer;
  unsigned part;
  const char* name;
};
constexpr Part arm[] = {
    {0x41, 0xd0c, "arm-neoverse-n1"}, {0x41, 0xd40, "arm-neoverse-v1"}, {0x41, 0xd4f, "arm-neoverse-v2"}};

/// The value of the first line "key : value".
std::string_view field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (name != key) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string_view::npos ? std::string_view{} : line.substr(start);
  }
  return {};
}

template <std::size_t N>
std::string model_name(const Models (&table)[N], std::optional<unsigned> family, std::optional<unsigned> model) {
  for (const Models& entry : table)
    if (family == entry.family && model && *model >= entry.first && *model <= entry.last) return entry.name;
  return "unknown";
}

}  // namespace

std::string microarchitecture_of(std::string_view cpuinfo) {
  const std::string_view vendor = field(cpuinfo, "vendor_id");
  const auto family = number_of_either_base<unsigned>(field(cpuinfo, "cpu family"));
  const auto model = number_of_either_base<unsigned>(field(cpuinfo, "model"));
  if (vendor == "GenuineIntel") return model_name(intel, family, model);
  if (vendor == "AuthenticAMD") return model_name(amd, family, model);
  const auto implementer = number_of_either_base<unsigned>(field(cpuinfo, "CPU implementer"));
  const auto part = number_of_either_base<unsigned>(field(cpuinfo, "CPU part"));
  for (const Part& entry : arm)
    if (implementer == entry.implementer && part == entry.part) return entry.name;
  return "unknown";
}

std::string microarchitecture() {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  return microarchitecture_of(text.str());
}

}  // namespace fourscore
