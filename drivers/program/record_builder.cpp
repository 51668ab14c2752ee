#include "program/record_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/record.hpp"
#include "harness/active_ranks.hpp"
#include "harness/cost_check.hpp"
#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "harness/simulated.hpp"
#include "program/counters.hpp"
#include "program/verifiers.hpp"
#include "results/entry.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

json sampling_json(const Options& options) {
  json sampling = settings_json(options.settings, false);
  sampling.update({{"start", Sampler::start_method}, {"seed", options.seed}});
  if (options.launches_before > 0) sampling["launches_before"] = options.launches_before;
  if (const auto& cost = options.sampling.slow_down)
    sampling["slow_down"] = {{"phase", phase_names[static_cast<std::size_t>(cost->phase)]}, {"part", cost->part}};
  if (options.counters) {
    sampling["counters"] = options.counters->request.backend;
    if (!options.counters->request.group.empty()) sampling["counter_group"] = options.counters->request.group;
    if (!options.counters->cache.empty()) sampling["counter_cache"] = options.counters->cache;
  }
  return sampling;
}

json counters_json(const Options& options, const Measurement& measurement) {
  if (!options.counters || measurement.counters.is_null() || measurement.failed_parts.contains("counters"))
    return {{"backend", "none"}};
  json counters = measurement.counters;
  counters["qualification"] = qualification_json(*options.counters, counters.at("group"));
  return counters;
}

json card_json(const Card& card) {
  return {{"name", card.name}, {"summary", card.summary}, {"citation", card.citation}};
}

json cards_json(const ResolvedPoint& resolved) {
  json cards{{"variant", card_json(resolved.variant->card())}};
  if (resolved.exchange != nullptr) cards["exchange"] = card_json(resolved.exchange->card());
  if (resolved.point.problem.direction == Direction::convolution)
    cards["operator"] = card_json(operator_of(resolved.point.problem).card());
  cards["local_fft"] = {{"name", resolved.local_fft->card().name}};
  if (resolved.local_fft->unavailable().empty()) cards["local_fft"]["version"] = resolved.local_fft->version();
  return cards;
}

json verification_json(const std::vector<Check>& checks, const std::string& relied_on) {
  json verification{{"ok", all_ok(checks)}, {"checks", checks_json(checks)}};
  if (!relied_on.empty()) verification["checked_by"] = relied_on;
  return verification;
}

/// [instance][repetition]: an instance, or its forward half, is through when it is on the last of its ranks.
std::vector<std::vector<double>> instance_times(const Point& point,
                                                const std::vector<std::vector<std::vector<double>>>& of_ranks) {
  std::vector<std::vector<double>> times;
  for (int instance = 0; instance < point.problem.instances; ++instance) {
    const Range ranks = ranks_of_instance(point.problem, point.ranks, instance);
    const auto here = point.problem.placement == Placement::all ? static_cast<std::size_t>(instance) : 0;
    std::vector<double> latest(of_ranks.front().front().size(), 0.0);
    for (Index rank = ranks.low; rank < ranks.high; ++rank)
      for (std::size_t i = 0; i < latest.size(); ++i)
        latest[i] = std::max(latest[i], of_ranks[static_cast<std::size_t>(rank)][here][i]);
    times.push_back(std::move(latest));
  }
  return times;
}

json by_phase_json(const std::map<Phase, std::vector<std::vector<double>>>& times) {
  json result = json::object();
  for (const auto& [phase, of_ranks] : times)
    result[std::string(phase_names[static_cast<std::size_t>(phase)])] = of_ranks;
  return result;
}

