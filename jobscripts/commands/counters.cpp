// fourscore counters: event groups, and whether a backend is to be believed on this machine.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/utc_time.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "hwcounters/counter.hpp"
#include "hwcounters/group.hpp"
#include "hwcounters/group_file.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "jobscripts/programs/bench.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double qualify_limit_s = 900.0;

struct CountersOptions {
  std::string backend;
  std::string group;
  std::string groups;
  std::string cache;
  std::string archive;
  std::string bench;
  std::size_t bytes = 0;
  bool json = false;
};

/// The named backend, or all that count something.
std::vector<CounterBackend*> chosen_backends(const std::string& name) {
  if (!name.empty()) return {&counter_backend(name)};
  std::vector<CounterBackend*> all;
  for (const std::string& known : CounterRegistry::instance().names())
    if (known != "none") all.push_back(&counter_backend(known));
  return all;
}

CounterRequest request_of(const CountersOptions& options, const CounterBackend& backend) {
  CounterRequest request;
  request.backend = backend.name();
  request.group = options.group;
  request.groups = options.groups;
  if (!options.cache.empty()) {
    request.cache = parse_cache_geometry(options.cache);
    if (!backend.simulates() && !options.backend.empty())
      throw CounterRequestError(
          fmt::format("backend {} simulates no cache, so it takes no --counter-cache", backend.name()));
  }
  return request;
}

json group_json(const Group& group) {
  json entry{{"name", group.name},
             {"arch", group.arch},
             {"backend", group.backend},
             {"description", group.description},
             {"explanation", group.explanation},
             {"file", group.file.string()},
             {"events", json::array()},
             {"metrics", json::array()}};
  for (const auto& event : group.events) entry["events"].push_back({{"name", event.name}, {"code", event.code}});
  for (const auto& metric : group.metrics)
    entry["metrics"].push_back({{"name", metric.name}, {"unit", metric.unit}, {"formula", metric.formula}});
  return entry;
}

