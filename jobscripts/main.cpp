#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/did_you_mean.hpp"
#include "core/problem.hpp"
#include "core/standard_files.hpp"
#include "core/wrapped_help.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/completion.hpp"
#include "jobscripts/commands/version.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

constexpr const char* description =
    "fourscore measures distributed FFTs on this machine and shows where the time goes.\n"
    "Exit codes: 0 done, 1 a result says no, 2 unusable input, 3 the environment failed.";

/// Long names of a command's options, with their dashes.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// What CLI11 found unusable, with the nearest name where one was misspelt.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  std::string message = error.what();
  const CLI::App* used = &app;
  std::string name_of_used;
  std::vector<std::string> commands;
  std::size_t next = 0;  ///< the word that is not one of the commands
  for (bool deeper = true; deeper;) {
    deeper = false;
    commands.clear();
    for (const CLI::App* command : used->get_subcommands([](const CLI::App*) { return true; })) {
      commands.push_back(command->get_name());
      if (!command->parsed()) continue;
      used = command;
      name_of_used += (name_of_used.empty() ? "" : " ") + command->get_name();
      deeper = true;
      ++next;
      break;
    }
  }
  const bool no_command = !commands.empty() && words.size() > next && !words[next].starts_with('-');
  if (error.get_exit_code() == 0 && !no_command) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(error, text, text);
    fmt::print("{}", text.str());
    return code;
  }
  if (no_command) {
    message = fmt::format("'{}' is not a command{}{}", words[next],
                          name_of_used.empty() ? "" : fmt::format(" of `fourscore {}`", name_of_used),
                          did_you_mean(words[next], commands));
  } else if (const auto extra = used->remaining(true); !extra.empty()) {
    const std::string name = extra.front().substr(0, extra.front().find('='));
    message = fmt::format("'{}' is not {} of `fourscore {}`{}", extra.front(),
                          name[0] == '-' ? "an option" : "an argument", name_of_used,
                          did_you_mean(name, name[0] == '-' || commands.empty() ? option_names(*used) : commands));
  }
  const std::string help = used == &app ? "fourscore --help" : fmt::format("fourscore {} --help", name_of_used);
  say("fourscore: {}\nRun `{}` for what there is.\n", message, help);
  return exit_input;
}

/// A message has lines of its own, and may quote a file in them, which must not reach the terminal as it is.
void say_what(const std::exception& error) {
  std::istringstream lines(error.what());
  std::string text;
  for (std::string line; std::getline(lines, line);) text += printable(line) + '\n';
  say("fourscore: {}", text.empty() ? "unknown error\n" : text);
}

int guarded(const std::function<int()>& action) {
  try {
    return action();
  } catch (const Interrupted&) {
    say("fourscore: interrupted\n");
    return exit_interrupted;
  } catch (const InputError& error) {
    say_what(error);
    return exit_input;
  } catch (const std::filesystem::filesystem_error& error) {  // as where the current folder was removed
    say("fourscore: {}: {}\n", printable(error.path1().string()), error.code().message());
    return exit_environment;
  } catch (const std::bad_alloc&) {
    say("fourscore: out of memory, or beyond a limit on it (ulimit -v)\n");
    return exit_environment;
  } catch (const nlohmann::json::exception& error) {
    say("fourscore: a file or a program's answer is of another form than expected: {}\n", printable(error.what()));
    return exit_environment;
  } catch (const std::exception& error) {
    say_what(error);
    return exit_environment;
  }
}

/// In the order of the help.
std::vector<const Command*> all_commands() {
  std::vector<const Command*> commands;
  for (const std::string& name : CommandRegistry::instance().names())
    commands.push_back(CommandRegistry::instance().find(name));
  std::ranges::stable_sort(commands, {}, &Command::place);
  return commands;
}

/// `fourscore help run` is `fourscore run --help`.
std::vector<std::string> asked_words(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

int run(const std::vector<std::string>& words) {
  CLI::App app(description, "fourscore");
  app.set_version_flag("--version", std::string("fourscore ") + shown_version());
  app.require_subcommand(1);
  app.formatter(std::make_shared<WrappedHelp>());
  std::function<int()> chosen;
  const bool completes = !words.empty() && words.front() == "complete";  // asked by a shell
  for (const Command* command : all_commands()) {
    if (command->pass_on && !words.empty() && command->name == words.front())
      return guarded([&] { return command->pass_on({words.begin() + 1, words.end()}); });
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    if (!command->define) continue;
    sub->footer("Examples:\n" + command->examples);
    const auto action = command->define(*sub);
    sub->callback([&chosen, action] { chosen = action; });
  }
  if (completes)
    return guarded([&] {
      for (const std::string& one : completions(app, {words.begin() + 1, words.end()})) fmt::print("{}\n", one);
      return exit_done;
    });
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    return guarded([&] { return report_parse_error(app, error, words); });
  }
  return guarded(chosen);
}

}  // namespace
}  // namespace fourscore

int main(int argc, char** argv) {
  fourscore::open_standard_files();
  // A write beyond a quota or size limit must be an error to report, not the end of the program.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return fourscore::end_output(fourscore::run(fourscore::asked_words(argc, argv)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fourscore: %s\n", error.what());
    return fourscore::exit_environment;
  }
}
