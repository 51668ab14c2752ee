#include "program/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "build_info.hpp"
#include "core/record.hpp"
#include "harness/instances.hpp"
#include "hwcounters/cache_geometry.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

constexpr const char* description =
    "Measure one point: one variant of a distributed FFT on one problem, on the ranks it is started with.\n"
    "Checks the result against known answers, then times it and shows where the time goes.";

constexpr const char* examples = R"(Examples:
  fft_bench --variant serial --shape 128x128x128
  mpirun -n 4 fft_bench --variant pencil --exchange alltoallw --shape 128x96x100 --grid 2x2 \
      --precision double --repetitions 10 --warmup 1 --isolate --record out.json
  mpirun -n 2 fft_bench --variant slab --shape 64x64x64 --counters callgrind --counter-cache 1MiB
  mpirun -n 2 fft_bench --variant slab --shape 64x64x64 --layout natural --planner estimate --json
  fft_bench --list
  echo '{"variant":"slab","shape":[64,64,64],"ranks":2}' | fft_bench --check-points

Exit codes: 0 measured, or skipped with a reason; 1 the result is wrong, or what follows the samples failed;
2 unusable input; 3 the environment failed.)";

/// What the options hold before they are understood.
struct Texts {
  std::string shape, grid = "auto", precision = "double", kind = "c2c", direction;
  std::string layout = "transposed", placement = "all", buffers = "in-place", planner = "measure";
  std::string counters = "none", counter_group, counter_cache, counter_groups, qualification;
  std::string wisdom, record, verified_record, campaign_file;
  std::vector<std::string> parameters;
  double max_time_s = 0;
  double launched_at_s = 0;
  bool no_phases = false, list = false, identity = false, check_points = false;
};

void add_point_options(CLI::App& app, Options& options, Texts& texts) {
  const std::string group = "The point";
  Problem& problem = options.point.problem;
  app.add_option("--variant", options.point.variant, "algorithm; fft_bench --list shows all")->group(group);
  app.add_option("--exchange", options.point.exchange,
                 "how data moves between ranks (default: the variant's own, as fft_bench --list says)")
      ->check(not_empty("the name of an exchange"))
      ->group(group);
  app.add_option("--local-fft", options.point.local_fft, "library of the local transforms")
      ->capture_default_str()
      ->group(group);
  app.add_option("--shape", texts.shape, "1 to 3 extents, slowest in memory first: 128x96x100")->group(group);
  app.add_option("--grid", texts.grid, "process grid: auto, or as 2x2")->capture_default_str()->group(group);
  app.add_option("--precision", texts.precision, "double or single")->capture_default_str()->group(group);
  app.add_option("--kind", texts.kind, "c2c; r2c, real in space; c2r, which is r2c backward")
      ->capture_default_str()
      ->group(group);
  app.add_option("--direction", texts.direction, "forward or backward (default: forward, but for c2r)")->group(group);
  app.add_option("--threads", problem.threads, "threads a rank, for the local FFT")
      ->check(CLI::Range(1, max_threads))
      ->capture_default_str()
      ->group(group);
  app.add_option("--instances", problem.instances, "transforms at once")
      ->check(CLI::Range(1, max_instances))
      ->capture_default_str()
      ->group(group);
  app.add_option("--placement", texts.placement,
                 "of instances: all, each over all ranks; subset, each on its own ranks")
      ->capture_default_str()
      ->group(group);
  app.add_option("--layout", texts.layout, "transposed: output as the method leaves it; natural: as the input")
      ->capture_default_str()
      ->group(group);
  app.add_option("--buffers", texts.buffers, "in-place or out-of-place")->capture_default_str()->group(group);
  app.add_option("--planner", texts.planner, "effort: estimate, measure or patient")
      ->capture_default_str()
      ->group(group);
  app.add_option("--parameter", texts.parameters,
                 "KEY=VALUE, an option of the variant's or the exchange's own; may be repeated")
      ->group(group);
}

