// fourscore list: what there is, what cannot run here and why.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "hwcounters/counter.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/commands/campaign_options.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/launchers/launcher.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/bench_words.hpp"
#include "jobscripts/programs/components.hpp"
#include "jobscripts/schedulers/scheduler.hpp"
#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_files.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct ListOptions {
  std::string what;
  std::string bench;
  std::vector<std::filesystem::path> plugins;
  bool json = false;
};

/// Lists a registry of launchers, schedulers or counters.
template <class T>
json entries_of(const Registry<T>& registry) {
  json entries = json::array();
  for (const auto& name : registry.names()) {
    const T& entry = *registry.find(name);
    const std::string reason = entry.unavailable();
    entries.push_back(
        {{"name", name}, {"summary", entry.card().summary}, {"available", reason.empty()}, {"reason", reason}});
  }
  return entries;
}

json suites(const std::string& bench) {
  BenchWords words(bench);
  json entries = json::array();
  for (const auto& folder : suite_folders())
    for (const auto& file : all_suites()) {
      json entry{{"name", file.lexically_relative(folder).replace_extension().generic_string()},
                 {"file", file.string()}};
      try {
        const Suite suite = load_suite(file, usable_cores(), words);
        entry.update({{"summary", suite.description},
                      {"points", suite.points.size()},
                      {"launches", suite.launches},
                      {"dropped_oversubscribed", suite.dropped_oversubscribed},
                      {"available", true},
                      {"reason", ""}});
        if (!suite.sizes.empty()) entry["sizes"] = suite.sizes;
        if (!suite.paper.empty()) entry["paper"] = suite.paper;
        std::set<std::string> tags;
        for (const auto& of_point : suite.tags) tags.insert(of_point.begin(), of_point.end());
        if (!tags.empty()) entry["tags"] = tags;
      } catch (const InputError& error) {
        entry.update({{"summary", ""}, {"available", false}, {"reason", error.what()}});
      } catch (const EnvironmentError& error) {
        entry.update({{"summary", ""}, {"available", false}, {"reason", error.what()}});
      }
      entries.push_back(std::move(entry));
    }
  return entries;
}

std::string parameter_line(const json& parameter, std::size_t indent) {
  std::string values;
  for (const auto& value : parameter.value("values", json::array()))
    values += (values.empty() ? " (" : ", ") + value.get<std::string>();
  return fmt::format("\n{:<{}}    {}={}  {}{}{}", "", indent, parameter.value("name", ""),
                     parameter.value("default", ""), parameter.value("summary", ""), values, values.empty() ? "" : ")");
}

/// "; sizes: here, paper; tags: grids"
std::string names_text(const json& suite) {
  std::string text;
  for (const char* key : {"sizes", "tags"}) {
    const json names = suite.value(key, json::array());
    for (std::size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? fmt::format("; {}: ", key) : ", ") + printable(names[i].get<std::string>());
  }
  return text;
}

void print(const json& entries) {
  std::size_t width = 0;
  for (const auto& entry : entries) width = std::max(width, entry.value("name", "").size());
  for (const auto& entry : entries) {
    std::string line =
        fmt::format("{:<{}}  {}", printable(entry.value("name", "")), width, printable(entry.value("summary", "")));
    if (entry.contains("points"))
      line += fmt::format(" ({} points x {} launches{})", entry["points"].dump(), entry["launches"].dump(),
                          names_text(entry));
    if (const std::string citation = entry.value("citation", ""); !citation.empty())
      line += " [" + printable(citation) + "]";
    if (entry.value("takes_exchange", false))
      line += fmt::format(" (exchange: {})", printable(entry.value("default_exchange", "")));
    for (const auto& parameter : entry.value("parameters", json::array())) line += parameter_line(parameter, width);
    if (const std::string version = entry.value("version", ""); !version.empty())
      line += fmt::format("\n{:<{}}  {}", "", width, printable(version));
    if (!entry.value("available", true))
      line += fmt::format("\n{:<{}}  cannot run here: {}", "", width, printable(entry.value("reason", "")));
    fmt::print("{}\n", line);
  }
}

int list_entries(const ListOptions& options) {
  json entries;
  if (options.what == "counters")
    entries = entries_of(CounterRegistry::instance());
  else if (options.what == "launchers")
    entries = entries_of(LauncherRegistry::instance());
  else if (options.what == "schedulers")
    entries = entries_of(SchedulerRegistry::instance());
  else if (options.what == "suites")
    entries = suites(options.bench);
  else if (options.what == "components")
    entries = component_cards();
  else
    entries = Bench(find_bench(options.bench), options.plugins).list().value(options.what, json::array());
  if (options.json)
    print_json(entries);
  else
    print(entries);
  return exit_done;
}

Command list_command() {
  return {"list", "Show what there is, what cannot run here and why",
          "  fourscore list variants\n"
          "  fourscore list suites --json\n",
          10, with_options<ListOptions>(list_entries, [](CLI::App& app, ListOptions& options) {
            app.add_option(
                   "what", options.what,
                   "variants, exchanges, local_ffts, operators, components, suites, counters, launchers or schedulers")
                ->required()
                ->check(CLI::IsMember({"variants", "exchanges", "local_ffts", "operators", "components", "suites",
                                       "counters", "launchers", "schedulers"})
                            .description(""))
                ->type_name("WHAT");
            add_bench_option(app, options.bench, "ask");
            add_plugin_option(app, options.plugins);
            add_json_option(app, options.json);
          })};
}

FOURSCORE_REGISTER_COMMAND(list_command);

}  // namespace
}  // namespace fourscore
