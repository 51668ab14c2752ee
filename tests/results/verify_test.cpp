#include "results/verify.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/flags.hpp"
#include "core/record.hpp"
#include "results/entry.hpp"

namespace fourscore {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What follows from the rest of a record: its id, its hashes, its flags.
json sealed(json record) {
  record["point_id"] = point_id(record["point"]);
  json& provenance = record["provenance"];
  provenance["identity_hash"] = short_hash(provenance["identity"]);
  for (const char* const part : {"machine", "code", "launch"})
    provenance[std::string(part) + "_hash"] = short_hash(provenance["identity"][part]);
  record["flags"] = validity_flags(facts_of(record));
  return record;
}

json transform() {
  return sealed(json::parse(R"({
    "record_id": "r", "campaign": {"id": "c", "launch": 0}, "verdict": {"status": "ok", "reason": ""},
    "point": {"variant": "slab", "ranks": 2, "shape": [4, 4, 4]}, "sampling": {"repetitions": 2, "warmup": 1},
    "provenance": {"identity": {"machine": {"cores": 2}, "code": {"revision": "r"}, "launch": {"launcher": "local"}}},
    "samples": {"time_s": [0.1, 0.2], "rank_total_s": [[0.1, 0.15], [0.05, 0.2]],
      "rank_phase_s": {"fft": [[0.1, 0.1], [0.05, 0.1]]}},
    "isolated": [{"name": "fft-1", "phase": "fft", "time_s": [0.1], "rank_s": [[0.1], [0.05]]}],
    "timeline": {"lanes": [{"rank": 0, "lane": 1, "phase": ["fft", "other"], "begin_s": [0.0, 0.1], "end_s": [0.1, 0.1]}]}
  })"));
}

/// Sampled from the first start to the last end.
json span() {
  json record = transform();
  json& samples = record["samples"];
  samples["time_is"] = "span";
  samples["start_skew_s"] = {0.001, 0.001};
  samples["clock"]["uncertainty_s"] = 0.0005;
  return record;
}

json component() {
  json record = transform();
  for (const char* const key : {"samples", "isolated", "timeline"}) record.erase(key);
  record["point"] = {{"component", "copy_bench"}, {"ranks", 2}};
  record["benchmarks"] = json::parse(
      R"([{"name": "a", "iterations": 3, "time_s": [0.1, 0.2], "rank_s": [[0.1, 0.15], [0.05, 0.2]]},
          {"name": "b", "iterations": 1, "time_s": [0.1], "rank_s": [[0.1], [0.05]]}])");
  return sealed(record);
}

json synchronised() {
  json record = component();
  record["sampling"]["synchronised"] = true;
  record["benchmarks"][0]["time_s"] = {0.12, 0.35};  // no less than the maximum over ranks, no more than the sum
  return record;
}

std::vector<std::string> problems(const json& record) {
  return problems_of(record, "/a/records/c/" + point_id(record["point"]) + "-000.json");
}

struct Damage {
  std::string path, value;  ///< what stands there instead; "": nothing
  std::string problem;
};

void expect_each(const json& record, const std::vector<Damage>& damages) {
  EXPECT_THAT(problems(record), IsEmpty());
  for (const auto& [path, value, problem] : damages) {
    const bool is_there = record.contains(json::json_pointer(path));
    json patch{{"op", value.empty() ? "remove" : is_there ? "replace" : "add"}, {"path", path}};
    if (!value.empty()) patch["value"] = json::parse(value);
    EXPECT_THAT(problems(record.patch(json::array({patch}))), Contains(HasSubstr(problem))) << path << ": " << value;
  }
}

TEST(Verify, IdentityAndNameAreThoseOfTheContent) {
  expect_each(transform(), {
                               {"/record_id", "", "\"record_id\" is missing"},
                               {"/record_id", "\"../x\"", "record_id"},
                               {"/point_id", "\"x\"", "point_id is \"x\", its point's is"},
                               {"/provenance/identity_hash", "\"x\"", "identity_hash is \"x\", its identity's is"},
                               {"/provenance/code_hash", "\"x\"", "code_hash is \"x\", its code's is"},
                               {"/provenance/identity/machine/cores", "4", "machine_hash is"},
                               {"/campaign/launch", "", "\"campaign\" lacks id or launch"},
                               {"/campaign/id", "", "\"campaign\" lacks id or launch"},
                               {"/campaign/id", "\"d\"", "stands in the folder of campaign \"c\", says it is of \"d\""},
                               {"/campaign/launch", "12", "-012.json"},
                           });
}

TEST(Verify, StatusAndTimesBelongTogether) {
  expect_each(transform(), {
                               {"/verdict/status", "\"fine\"", "status \"fine\" is not one of"},
                               {"/verdict/status", "\"failed\"", "status is failed but there are samples"},
                               {"/verdict/status", "\"failed\"", "status is failed without a reason"},
                               {"/samples", "", "status is ok but there are no samples"},
                               {"/benchmarks", "[]", "\"benchmarks\" does not belong to the record of a transform"},
                               {"/flags", "[]", "it is not flagged"},
                           });
  expect_each(component(), {
                               {"/benchmarks", "", "status is ok but there are no benchmarks"},
                               {"/samples", "{}", "\"samples\" does not belong to the record of a component"},
                           });
}

