#pragma once
// Subcommands of `fourscore`; one self-registering file each.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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
};

class CommandRegistry {
 public:
  static CommandRegistry& instance() {
    static CommandRegistry registry;
    return registry;
  }
  /// Aborts on a duplicate place, which only a programmer can mend.
  bool add(const Command& command) {
    const auto [there, added] = commands_.emplace(command.place, command);
    if (!added) {
      std::fprintf(stderr, "commands '%s' and '%s' have the same place in the help, %d\n", there->second.name.c_str(),
                   command.name.c_str(), command.place);
      std::abort();
    }
    return true;
  }
  [[nodiscard]] const std::map<int, Command>& commands() const { return commands_; }

 private:
  std::map<int, Command> commands_;
};

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
  static const bool registered_##function = ::fourscore::CommandRegistry::instance().add(function())
