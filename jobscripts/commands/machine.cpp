// fourscore machine: which machine files there are, what one means, and whether it is right.

#include "jobscripts/base/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/problem.hpp"
#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/machines/check/check.hpp"
#include "jobscripts/machines/check/probe.hpp"
#include "jobscripts/machines/machine_files.hpp"
#include "jobscripts/machines/machine_text.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct MachineOptions {
  CheckOptions check;
  bool file = false;
  std::string folder;
  bool json = false;
};

/// Why nothing can be measured there from here. With a scheduler the launcher is for its jobs to try.
std::string unusable(const Machine& machine) {
  if (!machine.scheduler.empty()) {
    const std::string problem = SchedulerRegistry::instance().find(machine.scheduler)->unavailable();
    return problem.empty() ? "" : fmt::format("scheduler '{}': {}", machine.scheduler, problem);
  }
  LauncherOptions options;
  options.machine = machine;
  const std::string problem = LauncherRegistry::instance().find(machine.launcher)->unavailable(options);
  return problem.empty() ? "" : fmt::format("launcher '{}': {}", machine.launcher, problem);
}

json listed_machines() {
  json entries = json::array();
  for (const auto& file : all_machines()) {
    json entry{{"name", file.stem().string()}, {"file", file.string()}, {"description", ""}};
    std::string reason;
    try {
      const Machine machine = read_machine(file);
      entry.update({{"description", machine.description},
                    {"scheduler", machine.scheduler},
                    {"launcher", machine.launcher},
                    {"nodes", machine.nodes}});
      reason = unusable(machine);
    } catch (const InputError& error) {
      reason = error.what();
    }
    entry.update({{"available", reason.empty()}, {"reason", reason}});
    entries.push_back(std::move(entry));
  }
  return entries;
}

int list(const MachineOptions& options) {
  const json entries = listed_machines();
  if (options.json) {
    print_json(entries);
    return exit_done;
  }
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.value("name", "").size());
  for (const auto& entry : entries) {
    fmt::print("{:<{}}  {}", printable(entry.value("name", "")), width, printable(entry.value("description", "")));
    if (entry.contains("launcher"))
      fmt::print(" (scheduler {}, launcher {}, {})",
                 entry.value("scheduler", "").empty() ? "none" : entry.value("scheduler", ""),
                 entry.value("launcher", ""), plural(entry.value("nodes", 1), "node"));
    fmt::print("\n");
    if (!entry.value("available", true))
      fmt::print("{:<{}}  cannot be used here: {}\n", "", width, printable(entry.value("reason", "")));
  }
  if (entries.empty()) fmt::print("no machine files: FOURSCORE_MACHINES names a folder of them\n");
  return exit_done;
}

int show(const MachineOptions& options) {
  const Machine machine = find_machine(options.check.machine);
  if (options.file)
    fmt::print("{}", machine.text);
  else if (options.json)
    print_json(machine_json(machine));
  else
    fmt::print("# {}\n{}", printable(machine.file.string()), machine_toml(machine));
  return exit_done;
}

json findings_json(const CheckResult& result) {
  json findings = json::array();
  for (const MachineFinding& finding : result.findings)
    findings.push_back({{"key", finding.key},
                        {"expected", finding.expected},
                        {"found", finding.found},
                        {"agreement", to_string(finding.agreement)}});
  return {{"machine", result.machine.name},
          {"file", result.machine.file.string()},
          {"agrees", result.agrees()},
          {"findings", findings},
          {"job", result.job},
          {"found", result.found},
          {"folder", result.folder.string()}};
}

void print_findings(const CheckResult& result) {
  std::size_t width = 0;
  int differing = 0;
  for (const MachineFinding& finding : result.findings) width = std::max(width, finding.key.size());
  for (const MachineFinding& finding : result.findings) {
    std::string text = finding.found;
    if (finding.agreement == Agrees::differs) text = fmt::format("expected {}, found {}", finding.expected, text);
    if (finding.agreement == Agrees::not_said && !finding.expected.empty())
      text = fmt::format("the file says {}, the system {}", finding.expected, text);
    fmt::print("{:<8}  {:<{}}  {}\n", to_string(finding.agreement), printable(finding.key), width, printable(text));
    differing += finding.agreement == Agrees::differs ? 1 : 0;
  }
  const std::string name = printable(result.machine.name);
  if (differing == 0)
    fmt::print("Machine {} is as its file says.\n", name);
  else
    fmt::print("Machine {} differs from its file in {} of {}. What was found is in {}\n", name, differing,
               result.findings.size(), printable(result.folder.string()));
}

int check(const MachineOptions& options) {
  const CheckResult result = check_machine(options.check);
  if (options.json)
    print_json(findings_json(result));
  else
    print_findings(result);
  return result.agrees() ? exit_done : exit_says_no;
}

/// For the jobs of `check`; not shown.
int look(const MachineOptions& options) {
  const std::string line = look_at_node(options.folder).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  say_to(stdout, line);
  return exit_done;
}

void add_name(CLI::App& app, MachineOptions& options) {
  app.add_option("machine", options.check.machine, "a machine file, or its name (`fourscore machine list`)")
      ->required()
      ->type_name("NAME");
  add_json_option(app, options.json);
}

void add_check_options(CLI::App& app, MachineOptions& options) {
  add_archive_option(app, options.check.archive);
  app.add_option("--patience", options.check.patience_s, "seconds to wait for the job to begin")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->type_name("SECONDS");
  add_bench_option(app, options.check.bench);
  add_mpirun_option(app, options.check.mpirun);
}

Command machine_command() {
  return {
      "machine", "Machine files: which there are, what one means, and whether it is right",
      "  fourscore machine list\n"
      "  fourscore machine show cpu-cluster --file > mine.toml\n"
      "  fourscore machine show mine.toml\n"
      "  fourscore machine check mine.toml --patience 3600\n"
      "check submits a job of one minute on two nodes, or looks at this machine where the file names no scheduler,\n"
      "and compares. Exit code 1 when something differs.\n",
      48, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<MachineOptions>();
        app.require_subcommand(1);
        CLI::App* list_app = app.add_subcommand("list", "Show the machine files, and why one cannot be used here");
        add_json_option(*list_app, options->json);
        CLI::App* show_app = app.add_subcommand("show", "Show what a file means, with what it leaves out");
        add_name(*show_app, *options);
        show_app->add_flag("--file", options->file, "the file itself, with its comments")->excludes("--json");
        CLI::App* check_app = app.add_subcommand("check", "Try it out and compare; exit code 1 when something differs");
        add_name(*check_app, *options);
        add_check_options(*check_app, *options);
        CLI::App* probe_app = app.add_subcommand("probe", "In the job of check: ask its nodes")->group("");
        CLI::App* look_app = app.add_subcommand("look", "In a launch of check: ask this node")->group("");
        for (CLI::App* hidden : {probe_app, look_app})
          hidden->add_option("folder", options->folder, "of the check")->required();
        return [=]() -> int {
          if (list_app->parsed()) return list(*options);
          if (show_app->parsed()) return show(*options);
          if (look_app->parsed()) return look(*options);
          if (!probe_app->parsed()) return check(*options);
          probe_in_job(options->folder);
          return exit_done;
        };
      }};
}

FOURSCORE_REGISTER_COMMAND(machine_command);

}  // namespace
}  // namespace fourscore
