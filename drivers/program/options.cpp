#include "program/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <vector>

#include "core/point_keys.hpp"
#include "core/text.hpp"
#include "core/wrapped_help.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "program/plugins.hpp"

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
  mpirun -n 4 fft_bench --where
  echo '{"variant":"slab","shape":[64,64,64],"ranks":2}' | fft_bench --check-points

Exit codes: 0 measured, or skipped with a reason; 1 the result is wrong, or what follows the samples failed;
2 unusable input; 3 the environment failed.)";

/// What the options hold before they are understood.
struct Texts {
  std::map<std::string_view, std::string> point;  ///< by key
  std::string counters = "none", counter_group, counter_cache, counter_groups, qualification;
  std::string wisdom, checked_by, launches, verified_record, slow_down;
};

void add_point_options(CLI::App& app, Options& options, Texts& texts) {
  const std::string group = "The point";
  for (const PointKey& key : point_keys()) {
    if (key.option.empty() || key.of_launch) continue;
    std::string& text = texts.point[key.name] = key.get({});
    app.add_option(std::string(key.option), text, key.help)
        ->type_name(key.form == Form::integer ? "INT" : "TEXT")
        ->capture_default_str()
        ->group(group);
  }
  add_parameter_option(app, options, group, "an option of the variant's or the exchange's own");
  app.add_option("--plugin", options.plugins,
                 "library with the functions of fourscore.h, whose transforms are variants too; may be repeated")
      ->type_name("FILE")
      ->group(group);
}

void add_sampling_options(CLI::App& app, Options& options, Texts& texts) {
  const std::string group = "The measurement";
  add_setting_options(app, options.settings, false, group);
  app.add_option("--slow-down", texts.slow_down,
                 "make runs longer on purpose, to try out the gate: pack=0.05 by 5 %, all of it in pack; flagged")
      ->type_name("PHASE=PART")
      ->group(group);
  app.add_option("--seed", options.seed, "of the input data")
      ->check(unsigned_integer())
      ->capture_default_str()
      ->group(group);
  app.add_option("--wisdom", texts.wisdom, "planner's memory: read when there, written after planning")
      ->check(not_empty())
      ->group(group);
  app.add_option("--checked-by", texts.checked_by,
                 "an earlier record of the point by this program on this machine, whose checks stand for those before "
                 "timing but plane waves; the checks after timing stay")
      ->type_name("RECORD")
      ->check(not_empty())
      ->group(group);
}

void add_counter_options(CLI::App& app, Texts& texts) {
  const std::string group = "Counters, in further runs behind the timed ones";
  app.add_option("--counters", texts.counters, "what counts; fourscore list counters shows all")
      ->capture_default_str()
      ->group(group);
  app.add_option("--counter-group", texts.counter_group, "which events; default: the backend's own, as MEM")
      ->group(group);
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
  add_common_options(app, options, "variants, exchanges and local FFT libraries");
  app.add_option(
         "--verified-record", texts.verified_record,
         "file for the verified samples while timeline, components and counters follow; removed when the record "
         "is there (default: that of --record with .verified behind)")
      ->check(not_empty())
      ->group(output_group);
  CLI::Option* const whole =
      app.add_flag("--json", options.json, "print the record instead of the summary")->group(output_group);
  app.add_flag("--fom", options.fom, "print figures of merit instead, as lines 'fom KEY VALUE' for other tools")
      ->excludes(whole)
      ->group(output_group);
  app.add_option("--launches", texts.launches,
                 "JSON list of command lines, each a launch, made one after another in this MPI job; no other option "
                 "goes with it")
      ->type_name("FILE")
      ->check(not_empty())
      ->group("Several launches");
  app.add_flag_callback(
         "--where",
         [&options] {
           if (options.mode != Mode::measure)
             throw InputError("--where, --list, --identity and --check-points exclude each other");
           options.mode = Mode::where;
         },
         "measure nothing: on which nodes and cores the ranks are, as JSON")
      ->group("A question under MPI");
}

