// Any program that starts MPI programs, by the launch line of a machine file: PALS, Flux, Intel MPI, jsrun, aprun.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>

#include "core/environment.hpp"
#include "jobscripts/base/launch_line.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/launchers/mpirun/mpirun.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {
namespace {

int ranks_per_node(const LaunchRequest& request) { return (request.ranks + request.nodes - 1) / request.nodes; }

/// What {placement} stands for; nothing where the machine file has no word for it.
std::optional<std::string> placement_word(const Machine& machine, RankPlacement placement) {
  const std::string name = to_string(placement);
  for (const auto& [known, word] : machine.placements)
    if (known == name) return word;
  if (machine.placements.empty() && placement != RankPlacement::socket) return name;
  return std::nullopt;
}

/// The hosts that the request names, else the first of the job's, else none.
std::vector<std::string> hosts_of(const LaunchRequest& request) {
  if (!request.hosts.empty()) return request.hosts;
  const auto allocation = current_allocation();
  if (!allocation) return {};
  std::vector<std::string> hosts = allocation->hosts;
  if (hosts.size() > static_cast<std::size_t>(request.nodes)) hosts.resize(static_cast<std::size_t>(request.nodes));
  return hosts;
}

/// Set by a word before the program, since what a launcher passes on of its own environment differs.
std::vector<std::string> with_environment(const LauncherOptions& options, const LaunchRequest& request) {
  std::vector<std::string> words{"env", fmt::format("OMP_NUM_THREADS={}", request.threads)};
  const std::string told = environment("FOURSCORE_INTERCONNECT");
  const std::string& interconnect = told.empty() ? options.machine.interconnect : told;
  if (!interconnect.empty()) words.push_back("FOURSCORE_INTERCONNECT=" + interconnect);
  words.insert(words.end(), request.program.begin(), request.program.end());
  return words;
}

class TemplateLauncher : public Launcher {
 public:
  [[nodiscard]] Card card() const override {
    return {"template", "the launch line of a machine file: mpiexec of PALS or Intel MPI, flux run, jsrun, aprun", ""};
  }

  using Launcher::unavailable;
  [[nodiscard]] std::string unavailable(const LauncherOptions& options) const override {
    if (options.machine.launch_line.empty())
      return "it takes a machine file with launcher = \"template\" and a launch line: --machine, `fourscore machine "
             "list`";
    const LaunchLine line(options.machine.launch_line);
    if (const auto unset = line.unset_variables(); !unset.empty())
      return fmt::format("its launch line takes {} from the environment, where it is not set: use it in a job",
                         unset.front());
    if (line.holds("hosts") && !current_allocation())
      return "its launch line holds {hosts}, which are a job's: use it in one";
    return {};
  }

  [[nodiscard]] Reason refuses(const LauncherOptions& options, const LaunchRequest& request) const override {
    if (options.machine.launch_line.empty()) return "it has no launch line without a machine file";
    const LaunchLine line(options.machine.launch_line);
    if (request.threads > 1 && !line.holds("threads"))
      return fmt::format("its launch line has no {{threads}}, so {} threads a rank get no cores", request.threads);
    if (!request.hosts.empty() && !line.holds("hosts")) return "its launch line has no {hosts}, so none can be chosen";
    if (auto reason = refuses_placement(options.machine, line, request)) return reason;
    return request.nodes == 1 ? std::nullopt : refuses_nodes(line, request);
  }

  /// Only what is called an mpirun is asked whose it is: other programs may take that for a launch.
  [[nodiscard]] Reason refuses_mpi(const LauncherOptions& options, const std::string& mpi) const override {
    const LaunchLine line(options.machine.launch_line);
    const std::string starter = line.first_word();
    const std::string name = std::filesystem::path(starter).filename().string();
    const auto begins = [&name](const char* word) { return name.starts_with(word); };
    if (!begins("mpirun") && !begins("mpiexec")) return {};
    return fourscore::refuses_mpi(mpirun_at(starter), mpi);
  }

  [[nodiscard]] LaunchCommand command(const LauncherOptions& options, const LaunchRequest& request) const override {
    const LaunchLine line(options.machine.launch_line);
    const std::map<std::string, std::string> values{
        {"ranks", std::to_string(request.ranks)},
        {"nodes", std::to_string(request.nodes)},
        {"ranks_per_node", std::to_string(ranks_per_node(request))},
        {"threads", std::to_string(request.threads)},
        {"hosts", line.holds("hosts") ? fmt::format("{}", fmt::join(hosts_of(request), ",")) : ""},
        {"placement", placement_word(options.machine, placement_of(request)).value_or("")}};
    return {line.argv(values, with_environment(options, request)), {}};
  }

 private:
  /// On one node cyclic is block.
  static RankPlacement placement_of(const LaunchRequest& request) {
    const bool is_block = request.nodes == 1 && request.placement == RankPlacement::cyclic;
    return is_block ? RankPlacement::block : request.placement;
  }

  static Reason refuses_placement(const Machine& machine, const LaunchLine& line, const LaunchRequest& request) {
    const RankPlacement placement = placement_of(request);
    if (line.holds("placement") ? placement_word(machine, placement).has_value() : placement == RankPlacement::block)
      return {};
    if (!line.holds("placement"))
      return fmt::format("its launch line has no {{placement}}, so it cannot place ranks by {}", to_string(placement));
    return fmt::format("its machine file has no word for {0}: key '{0}' of placement in [launch]",
                       to_string(placement));
  }

  static Reason refuses_nodes(const LaunchLine& line, const LaunchRequest& request) {
    if (!line.holds("nodes") && !line.holds("ranks_per_node") && !line.holds("hosts"))
      return fmt::format(
          "its launch line has neither {{nodes}}, {{ranks_per_node}} nor {{hosts}}, so it cannot ask for "
          "{} nodes",
          request.nodes);
    const int of_a_node = ranks_per_node(request);
    if (line.holds("ranks_per_node") && of_a_node * (request.nodes - 1) >= request.ranks)
      return fmt::format(
          "{} ranks fill fewer than {} nodes with {} on each, and its launch line has {{ranks_per_node}}",
          request.ranks, request.nodes, of_a_node);
    return {};
  }
};

FOURSCORE_REGISTER_LAUNCHER(TemplateLauncher);

}  // namespace
}  // namespace fourscore
