// fourscore report: the Python package writes it.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/problem.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/paths.hpp"
#include "jobscripts/process.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// $FOURSCORE_PYTHON, else the configured interpreter, else python3.
std::string python() {
  if (const char* set = std::getenv("FOURSCORE_PYTHON"); set != nullptr && *set != '\0') return set;
  const std::string configured = FOURSCORE_PYTHON_DEFAULT;
  return configured.empty() ? "python3" : configured;
}

/// Exits with the names of the packages that are not there; looking for them is quicker than loading them.
constexpr auto look_for_packages =
    "import importlib.util, sys; "
    "names = ('fourscore_analysis', 'numpy', 'scipy', 'pandas', 'matplotlib', 'jinja2'); "
    "sys.exit(', '.join(n for n in names if importlib.util.find_spec(n) is None) or 0)";

/// Throws EnvironmentError saying what is missing.
void check_python(const std::string& interpreter) {
  constexpr auto advice = "run jobscripts/setup, or name an interpreter that has them with FOURSCORE_PYTHON";
  ProcessSpec spec;
  spec.argv = {interpreter, "-c", look_for_packages};
  spec.time_limit_s = 120;
  const ProcessResult result = run_process(spec);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("the Python interpreter '{}' cannot be started: {}; {}", interpreter,
                                       std::strerror(result.start_error), advice));
  if (result.exit_status == 0 && result.signal == 0) return;
  std::string missing = result.stderr_tail;
  while (!missing.empty() && missing.back() == '\n') missing.pop_back();
  throw EnvironmentError(fmt::format("the Python of '{}' lacks: {}; {}", interpreter, missing, advice));
}

struct ReportOptions {
  std::string archive;
  std::vector<std::string> campaigns;
  std::string output = "report.html";
  std::string plots;
  unsigned plot_points = 0;
  bool json = false;
};

int report(const ReportOptions& options) {
  const Archive archive = open_archive(options.archive);
  if (!options.campaigns.empty()) (void)chosen_campaigns(archive, options.campaigns);
  const char* path = std::getenv("PYTHONPATH");
  const std::string folder = analysis_folder().string();
  ::setenv("PYTHONPATH", (path == nullptr || *path == '\0' ? folder : folder + ":" + path).c_str(), 1);
  const std::string interpreter = python();
  check_python(interpreter);
  std::vector<std::string> command{interpreter, "-m",        "fourscore_analysis",
                                   "report",    "--archive", archive.root().string()};
  command.insert(command.end(), options.campaigns.begin(), options.campaigns.end());
  command.insert(command.end(), {"-o", options.output});
  if (!options.plots.empty()) command.insert(command.end(), {"--plots", options.plots});
  if (options.plot_points > 0) command.insert(command.end(), {"--plot-points", std::to_string(options.plot_points)});
  if (options.json) command.emplace_back("--json");
  std::vector<char*> argv;
  for (auto& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  throw EnvironmentError(fmt::format("{} cannot be started: {}", shown_command(command), std::strerror(errno)));
}

Command report_command() {
  return {"report", "Write one self-contained page of what the campaigns found",
          "  fourscore report -o report.html\n"
          "  fourscore report strong-1a2b3c4d weak-5e6f7a8b -o scaling.html\n",
          70, [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<ReportOptions>();
            app.add_option("campaign", options->campaigns, "campaigns to show (default: all)")->type_name("CAMPAIGN");
            app.add_option("-o,--output", options->output, "the page; plots stand in a folder beside it")
                ->capture_default_str()
                ->type_name("FILE");
            app.add_option("--plots", options->plots,
                           "folder of the plots as PNG, SVG and PDF (default: beside the page)")
                ->type_name("DIR");
            app.add_option("--plot-points", options->plot_points, "the most points in a plot; tables show all")
                ->check(CLI::PositiveNumber);
            app.add_flag("--json", options->json, "print the findings as JSON for machines");
            add_archive_option(app, options->archive);
            return [options] { return report(*options); };
          }};
}

FOURSCORE_REGISTER_COMMAND(report_command);

}  // namespace
}  // namespace fourscore
