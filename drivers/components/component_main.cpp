#include "components/component_main.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "components/component_options.hpp"
#include "components/component_session.hpp"
#include "core/record.hpp"
#include "core/threads.hpp"
#include "harness/gather.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/thread_level.hpp"
#include "program/launch.hpp"
#include "program/queries.hpp"
#include "program/verifiers.hpp"

namespace fourscore::component {
namespace {

using bench::Launch;
using nlohmann::json;

json about(const Point& point, const Program& program) {
  const ProgramCard card = program.card();
  if (point.component != card.name)
    throw InputError(fmt::format("the point is not one of {}: {}", card.name, point_json(point).dump()));
  const Parameters parameters(card.name, card.parameters, point.problem.parameters);
  const auto refused = program.refuses(parameters, point.ranks);
  return {{"point_id", point_id(point)},
          {"point", point_json(point)},
          {"supported", !refused},
          {"reason", refused.value_or("")}};
}

/// What one launch measures.
struct Measured {
  const Program& program;
  const ProgramCard card;
  Options options;
  Provenance provenance{};
  Point point{};
};

/// By entry, [rank][repetition] on rank 0.
std::vector<std::vector<std::vector<double>>> times_of_ranks(MPI_Comm comm, const std::vector<Entry>& entries) {
  std::vector<std::vector<std::vector<double>>> times;
  for (const Entry& entry : entries) times.push_back(gather_rows(comm, entry.own_s));
  return times;
}

/// On rank 0. `rank_s`: [rank][repetition].
json benchmark_json(const BenchmarkSession& session, std::size_t index,
                    const std::vector<std::vector<double>>& rank_s) {
  const Entry& entry = session.entries()[index];
  return {{"name", entry.benchmark.name},
          {"kernel", entry.benchmark.kernel},
          {"labels", json(entry.benchmark.labels)},
          {"numbers", json(entry.benchmark.numbers)},
          {"iterations", entry.iterations},
          {"time_s", entry.time_s},
          {"rank_s", rank_s},
          {"in_cache", session.in_cache(entry.benchmark)},
          {"emulated", entry.benchmark.emulated}};
}

/// What is timed between two readings of the clock: a batch, or one iteration.
double smallest_stretch_s(const json& benchmarks, bool synchronised) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const json& entry : benchmarks) {
    const std::int64_t together = synchronised ? 1 : batch_of(entry["iterations"].get<std::int64_t>());
    for (const json& time : entry["time_s"])
      smallest = std::min(smallest, time.get<double>() * static_cast<double>(together));
  }
  return smallest;
}

std::vector<std::string> flags_of(const Measured& measured, const json& benchmarks) {
  const auto all = [&](const char* key) {
    return std::ranges::all_of(benchmarks, [&](const json& entry) { return entry[key].get<bool>(); });
  };
  const auto any = [&](const char* key) {
    return std::ranges::any_of(benchmarks, [&](const json& entry) { return entry[key].get<bool>(); });
  };
  FlagFacts facts;
  facts.nodes = measured.provenance.nodes.facts_by_kernel;
  facts.heterogeneous = measured.provenance.nodes.heterogeneous();
  facts.threads = threads_of(measured.point);
  // Where a record has sizes in and out of the caches, each benchmark says it for itself.
  for (NodeFacts& node : facts.nodes) node.plan_bytes = all("in_cache") ? 0 : std::numeric_limits<double>::infinity();
  const json& now = measured.provenance.record.at("volatile");
  facts.clock_source = now.value("clock_source", "");
  facts.clock_resolution_s = now.at("clock_resolution_s").get<double>();
  facts.smallest_sample_s = smallest_stretch_s(benchmarks, measured.options.settings.synchronised);
  facts.emulated = any("emulated") || measured.provenance.emulated;
  return validity_flags(facts);
}

