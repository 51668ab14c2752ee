// The driver: one measurement point, one record.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "core/text.hpp"
#include "harness/agreement.hpp"
#include "harness/instances.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "program/candidates.hpp"
#include "program/checked_by.hpp"
#include "program/command_line.hpp"
#include "program/counters.hpp"
#include "program/devices.hpp"
#include "program/launch.hpp"
#include "program/launch_place.hpp"
#include "program/launches.hpp"
#include "program/may_run.hpp"
#include "program/measurement.hpp"
#include "program/options.hpp"
#include "program/queries.hpp"
#include "program/record_builder.hpp"
#include "program/screen.hpp"
#include "program/tuning.hpp"
#include "program/wisdom.hpp"
#include "results/figures_of_merit.hpp"
#include "results/record_file.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;
constexpr const char* program_name = "fft_bench";

int answer_where(int argc, char** argv, const Options& options, SteadyTime begin) {
  return run_launch(argc, argv, program_name, ThreadLevel::funneled, options, begin, [&](Launch& launch) {
    Point place;
    launch.place(place);
    const json reply = describe_launch_place(launch.comm, place);
    launch.agreement.run_on_root([&] { print_once(stdout, reply.dump() + "\n"); });
    return 0;
  });
}

void deliver(const Launch& launch, const Options& options, const json& record,
             const std::vector<std::string>& warnings) {
  launch.deliver(record, [&] {
    std::error_code ignored;
    if (has_optional_parts(options) && options.record) std::filesystem::remove(*options.verified_record, ignored);
    const std::string path = options.record ? options.record->string() : std::string();
    const std::string text = options.json  ? record.dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                             : options.fom ? figures_of_merit(record)
                                           : summary(record, warnings, path, seconds_since(launch.begin));
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
      throw std::runtime_error("cannot write to standard output");
  });
}

/// Known before MPI is initialised, so that only what needs more pays for more. What cannot be used is reported later,
/// by rank 0 alone.
ThreadLevel wanted_thread_level(const Point& point) {
  const Variant* variant = VariantRegistry::instance().find(point.variant);
  try {
    return variant == nullptr ? ThreadLevel::funneled : variant->thread_level(point.problem);
  } catch (const InputError&) {
    return ThreadLevel::funneled;
  }
}

/// Where time is simulated, what measures time or counts work would tell of the simulator.
void require_what_can_be_simulated(const Options& options) {
  const SimulatedMachine* const machine = simulated_machine();
  if (machine == nullptr) return;
  if (options.counters) throw InputError("--counters on a simulated machine would count the simulator; expected none");
  const Point& point = options.point;
  const int threads = point.problem.threads;
  if (threads > 1 && machine->cores == 0)
    throw InputError(
        fmt::format("platform '{}' does not say how many cores a host has; expected cores in its [host], or one thread",
                    point.platform));
  const int ranks = (point.ranks + point.nodes - 1) / point.nodes;
  if (machine->cores > 0 && ranks * threads > machine->cores)
    throw InputError(fmt::format("{} of {} each on a host of platform '{}', which has {} cores", plural(ranks, "rank"),
                                 plural(threads, "thread"), point.platform, machine->cores));
}

/// Valid on rank 0; empty elsewhere.
PlanPlace place_of_plans(const Provenance& provenance) {
  if (provenance.record.is_null()) return {};
  std::size_t most = 0;
  for (const NodeFacts& node : provenance.nodes.facts) most = std::max(most, node.ranks.size());
  return {fmt::format("machine {}", provenance.record.value("machine_hash", "unknown")),
          fmt::format("{} a node", plural(most, "rank"))};
}

/// The point as it can be measured on these ranks; throws where it is unusable input.
Choice resolve_on_ranks(const Launch& launch, Options& options) {
  launch.place(options.point);
  Choice choice;
  launch.agreement.run([&] {
    choice = resolve_choice(options.point);
    const auto& refusal = choice.refusal;
    if (refusal && refusal->kind == Refusal::Kind::misfit) throw PointError(refusal->key, refusal->reason);
    require_what_can_be_simulated(options);
  });
  return choice;
}