json samples_json(const Point& point, const Samples& samples) {
  json result{{"time_s", samples.time_s},
              {"warmup_s", samples.warmup_s},
              {"time_is", samples.are_spans ? "span" : "longest rank"},
              {"start_skew_s", samples.start_skew_s},
              {"clock", {{"alignment", samples.clock_alignment}, {"uncertainty_s", samples.clock_uncertainty_s}}},
              {"rank_total_s", samples.rank_total_s}};
  if (!samples.rank_instance_s.empty()) {
    result["instance_time_s"] = instance_times(point, samples.rank_instance_s);
    result["rank_instance_s"] = samples.rank_instance_s;
  }
  if (!samples.rank_instance_turn_s.empty()) {
    result["instance_forward_s"] = instance_times(point, samples.rank_instance_turn_s);
    result["rank_instance_forward_s"] = samples.rank_instance_turn_s;
  }
  if (!samples.rank_turn_s.empty()) {
    result["forward_s"] = samples.turn_s;
    result["rank_forward_s"] = samples.rank_turn_s;
  }
  if (!samples.closure_worst) return result;
  result["rank_phase_s"] = by_phase_json(samples.rank_phase_s);
  if (!samples.rank_turn_phase_s.empty()) result["rank_forward_phase_s"] = by_phase_json(samples.rank_turn_phase_s);
  result["closure"] = {
      {"worst", *samples.closure_worst}, {"limit", closure_limit}, {"ok", *samples.closure_worst <= closure_limit}};
  return result;
}

json isolated_json(const std::vector<ComponentSamples>& components) {
  json list = json::array();
  for (const ComponentSamples& component : components)
    list.push_back({{"name", component.name},
                    {"phase", phase_names[static_cast<std::size_t>(component.phase)]},
                    {"time_s", component.time_s},
                    {"rank_s", component.rank_s}});
  return list;
}

/// A lane's events as columns; seconds on the axis of all lanes.
json lane_json(const Timeline::Lane& lane) {
  json phases = json::array(), begin_s = json::array(), end_s = json::array(), pieces = json::array();
  bool numbered = false;
  for (const PhaseEvent& event : lane.events) {
    phases.push_back(phase_names[static_cast<std::size_t>(event.phase)]);
    begin_s.push_back(static_cast<double>(event.begin_ns) / 1e9);
    end_s.push_back(static_cast<double>(event.end_ns) / 1e9);
    pieces.push_back(event.piece);
    numbered = numbered || event.piece != no_piece;
  }
  json columns{{"rank", lane.rank}, {"lane", lane.lane},  {"dropped", lane.dropped},
               {"phase", phases},   {"begin_s", begin_s}, {"end_s", end_s}};
  if (numbered) columns["piece"] = pieces;
  return columns;
}

json timeline_json(const Timeline& timeline) {
  json lanes = json::array();
  for (const Timeline::Lane& lane : timeline.lanes) lanes.push_back(lane_json(lane));
  return {{"clock",
           {{"alignment", timeline.alignment},
            {"offset_s", timeline.clock_offset_s},
            {"uncertainty_s", timeline.clock_uncertainty_s}}},
          {"room", timeline.room},
          {"rank_start_s", timeline.rank_start_s},
          {"rank_end_s", timeline.rank_end_s},
          {"lanes", lanes}};
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }

json plan_json(const Wisdom* wisdom, const Measurement& measurement) {
  json plan{{"rank_s", measurement.plan_s},
            {"time_s", largest(measurement.plan_s)},
            {"wisdom", wisdom == nullptr ? "none" : "file"},
            {"reused", wisdom != nullptr && wisdom->reused()},
            {"local_fft", measurement.local_ffts},
            {"hash", measurement.plan_hash},
            {"distinct_plans", measurement.distinct_plans}};
  if (wisdom == nullptr) return plan;
  plan["wisdom_file"] = wisdom->file().string();
  if (!wisdom->sha256().empty()) plan["wisdom_sha256"] = wisdom->sha256();
  if (!wisdom->ignored().empty()) plan["wisdom_ignored"] = wisdom->ignored();
  return plan;
}

/// On the grid that the plan chose.
Cost formula_of(const ResolvedPoint& resolved, const Measurement& measurement) {
  Problem problem = resolved.point.problem;
  problem.grid = measurement.grid;
  return cost_of_instances(*resolved.variant, problem, resolved.point.ranks);
}

json device_json(const std::vector<DeviceWork>& ranks) {
  const auto by_rank = [&](Index DeviceWork::*count) {
    std::vector<double> values;
    for (const DeviceWork& work : ranks) values.push_back(static_cast<double>(work.*count));
    return values;
  };
  return {{"h2d_copies_per_rank", by_rank(&DeviceWork::copies_in)},
          {"h2d_bytes_per_rank", by_rank(&DeviceWork::bytes_in)},
          {"ffts_per_rank", by_rank(&DeviceWork::ffts)},
          {"d2h_copies_per_rank", by_rank(&DeviceWork::copies_out)},
          {"d2h_bytes_per_rank", by_rank(&DeviceWork::bytes_out)}};
}

