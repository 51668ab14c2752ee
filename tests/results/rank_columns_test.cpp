#include "results/rank_columns.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/record.hpp"
#include "results/archive.hpp"
#include "results/record_file.hpp"
#include "results/verify.hpp"
#include "tests/support/folder_test.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int repetitions = 3;

Point point_of(int ranks) {
  Point point;
  point.variant = "slab";
  point.exchange = "p2p";
  point.local_fft = "fftw";
  point.problem.shape = {8, 8, 8};
  point.ranks = ranks;
  return point;
}

/// Rank r takes r + 1 seconds, a tenth more in each repetition.
json record_of(int ranks) {
  json record = make_record(point_of(ranks), {{"id", "c"}, {"suite", "c"}, {"launch", 0}}, {}, nullptr);
  json totals = json::array(), phase = json::array(), plan = json::array(), counts = json::array(),
       readers = json::array();
  json times = json::array(), alone = json::array();
  for (int rank = 0; rank < ranks; ++rank) {
    json of_rank = json::array();
    for (int i = 0; i < repetitions; ++i) of_rank.push_back(rank + 1 + 0.1 * i);
    totals.push_back(of_rank);
    phase.push_back(of_rank);
    alone.push_back({rank + 0.5});
    plan.push_back(0.25 * rank);
    counts.push_back(rank == 2 ? json() : json(1000.0 * rank));
    readers.push_back({{"rank", rank}, {"scope", "thread"}});
  }
  for (int i = 0; i < repetitions; ++i) times.push_back(ranks + 0.1 * i);
  record["samples"] = {{"time_s", times},
                       {"warmup_s", json::array()},
                       {"time_is", "span"},
                       {"start_skew_s", std::vector<double>(repetitions, 0.0)},
                       {"clock", {{"alignment", "shared clock"}, {"uncertainty_s", 0.0}}},
                       {"rank_total_s", totals},
                       {"rank_phase_s", {{"fft", phase}}}};
  record["isolated"] = {{{"name", "fft-1"}, {"phase", "fft"}, {"time_s", {ranks - 0.5}}, {"rank_s", alone}}};
  record["plan"] = {{"rank_s", plan}, {"time_s", 1.0}, {"wisdom", "none"}, {"distinct_plans", 1}, {"local_fft", {"x"}}};
  record["counters"] = {{"backend", "papi"},
                        {"scope", "thread"},
                        {"readers", readers},
                        {"total", {{"a", counts}}},
                        {"with_idle", {{"a", counts}}},
                        {"other_cores", counts},
                        {"phases", {{"fft", {{"a", counts}}}}}};
  return record;
}

/// With all that the schema asks for.
json whole_record_of(int ranks) {
  json record = record_of(ranks);
  const std::vector<double> zeros(static_cast<std::size_t>(ranks), 0.0);
  const std::string hash(16, '0');
  record.update({{"resolved", {{"grid", json::array()}, {"input", "whole"}, {"output", "whole"}}},
                 {"sampling",
                  {{"repetitions", repetitions},
                   {"start", "barrier"},
                   {"isolate", true},
                   {"phases", true},
                   {"warmup", 1},
                   {"seed", 1}}},
                 {"cards", {{"variant", {{"name", "x"}}}}},
                 {"cost", {{"flops", 1.0}, {"bytes_sent_per_rank", zeros}, {"messages_per_rank", zeros}}},
                 {"credited_flops", 1.0},
                 {"memory", {{"ratio", 1.0}}},
                 {"flags", {"shared-package"}},  // by other_cores
                 {"harness", json::object()}});
  for (const char* key : {"local_data_bytes", "plan_bytes", "workspace_bytes"}) record["memory"][key] = zeros;
  record["verification"] = {{"ok", true},
                            {"checks", {{{"name", "dft"}, {"ok", true}, {"tolerance", 0.0}, {"when", "before"}}}}};
  record["provenance"] = {{"machine_hash", hash},
                          {"code_hash", hash},
                          {"launch_hash", hash},
                          {"identity", json::object()},
                          {"identity_hash", short_hash(json::object())},
                          {"volatile", json::object()}};
  return record;
}

class RankColumns : public FolderTest {
 protected:
  RankColumns() { fs::create_directories(records()); }
  [[nodiscard]] fs::path records() const { return folder_ / "records/c"; }
  [[nodiscard]] fs::path file_of(int ranks) const { return records() / (point_id(point_of(ranks)) + "-000.json"); }
  [[nodiscard]] std::vector<std::string> findings() const {
    std::vector<std::string> said;
    for (const auto& finding : verify(Archive(folder_), {}).findings) said.push_back(finding.problem);
    return said;
  }
};

