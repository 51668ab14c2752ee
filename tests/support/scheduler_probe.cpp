// Calls one scheduler, so that tests can ask it what no command shows alone. Prints JSON, and exits as `fourscore`
// does.
//
// scheduler_probe NAME card | script < REQUEST | submit FILE | states ID... | cancel ID... | allocation

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

Machine machine_of(const json& said) {
  Machine machine;
  machine.name = said.value("name", "rig");
  machine.cores = said.value("cores", 0);
  machine.partition = said.value("partition", "");
  machine.account = said.value("account", "");
  machine.qos = said.value("qos", "");
  machine.constraint = said.value("constraint", "");
  machine.directives = said.value("directives", std::vector<std::string>{});
  machine.modules = said.value("modules", std::vector<std::string>{});
  machine.environment = said.value("environment", std::vector<std::pair<std::string, std::string>>{});
  machine.setup = said.value("setup", std::vector<std::string>{});
  return machine;
}

JobRequest job_of(const json& said) {
  JobRequest job;
  job.name = said.value("name", "job");
  job.nodes = said.value("nodes", 1);
  job.ranks_per_node = said.value("ranks_per_node", 1);
  job.threads = said.value("threads", 1);
  job.time_limit_s = said.value("time_limit_s", 60.0);
  job.folder = said.value("folder", "");
  job.log = said.value("log", "");
  job.commands = said.value("commands", std::vector<std::string>{});
  return job;
}

json shown(const JobState& state) {
  return {{"phase", to_string(state.phase)},
          {"end", to_string(state.end)},
          {"word", state.word},
          {"reason", state.reason},
          {"nodes", state.nodes}};
}

json answer(const Scheduler& scheduler, const std::string& question, const std::vector<std::string>& words) {
  if (question == "card") return {{"name", scheduler.card().name}, {"reason", scheduler.unavailable()}};
  if (question == "script") {
    const json request = json::parse(std::cin);
    return scheduler.script(machine_of(request.at("machine")), job_of(request.at("job")));
  }
  if (question == "submit") return scheduler.submit(words.at(0));
  if (question == "states") {
    json jobs = json::object();
    for (const auto& [id, state] : scheduler.states(words)) jobs[id] = shown(state);
    return jobs;
  }
  if (question == "cancel") {
    scheduler.cancel(words);
    return nullptr;
  }
  if (question == "allocation") {
    const auto allocation = scheduler.allocation();
    if (!allocation) return nullptr;
    json found{{"job", allocation->job}, {"hosts", allocation->hosts}};
    if (allocation->left_s) found["left_s"] = *allocation->left_s;
    return found;
  }
  throw InputError("unknown question '" + question + "'");
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw InputError("expected the name of a scheduler and a question");
  const Scheduler* scheduler = SchedulerRegistry::instance().find(words[0]);
  if (scheduler == nullptr) throw InputError("no scheduler '" + words[0] + "'");
  const InterruptGuard guard;
  std::cout << answer(*scheduler, words[1], {words.begin() + 2, words.end()}).dump() << '\n';
  return 0;
}

}  // namespace
}  // namespace fourscore

int main(int argc, char** argv) {
  using namespace fourscore;
  try {
    return run({argv + 1, argv + argc});
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const Interrupted&) {
    return 130;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
