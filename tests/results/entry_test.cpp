// Flags that follow from what a record holds, and what becomes of a record of a program that is not of the harness.

#include "results/entry.hpp"

#include <gmock/gmock.h>

#include "core/errors.hpp"
#include "core/record.hpp"

namespace fourscore {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Flags = std::vector<std::string>;

/// Two bound ranks on a node of two cores with two threads each, with more data than cache, warm, well timed.
json sound() {
  return json::parse(R"({
    "point": {"variant": "v", "exchange": "none", "local_fft": "l", "shape": [64, 64, 64], "ranks": 2, "threads": 1},
    "verdict": {"status": "ok"},
    "sampling": {"warmup": 1},
    "samples": {"time_s": [0.011, 0.011], "warmup_s": [0.02], "start_skew_s": [1e-6, 1e-6],
                "rank_total_s": [[0.01, 0.01], [0.011, 0.011]],
                "rank_phase_s": {"fft": [[0.006, 0.006], [0.007, 0.007]], "other": [[0.004, 0.004], [0.004, 0.004]]}},
    "memory": {"plan_bytes": [1e9, 1e9], "workspace_bytes": [0, 0]},
    "flags": [],
    "provenance": {
      "identity": {
        "machine": {"cores": 2, "threads_per_core": 2,
                    "caches": [{"level": 1, "bytes": 32768, "shared_by": 1}, {"level": 3, "bytes": 33554432, "shared_by": 2}]},
        "launch": {"core_maps": [{"nodes": "0", "cores": ["0,2", "1,3"]}]}},
      "volatile": {"clock_source": "tsc", "clock_resolution_s": 3e-8}}})");
}

Flags flags_of(const json& record) { return entry_flags(record, facts_of(record)); }

struct Change {
  const char* path;
  json value;
  Flags flags;
};

TEST(EntryFlags, FollowFromRawSamplesAndProvenance) {
  EXPECT_THAT(flags_of(sound()), IsEmpty());
  const std::vector<Change> changes{
      {"/provenance/identity/launch/core_maps/0/cores", {"0,2", "0,2"}, {}},  // two units, which may be two cores
      {"/provenance/identity/launch/core_maps/0/cores", {"0", "0"}, {"oversubscribed"}},
      {"/provenance/identity/machine/cores", 1, {"oversubscribed"}},
      {"/point/threads", 2, {"oversubscribed"}},
      {"/provenance/identity/launch/core_maps/0/cores", {"0-3", "0-3"}, {"unbound"}},
      {"/memory/plan_bytes", {1e7, 1.6e7}, {"in-cache"}},
      {"/memory/plan_bytes", {1e7, 2e7}, {}},
      {"/sampling/warmup", 0, {"cold"}},
      {"/provenance/volatile/clock_source", "hpet", {"clock-suspect"}},
      {"/provenance/volatile/clock_resolution_s", 1e-4, {"clock-suspect"}},
      {"/samples/start_skew_s", {1e-6, 1e-3}, {"skewed"}},
      {"/provenance/identity/other_machines", {{"1", json::object()}}, {"heterogeneous"}},
      {"/provenance/volatile/settings_of_nodes", {1, 2}, {"heterogeneous"}},
      {"/samples/rank_phase_s/other", {{0.004, 0.004}, {0.004, 0.001}}, {"open-breakdown"}},
      {"/provenance/identity/launch/ranks_per_pretended_node", 1, {"emulated"}},
      {"/provenance/identity/machine/described_by", "HWLOC_SYNTHETIC", {"emulated"}},
      {"/resolved/devices", {{{"device", {{"emulated", true}}}}}, {"emulated"}},
      {"/counters/simulated", true, {"simulated"}},
      {"/point/platform", "bluegene-l", {"simulated"}},
      {"/sampling/slow_down", json::object(), {"slowed"}},
      {"/counters", {{"other_cores", {0.1, 0.3, nullptr}}}, {"shared-package"}},
      {"/counters", {{"other_cores", {0.1, 0.2}}}, {}},
      {"/counters", {{"emulated", true}}, {"emulated"}},
      {"/flags", {"slowed", "no such flag"}, {"slowed"}},
  };
  // Who wrote a record is no part of it, and which cores are of which kind neither.
  std::set<std::string> seen{"foreign", "unlike-cores"};
  for (const Change& change : changes) {
    json record = sound();
    record[json::json_pointer(change.path)] = change.value;
    EXPECT_EQ(flags_of(record), change.flags) << change.path << " " << change.value;
    seen.insert(change.flags.begin(), change.flags.end());
  }
  EXPECT_EQ(seen.size(), flag_table.size()) << "a flag without a case";
}

