#include "components/component_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "components/benchmark_flags.hpp"
#include "core/text.hpp"
#include "core/wrapped_help.hpp"

namespace fourscore::component {
namespace {

using nlohmann::json;

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

void add_options(CLI::App& app, Options& options) {
  add_parameter_option(app, options, "Options", "see below");
  bench::add_setting_options(app, options.settings, true);
  add_common_options(app, options, "this program and its parameters");
}

}  // namespace

Options parse_command_line(int argc, char** argv, const ProgramCard& card) {
  CLI::App app(card.summary + "\nEverything that starts with --benchmark_ goes to Google Benchmark.", card.name);
  app.footer(footer(card));
  app.formatter(std::make_shared<WrappedHelp>());
  Options options;
  add_options(app, options);
  std::vector<const char*> ours;
  for (int i = 0; i < argc; ++i) {
    if (i > 0 && std::string_view(argv[i]).starts_with("--benchmark_"))
      options.benchmark_flags.emplace_back(argv[i]);
    else
      ours.push_back(argv[i]);
  }
  bench::parse_or_exit(app, static_cast<int>(ours.size()), ours.data(), [&] {
    if (options.mode != Mode::measure) return;
    // Names and values are judged before MPI starts.
    (void)Parameters(card.name, card.parameters, options.parameters);
    check_benchmark_flags(options.benchmark_flags);
    bench::check_files(options, {{"--benchmark_out", benchmark_flag(options.benchmark_flags, "out", "")}});
  });
  return options;
}

json card_json(const ProgramCard& card) {
  return {{"name", card.name},
          {"summary", card.summary},
          {"citation", card.citation},
          {"needs_mpi", card.needs_mpi},
          {"available", true},
          {"reason", ""},
          {"parameters", parameters_json(card.parameters)}};
}

}  // namespace fourscore::component
