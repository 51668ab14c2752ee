// The size of a record of many ranks, pretended: what a measurement of them holds is made up, and the record built and
// stored of it is that of the program.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "core/record.hpp"
#include "program/measurement.hpp"
#include "program/record_builder.hpp"
#include "program/resolve.hpp"
#include "results/archive.hpp"
#include "results/record_file.hpp"

namespace fourscore::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int repetitions = 10;

JobNodes nodes_of(int ranks, int ranks_per_node) {
  JobNodes nodes;
  const int count = ranks / ranks_per_node;
  json map = json::array();
  NodeFacts facts;
  facts.last_level_cache_bytes = 1e8;
  for (int i = 0; i < ranks_per_node; ++i) {
    map.push_back(fmt::to_string(i));
    facts.ranks.push_back({{i}});
  }
  for (int node = 0; node < count; ++node) {
    nodes.hosts.push_back(fmt::format("node{}", 100000 + node));
    nodes.facts.push_back(facts);
  }
  for (int rank = 0; rank < ranks; ++rank) nodes.node_of_rank.push_back(rank / ranks_per_node);
  nodes.facts_by_kernel = nodes.facts;
  nodes.kernel_of_rank = nodes.node_of_rank;
  const std::string all = fmt::format("0-{}", count - 1);
  nodes.machines = {{all, machine_identity()}};
  nodes.settings = {{all, node_settings()}};
  nodes.core_maps = {{all, map}};
  return nodes;
}

/// Numbers of as many digits as measured ones have.
std::vector<double> digits(std::size_t count, std::size_t seed) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(0.01 + 1e-6 / (1.0 + static_cast<double>(i + seed)));
  return values;
}

Timeline timeline_of(int ranks) {
  Timeline timeline;
  timeline.room = 256;
  timeline.alignment = "ping-pong";
  const auto count = static_cast<std::size_t>(ranks);
  for (auto* column :
       {&timeline.clock_offset_s, &timeline.clock_uncertainty_s, &timeline.rank_start_s, &timeline.rank_end_s})
    *column = digits(count, 1);
  for (int i = 0; i < TimelineRecorder::kept_of_more; ++i) {
    Timeline::Lane lane{ranks / TimelineRecorder::kept_of_more * i, 0, 0, {}};
    for (std::int64_t e = 0; e < 256; ++e)
      lane.events.push_back({12'345'678 * e, 12'345'678 * (e + 1), 3, Phase::exchange});
    timeline.lanes.push_back(std::move(lane));
  }
  return timeline;
}

Measurement measurement_of(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  Measurement made;
  made.ok = true;
  made.grid = {128, ranks / 128};
  Samples& samples = made.samples;
  samples.are_spans = true;
  samples.clock_alignment = "ping-pong";
  samples.closure_worst = 0.001;
  samples.time_s = digits(repetitions, 3);
  samples.start_skew_s = digits(repetitions, 4);
  for (std::size_t rank = 0; rank < count; ++rank) samples.rank_total_s.push_back(digits(repetitions, rank));
  for (const Phase phase : {Phase::fft, Phase::pack, Phase::exchange, Phase::unpack, Phase::other})
    samples.rank_phase_s[phase] = samples.rank_total_s;
  for (const char* name :
       {"fft-1", "pack-1", "exchange-1", "unpack-1", "fft-2", "pack-2", "exchange-2", "unpack-2", "fft-3"})
    made.isolated.push_back({name, Phase::fft, samples.time_s, samples.rank_total_s});
  made.timeline = timeline_of(ranks);
  for (const Phase phase : {Phase::fft, Phase::pack, Phase::exchange, Phase::unpack})
    made.min_bytes[phase] = digits(count, 5);
  made.plan_s = made.local_data_bytes = made.plan_bytes = made.workspace_bytes = made.peak_rss_bytes = made.huge_bytes =
      digits(count, 6);
  made.declared.assign(count, MessageVolume{});
  made.local_ffts = {"(dft-ct-dit/16 ...)"};
  made.distinct_plans = 1;
  return made;
}

class RecordSize : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(RecordSize, OfManyRanksIsUnderAMegabyteOfJson) {
  const auto [ranks, ranks_per_node] = GetParam();
  Options options;
  options.sampling.repetitions = repetitions;
  options.settings.isolate = options.settings.timeline = true;
  options.point.variant = "pencil";
  options.point.problem.shape = {4096, 4096, 4096};
  options.point.ranks = ranks;
  const ResolvedPoint resolved = resolve_point(options.point);
  const json states{
      {"load_1min", {{"min", 1.0}, {"median", 1.0}, {"max", 1.0}, {"host_of_min", "a"}, {"host_of_max", "a"}}}};
  const Provenance provenance = provenance_of(nodes_of(ranks, ranks_per_node), states, "slurm", 1, {"fftw-3", {}});
  const json record = build_record(options, resolved, nullptr, measurement_of(ranks), provenance);

  const fs::path folder = fs::temp_directory_path() / ("record_size_test-" + new_record_id());
  fs::create_directories(folder);
  write_record_once(folder / "r.json", record);
  const auto bytes = fs::file_size(folder / "r.json");
  RecordProperty("json_bytes", static_cast<int>(bytes));
  EXPECT_LT(bytes, 1'000'000U);
  const json stored = read_record(folder / "r.json");
  const auto columns = fs::file_size(folder / stored["rank_columns"]["file"].get<std::string>());
  RecordProperty("columns_bytes", static_cast<int>(columns));
  // All samples of all ranks: their total, five phases and nine components.
  EXPECT_GT(columns, static_cast<std::size_t>(ranks) * repetitions * 15 * sizeof(double));
  fs::remove_all(folder);
}

#ifdef FOURSCORE_SANITIZED  // the same lines for fewer ranks, in a sixth of the time
constexpr int many_ranks = 2'048;
#else
constexpr int many_ranks = 16'384;
#endif
INSTANTIATE_TEST_SUITE_P(Pretended, RecordSize,
                         testing::Values(std::tuple{1'024, 64}, std::tuple{many_ranks, 64}, std::tuple{many_ranks, 1}));

}  // namespace
}  // namespace fourscore::bench
