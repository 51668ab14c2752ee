#include "jobscripts/machines/check/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/text.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// The firmware and the kernel keep a part of the memory.
constexpr double memory_tolerance = 0.05;

std::string listed(const json& texts) {
  std::vector<std::string> words;
  for (const json& text : texts) words.push_back(text.is_string() ? text.get<std::string>() : text.dump());
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

class Comparison {
 public:
  Comparison(const Machine& machine, const json& found) : machine_(machine), found_(found) {
    for (const json& node : found.at("nodes"))
      if (node.value("problem", "").empty()) nodes_.push_back(&node);
  }

  void compare_job(int nodes) {
    if (!found_.contains("job_hosts")) {
      if (!machine_.scheduler.empty())
        add("scheduler", "a job of " + machine_.scheduler, "no job, as the environment there has it", false);
      return;
    }
    const int hosts = static_cast<int>(found_["job_hosts"].size());
    add("count", plural(nodes, "node") + " of a job", fmt::format("{}: {}", hosts, listed(found_["job_hosts"])),
        hosts == nodes);
  }

  void compare_launches(int nodes) {
    const json& launch = found_.at("launch");
    const int ranks = nodes > 1 ? nodes : 2;
    const std::string key = "launcher " + machine_.launcher;
    const std::string expected = fmt::format("{} on {}", plural(ranks, "rank"), plural(nodes, "node"));
    if (const std::string problem = launch.value("problem", ""); !problem.empty() || !launch.contains("place")) {
      add(key, expected, problem.empty() ? "the launch ended well but said nothing" : problem, false);
      return;
    }
    const json& place = launch["place"];
    const int of_ranks = place.value("ranks", 0);
    const int on_nodes = place.value("nodes", 0);
    add(key, expected,
        fmt::format("{} on {}: {}", plural(of_ranks, "rank"), plural(on_nodes, "node"),
                    listed(place.value("hosts", json::array()))),
        of_ranks == ranks && on_nodes == nodes);
  }

  void compare_programs(int nodes, const std::string& code_hash) {
    const json& look = found_.at("look");
    if (const std::string problem = look.value("problem", "");
        !problem.empty() && problem != found_.at("launch").value("problem", ""))
      add("fourscore", "starts on every node", problem, false);
    std::string wrong;
    int right = 0;
    for (const json& node : found_.at("nodes")) {
      const std::string problem = node.value("problem", "");
      if (problem.empty() && node.value("code_hash", "") == code_hash)
        ++right;
      else
        wrong += fmt::format("{}{}: {}", wrong.empty() ? "" : "; ", node.value("host", "?"),
                             problem.empty() ? "another program, or other libraries" : problem);
    }
    const bool all = right >= nodes && wrong.empty();
    const std::string few = fmt::format("{} said anything", plural(right, "node"));
    add("fft_bench", "the same as here on " + plural(nodes, "node"),
        all             ? "the same"
        : wrong.empty() ? few
                        : wrong,
        all);
  }

  /// `said`: the file's, 0 where it says nothing.
  void compare_number(const std::string& key, double said, const std::function<double(const json&)>& of_node,
                      double tolerance = 0) {
    if (nodes_.empty()) return;
    std::map<std::string, std::vector<std::string>> hosts;  // by value
    bool agrees = true;
    for (const json* node : nodes_) {
      const double value = of_node(*node);
      hosts[fmt::format("{:g}", value)].push_back(node->value("host", "?"));
      agrees = agrees && std::abs(value - said) <= tolerance * said;
    }
    std::string text = hosts.begin()->first;
    if (hosts.size() > 1) {
      text.clear();
      for (const auto& [value, names] : hosts)
        text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", value, fmt::join(names, ", "));
    }
    if (said == 0 && !agrees)
      findings_.push_back({key, "", text, Agrees::not_said});
    else
      add(key, fmt::format("{:g}", said), text, agrees);
  }

  void compare_nodes() {
    const auto number = [](const char* key) { return [key](const json& node) { return node.value(key, 0.0); }; };
    compare_number("cores", machine_.cores, number("cores"));
    compare_number("sockets", machine_.sockets, number("sockets"));
    compare_number("gpus", machine_.gpus,
                   [](const json& node) { return static_cast<double>(node.value("gpus", json::array()).size()); });
    compare_number("memory_gib", machine_.memory_gib, number("memory_gib"), memory_tolerance);
    if (!nodes_.empty())  // what a file says of it is for people, in words of their own
      findings_.push_back({"interconnect", machine_.interconnect,
                           listed(nodes_.front()->value("interconnect", json::array())), Agrees::not_said});
  }

  void compare_environment() {
    for (const std::string& module : machine_.modules) {
      const json& loaded = found_.at("modules");
      const bool is_there = std::ranges::any_of(loaded, [&](const json& one) {
        const std::string name = one.get<std::string>();
        return name == module || name.starts_with(module + "/");
      });
      add("modules", module, is_there ? "loaded" : "not among those loaded: " + listed(loaded), is_there);
    }
    for (const auto& [name, expected] : machine_.environment) {
      const json value = found_.at("environment").value(name, json());
      add("set." + name, expected, value.is_string() ? value.get<std::string>() : "not set", value == json(expected));
    }
  }

  void compare_folders(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      std::vector<std::string> blind;
      for (const json* node : nodes_)
        for (const json& unseen : node->value("unseen", json::array()))
          if (unseen == folder) blind.push_back(node->value("host", "?"));
      if (!nodes_.empty())
        add(folder == folders.front() ? "archive" : "shared", folder,
            blind.empty() ? "seen" : fmt::format("not seen by {}", fmt::join(blind, ", ")), blind.empty());
    }
  }

  std::vector<MachineFinding> take() { return std::move(findings_); }

 private:
  void add(const std::string& key, const std::string& expected, const std::string& found, bool agrees) {
    findings_.push_back({key, expected, found, agrees ? Agrees::agrees : Agrees::differs});
  }

  const Machine& machine_;
  const json& found_;
  std::vector<const json*> nodes_;  ///< that could say what they have
  std::vector<MachineFinding> findings_;
};

}  // namespace

std::vector<MachineFinding> compare(const Machine& machine, int nodes, const std::vector<std::string>& folders,
                                    const std::string& code_hash, const json& found) {
  Comparison comparison(machine, found);
  comparison.compare_job(nodes);
  comparison.compare_launches(nodes);
  comparison.compare_programs(nodes, code_hash);
  comparison.compare_nodes();
  comparison.compare_environment();
  comparison.compare_folders(folders);
  return comparison.take();
}

std::string to_string(Agrees agreement) {
  if (agreement == Agrees::not_said) return "not said";
  return agreement == Agrees::agrees ? "agrees" : "differs";
}

}  // namespace fourscore