/// What the launch finds beside, and of a tuned point the candidate that it chooses. Collective.
void choose_on_ranks(Launch& launch, const Options& options, Choice& choice, std::optional<Tuned>& tuned) {
  if (choice.refusal) return;
  if (choice.candidates.empty()) {
    choice.refusal = may_run_here(launch.comm, choice.resolved, options.extent);
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  tuned = tune(launch.comm, launch.agreement, options, choice.candidates);
  launch.steps.tune_s = seconds_since(begin);
  choice.refusal = tuned->refusal;
  if (tuned->resolved) choice.resolved = *tuned->resolved;
}

/// Collective; valid on rank 0. The measured point's record, and what the screen says beside.
struct Recorded {
  json record;
  std::vector<std::string> warnings;
  bool ok = false;  ///< everywhere
};
Recorded measure_and_record(Launch& launch, const Options& options, const ResolvedPoint& resolved, const json& tuning,
                            Provenance& provenance) {
  try_counters(launch.comm, launch.agreement, options);
  resolved.variant->register_solvers();
  std::optional<Wisdom> wisdom;
  if (options.wisdom)
    wisdom.emplace(launch.comm, launch.agreement, *resolved.local_fft, *options.wisdom, place_of_plans(provenance));
  Wisdom* const used = wisdom ? &*wisdom : nullptr;
  const auto keep = [&](const Measurement& verified) {
    if (options.record)
      replace_unfinished_record(*options.verified_record,
                                build_record(options, resolved, used, verified, provenance, tuning));
  };
  json devices_before, devices_after;
  launch.agreement.run([&] { devices_before = describe_devices(launch.comm, resolved); });
  const Measurement measurement = measure(launch.comm, launch.agreement, options, resolved, used, launch.steps, keep);
  add_states_after(launch.comm, provenance);
  launch.agreement.run([&] { devices_after = describe_devices(launch.comm, resolved); });
  const auto write_begin = std::chrono::steady_clock::now();
  Recorded recorded;
  recorded.ok = measurement.ok && measurement.failed_parts.empty();
  if (mpi::rank_in(launch.comm) != 0) return recorded;
  recorded.record = build_record(options, resolved, used, measurement, std::move(provenance), tuning);
  add_devices(recorded.record, std::move(devices_before), devices_after);
  recorded.record["harness"]["write_s"] = seconds_since(write_begin);
  recorded.warnings = cost_warnings(resolved, measurement);
  if (wisdom && !wisdom->ignored().empty())
    recorded.warnings.push_back(fmt::format("wisdom file {}: {}; ignored", wisdom->file().string(), wisdom->ignored()));
  return recorded;
}

int run_point(Launch& launch, Options options) {
  Choice choice = resolve_on_ranks(launch, options);
  launch.check_output(has_optional_parts(options) ? options.verified_record : std::nullopt);
  options.campaign = launch.campaign();
  std::optional<Tuned> tuned;
  choose_on_ranks(launch, options, choice, tuned);
  const ResolvedPoint& resolved = choice.resolved;
  // Only rank 0 tells of them, and to hash some takes a while.
  const bool root = mpi::rank_in(launch.comm) == 0;
  const LocalLibraries libraries = root ? local_libraries() : LocalLibraries{};
  Provenance provenance = collect_provenance(launch.comm, options.launcher, resolved.point.problem.threads, libraries);
  if (choice.refusal) {
    const auto record = [&] { return build_skipped_record(options, resolved, choice.refusal->reason, provenance); };
    deliver(launch, options, root ? record() : json(), {});
    return 0;
  }
  const json tuning = tuned ? tuning_json(resolved, *tuned) : json();
  const std::string not_relied_on = rely_on_earlier_checks(launch, options, resolved, tuning, provenance.record);
  Recorded recorded = measure_and_record(launch, options, resolved, tuning, provenance);
  if (!not_relied_on.empty()) recorded.warnings.push_back(not_relied_on);
  deliver(launch, options, recorded.record, recorded.warnings);
  return recorded.ok ? 0 : 1;
}

/// Libraries of others keep state in the process, as the solvers that FFTW's MPI adds to FFTW.
bool is_of_others(const Options& options) {
  return dynamic_cast<const ReferenceVariant*>(VariantRegistry::instance().find(options.point.variant)) != nullptr;
}

bool can_follow(const Options& options, const Options& first) {
  return wanted_thread_level(options.point) == wanted_thread_level(first.point) && !is_of_others(options) &&
         !is_of_others(first);
}

/// A launch that cannot follow the first is left out, as if the job had not known of it: whoever asked finds neither a
/// record nor its --started, and gives it a job of its own.
int run_launches(Launch& job, const std::vector<Options>& launches) {
  int code = 0;
  int before = 0;
  for (Options options : launches) {
    const bool first = before == 0;
    if (!first && !can_follow(options, launches.front())) continue;
    options.launches_before = before++;
    if (!first) {
      forget_peak_memory();
      announce_start(options.started);
    }
    Launch launch{job.agreement, options, first ? job.steps : StepTimes{},
                  first ? job.begin : std::chrono::steady_clock::now()};
    code = std::max(code, run_point(launch, options));
  }
  return code;
}

}  // namespace
}  // namespace fourscore::bench

int main(int argc, char** argv) {
  using namespace fourscore::bench;
  return run_main(program_name, [&](SteadyTime begin) {
    const Options options = parse_command_line(argc, argv);
    if (!options.launches.empty()) {
      const std::vector<Options> launches = read_launches(options.launches);
      const Options& first = launches.front();
      return run_launch(argc, argv, program_name, wanted_thread_level(first.point), first, begin,
                        [&](Launch& job) { return run_launches(job, launches); });
    }
    if (options.mode == Mode::where) return answer_where(argc, argv, options, begin);
    if (options.mode != Mode::measure) return answer(options.mode, {list_entries, about_point});
    check_counters(options);
    become_countable(options, argc, argv);
    return run_launch(argc, argv, program_name, wanted_thread_level(options.point), options, begin,
                      [&](Launch& launch) { return run_point(launch, options); });
  });
}
