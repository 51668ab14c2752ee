// Reads a machine file.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/problem.hpp"
#include "core/registry.hpp"
#include "jobscripts/base/launch_line.hpp"
#include "jobscripts/base/rate.hpp"
#include "jobscripts/base/toml_reader.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/machines/machine_files.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "jobscripts/suites/suite.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// Keys of [launch] that only some launchers have a use for.
struct KeyOfLaunchers {
  const char* key;
  bool (*taken_by)(const std::string& launcher);
  const char* takers;
};
constexpr std::array<KeyOfLaunchers, 5> keys_of_launchers{{
    {"mpi", [](const std::string& launcher) { return launcher == "srun"; }, "srun"},
    {"options", [](const std::string& launcher) { return launcher != "template"; },
     "all but template, whose line has them"},
    {"line", [](const std::string& launcher) { return launcher == "template"; }, "template"},
    {"placement", [](const std::string& launcher) { return launcher == "template"; }, "template"},
    {"rate", [](const std::string& launcher) { return launcher == "netns"; }, "netns"},
}};

constexpr double longest_time_limit_s = 9999 * 3600.0 + 3599;

bool is_variable_name(const std::string& name) {
  const auto fits = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && std::ranges::all_of(name, fits) && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

class MachineReader : public TomlReader {
 public:
  explicit MachineReader(const fs::path& file) : TomlReader(file, "machine file") {
    machine_.file = fs::absolute(file);
  }

  Machine read() {
    machine_.text = content();
    const toml::table top = parse(machine_.text);
    check_texts(top);
    read_top(top);
    static const toml::table nothing;
    const auto in = [&](const char* name) -> const toml::table& {
      const toml::table* found = section(top, name);
      return found == nullptr ? nothing : *found;
    };
    read_nodes(in("nodes"));
    read_queue(in("queue"));
    read_environment(in("environment"));
    read_launch(in("launch"));
    if (top.contains("cost")) read_cost(in("cost"));
    read_files(in("files"));
    check_together(top);
    return std::move(machine_);
  }

 private:
  /// What gets into scripts and command lines is of one line.
  void check_texts(const toml::table& table) const {
    for (const auto& [key, node] : table) check_text(key.str(), node);
  }
  void check_text(std::string_view key, const toml::node& node) const {
    if (const auto* string = node.as_string(); string != nullptr && printable(string->get()) != string->get())
      fail(line_of(node),
           fmt::format("key '{}' holds a line break or another control character; expected one line", key));
    if (node.is_table()) check_texts(*node.as_table());
    if (node.is_array())
      for (const auto& element : *node.as_array()) check_text(key, element);
  }

  void read_top(const toml::table& top) {
    check_keys(
        top,
        {"name", "description", "scheduler", "launcher", "nodes", "queue", "environment", "launch", "cost", "files"},
        "the machine file");
    const toml::node* name = top.get("name");
    if (name == nullptr) fail(1, "key 'name' is missing; a machine has a name of letters, digits and -");
    machine_.name = text(top, "name", "");
    if (!is_suite_name(machine_.name)) fail_key(*name, "name", "1 to 64 letters, digits and -, not starting with -");
    machine_.description = text(top, "description", "");
    machine_.scheduler = text(top, "scheduler", "");
    machine_.launcher = text(top, "launcher", machine_.launcher);
    if (!machine_.scheduler.empty())
      check_name(*top.get("scheduler"), "scheduler", machine_.scheduler, SchedulerRegistry::instance().names());
    if (top.contains("launcher"))
      check_name(*top.get("launcher"), "launcher", machine_.launcher, LauncherRegistry::instance().names());
  }

  void check_name(const toml::node& at, const char* key, const std::string& name,
                  const std::vector<std::string>& known) const {
    if (std::ranges::find(known, name) != known.end()) return;
    fail(line_of(at), fmt::format("key '{}' is '{}'{}; expected one of: {}", key, name, did_you_mean(name, known),
                                  fmt::join(known, ", ")));
  }

  void read_nodes(const toml::table& nodes) {
    check_keys(nodes, {"count", "cores", "sockets", "gpus", "memory_gib", "interconnect"}, "[nodes]");
    const auto count = [&](const char* key, int fallback, int low, int high) {
      return static_cast<int>(integer(nodes, key, fallback, low, high));
    };
    machine_.nodes = count("count", machine_.nodes, 1, 1'000'000);
    machine_.cores = count("cores", machine_.cores, 1, 1 << 20);
    machine_.sockets = count("sockets", machine_.sockets, 1, 4096);
    machine_.gpus = count("gpus", machine_.gpus, 0, 4096);
    machine_.memory_gib = number(nodes, "memory_gib", machine_.memory_gib, 0.001, 1e9);
    machine_.interconnect = text(nodes, "interconnect", "");
  }

  void read_queue(const toml::table& queue) {
    check_keys(queue, {"partition", "account", "qos", "constraint", "time_limit", "most_jobs", "directives"},
               "[queue]");
    machine_.partition = text(queue, "partition", "");
    machine_.account = text(queue, "account", "");
    machine_.qos = text(queue, "qos", "");
    machine_.constraint = text(queue, "constraint", "");
    machine_.time_limit_s = read_time_limit(queue);
    machine_.most_jobs = static_cast<int>(integer(queue, "most_jobs", machine_.most_jobs, 1, 1'000'000));
    machine_.directives = texts(queue, "directives");
  }

  [[nodiscard]] double read_time_limit(const toml::table& queue) const {
    const toml::node* node = queue.get("time_limit");
    if (node == nullptr) return machine_.time_limit_s;
    std::optional<double> seconds;
    if (const auto* string = node->as_string()) seconds = seconds_of(string->get());
    if (node->is_number()) seconds = node->value<double>();
    if (!seconds || !(*seconds >= 1) || *seconds > longest_time_limit_s)
      fail_key(*node, "time_limit",
               "hours, minutes and seconds as \"02:00:00\" (with days \"1-12:00:00\"), or seconds; at most 9999:59:59");
    return *seconds;
  }

  void read_environment(const toml::table& environment) {
    check_keys(environment, {"modules", "set", "setup"}, "[environment]");
    machine_.modules = texts(environment, "modules");
    machine_.setup = texts(environment, "setup");
    const toml::table* set = section(environment, "set");
    if (set == nullptr) return;
    for (const auto& [name, node] : in_order(*set)) {
      if (!is_variable_name(name))
        fail(line_of(*node),
             fmt::format("key 'set': '{}' is no name of a variable; expected letters, digits and _", name));
      if (!node->is_string()) fail_key(*node, "set." + name, "a string");
      machine_.environment.emplace_back(name, node->as_string()->get());
    }
  }

  void read_launch(const toml::table& launch) {
    check_keys(launch, {"mpi", "options", "line", "placement", "rate"}, "[launch]");
    for (const auto& rule : keys_of_launchers)
      if (launch.contains(rule.key) && !rule.taken_by(machine_.launcher))
        fail(line_of(*launch.get(rule.key)),
             fmt::format("key '{}' means nothing to launcher '{}'; expected launcher: {}", rule.key, machine_.launcher,
                         rule.takers));
    machine_.mpi = text(launch, "mpi", "");
    machine_.launch_options = texts(launch, "options");
    read_rate(launch);
    machine_.launch_line = text(launch, "line", "");
    if (machine_.launcher == "template") read_line(launch);
  }

  void read_rate(const toml::table& launch) {
    machine_.rate = text(launch, "rate", "");
    if (!launch.contains("rate")) return;
    try {
      (void)parse_link_rate(machine_.rate, "key 'rate'");
    } catch (const InputError& error) {
      fail(line_of(*launch.get("rate")), error.what());
    }
  }

  void read_line(const toml::table& launch) {
    const toml::node* node = launch.get("line");
    if (node == nullptr)
      fail(1,
           "key 'line' of [launch] is missing; launcher 'template' starts programs by it, as in line = \"mpirun -n "
           "{ranks} {program}\"");
    try {
      (void)LaunchLine(machine_.launch_line);
    } catch (const InputError& error) {
      fail(line_of(*node), fmt::format("key 'line': {}", error.what()));
    }
    if (const toml::table* placement = section(launch, "placement")) {
      check_keys(*placement, {"block", "cyclic", "socket"}, "[launch] placement");
      for (const auto& [name, word] : in_order(*placement))
        machine_.placements.emplace_back(name, text(*placement, name, ""));
      if (!LaunchLine(machine_.launch_line).holds("placement"))
        fail_key(*launch.get("placement"), "placement", "{placement} in the line, for which these words stand");
    }
  }

  /// Price and power of a node, from which `fourscore predict --cost` says what jobs cost.
  void read_cost(const toml::table& cost) {
    check_keys(cost, {"node_hour_price", "currency", "node_watts", "node_idle_watts"}, "[cost]");
    const auto amount = [&](const char* key) {
      return cost.contains(key) ? std::optional(number(cost, key, 0, 0, 1e12)) : std::nullopt;
    };
    NodeCost& said = machine_.cost.emplace();
    said.node_hour_price = amount("node_hour_price");
    said.node_watts = amount("node_watts");
    said.node_idle_watts = amount("node_idle_watts");
    said.currency = text(cost, "currency", said.currency);
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    if (said.currency.empty() || said.currency.size() > 16 || !std::ranges::all_of(said.currency, is_letter))
      fail_key(*cost.get("currency"), "currency", "1 to 16 letters, as EUR");
    if (!said.node_hour_price && !said.node_watts)
      fail(line_of(cost), "[cost] has neither node_hour_price nor node_watts; expected one of them");
    if (said.node_idle_watts && (!said.node_watts || *said.node_idle_watts > *said.node_watts))
      fail_key(*cost.get("node_idle_watts"), "node_idle_watts", "node_watts beside it, and no more than these");
  }

  void read_files(const toml::table& files) {
    check_keys(files, {"archive", "shared"}, "[files]");
    if (const toml::node* archive = files.get("archive"))
      machine_.archive = expanded(*archive, "archive", text(files, "archive", ""));
    const std::vector<std::string> shared = texts(files, "shared");
    for (std::size_t i = 0; i < shared.size(); ++i)
      machine_.shared.push_back(expanded((*files.get("shared")->as_array())[i], "shared", shared[i]));
  }

  /// A path with ~ at its begin, and $NAME or ${NAME} anywhere.
  [[nodiscard]] std::string expanded(const toml::node& at, const char* key, const std::string& path) const {
    if (path.empty() || (path[0] != '/' && path[0] != '~' && path[0] != '$') ||
        (path[0] == '~' && path.size() > 1 && path[1] != '/'))
      fail_key(at, key, "the path of a folder that begins with /, ~/ or a variable as $HOME");
    std::string result;
    for (std::size_t i = 0; i < path.size();) {
      if (path[i] != '$' && !(i == 0 && path[i] == '~')) {
        result += path[i++];
        continue;
      }
      const bool braced = path[i] == '$' && i + 1 < path.size() && path[i + 1] == '{';
      std::size_t end = i + (braced ? 2 : 1);
      std::string name = "HOME";
      if (path[i] == '$') {
        const std::size_t begin = end;
        while (end < path.size() && is_variable_name("_" + std::string(1, path[end]))) ++end;
        name = path.substr(begin, end - begin);
        if (!is_variable_name(name) || (braced && (end == path.size() || path[end] != '}')))
          fail_key(at, key, "a variable's name behind $, as $HOME or ${HOME}");
        end += braced ? 1 : 0;
      }
      const std::string value = environment(name.c_str());
      if (value.empty())
        fail(line_of(at), fmt::format("key '{}' is {}; the variable {} is not set here", key, shown(at), name));
      result += value;
      i = end;
    }
    return result;
  }

  void check_together(const toml::table& top) const {
    if (machine_.scheduler.empty()) {
      for (const char* key : {"queue", "environment"})
        if (top.contains(key))
          fail(line_of(*top.get(key)),
               fmt::format("key '{}' is for the scripts of jobs; expected a scheduler, as in scheduler = \"slurm\"",
                           key));
    } else if (machine_.cores == 0) {
      fail(1, "key 'cores' of [nodes] is missing; a scheduler must be told how many cores a job takes of a node");
    }
    if (machine_.launcher == "local" && machine_.nodes > 1)
      fail_key(*top.get("nodes")->as_table()->get("count"), "count",
               "1 with launcher 'local', which starts ranks on one node; several take another launcher");
    if (machine_.sockets > std::max(1, machine_.cores) && machine_.cores > 0)
      fail_key(*top.get("nodes")->as_table()->get("sockets"), "sockets", "at most as many as there are cores");
  }

  Machine machine_;
};

}  // namespace

