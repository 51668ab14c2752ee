#include "jobscripts/commands/forwarded.hpp"

#include <algorithm>

#include "jobscripts/base/paths.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"

namespace fourscore {

CLI::Option* ForwardedOptions::one(const std::string& name, const std::string& type, const std::string& help) {
  return app_->add_option(name, help)->type_name(type)->expected(1);
}

CLI::Option* ForwardedOptions::repeated(const std::string& name, const std::string& type, const std::string& help) {
  return one(name, type, help)->take_all();
}

CLI::Option* ForwardedOptions::flag(const std::string& name, const std::string& help) {
  return app_->add_flag(name)->description(help);
}

CLI::Option* ForwardedOptions::arguments(const std::string& name, const std::string& type, const std::string& help) {
  return app_->add_option(name, help)->type_name(type)->expected(-1);
}

void add_question(ForwardedOptions& options) {
  options.one("--shape", "TEXT", "1 to 3 extents, slowest in memory first, with an x between them");
  options.one("--nodes", "INT", "nodes that the ranks are on (default: as few as have a core for each rank)");
  options.one("--precision", "TEXT", "double or single (default: of the archive each apart, of a file double)");
  options.one("--kind", "TEXT", "c2c, r2c, or c2r, which is r2c backward (default: each, or c2c)");
  options.one("--direction", "TEXT", "forward, backward or roundtrip (default: each, or forward)");
  options.one("--layout", "TEXT", "natural or transposed (default: each, or transposed)");
  options.one("--threads", "INT", "of a rank (default: of the archive each apart, of a file 1)");
  options.one("--model", "NAME", "one model (default: all of a method; the best is used)");
  options.repeated("--form", "NAME=CHOICE", "how a model is read: network=bisection");
  options.repeated("--given", "NAME=VALUE", "a parameter that is known, in SI units");
  options.flag("--json", "print the answer as JSON for machines");
}

std::vector<std::string> as_given(const CLI::App& app) {
  std::vector<std::string> words, arguments;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option == app.get_help_ptr()) continue;
    if (option->get_positional()) {
      arguments.insert(arguments.end(), option->results().begin(), option->results().end());
      continue;
    }
    const std::string name = "--" + option->get_lnames().front();
    if (name == "--archive") continue;
    if (option->get_items_expected_max() == 0)
      words.push_back(name);
    else
      for (const std::string& value : option->results()) words.push_back(name + "=" + value);
  }
  if (!arguments.empty()) words.emplace_back("--");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

void forward(const CLI::App& app, const std::string& archive) { forward_unless(app, archive, {}); }

void forward_unless(const CLI::App& app, const std::string& archive, const std::vector<std::string>& without_archive) {
  if (std::ranges::none_of(without_archive, [&app](const std::string& option) { return app.count(option) > 0; }))
    (void)open_archive(archive);  // it is there
  std::vector<std::string> command{app.get_name(), "--archive=" + archive_folder(archive).string()};
  for (std::string& word : as_given(app)) command.push_back(std::move(word));
  run_analysis(command);
}

}  // namespace fourscore