TEST(Verify, SamplesAreTheMaximaOverRanks) {
  const std::string no_numbers = "samples.time_s is not an array of numbers";
  expect_each(
      transform(),
      {
          {"/samples/time_s", "[]", no_numbers},
          {"/samples/time_s", "3", no_numbers},
          {"/samples/time_s/1", "\"x\"", no_numbers},
          {"/samples/time_s/1", "0", "samples.time_s has 0, which is no duration"},
          {"/sampling/repetitions", "1", "2 samples, 1 repetitions were asked for"},
          {"/samples/rank_total_s", "[]", "samples.rank_total_s is not an array over ranks"},
          {"/samples/rank_total_s", "3", "samples.rank_total_s is not an array over ranks"},
          {"/samples/rank_total_s/1", "", "samples.rank_total_s has 1 ranks, the point has 2"},
          {"/samples/rank_total_s/1", "[0.05]", "samples.rank_total_s has a rank without 2 numbers"},
          {"/samples/rank_total_s/1/1", "\"x\"", "samples.rank_total_s has a rank without 2 numbers"},
          {"/samples/rank_phase_s/fft/0", "[0.05]", "samples.rank_phase_s.fft has a rank without 2 numbers"},
          {"/samples/rank_total_s/1/1", "0.19", "samples.time_s[1] is 0.2, the maximum over ranks is 0.19"},
          {"/samples/rank_total_s/0/0", "0.1000001", "samples.time_s[0] is 0.1, the maximum over ranks is 0.1000001"},
          {"/isolated/0/time_s", "[]", "isolated.fft-1.time_s is not an array of numbers"},
          {"/isolated/0/rank_s", "[[0.1]]", "isolated.fft-1.rank_s has 1 ranks, the point has 2"},
          {"/isolated/0/time_s/0", "0.2", "isolated.fft-1.time_s[0] is 0.2, the maximum over ranks is 0.1"},
      });
}

TEST(Verify, SpansLieBetweenTheLongestRankAndThatWithTheSkew) {
  const std::string no_skews = "samples.start_skew_s is not an array of as many numbers";
  const auto beyond = [](int sample) { return "samples.time_s[" + std::to_string(sample) + "] is"; };
  json longest = span();
  longest["samples"]["time_s"] = {0.1019, 0.1991};  // within the skew and twice the uncertainty of clocks
  EXPECT_THAT(problems(longest), IsEmpty());
  expect_each(span(), {
                          {"/samples/start_skew_s", "", no_skews},
                          {"/samples/start_skew_s", "[0.01]", no_skews},
                          {"/samples/start_skew_s/0", "\"x\"", no_skews},
                          {"/samples/start_skew_s/0", "-0.001", beyond(0)},
                          {"/samples/time_s", "[0.1021, 0.2]", beyond(0)},
                          {"/samples/time_s", "[0.1, 0.1989]", beyond(1)},
                          {"/samples/rank_total_s/0/1", "0.2011", beyond(1)},
                      });
}

TEST(Verify, LanesAreInTheOrderOfTime) {
  const std::string differ = "timeline of rank 0, lane 1: its columns differ in length";
  const auto order = [](int event) {
    return "event " + std::to_string(event) + " begins before the one before it ends";
  };
  expect_each(transform(), {
                               {"/timeline/lanes/0/begin_s/1", "", differ},
                               {"/timeline/lanes/0/end_s/1", "", differ},
                               {"/timeline/lanes/0/phase/1", "", differ},
                               {"/timeline/lanes/0/piece", "[1]", differ},
                               {"/timeline/lanes/0/end_s", "[0.1, \"x\"]", differ},
                               {"/timeline/lanes/0/begin_s", "[0.0, 0.05]", order(1)},
                               {"/timeline/lanes/0/begin_s", "[0.2, 0.3]", order(0)},
                               {"/timeline/lanes/0/begin_s", "[-0.1, 0.1]", order(0)},
                           });
}

TEST(Verify, BenchmarksHaveNamesTimesAndIterations) {
  expect_each(component(), {
                               {"/benchmarks", "[]", "\"benchmarks\" is empty"},
                               {"/benchmarks/1/name", "\"a\"", "benchmarks.a is there twice"},
                               {"/benchmarks/1/iterations", "0", "benchmarks.b has no iterations"},
                               {"/benchmarks/1/iterations", "", "benchmarks.b has no iterations"},
                               {"/benchmarks/1/time_s/0", "0", "benchmarks.b.time_s has a value that is no duration"},
                               {"/benchmarks/1/rank_s/0/0", "0.2", "benchmarks.b.time_s[0] is 0.1, the maximum over"},
                               {"/sampling/repetitions", "1", "benchmarks.a has 2 samples, 1 repetitions were asked"},
                           });
  expect_each(synchronised(), {
                                  {"/benchmarks/0/time_s", "[0.09, 0.35]", "benchmarks.a.time_s[0] is 0.09"},
                                  {"/benchmarks/0/time_s", "[0.12, 0.36]", "takes 0.2 to 0.35"},
                              });
}

TEST(Verify, ANoteOnTheSchemaStandsForWhatIsOfAnotherType) {
  json record = transform();
  record["timeline"]["lanes"][0].erase("end_s");
  EXPECT_THAT(problems(record), ElementsAre(HasSubstr("not of the schema: ")));
}

}  // namespace
}  // namespace fourscore
