#pragma once
// What a side of a comparison may be: an fft_bench, a folder with one, a plugin, or a revision of the code, which is
// built: fourscore's own, or that of a plugin's repository.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fourscore {

struct ComparedBuild {
  std::string label;
  std::filesystem::path bench;
  std::vector<std::filesystem::path> plugins{};
  std::filesystem::path program{};  ///< that prints its times
  std::string revision{};           ///< that the plugin or program was built from; empty: not known
};

/// An fft_bench as a file, or beside or in bin/ of a folder. Nothing where the text names no such thing.
[[nodiscard]] std::optional<ComparedBuild> installed_build(const std::string& text);

struct RevisionRequest {
  std::filesystem::path repository;    ///< empty: the current folder's
  std::vector<std::string> configure;  ///< further arguments of cmake
  int jobs = 1;                        ///< compilers at once
  std::string build{};                 ///< the shell's command that builds a plugin's revision, in its sources
  std::filesystem::path artifact{};    ///< what it makes, from there; empty: revisions are fourscore's own
  bool makes_program = false;          ///< that prints its times; else a plugin
  std::filesystem::path bench{};       ///< that measures plugins
};

/// A plugin's file, for `bench`. Throws InputError where there is none.
[[nodiscard]] ComparedBuild plugin_build(const std::string& file, const std::filesystem::path& bench);

/// The same of a program that prints its times.
[[nodiscard]] ComparedBuild program_build(const std::string& file, const std::filesystem::path& bench);

/// The full hash of a commit of the repository; nothing where there is no such revision, no repository or no git.
[[nodiscard]] std::optional<std::string> find_revision(const std::string& text, const RevisionRequest& request);

/// The build of a commit, in a work tree of its own below $XDG_CACHE_HOME/fourscore/builds (else ~/.cache/...).
struct RevisionBuild {
  ComparedBuild build;
  std::filesystem::path folder;
  bool is_built = false;  ///< else its fft_bench is not there yet
};
[[nodiscard]] RevisionBuild find_build(const std::string& text, const std::string& commit,
                                       const RevisionRequest& request);

/// Builds its fft_bench or its plugin, unless it was built before. Says what it does on standard error. Throws
/// InputError naming the step that failed, with the end of its output; EnvironmentError where git or cmake are missing.
[[nodiscard]] ComparedBuild build_revision(const std::string& text, const std::string& commit,
                                           const RevisionRequest& request);

}  // namespace fourscore
