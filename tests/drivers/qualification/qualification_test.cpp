#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "qualification/qualify.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using testing::HasSubstr;

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(KnownTraffic, OfAStoreToPartOfALineHoldsTheReadOfThatLine) {
  const auto is = [](TrafficKernel kernel, bool streams, double reads, double writes) {
    const MemoryTraffic known = known_traffic(kernel, 1000, streams);
    return known.read_bytes == reads && known.write_bytes == writes;
  };
  EXPECT_TRUE(is(TrafficKernel::read, true, 1000, 0));
  EXPECT_TRUE(is(TrafficKernel::write, true, 1000, 1000));
  EXPECT_TRUE(is(TrafficKernel::copy, true, 2000, 1000));
  EXPECT_TRUE(is(TrafficKernel::streaming_write, true, 0, 1000));
  EXPECT_TRUE(is(TrafficKernel::streaming_write, false, 1000, 1000)) << "a simulated cache has no streaming stores";
}

TEST(Qualification, ARatioIsTheFigureFarthestFromWhatIsKnown) {
  EXPECT_DOUBLE_EQ(*ratio_of({100, 50}, {102.0, 45.0, {}}), 0.9);
  EXPECT_DOUBLE_EQ(*ratio_of({100, 0}, {100.0, 30.0, {}}), 1.3) << "writes where there should be none";
  EXPECT_DOUBLE_EQ(*ratio_of({100, 50}, {{}, {}, 300.0}), 2.0);
  EXPECT_DOUBLE_EQ(*ratio_of({0, 50}, {{}, 50.0, {}}), 1.0);
  EXPECT_FALSE(ratio_of({100, 50}, {}));
}

TEST(Qualification, TheWorstOfAllKernelsCounts) {
  KernelResult good;
  good.ratio = 1.05;
  KernelResult bad;
  bad.ratio = 0.6;
  EXPECT_DOUBLE_EQ(*worst_ratio({good, bad, good}), 0.6);
  bad.ratio.reset();
  EXPECT_FALSE(worst_ratio({good, bad})) << "a kernel that was not counted qualifies nothing";
  EXPECT_FALSE(worst_ratio({}));
}

TEST(ArraySize, IsFarLargerThanTheCacheAndFitsIntoMemory) {
  const CacheGeometry cache{mib, 16, 64};
  EXPECT_EQ(array_size(0, cache, 1000 * mib), 16 * mib);
  EXPECT_EQ(array_size(0, cache, std::nullopt), 16 * mib);
  EXPECT_EQ(array_size(0, cache, 24 * mib), 6 * mib) << "less where memory is short";
  EXPECT_EQ(array_size(5 * mib + 1, cache, 1000 * mib), 5 * mib) << "whole lines";
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)array_size(3 * mib, cache, 1000 * mib); }),
              testing::AllOf(HasSubstr("3.0 MiB"), HasSubstr("4 times"), HasSubstr("4.0 MiB")));
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)array_size(600 * mib, cache, 1000 * mib); }),
              testing::AllOf(HasSubstr("600.0 MiB"), HasSubstr("1000.0 MiB can be had")));
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)array_size(0, cache, 6 * mib); }), HasSubstr("do not fit"));
}

TEST(AvailableMemory, IsWhatTheKernelSays) {
  const fs::path file = fs::path(testing::TempDir()) / ("meminfo-" + std::to_string(::getpid()));
  std::ofstream(file) << "MemTotal:       24000000 kB\nMemAvailable:       1024 kB\n";
  EXPECT_EQ(available_memory(file), mib);
  std::ofstream(file) << "MemTotal: 24000000 kB\n";
  EXPECT_FALSE(available_memory(file));
  fs::remove(file);
  EXPECT_FALSE(available_memory("/proc/nowhere/meminfo"));
}

TEST(TrafficArrays, EveryKernelPassesOverItsArrays) {
  for (const TrafficKernel kernel : traffic_kernels()) {
    TrafficArrays arrays(kernel, 64 * 64, 64);
    for (int i = 0; i < 3; ++i) arrays.pass();
    EXPECT_NE(to_string(kernel), "unknown");
  }
  EXPECT_GE(traffic_kernels().size(), 3U);
}

/// Counts the traffic that it was given for each kernel, in the order in which kernels are run.
class KnowingBackend : public CounterBackend {
 public:
  explicit KnowingBackend(CounterScope scope, double factor, double idle = 0)
      : scope_(scope), factor_(factor), idle_(idle) {}
  [[nodiscard]] std::string name() const override { return "perf"; }
  [[nodiscard]] std::string summary() const override { return "of a test"; }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }
  [[nodiscard]] bool simulates() const override { return true; }  // one run of each kernel
  [[nodiscard]] CacheGeometry simulated_cache(const CounterRequest&) const override { return {64 * 1024, 16, 64}; }
  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>&, const CounterRequest&) override;

  CounterScope scope_;
  double factor_;
  double idle_;
  std::string uncounted_;
  bool multiplexed_ = false;
};

