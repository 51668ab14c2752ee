// Counts of counters that are known exactly, because the work itself says what is to be counted.

#include "harness/counting.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/other_work.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/world.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

using test::rank;
using test::size;

/// What the work says that it moves.
double moved = 0;
double instructions = 0;

constexpr double idle_per_s = 1e9;

struct Behaviour {
  CounterScope scope = CounterScope::process;
  std::size_t passes = 1;
  bool idles = false;       ///< the counter goes on by itself
  int fails_on = -1;        ///< rank on which reading fails
  int cannot_open_on = -1;  ///< rank on which opening fails
  bool simulates = false;
  bool blind = false;       ///< one of its events cannot be counted
  int multiplexed_on = -1;  ///< rank on which events take turns
};

class KnownSession : public CounterSession {
 public:
  explicit KnownSession(const Behaviour& behaviour) : behaviour_(behaviour) {}
  [[nodiscard]] CounterScope scope() const override { return behaviour_.scope; }
  [[nodiscard]] std::size_t passes(std::size_t /*buckets*/) const override { return behaviour_.passes; }
  [[nodiscard]] bool multiplexed() const override { return behaviour_.multiplexed_on == rank(); }
  void start(std::size_t pass, std::size_t buckets) override {
    if (pass == 0) counts_.assign(buckets, {0.0, 0.0});
    pass_ = pass;
    bucket_ = 0;
    take();
  }
  void switch_to(std::size_t bucket) noexcept override {
    add();
    bucket_ = bucket;
  }
  void stop() override {
    if (behaviour_.fails_on == rank()) throw CounterError("the counter was taken away");
    add();
  }
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override { return counts_; }

 private:
  static double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void take() {
    moved_ = moved;
    instructions_ = instructions;
    time_ = now_s();
  }
  /// With two passes the first counts one event, the second the other.
  void add() {
    const double idle = behaviour_.idles ? idle_per_s * (now_s() - time_) : 0;
    if (behaviour_.passes == 1 || pass_ == 0) *counts_[bucket_][0] += moved - moved_ + idle;
    if (behaviour_.blind)
      counts_[bucket_][1].reset();
    else if (behaviour_.passes == 1 || pass_ == 1)
      *counts_[bucket_][1] += instructions - instructions_;
    take();
  }

  Behaviour behaviour_;
  std::vector<std::vector<EventCount>> counts_;
  std::size_t bucket_ = 0;
  std::size_t pass_ = 0;
  double moved_ = 0, instructions_ = 0, time_ = 0;
};

class KnownCounters : public CounterBackend {
 public:
  KnownCounters(std::string name, const Behaviour& behaviour) : name_(std::move(name)), behaviour_(behaviour) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string summary() const override { return "counts what the test moves"; }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }
  [[nodiscard]] bool simulates() const override { return behaviour_.simulates; }
  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest&) override {
    if (behaviour_.cannot_open_on == rank()) throw CounterError("no permission on this rank");
    if (events.size() != 2) throw CounterRequestError("expected two events");
    return std::make_unique<KnownSession>(behaviour_);
  }

 private:
  std::string name_;
  Behaviour behaviour_;
};

/// A folder of groups that knows the backend; the same content from every rank, each in a folder of its own.
class Counting : public testing::Test {
 protected:
  Counting() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fourscore-groups-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Counting() override { std::filesystem::remove_all(folder_); }

  CounterRequest request(const std::string& name, const Behaviour& behaviour, double update_s = 0) {
    CounterRegistry::instance().add(std::make_unique<KnownCounters>(name, behaviour));
    std::filesystem::create_directories(folder_ / "any");
    std::ofstream(folder_ / "any" / "MEM.toml")
        << "description = \"known\"\nexplanation = \"\"\"known\"\"\"\n[" << name << "]\n"
        << (update_s > 0 ? "update_s = " + std::to_string(update_s) + "\n" : "")
        << "events = { moved = \"moved\", instructions = \"instructions\" }\n"
        << "metrics = [{ name = \"dram_read_bytes\", unit = \"bytes\", formula = \"64 * moved\" },\n"
        << "  { name = \"instructions\", unit = \"instructions\", formula = \"instructions\" }]\n";
    return {name, "", folder_, {}};
  }

  std::filesystem::path folder_;
};

