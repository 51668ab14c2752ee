#pragma once
// The Python package of analysis/, which writes reports and answers questions about an archive.

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// Becomes the interpreter that runs the package with `arguments`, a command of its own first. Throws EnvironmentError
/// when there is none, or it lacks a package.
[[noreturn]] void run_analysis(const std::vector<std::string>& arguments);

/// What the package answers to `arguments`, as JSON on its standard output. Throws EnvironmentError as above, and where
/// it answers otherwise or ends with another status than 0 and 1; InputError for status 2, with its words.
[[nodiscard]] nlohmann::json ask_analysis(const std::vector<std::string>& arguments);

/// Tells the package, which reads no machine file, the archive without --archive; `machine` is --machine or empty.
void tell_default_archive(const std::string& machine);

/// A command for which this program does something before the package judges. Each option is declared on one side.
struct SharedCommand {
  std::vector<std::string> words;             ///< for run_analysis(): the command, and the user's words for the package
  std::map<std::string, std::string> values;  ///< as the package reads them; an option that is not set has none

  [[nodiscard]] bool has(const std::string& name) const { return values.contains(name); }
  [[nodiscard]] std::string value(const std::string& name) const { return has(name) ? values.at(name) : ""; }
};

/// Takes the options of `app` out of `words`; its name is the command's ("gate certify"), its --machine goes to
/// `machine`. The package reads the rest, so that whatever is misspelt is found now. --help shows the options of both
/// sides and does not return. Throws InputError; EnvironmentError as above.
[[nodiscard]] SharedCommand parse_shared(CLI::App& app, std::vector<std::string> words, const std::string& machine);

}  // namespace fourscore
