#include "results/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/number_ranges.hpp"
#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "core/threads.hpp"

namespace fourscore {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

template <class Value>
Value value_at(const json& record, const char* path, Value absent) {
  const Pointer pointer{path};
  return record.contains(pointer) ? record.at(pointer).get<Value>() : absent;
}

bool is_component(const json& record) { return record.at("point").contains("component"); }

int threads_in(const json& record) {
  Point point;
  point.component = value_at<std::string>(record, "/point/component", "");
  point.problem.threads = value_at(record, "/point/threads", 1);
  point.problem.parameters = value_at<std::map<std::string, std::string>>(record, "/point/parameters", {});
  return threads_of(point);
}

/// Bytes of buffers and workspace on the rank that has most; a component says of each benchmark whether it fits caches.
double plan_bytes_of_a_rank(const json& record) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  if (is_component(record)) {
    const bool all = std::ranges::all_of(record.value("benchmarks", json::array()),
                                         [](const json& entry) { return entry.value("in_cache", false); });
    return all ? 0 : unknown;
  }
  const auto plans = value_at<std::vector<double>>(record, "/memory/plan_bytes", {});
  const auto workspaces = value_at<std::vector<double>>(record, "/memory/workspace_bytes", {});
  if (plans.empty() || plans.size() != workspaces.size()) return unknown;
  double most = 0;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) most = std::max(most, plans[rank] + workspaces[rank]);
  return most;
}

/// The bytes of one outermost data cache: the ranks of a node are beside one at least.
double last_level_cache_bytes(const json& machine) {
  double bytes = 0;
  for (const json& cache : machine.value("caches", json::array()))
    if (cache.is_object()) bytes = cache.value("bytes", 0.0);  // in the order of their levels
  return bytes;
}

/// Describes the nodes whose ranks may use the same units.
NodeFacts node_of(const json& units_of_ranks, const json& machine, double plan_bytes_of_a_rank) {
  NodeFacts node;
  const auto per_core = static_cast<std::size_t>(std::max(1, machine.value("threads_per_core", 1)));
  std::set<int> all;
  for (const json& text : units_of_ranks) {
    const auto units = numbers_of_ranges(text.get<std::string>());
    if (!units) return {};
    all.insert(units->begin(), units->end());
    NodeFacts::Rank rank;
    for (std::size_t core = 0; core * per_core < units->size(); ++core) rank.cores.insert(static_cast<int>(core));
    node.ranks.push_back(std::move(rank));
  }
  node.most_cores = all.size();
  if (const int cores = machine.value("cores", 0); cores > 0)
    node.most_cores = std::min(all.size(), static_cast<std::size_t>(cores));
  node.plan_bytes = plan_bytes_of_a_rank * static_cast<double>(node.ranks.size());
  node.last_level_cache_bytes = last_level_cache_bytes(machine);
  return node;
}

/// Each kind of them once. Nodes of several kinds of machines, simulated ones, and those that may be one machine under
/// several names are not told by what the record says of the first.
std::vector<NodeFacts> nodes_of(const json& record) {
  const json identity = value_at(record, "/provenance/identity", json::object());
  const bool several = value_at(record, "/point/nodes", 1) > 1;
  const auto said = record.value("flags", std::vector<std::string>{});
  if (identity.contains("other_machines") || record.at("point").contains("platform") ||
      (several && std::ranges::find(said, "emulated") != said.end()))
    return {};
  std::vector<NodeFacts> nodes;
  const json machine = identity.value("machine", json::object());
  for (const json& kind : value_at(identity, "/launch/core_maps", json::array()))
    nodes.push_back(node_of(kind.at("cores"), machine, plan_bytes_of_a_rank(record)));
  return nodes;
}