/// 3 outside all phases, 100 in fft (in two parts), 20 in exchange, 7 in pack within exchange; rank r moves r + 1 times
/// as much.
void work(PhaseClock& clock) {
  const double times = rank() + 1;
  moved += times;
  {
    const Region fft(clock, Phase::fft);
    moved += 60 * times;
  }
  moved += 2 * times;
  {
    const Region exchange(clock, Phase::exchange);
    moved += 15 * times;
    {
      const Region pack(clock, Phase::pack);
      moved += 7 * times;
    }
    moved += 5 * times;
  }
  const Region fft(clock, Phase::fft);
  moved += 40 * times;
  instructions += 1000;
}

TEST_F(Counting, SharesCountsOutOverThePhasesOfEveryRank) {
  CountedRuns counted(MPI_COMM_WORLD, request("known", {}));
  int prepared = 0;
  counted.count([&] { ++prepared; }, work);
  counted.count_component({"fft-1", Phase::fft, [] { moved += 11; }});
  EXPECT_EQ(prepared, 2) << "one run to warm, one that is counted";
  const json record = counted.gather();
  if (rank() != 0) {
    EXPECT_TRUE(record.is_null());
    return;
  }
  EXPECT_EQ(record["backend"], "known");
  EXPECT_EQ(record["scope"], "process");
  EXPECT_EQ(record["attribution"], "own");
  EXPECT_EQ(record["runs"], 1);
  EXPECT_EQ(record["unavailable"], "");
  ASSERT_EQ(record["readers"].size(), static_cast<std::size_t>(size()));
  for (int r = 0; r < size(); ++r) {
    const double times = 64.0 * (r + 1);
    const auto at = static_cast<std::size_t>(r);
    EXPECT_EQ(record["readers"][at]["rank"], r);
    EXPECT_EQ(record["phases"]["fft"]["dram_read_bytes"][at], 100 * times);
    EXPECT_EQ(record["phases"]["exchange"]["dram_read_bytes"][at], 20 * times);
    EXPECT_EQ(record["phases"]["pack"]["dram_read_bytes"][at], 7 * times);
    EXPECT_EQ(record["phases"]["other"]["dram_read_bytes"][at], 3 * times);
    EXPECT_EQ(record["total"]["dram_read_bytes"][at], 130 * times);
    EXPECT_EQ(record["total"]["instructions"][at], 1000);
    EXPECT_EQ(record["components"]["fft-1"]["dram_read_bytes"][at], 11 * 64);
  }
  EXPECT_FALSE(record["phases"].contains("unpack")) << "a phase that does not occur has no numbers";
  EXPECT_FALSE(record.contains("idle_per_s"));
}

TEST_F(Counting, TakesAsManyRunsAsTheEventsNeed) {
  CountedRuns counted(MPI_COMM_WORLD, request("known-in-two", {CounterScope::process, 2}));
  int prepared = 0;
  counted.count([&] { ++prepared; }, work);
  EXPECT_EQ(prepared, 3);
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_EQ(record["runs"], 2);
  EXPECT_EQ(record["total"]["dram_read_bytes"][0], 130 * 64);
  EXPECT_EQ(record["total"]["instructions"][0], 1000);
}

TEST_F(Counting, WhatCannotBeCountedIsNullAndNeverZero) {
  Behaviour behaviour;
  behaviour.blind = true;
  CountedRuns counted(MPI_COMM_WORLD, request("known-blind", behaviour));
  counted.count([] {}, [](PhaseClock& clock) { const Region fft(clock, Phase::fft); });
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_TRUE(record["total"]["instructions"][0].is_null()) << "an event without a count";
  EXPECT_TRUE(record["total"]["dram_read_bytes"][0].is_null()) << "a counter that reads 0";
  EXPECT_TRUE(record["phases"]["fft"]["dram_read_bytes"][0].is_null());
}

TEST_F(Counting, ASimulationsZeroIsACount) {
  Behaviour behaviour;
  behaviour.simulates = true;
  CountedRuns counted(MPI_COMM_WORLD, request("known-simulated", behaviour));
  counted.count([] {}, [](PhaseClock&) {});
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_EQ(record["total"]["dram_read_bytes"][0], 0);
  EXPECT_EQ(record["simulated"], true);
}

TEST_F(Counting, ThatEventsTookTurnsOnAnyRankIsSaid) {
  for (const int where : {-1, size() - 1}) {
    Behaviour behaviour;
    behaviour.multiplexed_on = where;
    CountedRuns counted(MPI_COMM_WORLD, request("known-in-turns-" + std::to_string(where + 1), behaviour));
    counted.count([] {}, work);
    const json record = counted.gather();
    if (rank() == 0) {
      EXPECT_EQ(record["multiplexed"], where >= 0);
    }
  }
}

