#include "program/common_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/moment.hpp"
#include "core/point_keys.hpp"
#include "harness/provenance.hpp"
#include "results/output_file.hpp"

namespace fourscore::bench {
namespace {

constexpr const char* questions = "Questions (no MPI, no measurement)";

/// The message with the nearest known option for the first unknown one, if any is near.
std::string with_suggestion(const CLI::App& app, const std::string& message, int argc, const char* const* argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    std::string text(argv[i]);
    text = text.substr(0, text.find('='));
    if (!text.starts_with("--") || std::ranges::find(known, text) != known.end()) continue;
    if (const auto nearest = nearest_name(text, known)) return message + "; did you mean " + *nearest + "?";
  }
  return message;
}

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options, const std::string& listed) {
  app.add_option_function<std::string>(
         "--record", [&options](const std::string& file) { options.record = file; },
         "file for the record; must not exist")
      ->check(not_empty())
      ->group(output_group);
  app.add_option("--campaign-json", options.campaign_file, "file with a JSON object for the record's \"campaign\"")
      ->check(not_empty())
      ->group(output_group);
  app.add_option("--launcher", options.launcher, "what started this program, for the record")
      ->capture_default_str()
      ->group(output_group);
  app.add_option_function<std::string>(
         "--launched-at",
         [&options](const std::string& text) { options.launched_at = parse_moment(text, "--launched-at"); },
         "when it started this program: seconds since the epoch, and if known ,STEADY_CLOCK,BOOT_ID")
      ->type_name("TIME")
      ->group(output_group);
  app.add_option("--started", options.started,
                 "file to create once MPI runs: tells a failed launcher from a failed run")
      ->group(output_group);
  for (const PointKey& key : point_keys())
    if (key.of_launch && !key.option.empty())
      app.add_option_function<std::string>(
             std::string(key.option),
             [&options, &key](const std::string& text) {
               Point scratch;
               key.set(scratch, text, key.option);
               options.launch[key.name] = text;
             },
             key.help)
          ->type_name(key.form == Form::integer ? "INT" : "TEXT")
          ->group(output_group);
  const auto add_question = [&](const char* name, Mode mode, const std::string& help) {
    app.add_flag_callback(
           name,
           [&options, mode] {
             if (options.mode != Mode::measure)
               throw InputError("--list, --identity and --check-points exclude each other");
             options.mode = mode;
           },
           help)
        ->group(questions);
  };
  add_question("--list", Mode::list, listed + " as JSON");
  add_question("--identity", Mode::identity, "identity of machine and program as JSON");
  add_question("--check-points", Mode::check_points, "read points as JSON lines, answer which can be measured here");
  app.set_version_flag("--version", app.get_name() + " " + shown_version(), "version")->group(questions);
  app.get_help_ptr()->group(questions);
}

void check_files(const CommonOptions& options, const std::vector<NamedFile>& more) {
  std::vector<NamedFile> files{{"--record", options.record.value_or("")},
                               {"--campaign-json", options.campaign_file},
                               {"--started", options.started}};
  files.insert(files.end(), more.begin(), more.end());
  require_different(files);
  if (!options.started.empty()) check_output(options.started);
}

void add_parameter_option(CLI::App& app, CommonOptions& options, const std::string& group, const std::string& whose) {
  app.add_option_function<std::vector<std::string>>(
         "--parameter",
         [&options](const std::vector<std::string>& texts) { options.parameters = parse_parameters(texts); },
         "NAME=VALUE, " + whose + "; may be repeated")
      ->group(group);
}

void add_setting_options(CLI::App& app, Settings& settings, bool of_components, const std::string& group) {
  for (const Setting& setting : all_settings()) {
    if (!is_taken(setting, of_components)) continue;
    const std::string option = setting.option(),
                      help = (setting.is_on_by_default() ? "do not " : "") + std::string(setting.help);
    const auto add = [&](auto member) {
      auto& value = settings.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, bool>) {
        app.add_flag_callback(
               option, [&value] { value = !value; }, help)
            ->group(group);
      } else {
        CLI::Option* const added = app.add_option(option, value, help)->group(group);
        if constexpr (std::is_same_v<Value, std::string>)
          added->check(CLI::IsMember(std::vector<std::string>(setting.words.begin(), setting.words.end())));
        else if constexpr (std::is_same_v<Value, int>)
          added->check(CLI::Range(static_cast<int>(setting.least), static_cast<int>(setting.most)));
        else
          added->check(number_between(setting.least, setting.most));
        if (value != Value()) added->capture_default_str();  // a limit that is none has no text
      }
    };
    std::visit(add, setting.member);
  }
}

void parse_or_exit(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& understand) {
  const auto unusable = [&](const std::string& message) { return Exit{2, app.get_name() + ": " + message + "\n"}; };
  try {
    app.parse(argc, argv);
    understand();
  } catch (const CLI::CallForHelp&) {
    throw Exit{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    throw Exit{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ExtrasError& error) {
    throw unusable(with_suggestion(app, error.what(), argc, argv));
  } catch (const CLI::ParseError& error) {
    throw unusable(error.what());
  } catch (const InputError& error) {
    throw unusable(error.what());
  }
}

}  // namespace fourscore::bench
