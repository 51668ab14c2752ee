#include "components/component_main.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>

#include "components/component_options.hpp"
#include "components/component_session.hpp"
#include "core/record.hpp"
#include "core/threads.hpp"
#include "harness/gather.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/thread_level.hpp"
#include "program/launch_place.hpp"
#include "program/measurement.hpp"
#include "program/mpi_program.hpp"
#include "program/queries.hpp"
#include "results/record_file.hpp"

namespace fourscore::component {
namespace {

using bench::SteadyTime;
using bench::StepTimes;
using nlohmann::json;

double seconds_since(SteadyTime begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

json answer_to(const std::string& line, const Program& program) {
  const ProgramCard card = program.card();
  try {
    const Point point = point_from_json(json::parse(line));
    if (point.component != card.name)
      throw InputError(fmt::format("the point is not one of {}: {}", card.name, point_json(point).dump()));
    const Parameters parameters(card.name, card.parameters, point.problem.parameters);
    const auto refused = program.refuses(parameters, point.ranks);
    return {{"point_id", point_id(point)},
            {"point", point_json(point)},
            {"supported", !refused},
            {"reason", refused.value_or("")},
            {"error", false}};
  } catch (const json::parse_error& error) {
    return {{"supported", false}, {"reason", std::string("not JSON: ") + error.what()}, {"error", true}};
  } catch (const ParameterError& error) {
    return {{"supported", false}, {"reason", error.what()}, {"error", true}, {"key", error.name}};
  } catch (const InputError& error) {
    return {{"supported", false}, {"reason", error.what()}, {"error", true}};
  }
}

int answer(const Options& options, const Program& program) {
  if (options.mode == Mode::check_points) {
    for (std::string line; std::getline(std::cin, line);)
      if (!line.empty())
        std::cout << answer_to(line, program).dump(-1, ' ', false, json::error_handler_t::replace) << "\n"
                  << std::flush;
    return 0;
  }
  const json reply = options.mode == Mode::list ? card_json(program.card()) : bench::describe_identity();
  bench::print_once(stdout, reply.dump(2) + "\n");
  return 0;
}

/// One launch as it goes on.
struct Launch {
  const Program& program;
  const ProgramCard card;
  Options options;
  Agreement& agreement;
  MPI_Comm comm = MPI_COMM_WORLD;
  StepTimes steps{};
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

std::vector<std::string> flags_of(const Launch& launch, const json& benchmarks) {
  const auto all = [&](const char* key) {
    return std::ranges::all_of(benchmarks, [&](const json& entry) { return entry[key].get<bool>(); });
  };
  const auto any = [&](const char* key) {
    return std::ranges::any_of(benchmarks, [&](const json& entry) { return entry[key].get<bool>(); });
  };
  FlagFacts facts;
  facts.nodes = launch.provenance.nodes.facts_by_kernel;
  facts.heterogeneous = launch.provenance.nodes.heterogeneous();
  facts.threads = threads_of(launch.point);
  // Where a record has sizes in and out of the caches, each benchmark says it for itself.
  for (NodeFacts& node : facts.nodes) node.plan_bytes = all("in_cache") ? 0 : std::numeric_limits<double>::infinity();
  const json& now = launch.provenance.record.at("volatile");
  facts.clock_source = now.value("clock_source", "");
  facts.clock_resolution_s = now.at("clock_resolution_s").get<double>();
  facts.smallest_sample_s = smallest_stretch_s(benchmarks, launch.options.settings.synchronised);
  facts.emulated = any("emulated") || launch.provenance.emulated;
  return validity_flags(facts);
}

/// Collective; on rank 0 the record.
json record_of(Launch& launch, const BenchmarkSession& session) {
  const auto times = times_of_ranks(launch.comm, session.entries());
  if (session.rank() != 0) return nullptr;
  Verdict verdict;
  if (!session.ok()) verdict = {"wrong", session.wrong(), 1, 0, ""};
  json record = make_record(launch.point, launch.options.campaign, verdict, launch.provenance.record);
  std::vector<Check> checks;
  json benchmarks = json::array();
  for (std::size_t i = 0; i < session.entries().size(); ++i) {
    const Entry& entry = session.entries()[i];
    if (!entry.check.name.empty()) checks.push_back(entry.check);
    if (entry.own_s.empty()) continue;
    benchmarks.push_back(benchmark_json(session, i, times[i]));
    // A label, so that nobody takes the two for one curve.
    if (launch.options.settings.synchronised) benchmarks.back()["labels"]["timing"] = "synchronised";
  }
  record["sampling"] = settings_json(launch.options.settings, true);
  record["sampling"]["start"] = Sampler::start_method;
  record["cards"] = {
      {"component",
       {{"name", launch.card.name}, {"summary", launch.card.summary}, {"citation", launch.card.citation}}}};
  record["verification"] = {{"ok", session.ok()}, {"checks", bench::checks_json(checks)}};
  record["harness"] = bench::harness_json(launch.steps);
  record["counters"] = {{"backend", "none"}};
  if (!session.ok()) {
    record["harness"].erase("measure_s");
    return record;
  }
  record["flags"] = flags_of(launch, benchmarks);
  record["benchmarks"] = std::move(benchmarks);
  return record;
}

void deliver(Launch& launch, const json& record) {
  launch.agreement.run_on_root([&] {
    if (launch.options.record) write_record_once(*launch.options.record, record);
    const json& verdict = record["verdict"];
    if (verdict["status"] != "ok")
      fmt::print(stderr, "{}: {}: {}\n", launch.card.name, verdict["status"].get<std::string>(),
                 verdict["reason"].get<std::string>());
  });
}

int deliver_skipped(Launch& launch, const std::string& reason) {
  json record;
  if (mpi::rank_in(launch.comm) == 0)
    record = make_unlaunched_record(launch.point, launch.options.campaign, {"skipped", reason, 0, 0, ""},
                                    launch.provenance.record);
  deliver(launch, record);
  return 0;
}

/// Collective. Nothing, or on all ranks why the memory does not suffice, as the lowest rank that lacks it says.
std::optional<std::string> add_benchmarks(Launch& launch, BenchmarkSession& session) {
  std::string lacking;
  launch.agreement.run([&] {
    try {
      launch.program.add_benchmarks(session);
    } catch (const LacksMemory& error) {
      lacking = error.what();
    }
  });
  const int ranks = mpi::size_of(launch.comm);
  int first = lacking.empty() ? ranks : mpi::rank_in(launch.comm);
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, launch.comm));
  if (first == ranks) return std::nullopt;
  lacking = mpi::broadcast_text(launch.comm, first, lacking);
  return lacking;
}

int run_launch(Launch& launch) {
  const Options& options = launch.options;
  launch.point.component = launch.card.name;
  launch.point.problem.parameters = options.parameters;
  std::optional<std::string> refused;
  launch.agreement.run([&] {
    (void)mpi::ranks_per_pretended_node();  // a value that cannot be used is reported before anything else
    bench::set_launch_place(launch.comm, options.launch, launch.point);
    refused = launch.program.refuses(Parameters(launch.card.name, launch.card.parameters, options.parameters),
                                     launch.point.ranks);
  });
  launch.agreement.run_on_root(
      [&] { launch.options.campaign = bench::read_campaign(options.campaign_file, "--campaign-json"); });
  if (options.record)
    launch.agreement.run_on_root([&] {
      try {
        check_record_path(*options.record);
      } catch (const RecordFileError& error) {
        throw InputError(std::string("--record: ") + error.what());
      }
    });
  launch.provenance =
      collect_provenance(launch.comm, options.launcher, threads_of(launch.point), bench::local_libraries());
  if (refused) return deliver_skipped(launch, *refused);
  BenchmarkSession session(launch.comm, launch.agreement, launch.card, options, launch.provenance.nodes.facts);
  if (const auto lacking = add_benchmarks(launch, session)) return deliver_skipped(launch, *lacking);
  const auto measured = std::chrono::steady_clock::now();
  bool ran = false;
  launch.agreement.run([&] { ran = session.run(); });
  launch.steps.measure_s = seconds_since(measured);
  if (!ran) return 0;
  const auto gathered = std::chrono::steady_clock::now();
  json record = record_of(launch, session);
  if (!record.is_null()) record["harness"]["write_s"] = seconds_since(gathered);
  deliver(launch, record);
  return session.ok() ? 0 : 1;
}

int measure_point(int argc, char** argv, const Options& options, const Program& program, SteadyTime begin) {
  bench::die_with_the_launcher();
  const ProgramCard card = program.card();
  const bench::MpiStart start{card.name, ThreadLevel::funneled, options.started, options.launched_at};
  return bench::run_under_mpi(argc, argv, start, begin, [&](Agreement& agreement, const StepTimes& steps) {
    Launch launch{program, card, options, agreement};
    launch.steps = steps;
    return run_launch(launch);
  });
}

}  // namespace

int run(int argc, char** argv, const Program& program) {
  return bench::run_main(program.card().name, [&](SteadyTime begin) {
    const Options options = parse_command_line(argc, argv, program.card());
    if (options.mode != Mode::measure) return answer(options, program);
    return measure_point(argc, argv, options, program, begin);
  });
}

}  // namespace fourscore::component
