// Another libfftw3, or a library with FFTW's functions (AOCL-FFTW, cray-fftw, ArmPL, MKL), opened by its path beside
// the FFTW that this program is linked with.

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "local/fftw_library.hpp"

namespace fourscore::local {

namespace {

namespace fs = std::filesystem;

constexpr const char* variable = "FOURSCORE_FFTW_API";

/// The two files that the variable names, or the one and the file beside it for single precision; empty where it is not
/// set.
std::vector<fs::path> named_files() {
  const std::string text = environment(variable);
  if (text.empty()) return {};
  const auto parts = split(text, ':');
  if (parts.size() > 1) return {parts[0], parts[1]};
  const fs::path file = text;
  const std::string name = file.filename().string();
  constexpr std::string_view double_name = "libfftw3";
  if (!name.starts_with(double_name)) return {file};
  const fs::path beside = file.parent_path() / fmt::format("libfftw3f{}", name.substr(double_name.size()));
  return names_file(beside) ? std::vector{file, beside} : std::vector{file};
}

/// Its own functions come first, so that those of the FFTW that is linked do not stand in for them. The sanitizers
/// cannot have that.
#ifdef FOURSCORE_SANITIZED
constexpr int own_functions_first = 0;
#else
constexpr int own_functions_first = RTLD_DEEPBIND;
#endif

void* opened(const fs::path& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | own_functions_first);
  if (library == nullptr) throw std::runtime_error(fmt::format("{}={}: {}", variable, file.string(), ::dlerror()));
  return library;
}

template <class Real>
void find_functions(const std::vector<void*>& libraries, FftwApi<Real>& api, const fs::path& file) {
  const auto find = [&](const char* name, auto& function, bool needed) {
    function = nullptr;
    for (void* const library : libraries)
      if (void* const found = ::dlsym(library, name); function == nullptr && found != nullptr)
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    if (needed && function == nullptr)
      throw std::runtime_error(
          fmt::format("{}={}: it has no function {}; expected a library with FFTW's, or DOUBLE:SINGLE "
                      "where each precision has its own",
                      variable, file.string(), name));
  };
  api.visit_needed([&](const char* name, auto& function) { find(name, function, true); });
  api.visit_optional([&](const char* name, auto& function) { find(name, function, false); });
}

struct Opened {
  FftwFunctions functions{};
  std::string failure{};  ///< empty: it can be used
};

Opened open_named() {
  Opened result;
  try {
    const auto files = named_files();
    if (files.empty())
      throw std::runtime_error(fmt::format(
          "{} names no library; expected the path of a libfftw3.so, or of one with its functions", variable));
    for (const fs::path& file : files)
      if (!file.is_absolute())  // ranks start in other folders
        throw std::runtime_error(fmt::format("{}={}: expected an absolute path", variable, file.string()));
    std::vector<void*> libraries;
    for (const fs::path& file : files) libraries.push_back(opened(file));
    find_functions(libraries, result.functions.of_double, files.front());
    find_functions(libraries, result.functions.of_float, files.back());
    const auto* const version = static_cast<const char*>(::dlsym(libraries.front(), "fftw_version"));
    result.functions.version = version != nullptr ? version : files.front().filename().string();
    result.functions.start_threads();
  } catch (const std::runtime_error& error) {
    result.failure = error.what();
  }
  return result;
}

const Opened& named_library() {
  static const Opened result = open_named();
  return result;
}

class FftwByPath : public FftwLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"fftw-api", "the library with FFTW's functions that FOURSCORE_FFTW_API names, passes split and timed",
            "https://www.fftw.org"};
  }
  [[nodiscard]] std::string unavailable() const override { return named_library().failure; }
  [[nodiscard]] std::string version() const override { return named_library().functions.version; }
  [[nodiscard]] std::map<std::string, std::string> libraries_loaded_later() const override {
    std::map<std::string, std::string> builds;
    for (const fs::path& file : named_files())
      if (const std::string name = file.filename().string(); names_file(file))
        builds["fftw-api " + name] = name + " " + sha256_of_samples(file);
    return builds;
  }

 protected:
  [[nodiscard]] const FftwFunctions& functions() const override {
    if (!named_library().failure.empty()) throw std::runtime_error(named_library().failure);
    return named_library().functions;
  }
  [[nodiscard]] std::string threadless() const override { return fmt::format("the library of {}", variable); }
};

FOURSCORE_REGISTER_LOCAL_FFT(FftwByPath);

}  // namespace

}  // namespace fourscore::local
