#include "jobscripts/commands/analysis.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "core/environment.hpp"
#include "core/problem.hpp"
#include "core/text.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/command.hpp"

namespace fourscore {
namespace {

/// $FOURSCORE_PYTHON, else the configured interpreter, else python3.
std::string python() {
  if (const std::string set = environment("FOURSCORE_PYTHON"); !set.empty()) return set;
  const std::string configured = FOURSCORE_PYTHON_DEFAULT;
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

constexpr auto call_main = "import runpy; runpy.run_module('fourscore_analysis', run_name='__main__')";

/// Throws EnvironmentError saying what is missing.
void check_python(const std::string& interpreter) {
  constexpr auto advice = "run jobscripts/setup, or name an interpreter that has them with FOURSCORE_PYTHON";
  constexpr std::string_view answer = "missing: ";
  ProcessSpec spec;
  spec.argv = {interpreter, "-c", std::string(leave_current_folder_out) + look_for_packages};
  spec.time_limit_s = 120;
  const ProcessResult result = run_process(spec);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("the Python interpreter '{}' cannot be started: {}; {}", interpreter,
                                       std::strerror(result.start_error), advice));
  const auto at = result.output.find(answer);
  if (result.exit_status != 0 || result.signal != 0 || at == std::string::npos)
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

}  // namespace

nlohmann::json ask_analysis(const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.argv = analysis_command(arguments);
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  if (result.start_error == 0 && result.exit_status == exit_input) throw InputError(result.stderr_tail);
  nlohmann::json answer = nlohmann::json::parse(result.output, nullptr, false);
  if (result.start_error != 0 || result.signal != 0 || result.exit_status > exit_says_no || answer.is_discarded())
    throw EnvironmentError(
        fmt::format("the analysis gave no answer to '{}': {}", arguments.front(),
                    result.start_error != 0 ? std::strerror(result.start_error) : result.stderr_tail.c_str()));
  return answer;
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