void add_sampling_options(CLI::App& app, Options& options, Texts& texts) {
  const std::string group = "The measurement";
  app.add_option("--repetitions", options.sampling.repetitions, "timed runs")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", options.sampling.warmup, "runs before them, kept apart")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-time-s", texts.max_time_s, "no further repetition after this many seconds")
      ->check(finite_positive())
      ->group(group);
  app.add_flag("--isolate", options.isolate, "also time each component alone")->group(group);
  app.add_flag("--timeline", options.timeline, "one more run, in which every thread writes down what it does when")
      ->group(group);
  app.add_flag("--no-phases", texts.no_phases, "do not time the phases")->group(group);
  app.add_option("--seed", options.seed, "of the input data")
      ->check(unsigned_integer())
      ->capture_default_str()
      ->group(group);
  app.add_option("--wisdom", texts.wisdom, "planner's memory: read when there, written after planning")
      ->check(not_empty())
      ->group(group);
}

void add_counter_options(CLI::App& app, Texts& texts) {
  const std::string group = "Counters, in further runs behind the timed ones";
  app.add_option("--counters", texts.counters, "what counts; fourscore list counters shows all")
      ->capture_default_str()
      ->group(group);
  app.add_option("--counter-group", texts.counter_group, "which events; default: memory traffic (MEM)")->group(group);
  app.add_option("--counter-cache", texts.counter_cache,
                 "SIZE[,WAYS[,LINE]] of the simulated last-level cache: 1MiB,16,64; default: this machine's")
      ->group(group);
  app.add_option("--counter-groups", texts.counter_groups, "folder of event groups; default: the installed ones")
      ->group(group);
  app.add_option("--qualification", texts.qualification,
                 "what fourscore counters qualify found about these counters, for the record")
      ->group(group);
}

void add_output_options(CLI::App& app, Options& options, Texts& texts) {
  const std::string group = "Output and origin";
  app.add_option("--record", texts.record, "file for the record; must not exist")->check(not_empty())->group(group);
  app.add_option(
         "--verified-record", texts.verified_record,
         "file for the verified samples while timeline, components and counters follow; removed when the record "
         "is there (default: that of --record with .verified behind)")
      ->check(not_empty())
      ->group(group);
  app.add_flag("--json", options.json, "print the record instead of the summary")->group(group);
  app.add_option("--campaign-json", texts.campaign_file, "JSON object for the record's \"campaign\"")
      ->check(not_empty())
      ->group(group);
  app.add_option("--launcher", options.launcher, "what started this program, for the record")
      ->capture_default_str()
      ->group(group);
  app.add_option("--launched-at", texts.launched_at_s, "when it did, in seconds since the epoch")
      ->check(finite_positive())
      ->group(group);
  app.add_option("--started", options.started,
                 "file to create once MPI runs: tells a failed launcher from a failed run")
      ->group(group);
  const std::string questions = "Questions (no MPI, no measurement)";
  app.add_flag("--list", texts.list, "variants, exchanges and local FFT libraries as JSON")->group(questions);
  app.add_flag("--identity", texts.identity, "identity of machine and program as JSON")->group(questions);
  app.add_flag("--check-points", texts.check_points, "read points as JSON lines, answer which can be measured here")
      ->group(questions);
  app.set_version_flag("--version", std::string("fft_bench ") + build_info::version, "version")->group(questions);
  app.get_help_ptr()->group(questions);
}

void understand_counters(const CLI::App& app, const Texts& texts, Options& options) {
  try {
    CounterBackend& backend = CounterRegistry::instance().at(texts.counters);
    if (backend.default_group().empty()) {
      for (const char* name : {"--counter-group", "--counter-cache", "--counter-groups", "--qualification"})
        if (app.count(name) > 0) throw InputError(fmt::format("{} wants counters; as in --counters callgrind", name));
      return;
    }
    CounterOptions& counters = options.counters.emplace();
    counters.request = {texts.counters, texts.counter_group, texts.counter_groups, {}};
    if (app.count("--counter-cache") > 0) {
      if (!backend.simulates())
        throw InputError(fmt::format("--counter-cache: counters '{}' simulate no cache", texts.counters));
      counters.cache = texts.counter_cache;
      counters.request.cache = parse_cache_geometry(texts.counter_cache);
    }
    if (!texts.qualification.empty()) counters.qualification = texts.qualification;
  } catch (const CounterRequestError& error) {
    throw InputError(error.what());
  }
}

