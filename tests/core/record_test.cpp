#include "core/record.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/point_keys.hpp"
#include "core/sha256.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

Point example() {
  Point point;
  point.variant = "pencil";
  point.exchange = "alltoallw";
  point.ranks = 4;
  point.nodes = 2;
  point.placement_of_ranks = RankPlacement::cyclic;
  point.problem.shape = {128, 96, 100};
  point.problem.grid = {2, 2};
  point.problem.direction = Direction::backward;
  point.problem.precision = Precision::single_precision;
  point.problem.contract = {LayoutContract::natural, Buffers::out_of_place, Effort::patient};
  point.problem.parameters = {{"chunks", "4"}};
  return point;
}

std::string error_of(const json& value) {
  return test::message_of([&] { return point_from_json(value); });
}

TEST(Point, ComesBackFromItsJson) {
  EXPECT_EQ(point_from_json(point_json(example())), example());
  Point plain;
  plain.variant = "serial";
  plain.problem.shape = {64};
  EXPECT_EQ(point_from_json(point_json(plain)), plain);
}

TEST(Point, FillsWhatIsNotSaidWithTheDefaults) {
  const Point point = point_from_json(json{{"variant", "slab"}, {"shape", {8, 8, 8}}, {"ranks", 2}});
  Point expected;
  expected.variant = "slab";
  expected.ranks = 2;
  expected.problem.shape = {8, 8, 8};
  EXPECT_EQ(point, expected);
}

TEST(Point, ATunedGridIsAWordInJson) {
  Point point = point_from_json(json{{"variant", "pencil"}, {"shape", {4, 4}}, {"ranks", 2}, {"grid", "tuned"}});
  EXPECT_TRUE(point.grid_is_tuned);
  EXPECT_EQ(point_json(point)["grid"], "tuned");
  EXPECT_EQ(point_from_json(point_json(point)), point);
  const std::string tuned = point_id(point);
  set_point_value(point, "grid", "auto");
  EXPECT_NE(point_id(point), tuned);
}

TEST(Point, ErrorsNameTheKeyItsValueAndWhatIsExpected) {
  const json good = point_json(example());
  const auto with = [&](const std::string& key, const json& value) {
    json changed = good;
    changed[key] = value;
    return error_of(changed);
  };
  EXPECT_EQ(with("ranks", 0), "point: ranks '0': expected an integer from 1 to 16777216");
  EXPECT_NE(with("ranks", "4").find("ranks is \"4\""), std::string::npos);
  EXPECT_NE(with("ranks", 1e30).find("ranks"), std::string::npos);
  EXPECT_NE(with("shape", {0, 4, 4}).find("shape"), std::string::npos);
  EXPECT_NE(with("shape", {4, 4, 4, 4}).find("shape '4x4x4x4': 4 extents; expected 1 to 3"), std::string::npos);
  EXPECT_NE(with("shape", "4x4").find("shape is \"4x4\"; expected an array of 1 to 3 integers"), std::string::npos);
  EXPECT_NE(with("shape", {1LL << 40, 1LL << 40, 4}).find("shape"), std::string::npos);
  EXPECT_NE(with("grid", "2x2").find("grid is \"2x2\"; expected \"auto\", \"tuned\" or an array"), std::string::npos);
  EXPECT_NE(with("precision", "half").find("half"), std::string::npos);
  EXPECT_NE(with("variant", 3).find("variant is 3; expected a string"), std::string::npos);
  EXPECT_NE(with("parameters", {{"chunks", 4}}).find("chunks is 4; expected a string"), std::string::npos);
  EXPECT_NE(with("contract", {{"normalisation", "unitary"}}).find("expected \"none\""), std::string::npos);
  EXPECT_NE(with("contract", 3).find("point: contract is 3; expected an object"), std::string::npos);
  EXPECT_NE(with("contract", {{"planer", "measure"}}).find("did you mean 'planner'?"), std::string::npos);
  EXPECT_NE(with("direktion", "forward").find("did you mean 'direction'?"), std::string::npos);
  EXPECT_NE(error_of(json::array()).find("point is []; expected an object"), std::string::npos);
  EXPECT_NE(error_of(json{{"variant", "slab"}, {"ranks", 1}}).find("key 'shape' is missing"), std::string::npos);
}

