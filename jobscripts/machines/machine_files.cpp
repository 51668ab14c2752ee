#include "jobscripts/machines/machine_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "jobscripts/base/paths.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// The user's machine folder; empty if there is none. Throws InputError where FOURSCORE_MACHINES names no folder.
fs::path own_machines() {
  if (const std::string set = environment("FOURSCORE_MACHINES"); !set.empty()) {
    if (!names_folder(set)) throw InputError(fmt::format("FOURSCORE_MACHINES names {}, which is no folder", set));
    return set;
  }
  fs::path settings = environment("XDG_CONFIG_HOME");
  if (!settings.is_absolute()) {  // the XDG base directory specification ignores others
    if (environment("HOME").empty()) return {};
    settings = fs::path(environment("HOME")) / ".config";
  }
  const fs::path folder = settings / "fourscore/machines";
  return names_folder(folder) ? folder : fs::path();
}

}  // namespace

std::vector<fs::path> all_machines() {
  std::map<std::string, fs::path> by_name;
  for (const fs::path& folder : {own_machines(), installed_folder("machines")}) {
    if (folder.empty()) continue;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".toml") by_name.emplace(it->path().stem().string(), it->path());
    if (error)
      throw EnvironmentError(
          fmt::format("the machine files in {} cannot be listed: {}", folder.string(), error.message()));
  }
  std::vector<fs::path> files;
  for (const auto& [name, file] : by_name) files.push_back(file);
  return files;
}

Machine find_machine(const std::string& name) {
  if (names_file(name)) return read_machine(name);
  std::vector<std::string> known;
  for (const fs::path& file : all_machines()) {
    known.push_back(file.stem().string());
    if (known.back() == name) return read_machine(file);
  }
  throw InputError(fmt::format("no machine '{}': neither a file nor a machine's name{}. Machines: {}", name,
                               did_you_mean(name, known),
                               known.empty() ? "none found" : fmt::format("{}", fmt::join(known, " "))));
}

}  // namespace fourscore
