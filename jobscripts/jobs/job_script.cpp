#include "jobscripts/jobs/job_script.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/installed.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {
namespace {
namespace fs = std::filesystem;

/// export NAME='value'
std::string exported(const std::string& name, const std::string& value) {
  return fmt::format("export {}={}", name, shown_command({value}));
}

}  // namespace

std::vector<std::string> environment_lines(const Machine& machine) {
  std::vector<std::string> lines;
  if (!machine.interconnect.empty()) lines.push_back(exported("FOURSCORE_INTERCONNECT", machine.interconnect));
  for (const char* name : {"FOURSCORE_COMPONENTS", "FOURSCORE_MPIEXEC"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      lines.push_back(exported(name, value));
  return lines;
}

JobRequest job_request(const Campaign& campaign, const Archive& archive, const Machine& machine,
                       const JobFolder& folder, const JobDescription& job) {
  JobRequest request;
  request.name = fmt::format("{}.{}", campaign.id, folder.name());
  request.nodes = job.nodes;
  request.ranks_per_node = job.ranks_per_node;
  request.threads = job.threads;
  request.time_limit_s = job.time_limit_s;
  request.folder = fs::current_path();
  request.log = folder.file("output.log");
  request.commands = environment_lines(machine);
  std::vector<std::string> command{(own_folder() / "fourscore").string(),
                                   "run",
                                   (archive.campaign_folder(campaign.id) / "suite.toml").string(),
                                   "--campaign",
                                   campaign.id,
                                   "--archive",
                                   archive.root().string(),
                                   "--machine",
                                   folder.machine_file().string(),
                                   "--job",
                                   folder.name(),
                                   "--quiet"};
  const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
  add({"--suite-folder", campaign.suite.folder.string()});
  if (!campaign.suite.size.empty()) add({"--size", campaign.suite.size});
  if (campaign.machine.contains("repacked")) add({"--repack"});
  if (const auto bench = campaign.programs.find(""); bench != campaign.programs.end())
    add({"--bench", bench->second.string()});
  for (const auto& plugin : campaign.suite.plugins) add({"--plugin", plugin.string()});
  if (campaign.suite.programs.size() == 1) add({"--program", campaign.suite.programs.begin()->second.front()});
  const CounterChoice& counters = campaign.suite.counters;
  if (counters != CounterChoice{}) {
    add({"--counters", counters.counters});
    if (!counters.group.empty()) add({"--counter-group", counters.group});
    if (!counters.cache.empty()) add({"--counter-cache", counters.cache});
  }
  request.commands.push_back("exec " + shown_command(command));
  return request;
}

}  // namespace fourscore
