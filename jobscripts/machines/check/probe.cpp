#include "jobscripts/machines/check/probe.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "core/topology.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "jobscripts/schedulers/shared/asking.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Two launches, and all that comes before and after them, fit a job of one minute.
constexpr double launch_limit_s = 20;
/// Beyond any machine of today; hwloc numbers processing units as the kernel does, with gaps.
constexpr int most_units = 1 << 14;

int sockets_of_this_node() {
  const Topology topology;
  std::set<int> sockets;
  for (int unit = 0; unit < most_units; ++unit)
    if (!topology.cores_of({unit}).empty()) sockets.insert(topology.package_of(unit));
  return static_cast<int>(sockets.size());
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

/// The program's standard output, and why it is not to be believed.
struct Launched {
  std::string output;
  json told;  ///< "command" and "problem"
};

Launched launch(const Place& place, LaunchRequest request) {
  LaunchCommand command = place.launcher->command(place.options, request);
  ProcessSpec spec;
  spec.argv = std::move(command.argv);
  spec.environment = std::move(command.environment);
  spec.time_limit_s = launch_limit_s;
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.interrupted) throw Interrupted();
  std::string problem;
  if (result.start_error != 0)
    problem = result.start_problem();
  else if (result.timed_out)
    problem = fmt::format("not finished after {} s: {}", launch_limit_s, result.stderr_tail);
  else if (!result.succeeded())
    problem = words_of(result);
  return {result.output, {{"command", shown_command(spec.argv)}, {"problem", problem}}};
}

/// JSON objects among lines that a launcher may print too.
std::vector<json> objects_in(const std::string& output) {
  std::vector<json> objects;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (json object = json::parse(line, nullptr, false); object.is_object()) objects.push_back(std::move(object));
  return objects;
}

json loaded_modules() {
  json modules = json::array();
  const char* loaded = std::getenv("LOADEDMODULES");
  if (loaded != nullptr)
    for (const std::string& module : split(loaded, ':'))
      if (!module.empty()) modules.push_back(module);
  return modules;
}

json values_of(const std::vector<std::pair<std::string, std::string>>& environment) {
  json values = json::object();
  for (const auto& [name, expected] : environment) {
    const char* value = std::getenv(name.c_str());
    values[name] = value == nullptr ? json() : json(value);
  }
  return values;
}

LaunchRequest request_for(const ProbeRequest& request, std::vector<std::string> program) {
  LaunchRequest launch;
  launch.nodes = request.nodes;
  launch.ranks = request.nodes > 1 ? request.nodes : 2;
  launch.program = std::move(program);
  return launch;
}

}  // namespace

void write_probe_request(const ProbeRequest& request, const fs::path& folder) {
  json marks = json::array();
  for (const auto& mark : request.marks)
    marks.push_back({{"folder", mark.folder.string()}, {"file", mark.file.string()}, {"word", mark.word}});
  const json content{{"machine_file", request.machine_file.string()},
                     {"bench", request.bench.string()},
                     {"mpirun", request.mpirun},
                     {"nodes", request.nodes},
                     {"marks", marks}};
  const fs::path file = folder / "request.json";
  write_file(file, content.dump(2) + '\n', Named::by_us);
}

ProbeRequest read_probe_request(const fs::path& folder) {
  const fs::path file = folder / "request.json";
  try {
    const json content = json::parse(read_regular_file(file).text);
    ProbeRequest request{content.at("machine_file").get<std::string>(),
                         content.at("bench").get<std::string>(),
                         content.at("mpirun").get<std::string>(),
                         content.at("nodes").get<int>(),
                         {}};
    for (const json& mark : content.at("marks"))
      request.marks.push_back({mark.at("folder").get<std::string>(), mark.at("file").get<std::string>(),
                               mark.at("word").get<std::string>()});
    return request;
  } catch (const UnreadableFile& error) {
    throw EnvironmentError(fmt::format("{} cannot be read: {}", file.string(), error.what()));
  } catch (const json::exception& error) {
    throw EnvironmentError(fmt::format("{} is no request of a check: {}", file.string(), error.what()));
  }
}

json look_at_node(const fs::path& folder) {
  json found{{"host", host_name()}, {"problem", ""}};
  try {
    const ProbeRequest request = read_probe_request(folder);
    json unseen = json::array();
    for (const auto& mark : request.marks)
      if (!sees(mark)) unseen.push_back(mark.folder.string());
    found["unseen"] = unseen;
    found["sockets"] = sockets_of_this_node();
    // What the node has is asked for, not what the machine file says; and every rank is to answer, not the first alone.
    for (const char* name : {"FOURSCORE_INTERCONNECT", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
      ::unsetenv(name);
    const json identity = Bench(request.bench).identity();
    const json machine = identity.at("identity").at("machine");
    found["cores"] = machine.value("cores", 0);
    found["memory_gib"] = std::round(machine.value("memory_bytes", 0.0) / (1024.0 * 1024 * 1024));
    found["gpus"] = machine.value("gpus", json::array());
    found["interconnect"] = machine.value("interconnect", json::array());
    found["cpu_model"] = machine.value("cpu_model", "");
    found["code_hash"] = identity.at("code_hash");
  } catch (const EnvironmentError& error) {
    found["problem"] = error.what();
  } catch (const json::exception& error) {
    found["problem"] = fmt::format("{}: {}", "fft_bench --identity", error.what());
  }
  return found;
}

json probe_machine(const Place& place, const ProbeRequest& request, const fs::path& folder) {
  json found{{"modules", loaded_modules()}, {"environment", values_of(place.options.machine.environment)}};
  if (const auto allocation = current_allocation())
    found.update({{"job", allocation->job}, {"job_hosts", allocation->hosts}});
  LaunchRequest of_bench = request_for(request, {request.bench.string(), "--where"});
  of_bench.program.insert(of_bench.program.end(), {"--ranks", std::to_string(of_bench.ranks)});
  std::string problem = place.launcher->unavailable(place.options);
  if (problem.empty()) problem = refusal(place, of_bench).value_or("");
  if (!problem.empty()) {
    // Then at least this node can say what it is.
    found["nodes"] = json::array({look_at_node(folder)});
    found["look"] = found["launch"] = {{"command", ""}, {"problem", problem}};
    return found;
  }
  LaunchRequest of_look =
      request_for(request, {(own_folder() / "fourscore").string(), "machine", "look", folder.string()});
  if (request.nodes == 1) of_look.ranks = 1;
  Launched look = launch(place, of_look);
  found["look"] = look.told;
  found["nodes"] = objects_in(look.output);
  Launched place_of_ranks = launch(place, of_bench);
  found["launch"] = place_of_ranks.told;
  const auto places = objects_in(place_of_ranks.output);
  if (!places.empty()) found["launch"]["place"] = places.front();
  return found;
}

}  // namespace fourscore
