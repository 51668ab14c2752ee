#include "jobscripts/machines/machine_text.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "jobscripts/schedulers/shared/script_lines.hpp"

namespace fourscore {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of machine files

Json count(int value) { return value == 0 ? Json() : Json(value); }
Json text(const std::string& value) { return value.empty() ? Json() : Json(value); }

Json table(const std::vector<std::pair<std::string, std::string>>& entries) {
  Json result = Json::object();
  for (const auto& [name, value] : entries) result[name] = value;
  return result;
}

/// Only the keys that mean something to the machine's launcher and scheduler.
Json in_order(const Machine& machine) {
  Json result{{"name", machine.name}, {"description", machine.description}};
  result["scheduler"] = text(machine.scheduler);
  result["launcher"] = machine.launcher;
  result["nodes"] = Json{{"count", machine.nodes},
                         {"cores", count(machine.cores)},
                         {"sockets", count(machine.sockets)},
                         {"gpus", machine.gpus},
                         {"memory_gib", machine.memory_gib > 0 ? Json(machine.memory_gib) : Json()},
                         {"interconnect", text(machine.interconnect)}};
  if (!machine.scheduler.empty()) {
    result["queue"] = Json{{"partition", text(machine.partition)},
                           {"account", text(machine.account)},
                           {"qos", text(machine.qos)},
                           {"constraint", text(machine.constraint)},
                           {"time_limit", clock_time(machine.time_limit_s)},
                           {"most_jobs", count(machine.most_jobs)},
                           {"directives", machine.directives}};
    result["environment"] =
        Json{{"modules", machine.modules}, {"set", table(machine.environment)}, {"setup", machine.setup}};
  }
  Json launch = Json::object();
  if (machine.launcher == "srun") launch["mpi"] = text(machine.mpi);
  if (machine.launcher == "template") {
    launch["line"] = machine.launch_line;
    if (!machine.placements.empty()) launch["placement"] = table(machine.placements);
  } else {
    launch["options"] = machine.launch_options;
  }
  if (machine.launcher == "netns") launch["rate"] = text(machine.rate);
  result["launch"] = launch;
  if (machine.cost) {
    const auto amount = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    result["cost"] = Json{{"node_hour_price", amount(machine.cost->node_hour_price)},
                          {"currency", machine.cost->currency},
                          {"node_watts", amount(machine.cost->node_watts)},
                          {"node_idle_watts", amount(machine.cost->node_idle_watts)}};
  }
  result["files"] = Json{{"archive", text(machine.archive)}, {"shared", machine.shared}};
  return result;
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  const auto flags = toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings;
  out << toml::toml_formatter(toml::value<std::string>(text), flags);
  return out.str();
}

std::string value_text(const Json& value) {
  std::string text;
  if (value.is_string()) return quoted(value.get<std::string>());
  if (value.is_array()) {
    for (const auto& element : value) text += (text.empty() ? "" : ", ") + value_text(element);
    return "[" + text + "]";
  }
  if (value.is_object()) {
    for (const auto& [name, element] : value.items())
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value_text(element));
    return text.empty() ? "{}" : "{ " + text + " }";
  }
  return value.dump();
}

std::string lines(const Json& keys) {
  std::string result;
  for (const auto& [key, value] : keys.items())
    result +=
        value.is_null() ? fmt::format("# {} is not said\n", key) : fmt::format("{} = {}\n", key, value_text(value));
  return result;
}

}  // namespace

nlohmann::json machine_json(const Machine& machine) {
  nlohmann::json result = in_order(machine);
  if (!machine.file.empty()) result["file"] = machine.file.string();
  return result;
}

std::string machine_toml(const Machine& machine) {
  Json all = in_order(machine);
  Json top = Json::object();
  std::string sections;
  for (const auto& [key, value] : all.items()) {
    if (!value.is_object())
      top[key] = value;
    else
      sections += fmt::format("\n[{}]\n{}", key, lines(value));
  }
  return lines(top) + sections;
}

}  // namespace fourscore
