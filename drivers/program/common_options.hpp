#pragma once
// What the command lines of the measuring programs share: what to do, where the record goes, and what it says of its
// origin.

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/moment.hpp"
#include "core/settings.hpp"
#include "program/command_line.hpp"

namespace fourscore::bench {

enum class Mode { measure, list, identity, check_points, where };

struct CommonOptions {
  Mode mode = Mode::measure;
  std::map<std::string, std::string> parameters;  ///< as given
  std::optional<std::filesystem::path> record;
  std::string campaign_file;  ///< empty: none
  nlohmann::json campaign;    ///< on rank 0, once MPI runs: what the file holds; null without one
  std::string launcher = "none";
  std::string started;  ///< file to create once MPI runs; empty: none
  std::optional<Moment> launched_at;
  std::map<std::string_view, std::string> launch;  ///< what the launch must be, by point key (PointKey::of_launch)
};

/// Throws InputError where two of the options that name files, `more` among them, name the same, and where what is no
/// place for output is to be written.
void check_files(const CommonOptions& options, const std::vector<NamedFile>& more);

/// Where these options stand in --help.
inline constexpr const char* output_group = "Output and origin";
/// Adds the options but --parameter, --version with the program's name, and --help; `listed` is what --list shows.
/// `options` must live until the command line is parsed.
void add_common_options(CLI::App& app, CommonOptions& options, const std::string& listed);
/// Adds --parameter; `whose` says of what, for --help.
void add_parameter_option(CLI::App& app, CommonOptions& options, const std::string& group, const std::string& whose);

/// Adds those of all_settings() that fft_bench takes, or programs of components; what is not given stays as it is.
void add_setting_options(CLI::App& app, Settings& settings, bool of_components, const std::string& group = "Options");

/// Parses, then calls understand(). Throws Exit for --help, --version and what CLI11 or an InputError says cannot be
/// used (code 2).
void parse_or_exit(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& understand);

}  // namespace fourscore::bench