json cost_json(const ResolvedPoint& resolved, const Measurement& measurement) {
  const Cost cost = formula_of(resolved, measurement);
  const auto by_rank = [&](Index MessageVolume::*count) {
    std::vector<double> values;
    for (const MessageVolume& volume : measurement.declared) values.push_back(static_cast<double>(volume.*count));
    return values;
  };
  json result{{"flops", cost.flops},
              {"bytes_sent_per_rank", by_rank(&MessageVolume::bytes_sent)},
              {"messages_per_rank", by_rank(&MessageVolume::messages_sent)},
              {"control_messages_per_rank", by_rank(&MessageVolume::control_messages_sent)},
              {"bytes_self_per_rank", by_rank(&MessageVolume::bytes_self)},
              {"bytes_read_shared_per_rank", by_rank(&MessageVolume::bytes_read_shared)},
              {"model_bytes_per_rank", cost.bytes_per_rank},
              {"model_messages_per_rank", cost.messages_per_rank}};
  if (std::ranges::any_of(measurement.device, [](const DeviceWork& work) { return work != DeviceWork{}; }))
    result["device"] = device_json(measurement.device);
  for (const auto& [phase, bytes] : measurement.min_bytes)
    result["least_bytes_per_rank"][std::string(phase_names[static_cast<std::size_t>(phase)])] = bytes;
  return result;
}

json memory_json(const Measurement& measurement) {
  double most = 0;
  for (std::size_t r = 0; r < measurement.plan_bytes.size(); ++r)
    most = std::max(most, measurement.plan_bytes[r] + measurement.workspace_bytes[r]);
  json memory{{"local_data_bytes", measurement.local_data_bytes},
              {"plan_bytes", measurement.plan_bytes},
              {"workspace_bytes", measurement.workspace_bytes},
              {"ratio", most / largest(measurement.local_data_bytes)}};
  if (*std::min_element(measurement.peak_rss_bytes.begin(), measurement.peak_rss_bytes.end()) > 0)
    memory["peak_rss_bytes"] = measurement.peak_rss_bytes;
  memory["huge_bytes"] = measurement.huge_bytes;
  return memory;
}

std::vector<std::string> flags_of(const Options& options, const ResolvedPoint& resolved, const Measurement& measurement,
                                  const Provenance& provenance) {
  FlagFacts facts;
  facts.nodes = provenance.nodes.facts_by_kernel;
  facts.heterogeneous = provenance.nodes.heterogeneous();
  for (std::size_t rank = 0; rank < provenance.nodes.kernel_of_rank.size(); ++rank)
    facts.nodes[static_cast<std::size_t>(provenance.nodes.kernel_of_rank[rank])].plan_bytes +=
        measurement.plan_bytes[rank] + measurement.workspace_bytes[rank];
  facts.threads = resolved.point.problem.threads;
  facts.warmup = options.sampling.warmup;
  const json& now = provenance.record.at("volatile");
  facts.clock_source = now.value("clock_source", "");
  facts.clock_resolution_s = now.at("clock_resolution_s").get<double>();
  const auto& times = measurement.samples.time_s;
  if (!times.empty()) facts.smallest_sample_s = *std::min_element(times.begin(), times.end());
  facts.sample_s = times;
  facts.start_skew_s = measurement.samples.start_skew_s;
  facts.closure_worst = measurement.samples.closure_worst;
  const DeviceUse* const device_use = resolved.variant->device_use(resolved.point.problem);
  facts.emulated = provenance.emulated || (device_use != nullptr && device_use->emulates(resolved.point.problem)) ||
                   (measurement.counters.is_object() && measurement.counters.value("emulated", false));
  facts.other_cores = measurement.counters.is_object() ? other_cores(measurement.counters) : 0;
  facts.slowed = options.sampling.slow_down.has_value();
  // Also where nothing was counted in the end: the samples were taken under the simulator.
  facts.simulated = simulated_machine() != nullptr ||
                    (options.counters && counter_backend(options.counters->request.backend).simulates());
  return validity_flags(facts);
}

json instance_ranks_json(const Point& point) {
  json list = json::array();
  for (int instance = 0; instance < point.problem.instances; ++instance) {
    const Range ranks = ranks_of_instance(point.problem, point.ranks, instance);
    list.push_back({{"first", ranks.low}, {"count", ranks.size()}});
  }
  return list;
}

