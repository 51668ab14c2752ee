#include "jobscripts/commands/forwarded.hpp"

#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/paths.hpp"

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

void forward(const CLI::App& app, const std::string& archive) {
  (void)open_archive(archive);  // it is there
  std::vector<std::string> command{app.get_name(), "--archive=" + archive_folder(archive).string()};
  for (std::string& word : as_given(app)) command.push_back(std::move(word));
  run_analysis(command);
}

}  // namespace fourscore
