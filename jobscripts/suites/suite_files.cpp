#include "jobscripts/suites/suite_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "jobscripts/base/paths.hpp"

namespace fourscore {
namespace fs = std::filesystem;

std::vector<fs::path> suite_folders() {
  std::vector<fs::path> folders;
  if (const std::string set = environment("FOURSCORE_SUITES"); !set.empty()) folders.emplace_back(set);
  folders.push_back(installed_folder("suites"));
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
  std::string list;
  for (const auto& suite : known) list += " " + suite;
  throw InputError(fmt::format("no suite '{}': neither a file nor a suite's name{}. Suites:{}", name,
                               did_you_mean(name, known),
                               list.empty() ? " none in " + installed_place("suites") : list));
}

}  // namespace fourscore
