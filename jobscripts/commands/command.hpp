#pragma once
// Subcommands of `fourscore`; one self-registering file each.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
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

/// The define() of a command: `add` adds options to `app`, and `run` gets them.
template <class Options, class Run, class Add>
auto with_options(Run run, Add add) {
  return [run, add](CLI::App& app) -> std::function<int()> {
    const auto options = std::make_shared<Options>();
    add(app, *options);
    return [run, options] { return run(*options); };
  };
}

/// Adds --archive to a command.
inline void add_archive_option(CLI::App& app, std::string& value) {
  app.add_option("--archive", value,
                 "folder of the archive (default: $FOURSCORE_ARCHIVE, else the machine file's, "
                 "else ./fourscore-archive)")
      ->type_name("DIR");
}

/// Adds --bench to a command.
inline void add_bench_option(CLI::App& app, std::string& value, const std::string& what = "launch") {
  app.add_option("--bench", value,
                 "the fft_bench to " + what + " (default: $FOURSCORE_BENCH, else beside this program)")
      ->type_name("FILE");
}

/// Adds --mpirun to a command.
inline void add_mpirun_option(CLI::App& app, std::string& value) {
  app.add_option("--mpirun", value, "the mpirun to use (default: $FOURSCORE_MPIEXEC, else the configured one)")
      ->type_name("FILE");
}

/// Adds --json to a command.
inline void add_json_option(CLI::App& app, bool& value) { app.add_flag("--json", value, "print JSON for machines"); }

/// What --json asks for.
inline void print_json(const nlohmann::json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace fourscore

#define FOURSCORE_REGISTER_COMMAND(function) \
  static const bool registered_##function =  \
      ::fourscore::CommandRegistry::instance().add(std::make_unique<::fourscore::Command>(function()))