/// Collective; on rank 0 the record.
json record_of(const Launch& launch, const Measured& measured, const BenchmarkSession& session) {
  const auto times = times_of_ranks(launch.comm, session.entries());
  if (session.rank() != 0) return nullptr;
  Verdict verdict;
  if (!session.ok()) verdict = {"wrong", session.wrong(), 1, 0, ""};
  json record = make_record(measured.point, measured.options.campaign, verdict, measured.provenance.record);
  std::vector<Check> checks;
  json benchmarks = json::array();
  for (std::size_t i = 0; i < session.entries().size(); ++i) {
    const Entry& entry = session.entries()[i];
    if (!entry.check.name.empty()) checks.push_back(entry.check);
    if (entry.own_s.empty()) continue;
    benchmarks.push_back(benchmark_json(session, i, times[i]));
    // A label, so that nobody takes the two for one curve.
    if (measured.options.settings.synchronised) benchmarks.back()["labels"]["timing"] = "synchronised";
  }
  record["sampling"] = settings_json(measured.options.settings, true);
  record["sampling"]["start"] = Sampler::start_method;
  record["cards"] = {
      {"component",
       {{"name", measured.card.name}, {"summary", measured.card.summary}, {"citation", measured.card.citation}}}};
  record["verification"] = {{"ok", session.ok()}, {"checks", bench::checks_json(checks)}};
  record["harness"] = bench::harness_json(launch.steps);
  record["counters"] = {{"backend", "none"}};
  if (!session.ok()) {
    record["harness"].erase("measure_s");
    return record;
  }
  record["verified_by"] = by_harness;
  record["flags"] = flags_of(measured, benchmarks);
  record["benchmarks"] = std::move(benchmarks);
  return record;
}

void deliver(const Launch& launch, const json& record) {
  launch.deliver(record, [&] {
    const json& verdict = record["verdict"];
    if (verdict["status"] != "ok")
      fmt::print(stderr, "{}: {}: {}\n", record["point"]["component"].get<std::string>(),
                 verdict["status"].get<std::string>(), verdict["reason"].get<std::string>());
  });
}

int deliver_skipped(const Launch& launch, const Measured& measured, const std::string& reason) {
  json record;
  if (mpi::rank_in(launch.comm) == 0)
    record = make_unlaunched_record(measured.point, measured.options.campaign, {"skipped", reason, 0, 0, ""},
                                    measured.provenance.record);
  deliver(launch, record);
  return 0;
}

/// Collective. Nothing, or on all ranks why the memory does not suffice, as the lowest rank that lacks it says.
Reason add_benchmarks(const Launch& launch, const Program& program, BenchmarkSession& session) {
  Reason lacking;
  launch.agreement.run([&] {
    try {
      program.add_benchmarks(session);
    } catch (const LacksMemory& error) {
      lacking = error.what();
    }
  });
  return mpi::first_text(launch.comm, lacking);
}

int run_point(Launch& launch, Measured measured) {
  Options& options = measured.options;
  measured.point.component = measured.card.name;
  measured.point.problem.parameters = options.parameters;
  launch.place(measured.point);
  Reason refused;
  launch.agreement.run([&] {
    const Parameters parameters(measured.card.name, measured.card.parameters, options.parameters);
    refused = measured.program.refuses(parameters, measured.point.ranks);
  });
  launch.check_output();
  options.campaign = launch.campaign();
  measured.provenance =
      collect_provenance(launch.comm, options.launcher, threads_of(measured.point), bench::local_libraries());
  if (refused) return deliver_skipped(launch, measured, *refused);
  BenchmarkSession session(launch.comm, launch.agreement, measured.card, options, measured.provenance.nodes.facts);
  if (const auto lacking = add_benchmarks(launch, measured.program, session))
    return deliver_skipped(launch, measured, *lacking);
  const auto begin = std::chrono::steady_clock::now();
  bool ran = false;
  launch.agreement.run([&] { ran = session.run(); });
  launch.steps.measure_s = bench::seconds_since(begin);
  if (!ran) return 0;
  const auto gathered = std::chrono::steady_clock::now();
  json record = record_of(launch, measured, session);
  if (!record.is_null()) record["harness"]["write_s"] = bench::seconds_since(gathered);
  deliver(launch, record);
  return session.ok() ? 0 : 1;
}

}  // namespace

int run(int argc, char** argv, const Program& program) {
  const ProgramCard card = program.card();
  return bench::run_main(card.name, [&](bench::SteadyTime begin) {
    const Options options = parse_command_line(argc, argv, card);
    if (options.mode != Mode::measure)
      return bench::answer(
          options.mode, {[&] { return card_json(card); }, [&](const Point& point) { return about(point, program); }});
    return bench::run_launch(argc, argv, card.name, ThreadLevel::funneled, options, begin, [&](Launch& launch) {
      return run_point(launch, {program, card, options});
    });
  });
}

}  // namespace fourscore::component