void understand(const CLI::App& app, const Texts& texts, Options& options) {
  if (texts.list + texts.identity + texts.check_points > 1)
    throw InputError("--list, --identity and --check-points exclude each other");
  options.mode = texts.list           ? Mode::list
                 : texts.identity     ? Mode::identity
                 : texts.check_points ? Mode::check_points
                                      : Mode::measure;
  if (options.mode != Mode::measure) {
    if (texts.counters != "none") throw InputError("--counters is of a measurement, and has no part in a question");
    return;
  }
  if (options.point.variant.empty()) throw InputError("--variant is missing; fft_bench --list shows all");
  if (texts.shape.empty()) throw InputError("--shape is missing; as in --shape 128x96x100");
  Problem& problem = options.point.problem;
  problem.precision = parse_precision(texts.precision, "--precision");
  problem.shape = parse_shape(texts.shape, "--shape");
  problem.grid = parse_grid(texts.grid, "--grid");
  const auto [kind, direction] = parse_kind_and_direction(
      texts.kind, app.count("--direction") > 0 ? std::optional<std::string_view>(texts.direction) : std::nullopt,
      "--kind", "--direction");
  problem.kind = kind;
  problem.direction = direction;
  problem.placement = parse_placement(texts.placement, "--placement");
  problem.contract = {parse_layout(texts.layout, "--layout"), parse_buffers(texts.buffers, "--buffers"),
                      parse_effort(texts.planner, "--planner")};
  for (const std::string& text : texts.parameters) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError("--parameter is '" + text + "'; expected KEY=VALUE, as chunks=4");
    problem.parameters[text.substr(0, equals)] = text.substr(equals + 1);
  }
  understand_counters(app, texts, options);
  options.sampling.phases = !texts.no_phases;
  if (app.count("--max-time-s") > 0) options.sampling.max_time_s = texts.max_time_s;
  if (app.count("--launched-at") > 0) options.launched_at_s = texts.launched_at_s;
  if (!texts.wisdom.empty()) options.wisdom = texts.wisdom;
  if (!texts.record.empty()) {
    options.record = texts.record;
    options.verified_record = texts.verified_record.empty() ? texts.record + ".verified" : texts.verified_record;
  } else if (!texts.verified_record.empty()) {
    throw InputError("--verified-record wants --record");
  }
  options.campaign = read_campaign(texts.campaign_file, "--campaign-json");
}

}  // namespace

Options parse_command_line(int argc, char** argv) {
  CLI::App app(description, "fft_bench");
  app.footer(examples);
  app.get_formatter()->column_width(28);
  Options options;
  Texts texts;
  add_point_options(app, options, texts);
  add_sampling_options(app, options, texts);
  add_counter_options(app, texts);
  add_output_options(app, options, texts);
  try {
    app.parse(argc, argv);
    understand(app, texts, options);
  } catch (const CLI::CallForHelp&) {
    throw Exit{0, app.help()};
  } catch (const CLI::CallForVersion& version) {
    throw Exit{0, std::string(version.what()) + "\n"};
  } catch (const CLI::ExtrasError& error) {
    throw Exit{2, "fft_bench: " + with_suggestion(app, error.what(), argc, argv) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw Exit{2, std::string("fft_bench: ") + error.what() + "\n"};
  } catch (const InputError& error) {
    throw Exit{2, std::string("fft_bench: ") + error.what() + "\n"};
  }
  return options;
}

}  // namespace fourscore::bench