class KnowingSession : public CounterSession {
 public:
  explicit KnowingSession(const KnowingBackend& backend)
      : backend_(backend), next_(backend.scope_ == CounterScope::socket ? -1 : 0) {}
  [[nodiscard]] CounterScope scope() const override { return backend_.scope_; }
  void start(std::size_t, std::size_t) override {}
  void switch_to(std::size_t) noexcept override {}
  void stop() override { ++next_; }
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override {
    if (next_ == 0) return {{backend_.idle_, backend_.idle_}};  // the idle time comes first
    const auto kernel = traffic_kernels().at(static_cast<std::size_t>(next_ - 1));
    const MemoryTraffic known = known_traffic(kernel, 16 * 64 * 1024, false);
    return {{backend_.factor_ * known.read_bytes / 64, backend_.factor_ * known.write_bytes / 64}};
  }
  [[nodiscard]] std::string uncounted() const override { return backend_.uncounted_; }
  [[nodiscard]] bool multiplexed() const override { return backend_.multiplexed_; }

 private:
  const KnowingBackend& backend_;
  int next_;
};

std::unique_ptr<CounterSession> KnowingBackend::open(const std::vector<EventSpec>&, const CounterRequest&) {
  return std::make_unique<KnowingSession>(*this);
}

class Qualify : public testing::Test {
 protected:
  Qualify() : groups_(fs::path(testing::TempDir()) / ("groups-" + std::to_string(::getpid()))) {
    fs::create_directories(groups_ / "any");
    write("MEM",
          "[perf]\nevents = { r = \"a\", w = \"b\" }\nmetrics = [ { name = \"dram_read_bytes\", unit = \"bytes\", "
          "formula = \"64 * r\" }, { name = \"dram_write_bytes\", unit = \"bytes\", formula = \"64 * w\" } ]\n");
    write("CORE",
          "[perf]\nevents = { r = \"a\" }\nmetrics = [ { name = \"cycles\", unit = \"cycles\", formula = \"r\" } ]\n");
    request_.groups = groups_;
  }
  ~Qualify() override { fs::remove_all(groups_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(groups_ / "any" / (name + ".toml")) << "description = \"d\"\nexplanation = \"e\"\n" << text;
  }
  fs::path groups_;
  CounterRequest request_;
};

TEST_F(Qualify, ABackendThatCountsWhatIsKnownIsFit) {
  KnowingBackend backend(CounterScope::process, 1.03);
  const auto answer = qualify(backend, request_, 0);
  EXPECT_TRUE(answer["fit"].get<bool>());
  EXPECT_NEAR(answer["worst_ratio"].get<double>(), 1.03, 1e-9);
  EXPECT_EQ(answer["kernels"].size(), traffic_kernels().size());
  EXPECT_EQ(answer["group"], "MEM");
  EXPECT_EQ(answer["array_bytes"], 16 * 64 * 1024);
}

TEST_F(Qualify, ABackendThatIsOffIsUnfitAndSaysByHowMuch) {
  KnowingBackend backend(CounterScope::process, 0.5);
  const auto answer = qualify(backend, request_, 0);
  EXPECT_FALSE(answer["fit"].get<bool>());
  EXPECT_NEAR(answer["worst_ratio"].get<double>(), 0.5, 1e-9);
}

TEST_F(Qualify, WhatASocketDoesAnywayIsSubtracted) {
  // An idle rate of 1e12 lines a second is far more than what the kernels count.
  KnowingBackend backend(CounterScope::socket, 1, 3e11);
  const auto answer = qualify(backend, request_, 0);
  EXPECT_FALSE(answer["fit"].get<bool>());
  EXPECT_LT(answer["kernels"][0]["counted_read_bytes"].get<double>(), 0);
  KnowingBackend quiet(CounterScope::socket, 1, 0);
  EXPECT_TRUE(qualify(quiet, request_, 0)["fit"].get<bool>());
}

TEST_F(Qualify, WhatCannotBeQualifiedIsAnError) {
  KnowingBackend backend(CounterScope::process, 1);
  request_.group = "CORE";
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)qualify(backend, request_, 0); }),
              HasSubstr("counts no memory traffic"));
  request_.group = "MEM";
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)qualify(backend, request_, 1000); }), HasSubstr("too small"));
  EXPECT_THAT(message_of<CounterRequestError>([&] { (void)qualify(backend, request_, std::size_t{1} << 60); }),
              HasSubstr("do not fit into memory"));
  backend.multiplexed_ = true;
  EXPECT_THAT(message_of<CounterError>([&] { (void)qualify(backend, request_, 0); }), HasSubstr("multiplexed"));
  backend.uncounted_ = "counted outside";
  EXPECT_THAT(message_of<CounterError>([&] { (void)qualify(backend, request_, 0); }), HasSubstr("counted outside"));
}

}  // namespace
}  // namespace fourscore
