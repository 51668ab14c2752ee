// The driver: one measurement point, one record.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "core/text.hpp"
#include "harness/agreement.hpp"
#include "harness/instances.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "program/command_line.hpp"
#include "program/counters.hpp"
#include "program/devices.hpp"
#include "program/launch_place.hpp"
#include "program/measurement.hpp"
#include "program/memory_check.hpp"
#include "program/mpi_program.hpp"
#include "program/options.hpp"
#include "program/queries.hpp"
#include "program/record_builder.hpp"
#include "program/screen.hpp"
#include "program/wisdom.hpp"
#include "results/record_file.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;
constexpr const char* program_name = "fft_bench";

double seconds_since(SteadyTime begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int answer(const Options& options) {
  if (options.mode == Mode::check_points) {
    check_points(std::cin, std::cout);
    return 0;
  }
  const json reply = options.mode == Mode::list ? list_entries() : describe_identity();
  print_once(stdout, reply.dump(2) + "\n");
  return 0;
}

int answer_where(int argc, char** argv, const Options& options, SteadyTime begin) {
  die_with_the_launcher();
  const MpiStart start{program_name, ThreadLevel::funneled, options.started, options.launched_at, options.launch};
  return run_under_mpi(argc, argv, start, begin, [&](Agreement& agreement, const StepTimes&) {
    Point place;
    agreement.run([&] { set_launch_place(MPI_COMM_WORLD, options.launch, place); });
    const json reply = describe_launch_place(MPI_COMM_WORLD, place);
    agreement.run_on_root([&] { print_once(stdout, reply.dump() + "\n"); });
    return 0;
  });
}

/// Before anything is measured: would the record find its place?
void check_output(Agreement& agreement, const Options& options) {
  if (!options.record) return;
  agreement.run_on_root([&] {
    try {
      check_record_path(*options.record);
      if (has_optional_parts(options)) check_record_path(*options.verified_record);
    } catch (const RecordFileError& error) {
      throw InputError(std::string("--record: ") + error.what());
    }
  });
}

void deliver(Agreement& agreement, const Options& options, const json& record, const std::vector<std::string>& warnings,
             double total_s) {
  agreement.run_on_root([&] {
    if (options.record) {
      write_record_once(*options.record, record);
      std::error_code ignored;
      if (has_optional_parts(options)) std::filesystem::remove(*options.verified_record, ignored);
    }
    const std::string path = options.record ? options.record->string() : std::string();
    const std::string text = options.json ? record.dump(2, ' ', false, json::error_handler_t::replace) + "\n"
                                          : summary(record, warnings, path, total_s);
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

/// An MPI that gives less than was asked for cannot run the point. A rank of one thread funnels by itself.
void require_thread_level(ResolvedPoint& resolved) {
  if (resolved.skip) return;
  const Problem& problem = resolved.point.problem;
  ThreadLevel needed = resolved.variant->thread_level(problem);
  if (needed == ThreadLevel::funneled && problem.threads == 1) needed = ThreadLevel::single;
  const std::string missing = mpi::missing_thread_level(needed, "variant '" + resolved.point.variant + "'");
  if (!missing.empty()) resolved.skip = missing;
}

/// Where time is simulated, what measures time or counts work would tell of the simulator.
void require_what_can_be_simulated(const Options& options) {
  if (simulated_machine() == nullptr) return;
  if (options.counters) throw InputError("--counters on a simulated machine would count the simulator; expected none");
}

/// What an exchange finds out by trying, the same on all ranks.
void try_exchange(MPI_Comm comm, ResolvedPoint& resolved) {
  if (resolved.skip || resolved.exchange == nullptr) return;
  const auto found = failure_of_any(comm, [&] {
    if (const std::string reason = resolved.exchange->cannot_run_on(comm); !reason.empty()) throw InputError(reason);
  });
  if (found && found->code != 2) throw LeaveTogether{*found};
  if (found) resolved.skip = fmt::format("exchange '{}' cannot run here: {}", resolved.point.exchange, found->message);
}

/// What a variant finds out from the nodes of its ranks, the same on all of them.
void try_variant(MPI_Comm comm, ResolvedPoint& resolved, CheckExtent extent) {
  if (resolved.skip) return;
  const Problem& problem = resolved.point.problem;
  const bool inverted = extent == CheckExtent::all && problem.direction != Direction::roundtrip;
  const int here = problem.placement == Placement::subset ? 1 : problem.instances;
  const auto found = failure_of_any(comm, [&] {
    const std::string reason = resolved.variant->cannot_run_on(one_instance(problem), comm, here + (inverted ? 1 : 0));
    if (!reason.empty()) throw InputError(reason);
  });
  if (found && found->code != 2) throw LeaveTogether{*found};
  if (found) resolved.skip = fmt::format("variant '{}' cannot run here: {}", resolved.point.variant, found->message);
}

/// Why the memory does not suffice for the plan and what checks it, and whether less checking would make it do.
std::optional<std::string> lacking_memory_of(const ResolvedPoint& resolved, const MemoryShare& memory,
                                             CheckExtent extent) {
  if (extent == CheckExtent::spots) return lacking_memory(memory, min_bytes_of_a_rank(resolved, extent), "the plan");
  auto reason =
      lacking_memory(memory, min_bytes_of_a_rank(resolved, extent), "the plan and the inverse that checks it");
  if (reason && !lacking_memory(memory, min_bytes_of_a_rank(resolved, CheckExtent::spots), "the plan"))
    *reason += "; without the inverse it does (--check spots, in a suite check = \"spots\")";
  return reason;
}

/// Valid on rank 0; empty elsewhere.
PlanPlace place_of_plans(const Provenance& provenance) {
  if (provenance.record.is_null()) return {};
  std::size_t most = 0;
  for (const NodeFacts& node : provenance.nodes.facts) most = std::max(most, node.ranks.size());
  return {fmt::format("machine {}", provenance.record.value("machine_hash", "unknown")),
          fmt::format("{} a node", plural(most, "rank"))};
}

int run_point(Agreement& agreement, Options options, StepTimes steps, SteadyTime begin) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  ResolvedPoint resolved;
  agreement.run([&] {
    (void)mpi::ranks_per_pretended_node();  // a value that cannot be used is reported before anything else
    set_launch_place(comm, options.launch, options.point);
    resolved = resolve_point(options.point);
    if (resolved.grid_misfit) throw PointError("grid", *resolved.grid_misfit);
    require_thread_level(resolved);
    require_what_can_be_simulated(options);
  });
  try_exchange(comm, resolved);
  try_variant(comm, resolved, options.extent);
  check_output(agreement, options);
  agreement.run_on_root([&] { options.campaign = read_campaign(options.campaign_file, "--campaign-json"); });
  // Only rank 0 tells of them, and to hash some takes a while.
  const LocalLibraries libraries = mpi::rank_in(comm) == 0 ? local_libraries() : LocalLibraries{};
  Provenance provenance = collect_provenance(comm, options.launcher, resolved.point.problem.threads, libraries);
  if (const MemoryShare memory = shortest_memory(comm); !resolved.skip)
    resolved.skip = lacking_memory_of(resolved, memory, options.extent);
  if (resolved.skip) {
    const json record = mpi::rank_in(comm) == 0 ? build_skipped_record(options, resolved, provenance) : json();
    deliver(agreement, options, record, {}, seconds_since(begin));
    return 0;
  }
  try_counters(comm, agreement, options);
  resolved.variant->register_solvers();
  std::optional<Wisdom> wisdom;
  if (options.wisdom) wisdom.emplace(comm, agreement, *resolved.local_fft, *options.wisdom, place_of_plans(provenance));
  const Wisdom* const used = wisdom ? &*wisdom : nullptr;
  const auto keep = [&](const Measurement& verified) {
    if (options.record)
      replace_unfinished_record(*options.verified_record, build_record(options, resolved, used, verified, provenance));
  };
  json devices_before, devices_after;
  agreement.run([&] { devices_before = describe_devices(comm, resolved); });
  const Measurement measurement = measure(comm, agreement, options, resolved, wisdom ? &*wisdom : nullptr, steps, keep);
  add_states_after(comm, provenance);
  agreement.run([&] { devices_after = describe_devices(comm, resolved); });
  const auto write_begin = std::chrono::steady_clock::now();
  json record;
  std::vector<std::string> warnings;
  if (mpi::rank_in(comm) == 0) {
    record = build_record(options, resolved, used, measurement, std::move(provenance));
    add_devices(record, std::move(devices_before), devices_after);
    record["harness"]["write_s"] = seconds_since(write_begin);
    warnings = cost_warnings(resolved, measurement);
    if (wisdom && !wisdom->ignored().empty())
      warnings.push_back(fmt::format("wisdom file {}: {}; ignored", wisdom->file().string(), wisdom->ignored()));
  }
  deliver(agreement, options, record, warnings, seconds_since(begin));
  return measurement.ok && measurement.failed_parts.empty() ? 0 : 1;
}

int measure_point(int argc, char** argv, const Options& options, SteadyTime begin) {
  die_with_the_launcher();
  become_countable(options, argc, argv);
  const MpiStart start{program_name, wanted_thread_level(options.point), options.started, options.launched_at,
                       options.launch};
  return run_under_mpi(argc, argv, start, begin, [&](Agreement& agreement, const StepTimes& steps) {
    return run_point(agreement, options, steps, begin);
  });
}

}  // namespace
}  // namespace fourscore::bench

int main(int argc, char** argv) {
  using namespace fourscore::bench;
  return run_main(program_name, [&](SteadyTime begin) {
    const Options options = parse_command_line(argc, argv);
    if (options.mode == Mode::where) return answer_where(argc, argv, options, begin);
    if (options.mode != Mode::measure) return answer(options);
    check_counters(options);
    return measure_point(argc, argv, options, begin);
  });
}
