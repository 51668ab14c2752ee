#include "jobscripts/base/paths.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "core/topology.hpp"
#include "jobscripts/machines/machine.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

bool runnable(const fs::path& file) { return names_file(file) && ::access(file.c_str(), X_OK) == 0; }

/// Beside <prefix>/bin/fourscore.
fs::path share_folder() { return own_folder().parent_path() / "share" / "fourscore"; }

}  // namespace

fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

fs::path find_bench(const std::string& option) {
  for (const auto& [given, from] :
       {std::pair{option, "--bench"}, std::pair{environment("FOURSCORE_BENCH"), "FOURSCORE_BENCH"}}) {
    if (given.empty()) continue;
    if (!runnable(given)) throw EnvironmentError(fmt::format("{} names {}, which is not a program", from, given));
    return fs::absolute(given);
  }
  std::vector<fs::path> candidates{own_folder() / "fft_bench",
                                   own_folder().parent_path() / "libexec/fourscore/fft_bench"};
  std::string rest = environment("PATH");
  while (!rest.empty()) {
    const std::size_t cut = std::min(rest.find(':'), rest.size());
    if (cut > 0) candidates.push_back(fs::path(rest.substr(0, cut)) / "fft_bench");
    rest.erase(0, cut + 1);
  }
  for (const auto& candidate : candidates)
    if (runnable(candidate)) return candidate;
  throw EnvironmentError(
      fmt::format("fft_bench is neither in {} nor in PATH; build it (it needs MPI: the configure summary says what is "
                  "missing) or name it with --bench or FOURSCORE_BENCH",
                  own_folder().string()));
}

std::vector<fs::path> suite_folders() {
  std::vector<fs::path> folders;
  if (const std::string set = environment("FOURSCORE_SUITES"); !set.empty()) folders.emplace_back(set);
  folders.push_back(share_folder() / "suites");
  folders.emplace_back(FOURSCORE_SOURCE_FOLDER "/suites");
  for (const auto& folder : folders)
    if (names_folder(folder)) return {folder};
  return {};
}

std::vector<fs::path> all_suites() {
  std::vector<fs::path> files;
  for (const auto& folder : suite_folders()) {
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".toml") files.push_back(it->path());
    if (error)
      throw EnvironmentError(fmt::format("the suites in {} cannot be listed: {}", folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_suite(const std::string& name) {
  if (names_file(name)) return name;
  std::vector<std::string> known;
  for (const auto& folder : suite_folders())
    for (const auto& file : all_suites()) {
      known.push_back(file.lexically_relative(folder).replace_extension().generic_string());
      if (known.back() == name) return file;
    }
  const auto nearest = nearest_name(name, known);
  std::string list;
  for (const auto& suite : known) list += " " + suite;
  throw InputError(fmt::format("no suite '{}': neither a file nor a suite's name{}. Suites:{}", name,
                               nearest ? fmt::format("; did you mean '{}'?", *nearest) : "",
                               list.empty() ? " none found" : list));
}

fs::path analysis_folder() {
  for (const fs::path& folder : {share_folder() / "analysis", fs::path(FOURSCORE_SOURCE_FOLDER "/analysis")})
    if (names_folder(folder / "fourscore_analysis")) return folder;
  throw EnvironmentError(fmt::format("the Python package fourscore_analysis is neither in {}/analysis nor in {}",
                                     FOURSCORE_SOURCE_FOLDER, share_folder().string()));
}

fs::path shipped_folder(const std::string& name, const std::string& in_source) {
  for (const fs::path& folder : {share_folder() / name, fs::path(FOURSCORE_SOURCE_FOLDER) / in_source})
    if (names_folder(folder)) return folder;
  return {};
}

fs::path archive_folder(const std::string& option, const std::string& of_machine) {
  for (const std::string& said : {option, environment("FOURSCORE_ARCHIVE"), of_machine})
    if (!said.empty()) return said;
  return "fourscore-archive";
}

fs::path archive_folder(const std::string& option) {
  const std::string machine = environment("FOURSCORE_MACHINE");
  const bool asked = option.empty() && environment("FOURSCORE_ARCHIVE").empty() && !machine.empty();
  return archive_folder(option, asked ? find_machine(machine).archive : "");
}

int usable_cores() {
  const Topology topology;
  const std::vector<int> units = topology.usable_units();
  const std::size_t cores = units.empty() ? std::thread::hardware_concurrency() : topology.cores_of(units).size();
  return std::max(1, static_cast<int>(cores));
}

}  // namespace fourscore