TEST(PointId, IsTheHashOfTheCanonicalJsonAndNeverMoves) {
  const Point point = example();
  EXPECT_EQ(
      point_json(point).dump(),
      R"({"contract":{"buffers":"out-of-place","layout":"natural","normalisation":"none","planner":"patient"},)"
      R"("direction":"backward","exchange":"alltoallw","grid":[2,2],"instances":1,"kind":"c2c","local_fft":"fftw",)"
      R"("nodes":2,"parameters":{"chunks":"4"},"placement":"all","placement_of_ranks":"cyclic","precision":"single",)"
      R"("ranks":4,"ranks_per_node":2,"shape":[128,96,100],"threads":1,"variant":"pencil"})");
  EXPECT_EQ(point_id(point), sha256_hex(point_json(point).dump()).substr(0, 16));
  EXPECT_EQ(point_id(point), "eaf721ca1ba257ab");
}

TEST(PointId, OfOneNodeIsThatOfRecordsThatSayNothingOfNodes) {
  Point point = example();
  point.nodes = 1;
  EXPECT_EQ(point_id(point), "6c368942eec8cd8b");
  point.placement_of_ranks = RankPlacement::block;
  json earlier = point_json(point);
  for (const char* key : {"nodes", "ranks_per_node", "placement_of_ranks"}) earlier.erase(key);
  EXPECT_EQ(point_id(point), short_hash(earlier));
  EXPECT_EQ(point_id(earlier), short_hash(earlier));
  EXPECT_EQ(point_id(point), "d96f8b45a08e58f8");
}

TEST(Point, HasRanksOnEachNodeAsFollowsFromItsRanksAndNodes) {
  Point point = example();
  point.ranks = 6;
  point.nodes = 4;
  EXPECT_EQ(ranks_per_node(point), 2);
  json said = point_json(point);
  EXPECT_EQ(said.at("ranks_per_node"), 2);
  EXPECT_EQ(point_from_json(said), point);
  said["ranks_per_node"] = 3;
  EXPECT_EQ(error_of(said), "point: ranks_per_node is 3; expected 2, as follows from the others");
  said["ranks_per_node"] = 1;
  said["nodes"] = 7;
  EXPECT_EQ(error_of(said), "point: nodes is 7; expected at most as many as ranks, 6");
}

TEST(Placement, OfRanksIsCyclicOnlyWhereThatDiffersFromBlock) {
  for (const auto& [ranks, nodes, expected] :
       {std::tuple{4, 2, RankPlacement::cyclic}, {4, 1, RankPlacement::block}, {4, 4, RankPlacement::block}}) {
    Point point = example();
    point.ranks = ranks;
    point.nodes = nodes;
    point.placement_of_ranks = RankPlacement::cyclic;
    normalise_placement(point);
    EXPECT_EQ(point.placement_of_ranks, expected) << ranks << " ranks on " << nodes;
  }
}

Point point_of(const char* text) { return point_from_json(json::parse(text)); }

/// Archives are searched by these: records of earlier versions must be found.
TEST(PointId, OfEarlierRecordsIsTheSame) {
  EXPECT_EQ(point_id(point_of(R"({"variant": "slab", "exchange": "alltoallv", "shape": [64, 64, 64], "ranks": 4})")),
            "043de74d27c78fd1");
  EXPECT_EQ(point_id(point_of(R"({"variant": "pencil", "exchange": "alltoallw", "shape": [8, 9, 10], "ranks": 4,
                                  "grid": [2, 2], "kind": "c2r", "threads": 2, "instances": 3, "precision": "single",
                                  "contract": {"layout": "natural", "buffers": "out-of-place",
                                               "planner": "estimate"}})")),
            "a662fc10052f972e");
  EXPECT_EQ(point_id(point_of(R"({"variant": "pencil-overlap", "exchange": "p2p", "shape": [12, 12, 12], "ranks": 4,
                                  "parameters": {"pieces": "3"}})")),
            "c31f33dcad9538bf");
  EXPECT_EQ(point_id(point_of(R"({"component": "alltoall_bench", "ranks": 4, "parameters": {"exchange": "p2p"}})")),
            "3e7529f0df3213e0");
}

TEST(Point, OfAKindThatSaysBackwardIsNotForward) {
  const std::string c2r = R"({"variant": "slab", "shape": [8], "ranks": 1, "kind": "c2r")";
  EXPECT_EQ(point_of((c2r + "}").c_str()).problem.direction, Direction::backward);
  EXPECT_EQ(point_of((c2r + R"(, "direction": "backward"})").c_str()).problem.kind, Kind::r2c);
  EXPECT_NE(error_of(json::parse(c2r + R"(, "direction": "forward"})")).find("point: direction is forward"),
            std::string::npos);
}