/// Names of the groups for this machine that the backend has, its own folder's before those for any.
std::vector<std::string> group_names(const CounterBackend& backend, const CounterRequest& request) {
  std::set<std::string> names;
  for (const std::string& arch : {microarchitecture(), std::string("any")}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(groups_folder(request) / arch, error))
      if (entry.path().extension() == ".toml" && backends_of(entry.path()).contains(backend.name()))
        names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

int list(const CountersOptions& options) {
  json answer{{"arch", microarchitecture()}, {"backends", json::array()}};
  if (!options.json) fmt::print("Event groups for this processor ({}):\n", microarchitecture());
  for (CounterBackend* backend : chosen_backends(options.backend)) {
    CounterRequest request = request_of(options, *backend);
    const std::string reason = backend->unavailable();
    json groups = json::array();
    for (const auto& name : group_names(*backend, request)) {
      request.group = name;
      groups.push_back(group_json(find_group(*backend, request)));
      if (!options.json)
        fmt::print("{:<10} {:<12} {}\n", backend->name(), name, groups.back()["description"].get<std::string>());
    }
    if (!options.json && groups.empty()) fmt::print("{:<10} has no group for this processor\n", backend->name());
    if (!options.json && !reason.empty()) fmt::print("{:<10} cannot run here: {}\n", "", reason);
    answer["backends"].push_back(
        {{"name", backend->name()}, {"available", reason.empty()}, {"reason", reason}, {"groups", std::move(groups)}});
  }
  if (options.json) fmt::print("{}\n", answer.dump(2));
  return exit_done;
}

int show(const CountersOptions& options) {
  json shown = json::array();
  std::set<std::string> all;
  for (CounterBackend* backend : chosen_backends(options.backend)) {
    const CounterRequest request = request_of(options, *backend);
    const auto names = group_names(*backend, request);
    all.insert(names.begin(), names.end());
    if (!options.backend.empty() || std::ranges::find(names, options.group) != names.end())
      shown.push_back(group_json(find_group(*backend, request)));
  }
  if (shown.empty()) {
    const std::vector<std::string> known(all.begin(), all.end());
    throw CounterRequestError(fmt::format("no event group '{}' on '{}'{}; there is: {}", options.group,
                                          microarchitecture(), did_you_mean(options.group, known),
                                          fmt::join(known, ", ")));
  }
  if (options.json) {
    fmt::print("{}\n", shown.dump(2));
    return exit_done;
  }
  for (const auto& group : shown) {
    fmt::print("{} for backend {} ({}): {}\n{}\n", group["name"].get<std::string>(),
               group["backend"].get<std::string>(), group["arch"].get<std::string>(),
               group["description"].get<std::string>(), group["file"].get<std::string>());
    for (const auto& event : group["events"])
      fmt::print("  event  {:<18} {}\n", event["name"].get<std::string>(), event["code"].get<std::string>());
    for (const auto& metric : group["metrics"])
      fmt::print("  metric {:<18} {} [{}]\n", metric["name"].get<std::string>(), metric["formula"].get<std::string>(),
                 metric["unit"].get<std::string>());
    fmt::print("{}\n", group["explanation"].get<std::string>());
  }
  return exit_done;
}

fs::path find_counter_bench() {
  for (const fs::path& file :
       {own_folder() / "counter_bench", own_folder().parent_path() / "libexec/fourscore/counter_bench"})
    if (is_program(file)) return file;
  throw EnvironmentError(
      fmt::format("counter_bench is not beside {}; it is built and installed with it", own_folder().string()));
}

/// What counter_bench found. Throws CounterRequestError or CounterError with its words.
json count_kernels(const CounterBackend& backend, const CountersOptions& options) {
  const CounterRequest request = request_of(options, backend);
  const bool by_default = request.group.empty() || request.group == backend.default_group();
  if (const std::string reason = backend.unavailable(); !reason.empty() && by_default)
    throw CounterError(fmt::format("counters '{}': {}", backend.name(), reason));
  ProcessSpec spec;
  spec.argv = backend.launch_prefix(request);
  const auto add = [&spec](const std::string& option, const std::string& value) {
    if (value.empty()) return;
    spec.argv.push_back(option);
    spec.argv.push_back(value);
  };
  const fs::path program = find_counter_bench();
  spec.argv.push_back(spec.argv.empty() ? program.string() : backend.countable(program).string());
  add("--counters", backend.name());
  add("--counter-group", options.group);
  add("--counter-groups", groups_folder(request).string());
  if (backend.simulates()) add("--counter-cache", options.cache);
  if (options.bytes > 0) add("--bytes", std::to_string(options.bytes));
  spec.time_limit_s = qualify_limit_s;
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  std::string said = result.stderr_tail;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  if (const std::size_t at = said.rfind("counter_bench: "); at != std::string::npos) said = said.substr(at + 15);
  if (result.start_error == 0 && result.exit_status == 2) throw CounterRequestError(said);
  json answer = json::parse(result.output, nullptr, false);
  if (!result.succeeded() || !answer.is_object())
    throw CounterError(fmt::format("{} did not count: {}", shown_command(spec.argv),
                                   result.start_error != 0 ? result.start_problem()
                                   : result.timed_out      ? fmt::format("not finished after {} s", qualify_limit_s)
                                   : result.signal != 0    ? fmt::format("ended by signal {}; {}", result.signal, said)
                                                           : said));
  return answer;
}

void store(const fs::path& file, const json& qualification) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // else the file says why
  write_file(file, qualification.dump(2) + '\n', Named::by_us);
}

void print_table(const json& qualification) {
  fmt::print("{} {} ({}, scope {}): {}, worst counted/known {:.3f}, limit {:.0f} %\n",
             qualification["backend"].get<std::string>(), qualification["group"].get<std::string>(),
             qualification["arch"].get<std::string>(), qualification["scope"].get<std::string>(),
             qualification["fit"].get<bool>() ? "fit" : "UNFIT", qualification["worst_ratio"].get<double>(),
             100 * qualification["limit"].get<double>());
  const auto mib = [](const json& bytes) {
    return bytes.is_number() ? fmt::format("{:.2f}", bytes.get<double>() / (1 << 20)) : std::string("-");
  };
  fmt::print("  {:<16} {:>12} {:>12} {:>12} {:>12} {:>8}\n", "kernel, MiB", "known read", "counted", "known write",
             "counted", "ratio");
  for (const auto& kernel : qualification["kernels"])
    fmt::print("  {:<16} {:>12} {:>12} {:>12} {:>12} {:>8.3f}\n", kernel["name"].get<std::string>(),
               mib(kernel["known_read_bytes"]), mib(kernel["counted_read_bytes"]), mib(kernel["known_write_bytes"]),
               mib(kernel["counted_write_bytes"]), kernel["ratio"].get<double>());
}

