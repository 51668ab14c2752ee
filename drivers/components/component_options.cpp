#include "components/component_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "components/benchmark_flags.hpp"

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

void add_options(CLI::App& app, Options& options) {
  add_parameter_option(app, options, "Options", "see below");
  app.add_option("--repetitions", options.repetitions, "of each benchmark")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--min-time-s", options.min_time_s, "a repetition lasts at least this long")
      ->check(number_between(1e-6, 1e6))
      ->capture_default_str();
  app.add_flag("--synchronised", options.synchronised,
               "begin each iteration together, and take the slowest rank's time of each");
  add_common_options(app, options, "this program and its parameters");
}

}  // namespace

Options parse_command_line(int argc, char** argv, const ProgramCard& card) {
  CLI::App app(card.summary + "\nEverything that starts with --benchmark_ goes to Google Benchmark.", card.name);
  app.footer(footer(card));
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
