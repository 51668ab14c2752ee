#include "hwcounters/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace fourscore {

const NvmlLibrary& NvmlLibrary::instance() {
  static const NvmlLibrary nvml;
  return nvml;
}

NvmlLibrary::NvmlLibrary() : library_(::dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    unavailable_ = fmt::format("NVML, which comes with NVIDIA's driver, cannot be loaded: {}", ::dlerror());
    return;
  }
  const auto begin = reinterpret_cast<int (*)()>(::dlsym(library_, "nvmlInit_v2"));
  const int result = begin == nullptr ? -1 : begin();
  if (result == success)
    shutdown_ = reinterpret_cast<int (*)()>(::dlsym(library_, "nvmlShutdown"));
  else
    unavailable_ = fmt::format("NVML does not start (nvmlInit_v2: {})", error_text(result));
}

NvmlLibrary::~NvmlLibrary() {
  if (shutdown_ != nullptr) shutdown_();
}

void* NvmlLibrary::symbol(const char* name) const { return unavailable_.empty() ? ::dlsym(library_, name) : nullptr; }

std::string NvmlLibrary::error_text(int result) const {
  const auto text =
      library_ == nullptr ? nullptr : reinterpret_cast<const char* (*)(int)>(::dlsym(library_, "nvmlErrorString"));
  return text == nullptr ? fmt::format("error {}", result) : text(result);
}

}  // namespace fourscore