/// Largest |sum of phases - total| / total of a rank and repetition.
std::optional<double> closure_of(const json& samples) {
  using Rows = std::vector<std::vector<double>>;
  const auto phases = value_at<std::map<std::string, Rows>>(samples, "/rank_phase_s", {});
  const auto totals = value_at<Rows>(samples, "/rank_total_s", {});
  if (phases.empty()) return std::nullopt;
  double worst = 0;
  for (std::size_t rank = 0; rank < totals.size(); ++rank)
    for (std::size_t i = 0; i < totals[rank].size(); ++i) {
      double sum = 0;
      for (const auto& [name, rows] : phases) sum += rows.at(rank).at(i);
      if (totals[rank][i] > 0) worst = std::max(worst, std::abs(sum - totals[rank][i]) / totals[rank][i]);
    }
  // Sums of rounded numbers differ in the last digits from those that the program saw.
  return worst * (1 - 1e-9);
}

/// What lies between two readings of the clock, at most: of a component all iterations of a repetition.
std::optional<double> smallest_sample_s(const json& record) {
  auto times = value_at<std::vector<double>>(record, "/samples/time_s", {});
  for (const json& entry : record.value("benchmarks", json::array()))
    for (const json& time : entry.at("time_s")) times.push_back(time.get<double>() * entry.value("iterations", 1.0));
  if (times.empty()) return std::nullopt;
  return *std::ranges::min_element(times);
}

bool emulates(const json& record) {
  const auto is_emulated = [](const json& one) { return one.value("emulated", false); };
  for (const json& kind : value_at(record, "/resolved/devices", json::array()))
    if (is_emulated(kind.value("device", json::object()))) return true;
  const json benchmarks = record.value("benchmarks", json::array());
  const json identity = value_at(record, "/provenance/identity", json::object());
  return std::ranges::any_of(benchmarks, is_emulated) || value_at(record, "/counters/emulated", false) ||
         identity.contains(Pointer("/launch/ranks_per_pretended_node")) ||
         identity.contains(Pointer("/machine/described_by"));
}

}  // namespace

double other_cores(const json& counters) {
  double most = 0;
  if (!counters.contains("other_cores")) return most;
  for (const json& cores : counters["other_cores"])
    if (cores.is_number()) most = std::max(most, cores.get<double>());
  return most;
}

bool has_times(const json& record) { return record.contains("samples") || record.contains("benchmarks"); }

FlagFacts facts_of(const json& record) {
  FlagFacts facts;
  facts.nodes = nodes_of(record);
  facts.threads = threads_in(record);
  facts.warmup = value_at(record, "/sampling/warmup", 1);
  facts.clock_source = value_at<std::string>(record, "/provenance/volatile/clock_source", "");
  facts.clock_resolution_s = value_at(record, "/provenance/volatile/clock_resolution_s", 0.0);
  facts.smallest_sample_s = smallest_sample_s(record);
  facts.sample_s = value_at<std::vector<double>>(record, "/samples/time_s", {});
  facts.start_skew_s = value_at<std::vector<double>>(record, "/samples/start_skew_s", {});
  if (facts.start_skew_s.size() != facts.sample_s.size()) facts.sample_s.clear();
  if (record.contains("samples")) facts.closure_worst = closure_of(record["samples"]);
  facts.heterogeneous = record.contains(Pointer("/provenance/identity/other_machines")) ||
                        value_at(record, "/provenance/volatile/settings_of_nodes", json::array()).size() > 1;
  facts.emulated = emulates(record);
  facts.simulated = record.at("point").contains("platform") || value_at(record, "/counters/simulated", false);
  facts.slowed = record.contains(Pointer("/sampling/slow_down"));
  facts.other_cores = other_cores(record.value("counters", json::object()));
  return facts;
}

std::string_view verifier_of(const json& record, bool of_harness) {
  // Records from before the key was there were all of the harness.
  if (of_harness && record.value("verified_by", by_harness) == by_harness) return by_harness;
  return value_at(record, "/verification/ok", false) ? by_program : by_nobody;
}

