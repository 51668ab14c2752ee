#include "jobscripts/commands/completion.hpp"

#include <algorithm>
#include <regex>

#include "core/installed.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/machines/machine_files.hpp"
#include "jobscripts/suites/suite_files.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

/// What has options in both languages tells them in its help alone.
std::vector<std::string> options_in_help(const std::vector<std::string>& command) {
  ProcessSpec spec;
  spec.argv = {(own_folder() / "fourscore").string()};
  spec.argv.insert(spec.argv.end(), command.begin(), command.end());
  spec.argv.emplace_back("--help");
  spec.output_limit = 0;
  spec.time_limit_s = 10;
  const std::string help = run_process(spec).output;
  static const std::regex option("(^|[ ,])(--[a-z][a-z-]*)");
  std::vector<std::string> names;
  for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found)
    names.push_back((*found)[2]);
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> suites() {
  std::vector<std::string> names;
  for (const fs::path& folder : suite_folders())
    for (const fs::path& file : all_suites())
      names.push_back(file.lexically_relative(folder).replace_extension().generic_string());
  return names;
}

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const fs::path& file : all_machines()) names.push_back(file.stem().string());
  return names;
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

/// The command that the words name, and its own words.
struct FoundCommand {
  const CLI::App* app;
  std::vector<std::string> words;
};

FoundCommand command_of(const CLI::App& app, const std::vector<std::string>& words) {
  FoundCommand found{&app, {}};
  for (const std::string& word : words) {
    if (word.starts_with("-")) break;
    const auto below = found.app->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (below.empty()) break;
    found.app = below.front();
    found.words.push_back(word);
  }
  return found;
}

std::vector<std::string> values_of(const std::string& option) {
  if (option == "--suite") return suites();
  if (option == "--machine") return machines();
  if (option == "--launcher") return LauncherRegistry::instance().names();
  return {};
}

std::vector<std::string> all_that_may_stand(const CLI::App& app, const std::vector<std::string>& words) {
  const bool for_help = !words.empty() && words.front() == "help";
  const std::vector<std::string> before(words.begin() + (for_help ? 1 : 0), words.end() - 1);
  const FoundCommand command = command_of(app, before);
  if (!before.empty() && before.back().starts_with("--")) {
    auto values = values_of(before.back());
    if (!values.empty()) return values;
  }
  if (words.back().starts_with("-")) {
    const Command* passed = command.words.empty() ? nullptr : CommandRegistry::instance().find(command.words.front());
    return passed != nullptr && passed->pass_on ? options_in_help(command.words) : options_of(*command.app);
  }
  if (auto below = subcommands_of(*command.app); !below.empty()) {
    if (&app == command.app && !for_help) below.emplace_back("help");
    return below;
  }
  const std::string name = command.words.empty() ? "" : command.words.back();
  if (name == "run" || name == "submit") return suites();
  return name == "show" || name == "check" ? machines() : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
  auto found = all_that_may_stand(app, words.empty() ? std::vector<std::string>{""} : words);
  std::erase_if(found, [&](const std::string& one) { return !words.empty() && !one.starts_with(words.back()); });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace fourscore
