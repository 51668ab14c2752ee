#pragma once
// cuFFTMp's functions, of the file that is there when a program runs. Included where its headers are found.

#include <cufftMp.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace fourscore::cufftmp_variants {

/// Opened by itself: it has functions of the same names as cuFFT.
struct Library {
  std::string failure{};  ///< empty: all are there
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
  decltype(&cufftGetVersion) get_version = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftXtSetSubformatDefault) set_formats = nullptr;
  decltype(&cufftXtSetDistribution) set_distribution = nullptr;
  decltype(&cufftMpAttachComm) attach = nullptr;
  decltype(&cufftMakePlan3d) make_plan = nullptr;
  decltype(&cufftXtMalloc) allocate = nullptr;
  decltype(&cufftXtFree) release = nullptr;
  decltype(&cufftXtExec) execute = nullptr;
};

inline Library load() {
  Library functions;
  void* const library = ::dlopen(FOURSCORE_CUFFTMP_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    functions.failure = why == nullptr ? "libcufftMp cannot be loaded" : why;
    return functions;
  }
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    if (function == nullptr) functions.failure = fmt::format("{} has no {}", FOURSCORE_CUFFTMP_LIBRARY, symbol);
  };
  find(functions.create, "cufftCreate");
  find(functions.destroy, "cufftDestroy");
  find(functions.get_version, "cufftGetVersion");
  find(functions.set_stream, "cufftSetStream");
  find(functions.set_formats, "cufftXtSetSubformatDefault");
  find(functions.set_distribution, "cufftXtSetDistribution");
  find(functions.attach, "cufftMpAttachComm");
  find(functions.make_plan, "cufftMakePlan3d");
  find(functions.allocate, "cufftXtMalloc");
  find(functions.release, "cufftXtFree");
  find(functions.execute, "cufftXtExec");
  return functions;
}

inline const Library& cufftmp() {
  static const Library library = load();
  return library;
}

inline void must(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS)
    throw std::runtime_error(fmt::format("cuFFTMp, {}: error {}", call, static_cast<int>(result)));
}

}  // namespace fourscore::cufftmp_variants
