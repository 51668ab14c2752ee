#include "local/mkl_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "core/environment.hpp"
#include "core/installed.hpp"
#include "core/sha256.hpp"

namespace fourscore::local {

#ifdef FOURSCORE_MKL

namespace {

namespace fs = std::filesystem;

/// The number at the end grows when MKL breaks with what was; packages for development have files without one.
constexpr std::array endings{".so.3", ".so.2", ".so.1", ".so"};

/// In a build tree the folder that was found when it was configured, else $MKLROOT's.
fs::path folder() {
  const fs::path configured = configured_place("mkl");
  return configured.empty() ? fs::path(environment("MKLROOT")) / "lib" : configured;
}

/// Empty where there is none.
fs::path file_of(std::string_view name) {
  std::error_code error;
  for (const char* ending : endings)
    if (fs::path file = folder() / fmt::format("lib{}{}", name, ending); fs::exists(file, error)) return file;
  return {};
}

void open_file_of(const std::string& name) {
  const fs::path file = file_of(name);
  if (file.empty())
    throw std::runtime_error(
        fmt::format("{} has no lib{}.so; name MKL's folder with MKLROOT, or run jobscripts/setup --with mkl and "
                    "configure anew",
                    folder().string(), name));
  // They name none of the libraries that they need: each finds the functions of the others among all that is loaded.
  if (::dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL) == nullptr)
    throw std::runtime_error(fmt::format("{} cannot be loaded: {}", file.string(), ::dlerror()));
}

/// What threads by GNU's OpenMP call. Clang's libomp has it too.
bool has_gnu_openmp() {
  constexpr const char* entry = "GOMP_parallel";
  return ::dlsym(RTLD_DEFAULT, entry) != nullptr || ::dlopen("libgomp.so.1", RTLD_LAZY | RTLD_GLOBAL) != nullptr;
}

struct Loaded {
  std::string failure{};  ///< empty: it is loaded
  bool threads = false;
};

Loaded load() {
  Loaded loaded;
  try {
    loaded.threads = has_gnu_openmp() && !file_of("mkl_gnu_thread").empty();
    open_file_of("mkl_core");
    open_file_of(loaded.threads ? "mkl_gnu_thread" : "mkl_sequential");
    // Before the interface, whose functions of the same names only report that this library is missing.
    if (!file_of("mkl_cdft_core").empty()) open_file_of("mkl_cdft_core");
    open_file_of("mkl_intel_lp64");
    // As many threads as a plan asks for, whatever MKL thinks of the machine's load.
    if (loaded.threads)
      if (void* const set = ::dlsym(RTLD_DEFAULT, "MKL_Set_Dynamic")) reinterpret_cast<void (*)(int)>(set)(0);
  } catch (const std::runtime_error& error) {
    loaded.failure = error.what();
  }
  return loaded;
}

const Loaded& loaded() {
  static const Loaded result = load();
  return result;
}

}  // namespace

std::string mkl_unavailable() { return loaded().failure; }

bool mkl_has_threads() { return loaded().threads; }

void open_mkl_library(const std::string& name) {
  if (!loaded().failure.empty()) throw std::runtime_error(loaded().failure);
  open_file_of(name);
}

void* mkl_symbol(const char* name) {
  if (!loaded().failure.empty()) throw std::runtime_error(loaded().failure);
  void* const symbol = ::dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) throw std::runtime_error(fmt::format("MKL has no function {}", name));
  return symbol;
}

std::string mkl_version() {
  std::array<char, 256> text{};
  mkl_function<void(char*, int)>("MKL_Get_Version_String")(text.data(), static_cast<int>(text.size()) - 1);
  std::string version = text.data();
  while (version.ends_with(' ')) version.pop_back();
  return version;
}

std::map<std::string, std::string> mkl_library_builds() {
  std::map<std::string, std::string> builds;
  // MKL itself opens the one of these with code for the processor.
  constexpr std::array names{
      "mkl_core", "mkl_intel_lp64", "mkl_gnu_thread", "mkl_sequential", "mkl_cdft_core", "mkl_blacs_openmpi_lp64",
      "mkl_def",  "mkl_avx2",       "mkl_avx512",     "mkl_avx10"};
  for (const char* name : names) {
    const fs::path file = file_of(name);
    if (!file.empty()) builds[file.filename().string()] = file.filename().string() + " " + sha256_of_samples(file);
  }
  return builds;
}

#else

std::string mkl_unavailable() { return FOURSCORE_MKL_MISSING; }
bool mkl_has_threads() { return false; }
void open_mkl_library(const std::string& /*name*/) { throw std::runtime_error(FOURSCORE_MKL_MISSING); }
void* mkl_symbol(const char* /*name*/) { throw std::runtime_error(FOURSCORE_MKL_MISSING); }
std::string mkl_version() { return {}; }
std::map<std::string, std::string> mkl_library_builds() { return {}; }

#endif

}  // namespace fourscore::local