/// "impulse (before timing): error 0.31, tolerance 4.4e-15: first at ...", the first check that failed.
std::string reason_of(const std::vector<Check>& checks) {
  const auto failed = std::ranges::find(checks, false, &Check::ok);
  if (failed == checks.end()) return {};
  std::string reason = fmt::format("{} ({} timing): ", failed->name, failed->when);
  if (failed->tolerance > 0)
    reason +=
        fmt::format("{}, tolerance {:.2g}: ",
                    std::isfinite(failed->error) ? fmt::format("error {:.2g}", failed->error) : "error not finite",
                    failed->tolerance);
  return reason + failed->finding;
}

}  // namespace

json build_record(const Options& options, const ResolvedPoint& resolved, const Wisdom* wisdom,
                  const Measurement& measurement, Provenance provenance, const json& tuning) {
  Verdict verdict;
  if (!measurement.failed_parts.empty()) verdict.exit_status = 1;
  if (!measurement.ok) {
    verdict.status = "wrong";
    verdict.reason = reason_of(measurement.checks);
    verdict.exit_status = 1;
  }
  json record = make_record(resolved.asked(), options.campaign, verdict, provenance.record);
  record["resolved"] = {{"grid", measurement.grid},
                        {"input", measurement.input_layout},
                        {"output", measurement.output_layout},
                        {"mpi_thread_level", to_string(mpi::provided_thread_level())}};
  if (!tuning.is_null()) record["resolved"]["tuning"] = tuning;
  if (resolved.point.problem.instances > 1) record["resolved"]["instance_ranks"] = instance_ranks_json(resolved.point);
  if (resolved.point.problem.active_ranks != all_ranks) {
    const auto of_instance =
        static_cast<int>(ranks_of_instance(resolved.point.problem, resolved.point.ranks, 0).size());
    record["resolved"]["active_ranks"] = active_ranks_of(*resolved.variant, resolved.point.problem, of_instance);
  }
  record["sampling"] = sampling_json(options);
  record["cards"] = cards_json(resolved);
  record["verification"] = verification_json(measurement.checks, options.relied_on);
  record["plan"] = plan_json(wisdom, measurement);
  record["cost"] = cost_json(resolved, measurement);
  record["credited_flops"] = resolved.point.problem.credited_flops();
  record["memory"] = memory_json(measurement);
  record["harness"] = harness_json(measurement.steps);
  record["counters"] = counters_json(options, measurement);
  if (!measurement.ok) {
    // Nothing of a wrong transform may be mistaken for a time.
    record["harness"].erase("measure_s");
    return record;
  }
  record["verified_by"] = by_harness;
  record["flags"] = flags_of(options, resolved, measurement, provenance);
  record["samples"] = samples_json(resolved.point, measurement.samples);
  if (measurement.other_work) record["other_work"] = work_json(*measurement.other_work);
  if (simulated_machine() != nullptr) record["link_loads"] = simulated_machine()->link_loads();
  // What failed on another rank may be there on this one.
  const auto through = [&](const char* part) { return !measurement.failed_parts.contains(part); };
  if (measurement.timeline && through("timeline")) record["timeline"] = timeline_json(*measurement.timeline);
  if (options.settings.isolate && through("isolate")) record["isolated"] = isolated_json(measurement.isolated);
  if (!measurement.failed_parts.empty()) record["failed_parts"] = measurement.failed_parts;
  return record;
}

std::vector<std::string> cost_warnings(const ResolvedPoint& resolved, const Measurement& measurement) {
  return differences_from_formula(resolved.point.problem, formula_of(resolved, measurement), resolved.exchange,
                                  measurement.declared);
}

json build_skipped_record(const Options& options, const ResolvedPoint& resolved, const std::string& reason,
                          const Provenance& provenance) {
  json record =
      make_unlaunched_record(resolved.asked(), options.campaign, {"skipped", reason, 0, 0, ""}, provenance.record);
  record["sampling"] = sampling_json(options);
  record["cards"] = cards_json(resolved);
  if (resolved.asked().exchange == tuned_word) record["cards"].erase("exchange");
  return record;
}

}  // namespace fourscore::bench