void understand_counters(const CLI::App& app, const Texts& texts, Options& options) {
  try {
    CounterBackend& backend = counter_backend(texts.counters);
    if (backend.default_group().empty()) {
      for (const char* name : {"--counter-group", "--counter-cache", "--counter-groups", "--qualification"})
        if (app.count(name) > 0) throw InputError(fmt::format("{} wants counters; as in --counters callgrind", name));
      if (options.settings.idle_s > 0) throw InputError("--idle-s wants counters; as in --counters powercap");
      return;
    }
    CounterOptions& counters = options.counters.emplace();
    counters.request = {texts.counters, texts.counter_group, texts.counter_groups, {}};
    counters.request.idle_s = options.settings.idle_s;
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

/// Under a simulator of the processor a launch would choose by the time that the simulator takes.
void require_real_time_to_tune(const Options& options) {
  if (!is_tuned(options.point) || !options.counters) return;
  const std::string& backend = options.counters->request.backend;
  if (counter_backend(backend).simulates())
    throw InputError(fmt::format("--counters {} with {} tuned, under which times say nothing; expected one by name",
                                 backend, options.point.exchange == tuned_word ? "--exchange" : "--grid"));
}

/// "pack=0.05"
SlowDown parse_slow_down(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto* const phase = std::find(phase_names.begin(), phase_names.end(), text.substr(0, equals));
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto part = number_from<double>(number);
  if (phase == phase_names.end() || !part || !(*part > 0) || *part > 100)
    throw InputError(
        fmt::format("--slow-down is '{}'; expected a phase ({}) and a part of the run's time up to 100, "
                    "as in pack=0.05",
                    text, fmt::join(phase_names, ", ")));
  return {static_cast<Phase>(phase - phase_names.begin()), *part};
}

Point asked_point(const CLI::App& app, const Texts& texts, const Options& options) {
  std::vector<KeyText> values;
  for (const PointKey& key : point_keys()) {
    const std::string option(key.option);
    if (option.empty() || key.of_launch) continue;
    if (app.count(option) > 0)
      values.push_back({&key, texts.point.at(key.name), option});
    else if (key.required)
      throw InputError(fmt::format("{} is missing: {}", option, key.help));
  }
  Point point;
  set_point_values(point, values);
  point.problem.parameters = options.parameters;
  return point;
}

/// --launches stands alone: each launch has options of its own.
void require_alone(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0 && option->get_name() != "--launches")
      throw InputError(fmt::format(
          "--launches and {} exclude each other; expected the option in the file's command lines", option->get_name()));
}

void understand(const CLI::App& app, const Texts& texts, Options& options) {
  options.launches = texts.launches;
  if (!texts.launches.empty()) return require_alone(app);
  open_plugins(options.plugins);
  if (options.mode != Mode::measure) {
    if (texts.counters != "none") throw InputError("--counters is of a measurement, and has no part in a question");
    return;
  }
  options.point = asked_point(app, texts, options);
  understand_counters(app, texts, options);
  require_real_time_to_tune(options);
  const Settings& settings = options.settings;
  options.sampling = {.repetitions = settings.repetitions,
                      .warmup = settings.warmup,
                      .max_time_s = settings.max_time_s > 0 ? std::optional(settings.max_time_s) : std::nullopt,
                      .phases = settings.phases};
  if (settings.check == "spots") options.extent = CheckExtent::spots;
  if (app.count("--slow-down") > 0) {
    options.sampling.slow_down = parse_slow_down(texts.slow_down);
    if (!settings.phases) throw InputError("--slow-down and --no-phases exclude each other");
    if (settings.warmup == 0) throw InputError("--slow-down wants --warmup 1 or more, from which it knows the phase");
  }
  if (!texts.wisdom.empty()) options.wisdom = texts.wisdom;
  if (!texts.checked_by.empty()) options.checked_by = texts.checked_by;
  if (!texts.verified_record.empty() && !options.record) throw InputError("--verified-record wants --record");
  if (options.record)
    options.verified_record =
        texts.verified_record.empty() ? options.record->string() + ".verified" : texts.verified_record;
  const std::optional<std::filesystem::path> qualification =
      options.counters ? options.counters->qualification : std::nullopt;
  check_files(options, {{"--verified-record", options.verified_record.value_or("")},
                        {"--wisdom", options.wisdom.value_or("")},
                        {"--qualification", qualification.value_or("")}});
}

}  // namespace

Options parse_command_line(int argc, char** argv) {
  CLI::App app(description, "fft_bench");
  app.footer(examples);
  app.formatter(std::make_shared<WrappedHelp>());
  Options options;
  Texts texts;
  add_point_options(app, options, texts);
  add_sampling_options(app, options, texts);
  add_counter_options(app, texts);
  add_output_options(app, options, texts);
  parse_or_exit(app, argc, argv, [&] { understand(app, texts, options); });
  return options;
}

}  // namespace fourscore::bench
