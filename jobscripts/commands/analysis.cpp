#include "jobscripts/commands/analysis.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/environment.hpp"
#include "core/problem.hpp"
#include "core/text.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/machines/archive_folder.hpp"

namespace fourscore {
namespace {

/// $FOURSCORE_PYTHON, else in a build tree the configured interpreter, else python3.
std::string python() {
  if (const std::string set = environment("FOURSCORE_PYTHON"); !set.empty()) return set;
  const std::string configured = configured_place("python").string();
  return configured.empty() ? "python3" : configured;
}

/// What every start of the interpreter begins with. `-c` and `-m` put the current folder in front of the path, as '' or
/// by its name, and so would run a json.py of whoever wrote into it. Python 3.11 has -P for this, 3.10 does not.
constexpr auto leave_current_folder_out = "import sys; sys.path[:] = [p for p in sys.path if p]; ";

/// Prints the names of the packages that are not there, and a line that only a Python prints; looking for them is
/// quicker than loading them.
constexpr auto look_for_packages =
    "import importlib.util; "
    "names = ('fourscore_analysis', 'numpy', 'scipy', 'matplotlib', 'jinja2'); "
    "print('missing:', ', '.join(n for n in names if importlib.util.find_spec(n) is None))";

constexpr std::string_view help_options[] = {"-h", "--help"};

constexpr auto call_main = "import runpy; runpy.run_module('fourscore_analysis', run_name='__main__')";

/// Throws EnvironmentError saying what is missing. A command that asks again is not held up again.
void check_python(const std::string& interpreter) {
  static bool is_checked = false;
  if (std::exchange(is_checked, true)) return;
  constexpr auto advice = "run jobscripts/setup, or name an interpreter that has them with FOURSCORE_PYTHON";
  constexpr std::string_view answer = "missing: ";
  ProcessSpec spec;
  spec.argv = {interpreter, "-c", std::string(leave_current_folder_out) + look_for_packages};
  spec.time_limit_s = 120;
  const ProcessResult result = run_process(spec);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("the Python interpreter '{}' cannot be started: {}; {}", interpreter,
                                       result.start_problem(), advice));
  const auto at = result.output.find(answer);
  if (!result.succeeded() || at == std::string::npos)
    throw EnvironmentError(fmt::format("'{}' does not work as a Python interpreter{}{}; {}", interpreter,
                                       result.stderr_tail.empty() ? "" : ": ", trimmed(result.stderr_tail), advice));
  const std::string_view missing = trimmed(std::string_view(result.output).substr(at + answer.size()));
  if (!missing.empty())
    throw EnvironmentError(fmt::format("the Python of '{}' lacks: {}; {}", interpreter, missing, advice));
}

/// NumPy and Matplotlib map so much before they do anything; with less they end without a word, or wait for ever.
constexpr rlim_t least_address_space_bytes = rlim_t{1} << 30U;

/// Throws EnvironmentError where a limit (`ulimit -v`) leaves too little.
void check_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < least_address_space_bytes)
    throw EnvironmentError(
        fmt::format("the analysis may map {} KiB of memory alone (ulimit -v); expected {} KiB or more",
                    limit.rlim_cur / 1024, least_address_space_bytes / 1024));
}

/// Puts the package in front of PYTHONPATH. An empty entry there means the current folder and is left out.
void set_python_path() {
  std::string path = analysis_folder().string();
  for (const std::string& entry : split(environment("PYTHONPATH"), ':'))
    if (!entry.empty()) path += ":" + entry;
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

/// argv of an interpreter that has all it needs.
std::vector<std::string> analysis_command(const std::vector<std::string>& arguments) {
  const std::string interpreter = python();
  check_address_space();
  set_python_path();
  check_python(interpreter);
  std::vector<std::string> command{interpreter, "-c", std::string(leave_current_folder_out) + call_main};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

/// What the package prints. Throws as ask_analysis() does.
std::string answer_of(const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.argv = analysis_command(arguments);
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  if (result.start_error == 0 && result.exit_status == exit_input) {
    const auto colon = result.stderr_tail.find(": ");  // behind the name of the command
    throw InputError(result.stderr_tail.substr(colon == std::string::npos ? 0 : colon + 2));
  }
  if (result.start_error != 0 || result.signal != 0 || result.exit_status > exit_says_no)
    throw EnvironmentError(fmt::format("the analysis gave no answer: {}",
                                       result.start_error != 0 ? result.start_problem() : result.stderr_tail));
  return result.output;
}

/// The options of `app` as the package shows them in the --help of both.
nlohmann::json shown_options(const CLI::App& app) {
  nlohmann::json shown = nlohmann::json::array();
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();  // "INT:INT in [1 - 9]" where its values are checked
    const auto end = std::min(type.find(':'), type.size());
    std::string help = option->get_description();
    if (end < type.size()) help += "; " + type.substr(end + 1);
    if (!option->get_default_str().empty()) help += fmt::format(" (default: {})", option->get_default_str());
    shown.push_back({{"name", option->get_name()}, {"metavar", type.substr(0, end)}, {"help", help}});
  }
  return shown;
}

}  // namespace

nlohmann::json ask_analysis(const std::vector<std::string>& arguments) {
  nlohmann::json answer = nlohmann::json::parse(answer_of(arguments), nullptr, false);
  if (answer.is_discarded()) throw EnvironmentError("the analysis gave no answer: expected JSON");
  return answer;
}

void tell_default_archive(const std::string& machine) {
  ::setenv("FOURSCORE_ARCHIVE", default_archive(machine).c_str(), 1);
}

SharedCommand parse_shared(CLI::App& app, std::vector<std::string> words, const std::string& machine) {
  app.set_help_flag();
  app.allow_extras();
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}\nRun `fourscore {} --help` for what there is.", error.what(), app.get_name()));
  }
  tell_default_archive(machine);
  SharedCommand shared{split(app.get_name(), ' '), {}};
  const std::vector<std::string> rest = app.remaining();
  shared.words.insert(shared.words.end(), rest.begin(), rest.end());
  std::vector<std::string> question{
      "--front=" + nlohmann::json{{"command", app.get_name()}, {"options", shown_options(app)}}.dump()};
  question.insert(question.end(), shared.words.begin(), shared.words.end());
  const auto mark = std::ranges::find(rest, "--");
  if (std::find_first_of(rest.begin(), mark, std::begin(help_options), std::end(help_options)) != mark)
    run_analysis(question);
  for (const std::string& pair : split(answer_of(question), '\0'))
    if (const auto sign = pair.find('='); sign != std::string::npos)
      shared.values[pair.substr(0, sign)] = pair.substr(sign + 1);
  return shared;
}

void run_analysis(const std::vector<std::string>& arguments) {
  auto command = analysis_command(arguments);
  std::vector<char*> argv;
  for (auto& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  throw EnvironmentError(fmt::format("{} cannot be started: {}", shown_command(command), std::strerror(errno)));
}

}  // namespace fourscore