std::vector<std::string> entry_flags(const json& record, const FlagFacts& facts) {
  const auto said = record.value("flags", std::vector<std::string>{});
  const auto derived = validity_flags(facts);
  std::vector<std::string> flags;
  for (const Flag& flag : flag_table)
    if (std::ranges::find(said, flag.name) != said.end() || std::ranges::find(derived, flag.name) != derived.end())
      flags.emplace_back(flag.name);
  return flags;
}

namespace {

/// "ranks is 1, asked was 2": the first key that differs.
std::string difference_of(const json& found, const json& asked) {
  const auto& keys = asked.contains("component") ? component_keys() : point_keys();
  for (const PointKey& key : keys)
    if (const std::string value = point_value(found, key.name); value != point_value(asked, key.name))
      return fmt::format("{} is {}, asked was {}", key.name, value, point_value(asked, key.name));
  return "its parameters are others";
}

/// The time of all runs that the record has, without what comes before and between them.
double measured_s(const json& record) {
  double sum = 0;
  for (const char* times : {"/samples/time_s", "/samples/warmup_s"})
    for (const double time : value_at<std::vector<double>>(record, times, {})) sum += time;
  for (const json& entry : record.value("benchmarks", json::array()))
    for (const json& time : entry.at("time_s")) sum += time.get<double>() * entry.value("iterations", 1.0);
  return sum;
}

/// The nodes, of which nothing is known but how many ranks they have, on how many cores, beside which caches. A
/// transform holds its data at least.
NodeFacts seen_node(const json& record, const SeenLaunch& seen) {
  const Point point = point_from_json(seen.point);
  NodeFacts node;
  node.ranks.resize(static_cast<std::size_t>(ranks_per_node(point)));
  node.most_cores = static_cast<std::size_t>(std::max(1, seen.cores));
  node.last_level_cache_bytes = last_level_cache_bytes(seen.machine);
  node.plan_bytes = plan_bytes_of_a_rank(record) * static_cast<double>(node.ranks.size());
  if (point.component.empty()) {
    double bytes =
        static_cast<double>(point.problem.input_element_bytes()) * point.problem.instances * point.problem.fields;
    for (const Index extent : point.problem.shape) bytes *= static_cast<double>(extent);
    node.plan_bytes = bytes / point.nodes;
  }
  return node;
}

}  // namespace

json foreign_record(json said, const SeenLaunch& seen) {
  if (const json point = point_json(point_from_json(said.at("point"))); point != seen.point)
    throw InputError("it is of another point: " + difference_of(point, seen.point));
  if (const double seconds = measured_s(said); seconds > seen.wall_s)
    throw InputError(
        fmt::format("its runs take {:.3g} s together, and the launch took {:.3g} s", seconds, seen.wall_s));
  FlagFacts facts = facts_of(said);
  facts.nodes = {seen_node(said, seen)};
  facts.threads = threads_of(point_from_json(seen.point));
  if (said.contains("samples") && value_at<std::vector<double>>(said, "/samples/warmup_s", {}).empty())
    facts.warmup = 0;
  facts.foreign = true;
  json record = said;
  record["program_said"] = json::object();
  for (const char* key : {"record_id", "campaign", "provenance", "flags", "verified_by", "checksum"})
    if (said.contains(key)) {
      record["program_said"][key] = said[key];
      record.erase(key);
    }
  record["record_id"] = new_record_id();
  record["point_id"] = point_id(seen.point);
  record["point"] = seen.point;
  record["campaign"] = seen.campaign;
  record["provenance"] = seen.provenance;
  if (seen.provenance.contains("identity"))
    record["provenance"]["identity_hash"] = short_hash(seen.provenance["identity"]);
  if (!has_times(said)) return record;
  record["flags"] = entry_flags(said, facts);
  record["verified_by"] = verifier_of(said, false);
  // The problem says it, whatever the program computed.
  if (!is_component(record)) record["credited_flops"] = point_from_json(seen.point).problem.credited_flops();
  return record;
}

}  // namespace fourscore