TEST(EntryFlags, WhatARecordDoesNotSayIsUnknown) {
  const json bare = json::parse(R"({"point": {"ranks": 2}, "samples": {"time_s": [1]}, "verdict": {"status": "ok"}})");
  EXPECT_THAT(flags_of(bare), IsEmpty());
}

TEST(EntryFlags, OfComponentsFollowFromTheirBenchmarks) {
  json record = sound();
  record["point"] = {{"component", "memory_bench"}, {"ranks", 2}, {"parameters", {{"threads", "2"}}}};
  record.erase("samples");
  record["benchmarks"] = {{{"name", "a"}, {"time_s", {1e-3}}, {"iterations", 5}, {"in_cache", true}}};
  EXPECT_THAT(flags_of(record), ElementsAre("oversubscribed", "in-cache"));
  record["point"]["parameters"] = json::object();
  record["benchmarks"][0]["iterations"] = 1e-3;
  record["benchmarks"][0]["emulated"] = true;
  EXPECT_THAT(flags_of(record), ElementsAre("in-cache", "clock-suspect", "emulated"));
}

SeenLaunch launch_of(const json& record) {
  SeenLaunch seen;
  seen.point = point_json(point_from_json(record["point"]));
  seen.campaign = {{"id", "c"}, {"launch", 0}};
  seen.provenance = {{"identity", {{"machine", {{"cpu_model", "ours"}}}}}, {"machine_hash", "h"}};
  seen.machine = {{"caches", {{{"level", 3}, {"bytes", 33554432}}}}};
  seen.cores = 2;
  seen.wall_s = 1;
  return seen;
}

TEST(ForeignRecord, IsWhatWasSeenAndKeepsWhatWasSaid) {
  const json said = sound();
  const json record = foreign_record(said, launch_of(said));
  EXPECT_EQ(record["flags"], (json{"in-cache", "foreign"})) << "64x64x64 are 4 MiB, whatever it says of its memory";
  EXPECT_EQ(record["program_said"]["provenance"], said["provenance"]);
  EXPECT_EQ(record["program_said"]["flags"], json::array());
  EXPECT_EQ(record["provenance"]["machine_hash"], "h");
  EXPECT_EQ(record["provenance"]["identity_hash"], short_hash(record["provenance"]["identity"]));
  EXPECT_EQ(record["point_id"], point_id(record["point"]));
  EXPECT_EQ(record["samples"], said["samples"]);
}

TEST(ForeignRecord, OfAnotherPointOrOfMoreTimeThanThereWasIsRefused) {
  const auto refusal = [](const json& said, const SeenLaunch& seen) -> std::string {
    try {
      (void)foreign_record(said, seen);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  json said = sound();
  SeenLaunch seen = launch_of(said);
  seen.wall_s = 0.04;
  EXPECT_THAT(refusal(said, seen), HasSubstr("its runs take 0.042 s together, and the launch took 0.04 s"));
  seen = launch_of(said);
  said["point"]["ranks"] = 1;
  EXPECT_THAT(refusal(said, seen), HasSubstr("ranks is 1, asked was 2"));
}

}  // namespace
}  // namespace fourscore