/// All ranks of a test share a node, and a socket unless the machine has several.
TEST_F(Counting, OneRankReadsForAllAndTheIdleRateIsSubtracted) {
  for (const CounterScope scope : {CounterScope::node, CounterScope::socket}) {
    Behaviour behaviour;
    behaviour.scope = scope;
    behaviour.idles = true;
    CountedRuns counted(MPI_COMM_WORLD, request("known-" + std::string(to_string(scope)), behaviour));
    counted.count([] {},
                  [](PhaseClock& clock) {
                    const Region fft(clock, Phase::fft);
                    moved += 1e9;
                    std::this_thread::sleep_for(std::chrono::milliseconds(300));
                  });
    const json record = counted.gather();
    if (rank() != 0) continue;
    EXPECT_EQ(record["scope"], std::string(to_string(scope)));
    EXPECT_EQ(record["attribution"], "elected");
    EXPECT_EQ(record["readers"][0]["rank"], 0);
    EXPECT_LE(record["readers"].size(), static_cast<std::size_t>(size()));
    if (scope == CounterScope::node) {
      EXPECT_EQ(record["readers"].size(), 1U);
    }
    // The counter adds 0.3e9 in these 300 ms, and reads its own clock a little earlier and later than the driver.
    EXPECT_NEAR(record["idle_per_s"]["dram_read_bytes"][0].get<double>(), 64 * idle_per_s, 0.3 * 64 * idle_per_s);
    EXPECT_NEAR(record["total"]["dram_read_bytes"][0].get<double>(), 64e9, 0.15 * 64e9);
    EXPECT_NEAR(record["phases"]["fft"]["dram_read_bytes"][0].get<double>(), 64e9, 0.15 * 64e9);
  }
}

/// A hundred updates of it take 20 ms.
constexpr double update_s = 0.0002;

TEST_F(Counting, SlowCountersCountManyRunsTogetherWithoutTheirRefills) {
  CountedRuns counted(MPI_COMM_WORLD, request("known-slow", {.scope = CounterScope::node}, update_s));
  counted.count([] { moved += 1000; },
                [](PhaseClock& clock) {
                  const Region fft(clock, Phase::fft);
                  moved += 10;
                  std::this_thread::sleep_for(std::chrono::milliseconds(1));
                });
  counted.count_component({"fft-1", Phase::fft, [] { moved += 3; }});
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_EQ(record["unavailable"], "");
  EXPECT_GT(record["runs"], 1);
  EXPECT_GE(record["runs"].get<double>() * record["run_s"].get<double>(), 100 * update_s);
  EXPECT_NEAR(record["total"]["dram_read_bytes"][0].get<double>(), 640, 1e-6);
  EXPECT_NEAR(record["with_idle"]["dram_read_bytes"][0].get<double>(), 640, 1e-6);
  EXPECT_NEAR(record["components"]["fft-1"]["dram_read_bytes"][0].get<double>(), 3 * 64, 1e-6);
  EXPECT_FALSE(record.contains("phases"));
  EXPECT_NE(record["phases_refused"].get<std::string>().find("their phases cannot be told apart"), std::string::npos);
  EXPECT_EQ(record["update_s"], update_s);
  EXPECT_EQ(record["idle_s"], 1.0);
  EXPECT_EQ(record["other_cores"].size(), 1U);
}

TEST_F(Counting, SlowCountersCountALongRunOnceAndItsLongPhases) {
  CountedRuns counted(MPI_COMM_WORLD, request("known-slow-and-long", {.scope = CounterScope::node}, update_s));
  counted.count([] {},
                [](PhaseClock& clock) {
                  {
                    const Region fft(clock, Phase::fft);
                    moved += 10;
                    std::this_thread::sleep_for(std::chrono::milliseconds(60));
                  }
                  for (int part = 0; part < 3; ++part) {
                    const Region pack(clock, Phase::pack);
                    moved += 1;
                    std::this_thread::sleep_for(std::chrono::milliseconds(3));
                  }
                });
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_EQ(record["runs"], 1);
  EXPECT_EQ(record["total"]["dram_read_bytes"][0], 13 * 64);
  EXPECT_EQ(record["phases"]["fft"]["dram_read_bytes"][0], 10 * 64);
  EXPECT_TRUE(record["phases"]["pack"]["dram_read_bytes"][0].is_null()) << "9 ms in parts of 3 ms";
  const auto refused = record["phases_refused"].get<std::string>();
  EXPECT_NE(refused.find("pack (3 parts, "), std::string::npos) << refused;
  EXPECT_EQ(refused.find("fft"), std::string::npos) << refused;
}