TEST(PointId, DiffersWhereAnyPartOfThePointDiffers) {
  Point other = example();
  other.problem.contract.effort = Effort::measure;
  EXPECT_NE(point_id(other), point_id(example()));
  other = example();
  other.problem.grid.clear();
  EXPECT_NE(point_id(other), point_id(example()));
}

TEST(RecordId, IsThirtyTwoHexDigitsAndNew) {
  const std::string id = new_record_id();
  EXPECT_EQ(id.size(), 32U);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(id, new_record_id());
}

TEST(UnlaunchedRecord, HoldsPointCampaignVerdictAndWhatIsKnown) {
  const json campaign{{"id", "strong-1a2b3c4d"}, {"launch", 0}};
  const json provenance{{"machine_hash", "0123456789abcdef"}};
  const json record =
      make_unlaunched_record(example(), campaign, {"timeout", "took longer than 5 s", 0, 9, "tail"}, provenance);
  EXPECT_EQ(record.at("schema"), "fourscore.run-record");
  EXPECT_EQ(record.at("schema_version"), 3);
  EXPECT_EQ(record.at("point"), point_json(example()));
  EXPECT_EQ(record.at("point_id"), point_id(example()));
  EXPECT_EQ(record.at("campaign"), campaign);
  EXPECT_EQ(record.at("provenance"), provenance);
  EXPECT_EQ(record.at("verdict").at("status"), "timeout");
  EXPECT_EQ(record.at("verdict").at("signal"), 9);
  EXPECT_FALSE(record.contains("samples"));
}

TEST(UnlaunchedRecord, CannotClaimToHaveRun) {
  EXPECT_THROW((void)make_unlaunched_record(example(), {}, {"ok"}, {}), std::logic_error);
  EXPECT_THROW((void)make_unlaunched_record(example(), {}, {"wrong"}, {}), std::logic_error);
  EXPECT_THROW((void)make_unlaunched_record(example(), {}, {"fine"}, {}), std::logic_error);
}

TEST(Point, RefusesMoreThreadsThanAnyMachineHas) {
  json point = point_json(example());
  point["threads"] = max_threads;
  EXPECT_EQ(point_from_json(point).problem.threads, max_threads);
  point["threads"] = max_threads + 1;
  EXPECT_EQ(error_of(point), "point: threads '4097': expected an integer from 1 to 4096");
}

json verified_record() {
  json record = make_record(example(), nullptr, {}, nullptr);
  record["samples"] = {{"time_s", {0.5}}};
  record["failed_parts"] = {{"isolate", failed_part_json("failed", "not through")},
                            {"counters", failed_part_json("failed", "not through")}};
  return record;
}

TEST(EndedRecord, KeepsTheSamplesAndSaysOfEachPartHowTheLaunchEnded) {
  const json before = verified_record();
  json ended = ended_record(before, example(), {"timeout", "not finished after the time limit of 5 s", 0, 15, "words"});
  for (const char* part : {"isolate", "counters"})
    EXPECT_EQ(ended["failed_parts"][part],
              (json{{"status", "timeout"}, {"reason", "not finished after the time limit of 5 s"}}));
  EXPECT_EQ(ended["verdict"], verdict_json({"ok", "", 0, 15, "words"}));
  ended["verdict"] = before["verdict"];
  ended["failed_parts"] = before["failed_parts"];
  EXPECT_EQ(ended, before);
}

TEST(EndedRecord, HasNoDigestOfItsUnfinishedForm) {
  json before = verified_record();
  before["sha256"] = std::string(64, 'a');
  EXPECT_FALSE(ended_record(before, example(), {"failed", "it crashed", 1, 0, ""}).contains("sha256"));
}

TEST(EndedRecord, RefusesWhatHoldsNoVerifiedSamplesOfThePoint) {
  const Verdict end{"failed", "it crashed", 1, 0, ""};
  for (const char* key : {"samples", "failed_parts", "point_id", "verdict"}) {
    json record = verified_record();
    record.erase(key);
    EXPECT_THROW((void)ended_record(record, example(), end), std::invalid_argument) << key;
  }
  Point other = example();
  other.ranks = 5;
  EXPECT_THROW((void)ended_record(verified_record(), other, end), std::invalid_argument);
  EXPECT_THROW((void)ended_record(json::array(), example(), end), std::invalid_argument);
}

}  // namespace
}  // namespace fourscore
