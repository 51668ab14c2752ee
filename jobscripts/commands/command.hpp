#pragma once
// Subcommands of `fourscore`; one self-registering file each.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/registry.hpp"

namespace fourscore {

/// Exit codes of every command.
inline constexpr int exit_done = 0;
inline constexpr int exit_says_no = 1;      ///< a result is wrong, a record is off
inline constexpr int exit_input = 2;        ///< unusable input
inline constexpr int exit_environment = 3;  ///< something outside fourscore failed
inline constexpr int exit_interrupted = 130;

struct Command {
  std::string name;
  std::string summary;
  std::string examples;
  int place = 0;  ///< in the help
  /// Adds its options to `app` and returns what runs after parsing; that returns the exit code.
  std::function<std::function<int()>(CLI::App& app)> define;
  /// In place of define(): takes all that stands behind its name as it is written, --help too.
  std::function<int(std::vector<std::string> words)> pass_on{};

  [[nodiscard]] Card card() const { return {name, summary, {}}; }
};

using CommandRegistry = Registry<Command>;

/// Adds --archive to a command.
inline void add_archive_option(CLI::App& app, std::string& value) {
  app.add_option("--archive", value,
                 "folder of the archive (default: $FOURSCORE_ARCHIVE, else the machine file's, "
                 "else ./fourscore-archive)")
      ->type_name("DIR");
}

/// Adds --json to a command.
inline void add_json_option(CLI::App& app, bool& value) { app.add_flag("--json", value, "print JSON for machines"); }

}  // namespace fourscore

#define FOURSCORE_REGISTER_COMMAND(function) \
  static const bool registered_##function =  \
      ::fourscore::CommandRegistry::instance().add(std::make_unique<::fourscore::Command>(function()))