std::string text_in(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(RankColumns, OfFewRanksStayInTheRecord) {
  json record = record_of(64);
  const json before = record;
  EXPECT_EQ(take_rank_columns(record), "");
  EXPECT_EQ(record, before);
}

TEST_F(RankColumns, OfManyRanksComeBackAsTheyWere) {
  json record = record_of(65);
  const json before = record;
  const std::string content = take_rank_columns(record);
  EXPECT_FALSE(record["samples"].contains("rank_total_s"));
  EXPECT_FALSE(record["isolated"][0].contains("rank_s"));
  EXPECT_FALSE(record["counters"].contains("readers"));
  EXPECT_FALSE(record["counters"].contains("other_cores"));
  EXPECT_FALSE(record["counters"]["with_idle"].contains("a"));
  EXPECT_TRUE(record["samples"].contains("time_s"));
  give_rank_columns(record, content);
  EXPECT_EQ(record, before);
}

/// Two repetitions give their mean, not the upper one; an even number of ranks the lower middle one.
TEST_F(RankColumns, TakeTheMeanOfTheMiddleTwoRepetitionsAndTheNearestRankBelow) {
  json record = record_of(100);
  for (json& rank : record["samples"]["rank_total_s"]) rank.erase(2);
  (void)take_rank_columns(record);
  const json& totals = record["rank_columns"]["columns"].at(0);
  ASSERT_EQ(totals["path"], "/samples/rank_total_s");
  EXPECT_DOUBLE_EQ(totals["min"], 1.05);
  EXPECT_DOUBLE_EQ(totals["q25"], 25.05);
  EXPECT_DOUBLE_EQ(totals["median"], 50.05);
  EXPECT_DOUBLE_EQ(totals["q75"], 75.05);
  EXPECT_DOUBLE_EQ(totals["max"], 100.05);
}

TEST_F(RankColumns, LeaveASummaryOverTheRanksOfEachRanksMedian) {
  json record = record_of(101);
  (void)take_rank_columns(record);
  const json& columns = record["rank_columns"]["columns"];
  const json& totals = columns.at(0);
  EXPECT_EQ(totals["path"], "/samples/rank_total_s");
  EXPECT_EQ(totals["shape"], json({repetitions}));
  EXPECT_DOUBLE_EQ(totals["min"], 1.1);
  EXPECT_DOUBLE_EQ(totals["q25"], 26.1);
  EXPECT_DOUBLE_EQ(totals["median"], 51.1);
  EXPECT_DOUBLE_EQ(totals["q75"], 76.1);
  EXPECT_DOUBLE_EQ(totals["max"], 101.1);
  ASSERT_EQ(totals["largest"].size(), 8U);
  EXPECT_EQ(totals["largest"][0]["rank"], 100);
  EXPECT_EQ(totals["largest"][7]["rank"], 93);
}

/// Read here as NumPy documents it: magic, version, length of the header, header, rows.
TEST_F(RankColumns, AreANumPyFile) {
  json record = record_of(65);
  const std::string content = take_rank_columns(record);
  ASSERT_EQ(content.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length = static_cast<unsigned char>(content[8]) + 256U * static_cast<unsigned char>(content[9]);
  const std::string header = content.substr(10, length);
  EXPECT_EQ((10 + length) % 64, 0U);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(header.find("{'descr': [('/samples/rank_total_s', '<f8', (3,)), "), 0U);
  EXPECT_NE(header.find("('/plan/rank_s', '<f8', ()), "), std::string::npos);
  EXPECT_NE(header.find("'fortran_order': False, 'shape': (65,), }"), std::string::npos);
  const std::size_t row_values = 3 + 3 + 1 + 1 + 1 + 1 + 1 + 1;
  EXPECT_EQ(content.size(), 10 + length + 65 * row_values * sizeof(double));
}

TEST_F(RankColumns, OfAnotherLengthThanTheRanksAreRefused) {
  json record = record_of(65);
  record["plan"]["rank_s"].erase(0);
  EXPECT_THROW((void)take_rank_columns(record), std::invalid_argument);
  record = record_of(65);
  record["samples"]["rank_total_s"][7].erase(0);
  EXPECT_THROW((void)take_rank_columns(record), std::invalid_argument);
}

TEST_F(RankColumns, StandBesideTheRecordAndAreVerifiedWithIt) {
  write_record_once(file_of(70), whole_record_of(70));
  json record = read_record(file_of(70));
  const fs::path columns = records() / record["rank_columns"]["file"].get<std::string>();
  ASSERT_TRUE(fs::exists(columns));
  EXPECT_EQ(findings(), std::vector<std::string>{});
  read_rank_columns(record, records());
  EXPECT_EQ(record["samples"]["rank_total_s"].size(), 70U);

  std::string bytes = text_in(columns);
  bytes[bytes.size() - 3] ^= 1;
  std::ofstream(columns, std::ios::binary) << bytes;
  ASSERT_FALSE(findings().empty());
  EXPECT_NE(findings()[0].find("its content is not what the record says"), std::string::npos);
  fs::remove(columns);
  EXPECT_NE(findings()[0].find("its columns cannot be read"), std::string::npos);
}

TEST_F(RankColumns, ThatNoRecordNamesAreAFinding) {
  write_record_once(file_of(70), record_of(70));
  fs::remove(file_of(70));
  EXPECT_EQ(findings(), std::vector<std::string>{"no record names this file of per-rank values"});
}

TEST_F(RankColumns, AreNotLeftBehindByARecordThatCannotBeStored) {
  std::ofstream(file_of(70)) << "{}";
  EXPECT_THROW(write_record_once(file_of(70), record_of(70)), RecordExists);
  EXPECT_EQ(std::distance(fs::directory_iterator(records()), fs::directory_iterator()), 1);
}

TEST_F(RankColumns, NamedOutsideTheRecordsFolderAreNotRead) {
  json record = record_of(70);
  (void)take_rank_columns(record);
  record["rank_columns"]["file"] = "../x.ranks.npy";
  EXPECT_THROW(read_rank_columns(record, fs::temp_directory_path()), std::runtime_error);
}

}  // namespace
}  // namespace fourscore
