#include "variants/reference/plugin_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/errors.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

constexpr int most_transforms = 64;

template <std::size_t bytes>
bool ends(const char (&text)[bytes]) {
  return std::memchr(text, 0, bytes) != nullptr;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

/// Nothing, or what is wrong with a description.
std::string fault_of(const fourscore_transform_t& transform) {
  if (!ends(transform.name) || !ends(transform.summary) || !ends(transform.citation) || !ends(transform.version))
    return "a text does not end with a zero byte";
  if (!is_name(transform.name))
    return fmt::format("the name is '{}'; expected lower-case letters, digits and -", transform.name);
  if ((transform.kinds & ~(FOURSCORE_C2C | FOURSCORE_R2C)) != 0)
    return fmt::format("kinds is {}; expected FOURSCORE_C2C, FOURSCORE_R2C or their sum", transform.kinds);
  if ((transform.precisions & ~(FOURSCORE_DOUBLE | FOURSCORE_SINGLE)) != 0)
    return fmt::format("precisions is {}; expected FOURSCORE_DOUBLE, FOURSCORE_SINGLE or their sum",
                       transform.precisions);
  if (transform.grid_extents < 0 || transform.grid_extents > 3)
    return fmt::format("grid_extents is {}; expected 0 to 3", transform.grid_extents);
  if (transform.thread_level < FOURSCORE_THREAD_SINGLE || transform.thread_level > FOURSCORE_THREAD_MULTIPLE)
    return fmt::format("thread_level is {}; expected one of FOURSCORE_THREAD_SINGLE to _MULTIPLE",
                       transform.thread_level);
  return {};
}

}  // namespace

PluginLibrary::PluginLibrary(const fs::path& file) : name_(file.filename().string()) {
  void* const library = ::dlopen(fs::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw InputError(fmt::format("plugin {} cannot be loaded: {}", file.string(), ::dlerror()));
  const auto find = [&](const char* function, auto& pointer, bool may_be_missing = false) {
    void* const found = ::dlsym(library, function);
    if (found == nullptr && !may_be_missing)
      throw InputError(about(function, "is missing; expected every function of fourscore.h that is not optional"));
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(found);
  };
  find("fourscore_plugin_version", functions_.version);
  if (const int version = functions_.version(); version != FOURSCORE_PLUGIN_VERSION)
    throw InputError(about("fourscore_plugin_version",
                           fmt::format("is {}; expected {}: build it with the fourscore.h of this fourscore", version,
                                       FOURSCORE_PLUGIN_VERSION)));
  find("fourscore_describe", functions_.describe);
  find("fourscore_supports", functions_.supports);
  find("fourscore_create", functions_.create);
  find("fourscore_boxes", functions_.boxes);
  find("fourscore_buffers", functions_.buffers);
  find("fourscore_execute", functions_.execute);
  find("fourscore_destroy", functions_.destroy);
  find("fourscore_last_error", functions_.last_error);
  find("fourscore_set_phases", functions_.set_phases, true);
  find("fourscore_cost", functions_.cost, true);
  read_transforms();
}

void PluginLibrary::read_transforms() {
  for (int index = 0; index < most_transforms; ++index) {
    fourscore_transform_t transform{};
    if (functions_.describe(index, &transform) != 0) break;
    if (const std::string fault = fault_of(transform); !fault.empty())
      throw InputError(about("fourscore_describe", fmt::format("describes transform {} wrongly: {}", index, fault)));
    if (transform.kinds == 0) transform.kinds = FOURSCORE_C2C;
    if (transform.precisions == 0) transform.precisions = FOURSCORE_DOUBLE;
    transforms_.push_back(transform);
  }
  if (transforms_.empty())
    throw InputError(about("fourscore_describe", "describes no transform; expected one at least, from index 0"));
}

std::string PluginLibrary::about(std::string_view function, const std::string& what) const {
  return fmt::format("plugin {}: {} {}", name_, function, what);
}

std::string PluginLibrary::last_error() const {
  const char* const text = functions_.last_error();
  std::string line = text == nullptr ? "" : std::string(text, ::strnlen(text, 1000));
  std::ranges::replace_if(
      line, [](char one) { return static_cast<unsigned char>(one) < ' '; }, ' ');
  return line.empty() ? "fourscore_last_error says nothing" : line;
}

void PluginLibrary::require(int returned, std::string_view function) const {
  if (returned != 0) throw InputError(about(function, fmt::format("returned {}: {}", returned, last_error())));
}

}  // namespace fourscore