int qualify(const CountersOptions& options) {
  const InterruptGuard guard;
  const bool one = !options.backend.empty();
  const std::string machine = Bench(find_bench(options.bench)).identity().at("machine_hash").get<std::string>();
  const Archive archive(fs::absolute(archive_folder(options.archive)));
  const std::string now = now_utc();
  json done = json::array();
  json not_here = json::array();
  bool all_fit = true;
  for (CounterBackend* backend : chosen_backends(options.backend)) {
    if (InterruptGuard::interrupted()) return exit_interrupted;
    try {
      json qualification = count_kernels(*backend, options);
      qualification.update({{"schema", "fourscore.qualification"}, {"machine_hash", machine}, {"at", now}});
      const fs::path file =
          archive.qualification_file(machine, backend->name(), qualification["group"].get<std::string>());
      store(file, qualification);
      all_fit = all_fit && qualification["fit"].get<bool>();
      if (!options.json) {
        print_table(qualification);
        fmt::print("  {}\n", file.string());
      }
      done.push_back(std::move(qualification));
    } catch (const CounterRequestError& error) {
      if (one) throw;
      not_here.push_back({{"backend", backend->name()}, {"reason", error.what()}});
    } catch (const CounterError& error) {
      if (one) throw;
      not_here.push_back({{"backend", backend->name()}, {"reason", error.what()}});
    }
  }
  if (options.json) fmt::print("{}\n", json{{"qualifications", done}, {"not_here", not_here}}.dump(2));
  for (const auto& entry : not_here)
    fmt::print(stderr, "{}: {}\n", entry["backend"].get<std::string>(), entry["reason"].get<std::string>());
  if (done.empty()) return exit_environment;
  return all_fit ? exit_done : exit_says_no;
}

/// The errors of counters, as exit codes: a bad request is the user's, all else the machine's.
std::function<int()> with_exit_codes(std::function<int()> action) {
  return [action = std::move(action)] {
    try {
      return action();
    } catch (const CounterRequestError& error) {
      fmt::print(stderr, "fourscore: {}\n", error.what());
      return exit_input;
    }
  };
}

void add_group_options(CLI::App& app, CountersOptions& options) {
  app.add_option("--counter-groups", options.groups, "folder of event groups (default: this installation's)")
      ->type_name("DIR");
  add_json_option(app, options.json);
}

Command counters_command() {
  return {
      "counters", "Event groups of counter backends, and whether their counts are right on this machine",
      "  fourscore counters list\n"
      "  fourscore counters show MEM\n"
      "  fourscore counters qualify --counters callgrind --counter-cache 1MiB\n"
      "  fourscore counters qualify\n"
      "qualify counts kernels of known memory traffic and keeps counted over known in the archive; exit code 1 when\n"
      "a backend is off by more than 10 %, 3 when it cannot count here.\n",
      45, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<CountersOptions>();
        app.require_subcommand(1);
        CLI::App* list_app = app.add_subcommand("list", "Show the groups there are for this processor");
        list_app->add_option("--counters", options->backend, "one backend (default: all)")->type_name("NAME");
        add_group_options(*list_app, *options);
        CLI::App* show_app = app.add_subcommand("show", "Show what a group counts, and with which formulas");
        show_app->add_option("group", options->group, "the group's name")->required()->type_name("GROUP");
        show_app->add_option("--counters", options->backend, "one backend (default: all that have it)")
            ->type_name("NAME");
        add_group_options(*show_app, *options);
        CLI::App* qualify_app =
            app.add_subcommand("qualify", "Count kernels of known memory traffic and compare; exit code 1 when off");
        qualify_app->add_option("--counters", options->backend, "one backend (default: all that can count here)")
            ->type_name("NAME");
        qualify_app->add_option("--counter-group", options->group, "event group (default: the backend's)")
            ->type_name("GROUP");
        qualify_app
            ->add_option("--counter-cache", options->cache,
                         "simulated last-level cache, as 1MiB,16,64 (default: the machine's)")
            ->type_name("SIZE[,WAYS[,LINE]]");
        qualify_app->add_option("--bytes", options->bytes, "size of an array (default: 16 times the last-level cache)")
            ->check(CLI::PositiveNumber);
        add_archive_option(*qualify_app, options->archive);
        add_bench_option(*qualify_app, options->bench, "ask which machine this is");
        add_group_options(*qualify_app, *options);
        return with_exit_codes([options, list_app, show_app] {
          return list_app->parsed() ? list(*options) : show_app->parsed() ? show(*options) : qualify(*options);
        });
      }};
}

FOURSCORE_REGISTER_COMMAND(counters_command);

}  // namespace
}  // namespace fourscore