TEST_F(Counting, SlowCountersSayWhatTheyCannotCount) {
  CounterRequest asked = request("known-slow-at-rest", {.scope = CounterScope::node}, update_s);
  asked.idle_s = 0.01;
  EXPECT_THROW(const CountedRuns counted(MPI_COMM_WORLD, asked), CounterRequestError);
  CountedRuns counted(MPI_COMM_WORLD, request("known-slower", {.scope = CounterScope::node}, 0.01));
  counted.count([] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }, [](PhaseClock&) {});
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_NE(record["unavailable"].get<std::string>().find("more than 60 s"), std::string::npos) << record;
  EXPECT_FALSE(record.contains("total"));
}

TEST(OtherWork, IsWhatAllProcessorsDidWithoutUs) {
  const std::filesystem::path stat = std::filesystem::temp_directory_path() / ("stat-" + std::to_string(::getpid()));
  std::ofstream(stat) << "cpu  1000 50 450 90000 7 300 200 5 0 0\ncpu0 1 2 3\n";
  EXPECT_DOUBLE_EQ(busy_s(stat).value(), 1500.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  std::ofstream(stat) << "nothing of the kind\n";
  EXPECT_FALSE(busy_s(stat));
  std::filesystem::remove(stat);
  EXPECT_FALSE(busy_s(stat));
  EXPECT_DOUBLE_EQ(other_cores(12, 9, 2), 1.5);
  EXPECT_DOUBLE_EQ(other_cores(8.9, 9, 2), 0) << "ticks are coarser than our own clock";
}

TEST_F(Counting, ACounterThatFailsOnOneRankEndsCountingOnAllWithItsReason) {
  Behaviour behaviour;
  behaviour.fails_on = size() - 1;
  CountedRuns counted(MPI_COMM_WORLD, request("known-to-fail", behaviour));
  counted.count([] {}, work);
  counted.count_component({"fft-1", Phase::fft, [] { moved += 11; }});
  const json record = counted.gather();
  if (rank() != 0) return;
  EXPECT_EQ(record["unavailable"], "the counter was taken away");
  EXPECT_FALSE(record.contains("total"));
  EXPECT_FALSE(record.contains("phases"));
}

TEST_F(Counting, ACounterThatDoesNotOpenIsReportedOnAllRanks) {
  Behaviour behaviour;
  behaviour.cannot_open_on = size() - 1;
  const CounterRequest asked = request("known-closed", behaviour);
  EXPECT_EQ(test::message_of<CounterError>([&] { const CountedRuns counted(MPI_COMM_WORLD, asked); }),
            "no permission on this rank");
}

TEST_F(Counting, OfOneThreadIsNoCountOfSeveral) {
  Behaviour behaviour;
  behaviour.scope = CounterScope::thread;
  const CounterRequest of_a_thread = request("known-thread", behaviour);
  EXPECT_NO_THROW(CountedRuns(MPI_COMM_WORLD, of_a_thread, 1));
  EXPECT_THROW(CountedRuns(MPI_COMM_WORLD, of_a_thread, 2), CounterRequestError);
  behaviour.scope = CounterScope::process;
  EXPECT_NO_THROW(CountedRuns(MPI_COMM_WORLD, request("known-process-of-threads", behaviour), 2));
}

TEST_F(Counting, AGroupThatThereIsNotIsABadRequest) {
  CounterRequest asked = request("known-groups", {});
  asked.group = "MEN";
  EXPECT_THROW(const CountedRuns counted(MPI_COMM_WORLD, asked), CounterRequestError);
}

TEST(Buckets, EveryPhaseHasItsOwnAndOtherIsTheFirst) {
  std::vector<bool> seen(phase_count, false);
  for (std::size_t p = 0; p < phase_count; ++p) {
    const std::size_t bucket = bucket_of(static_cast<Phase>(p));
    ASSERT_LT(bucket, phase_count);
    EXPECT_FALSE(seen[bucket]);
    seen[bucket] = true;
  }
  EXPECT_EQ(bucket_of(Phase::other), 0U);
}

}  // namespace
}  // namespace fourscore
