#include "jobscripts/machines/place.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/environment.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/machines/machine_files.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {
namespace {

/// A launcher of real ranks and a simulated machine, or its own reason.
Reason refusal_of(const Launcher& launcher, const LauncherOptions& options, const LaunchRequest& request) {
  if (request.platform != "none" && !launcher.simulates())
    return fmt::format("it starts real ranks, and platform {} is simulated", request.platform);
  return launcher.refuses(options, request);
}

/// "; srun would do (--launcher srun), netns would but cannot be used here: it takes root"
std::string others(const Place& place, const LaunchRequest& request) {
  std::string text;
  const auto& registry = LauncherRegistry::instance();
  for (const std::string& name : registry.names()) {
    const Launcher& other = *registry.find(name);
    if (&other == place.launcher || refusal_of(other, place.options, request)) continue;
    const std::string problem = other.unavailable(place.options);
    text += problem.empty() ? fmt::format("; '{}' would do: --launcher {}", name, name)
                            : fmt::format("; '{}' would, but not here: {}", name, problem);
  }
  return text;
}

}  // namespace

Place find_place(const PlaceRequest& request) {
  Place place;
  const std::string machine = request.machine.empty() ? environment("FOURSCORE_MACHINE") : request.machine;
  if (!machine.empty()) place.options.machine = find_machine(machine);
  const Machine& found = place.options.machine;
  const auto allocation = current_allocation();
  const int nodes = allocation && !allocation->hosts.empty() ? static_cast<int>(allocation->hosts.size()) : found.nodes;
  place.options.cores = found.cores > 0 ? found.cores : usable_cores();
  place.options.mpirun = request.mpirun;
  place.size = MachineSize(place.options.cores, nodes);
  place.size.is_named = !found.file.empty() && nodes == found.nodes;  // a job may be a part of it
  place.size.repacks = request.repacks;
  const std::string launcher = request.launcher.empty() ? found.launcher : request.launcher;
  place.launcher = LauncherRegistry::instance().find(launcher);
  if (place.launcher == nullptr) (void)LauncherRegistry::instance().get(launcher, "launcher");  // which throws
  return place;
}

MachineSize whole_machine(const Place& place) {
  MachineSize size = place.size;
  size.nodes = place.options.machine.nodes;
  size.is_named = !place.options.machine.file.empty();
  return size;
}

void tell_interconnect(const Machine& machine) {
  if (machine.interconnect.empty() || !environment("FOURSCORE_INTERCONNECT").empty()) return;
  ::setenv("FOURSCORE_INTERCONNECT", machine.interconnect.c_str(), 1);
}

void tell_interconnect(const Place& place) {
  if (const std::string made = place.launcher->interconnect(place.options); !made.empty())
    ::setenv("FOURSCORE_INTERCONNECT", made.c_str(), 1);
  tell_interconnect(place.options.machine);
}

void require_available(const Place& place) {
  if (const std::string problem = place.launcher->unavailable(place.options); !problem.empty())
    throw EnvironmentError(fmt::format("launcher '{}': {}", place.launcher->card().name, problem));
}

Reason refusal(const Place& place, const LaunchRequest& request) {
  if (request.ranks < request.nodes) return fmt::format("{} ranks cannot be on {} nodes", request.ranks, request.nodes);
  if (const auto reason = refusal_of(*place.launcher, place.options, request))
    return fmt::format("launcher '{}': {}{}", place.launcher->card().name, *reason, others(place, request));
  if (request.nodes > place.size.nodes && current_allocation())
    return fmt::format("this job has {} nodes", place.size.nodes);
  return {};  // the nodes of a machine file are looked at when its suite is expanded
}

}  // namespace fourscore
