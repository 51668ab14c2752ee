#include "components/component_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "build_info.hpp"
#include "components/benchmark_flags.hpp"

namespace fourscore::component {
namespace {

using bench::Exit;
using nlohmann::json;

struct Texts {
  std::vector<std::string> parameters;
  std::string record, campaign_file;
  double launched_at_s = 0;
  bool list = false, identity = false, check_points = false;
};

std::string parameters_help(const ProgramCard& card) {
  std::string text;
  for (const Parameter& parameter : card.parameters)
    text +=
        fmt::format("  {:<16}{} [{}]{}\n", parameter.name, parameter.summary, parameter.fallback,
                    parameter.values.empty() ? "" : fmt::format("\n{:18}{}", "", fmt::join(parameter.values, ", ")));
  return text;
}

std::string footer(const ProgramCard& card) {
  std::string text = card.parameters.empty() ? "" : "Parameters (--parameter NAME=VALUE):\n" + parameters_help(card);
  text += fmt::format(
      "\nExamples:\n  {0}{1} --record out.json\n  {1} --benchmark_filter=REGEX --benchmark_format=json\n"
      "  {1} --list\n\n"
      "Exit codes: 0 measured, or skipped with a reason; 1 a result is wrong; 2 unusable input; 3 the environment "
      "failed.",
      card.needs_mpi ? "mpirun -n 2 " : "", card.name);
  return text;
}

/// CLI11's own checks let NaN pass.
CLI::Validator number_between(double least, double most) {
  return {[=](const std::string& text) {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
              return std::string();
            return fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
          },
          fmt::format("{:g} to {:g}", least, most)};
}

void add_options(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--parameter", texts.parameters, "NAME=VALUE, see below; may be repeated");
  app.add_option("--repetitions", options.repetitions, "of each benchmark")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--min-time-s", options.min_time_s, "a repetition goes on for at least so long")
      ->check(number_between(1e-6, 1e6))
      ->capture_default_str();
  app.add_flag("--synchronised", options.synchronised,
               "begin each iteration together, and take the slowest rank's time of each");
  app.add_option("--record", texts.record, "file for the record; must not exist")->check(bench::not_empty());
  app.add_option("--campaign,--campaign-json", texts.campaign_file,
                 "file with a JSON object for the record's \"campaign\"")
      ->check(bench::not_empty());
  app.add_option("--launcher", options.launcher, "what started this program, for the record")->capture_default_str();
  app.add_option("--launched-at", texts.launched_at_s, "when it did, in seconds since the epoch")
      ->check(number_between(1e-6, 1e12));
  app.add_option("--started", options.started,
                 "file to create once MPI runs: tells a failed launcher from a failed run");
  const std::string questions = "Questions (no MPI, no measurement)";
  app.add_flag("--list", texts.list, "this program and its parameters as JSON")->group(questions);
  app.add_flag("--identity", texts.identity, "identity of machine and program as JSON")->group(questions);
  app.add_flag("--check-points", texts.check_points, "read points as JSON lines, answer which can be measured here")
      ->group(questions);
  app.set_version_flag("--version", app.get_name() + " " + build_info::version, "version")->group(questions);
}

void understand(const CLI::App& app, const Texts& texts, Options& options) {
  if (texts.list + texts.identity + texts.check_points > 1)
    throw InputError("expected one of --list, --identity and --check-points");
  options.mode = texts.list           ? Mode::list
                 : texts.identity     ? Mode::identity
                 : texts.check_points ? Mode::check_points
                                      : Mode::measure;
  for (const std::string& text : texts.parameters) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError("--parameter is '" + text + "'; expected NAME=VALUE");
    const std::string name = text.substr(0, equals);
    if (!options.parameters.emplace(name, text.substr(equals + 1)).second)
      throw InputError("--parameter " + name + " is there twice; expected one value, or several joined by commas");
  }
  if (app.count("--launched-at") > 0) options.launched_at_s = texts.launched_at_s;
  if (!texts.record.empty()) options.record = texts.record;
  options.campaign = bench::read_campaign(texts.campaign_file, "--campaign");
}

}  // namespace

Options parse_command_line(int argc, char** argv, const ProgramCard& card) {
  CLI::App app(card.summary + "\nEverything that starts with --benchmark_ goes to Google Benchmark.", card.name);
  app.footer(footer(card));
  Options options;
  Texts texts;
  add_options(app, options, texts);
  std::vector<const char*> ours;
  for (int i = 0; i < argc; ++i) {
    if (i > 0 && std::string_view(argv[i]).starts_with("--benchmark_"))
      options.benchmark_flags.emplace_back(argv[i]);
    else
      ours.push_back(argv[i]);
  }
  const auto count = static_cast<int>(ours.size());
  const auto leave = [&](const std::string& message) { return Exit{2, card.name + ": " + message + "\n"}; };
  try {
    app.parse(count, ours.data());
    understand(app, texts, options);
    // Names and values are judged before MPI starts.
    if (options.mode == Mode::measure) {
      (void)Parameters(card.name, card.parameters, options.parameters);
      check_benchmark_flags(options.benchmark_flags);
    }
  } catch (const CLI::CallForHelp&) {
    throw Exit{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    throw Exit{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ExtrasError& error) {
    throw leave(bench::with_suggestion(app, error.what(), count, ours.data()));
  } catch (const CLI::ParseError& error) {
    throw leave(error.what());
  } catch (const InputError& error) {
    throw leave(error.what());
  }
  return options;
}

json card_json(const ProgramCard& card) {
  json parameters = json::array();
  for (const Parameter& parameter : card.parameters) {
    json entry{{"name", parameter.name},
               {"summary", parameter.summary},
               {"default", parameter.fallback},
               {"many", parameter.many}};
    if (!parameter.values.empty()) entry["values"] = parameter.values;
    parameters.push_back(std::move(entry));
  }
  return {{"name", card.name},           {"summary", card.summary}, {"citation", card.citation},
          {"needs_mpi", card.needs_mpi}, {"available", true},       {"reason", ""},
          {"parameters", parameters}};
}

}  // namespace fourscore::component