std::optional<double> seconds_of(const std::string& text) {
  std::array<std::string, 4> parts;  // days, hours, minutes, seconds
  std::string rest = text;
  if (const std::size_t dash = rest.find('-'); dash != std::string::npos) {
    parts[0] = rest.substr(0, dash);
    rest.erase(0, dash + 1);
    if (parts[0].empty()) return std::nullopt;
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t colon = rest.find(':');
    if ((i < 3) != (colon != std::string::npos)) return std::nullopt;
    parts[i] = rest.substr(0, colon);
    rest.erase(0, colon == std::string::npos ? rest.size() : colon + 1);
    if (parts[i].empty()) return std::nullopt;
  }
  constexpr std::array<double, 4> unit_s{86400, 3600, 60, 1};
  const std::array<std::size_t, 4> longest{2, parts[0].empty() ? 4U : 2U, 2, 2};
  double seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool digits = std::ranges::all_of(parts[i], [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || parts[i].size() > longest[i]) return std::nullopt;
    const int number = parts[i].empty() ? 0 : std::stoi(parts[i]);
    if (i > 1 && number > 59) return std::nullopt;
    seconds += unit_s[i] * number;
  }
  return seconds;
}

Machine read_machine(const fs::path& file) { return MachineReader(file).read(); }

}  // namespace fourscore
