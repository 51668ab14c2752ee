#include "hwcounters/likwid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "hwcounters/output_capture.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder like / with registers of processors 0 and 1 that may be opened.
class Root {
 public:
  Root()
      : folder_(fs::path(testing::TempDir()) /
                ("likwid-" + std::to_string(::getpid()) + "-" + std::to_string(++count_))) {
    for (const int cpu : {0, 1}) {
      fs::create_directories(folder_ / "dev/cpu" / std::to_string(cpu));
      std::ofstream(folder_ / "dev/cpu" / std::to_string(cpu) / "msr") << "registers";
    }
  }
  ~Root() { fs::remove_all(folder_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  [[nodiscard]] const fs::path& path() const { return folder_; }

 private:
  static inline int count_ = 0;
  fs::path folder_;
};

/// Counts 10 (event 0), 11 (event 1) ... a read on the first processor and nothing on the others.
class FakeLikwid {
 public:
  Root root;
  bool marker = false;
  ProcessSockets sockets{{0}, {{0, 1}}, false};
  LikwidProcessor processor{"Intel Icelake SP processor", "ICX", 6, 0x6A};
  std::string fails;
  int with = -EPERM;
  std::string prints;               ///< where it fails
  std::vector<int> not_configured;  ///< events that LIKWID leaves out
  double reads_as = 1;
  std::vector<std::string> calls_made;
  std::vector<int> cpus;
  std::string events;
  std::vector<std::string> regions;

  [[nodiscard]] std::unique_ptr<CounterBackend> backend() {
    LikwidCalls calls;
    calls.init_configuration = [this] { return result("init_configuration"); };
    calls.configured_access = [] { return LikwidAccess::daemon; };
    calls.set_access = [this](LikwidAccess mode) {
      calls_made.push_back(mode == LikwidAccess::direct ? "direct" : "daemon");
    };
    calls.topology_init = [this] { return result("topology_init"); };
    calls.processor = [this] { return processor; };
    calls.perfmon_init = [this](const std::vector<int>& given) {
      cpus = given;
      return result("perfmon_init");
    };
    calls.add_event_set = [this](const std::string& text) {
      events = text;
      return result("perfmon_addEventSet");
    };
    calls.events_in_group = [](int) { return 1; };
    calls.metrics_of_group = [](int) {
      return std::vector<std::string>{"CPI", "Memory read data volume [GBytes]", "Memory data volume [GBytes]"};
    };
    calls.setup_counters = [this](int) { return result("perfmon_setupCounters"); };
    calls.start_counters = [this] { return result("perfmon_startCounters"); };
    calls.read_counters = [this] { return result("perfmon_readCounters"); };
    calls.stop_counters = [this] { return result("perfmon_stopCounters"); };
    calls.is_configured = [this](int, int event) {
      return std::ranges::find(not_configured, event) == not_configured.end();
    };
    calls.last_result = [this](int, int event, int thread) { return thread == 0 ? reads_as * (10 + event) : 0.0; };
    calls.last_metric = [this](int, int metric, int thread) { return thread == 0 ? reads_as * (100 + metric) : 0.0; };
    calls.finalize = [this] { (void)result("perfmon_finalize"); };
    calls.marker_init = [this] { (void)result("likwid_markerInit"); };
    calls.marker_register = [](const char*) { return 0; };
    calls.marker_start = [this](const char* region) {
      regions.push_back(std::string("+") + region);
      return result("likwid_markerStartRegion");
    };
    calls.marker_stop = [this](const char* region) {
      regions.push_back(std::string("-") + region);
      return result("likwid_markerStopRegion");
    };
    calls.marker_close = [this] { (void)result("likwid_markerClose"); };
    return make_likwid_backend(
        calls, "",
        [this] {
          return LikwidSurroundings{root.path(), {}, marker};
        },
        [this] { return sockets; });
  }

 private:
  int result(const std::string& call) {
    calls_made.push_back(call);
    if (call != fails) return 0;
    std::fputs(prints.c_str(), stderr);
    return with;
  }
};

const std::vector<EventSpec> memory_events{{"reads", "CAS_COUNT_RD:MBOX*C0"}, {"writes", "CAS_COUNT_WR:MBOX*C1"}};

TEST(Likwid, SumsTheBoxesOfASocketThatThereAre) {
  FakeLikwid likwid;
  likwid.not_configured = {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 17,
                           18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const auto backend = likwid.backend();
  const auto session = backend->open(memory_events, {});
  EXPECT_THAT(likwid.cpus, ElementsAre(0, 1)) << "all processors of the socket";
  EXPECT_THAT(likwid.events,
              AllOf(HasSubstr("CAS_COUNT_RD:MBOX0C0,CAS_COUNT_RD:MBOX1C0,"), HasSubstr("CAS_COUNT_WR:MBOX15C1")));
  EXPECT_EQ(session->scope(), CounterScope::socket);
  session->start(0, 2);
  session->switch_to(1);
  session->stop();
  const auto counts = session->counts();
  EXPECT_THAT(counts[0], ElementsAre(EventCount(10 + 11), EventCount(26)));
  EXPECT_EQ(counts[0], counts[1]);
}

TEST(Likwid, CountsCoresOfTheProcessAlone) {
  FakeLikwid likwid;
  const auto backend = likwid.backend();
  auto session = backend->open({{"instructions", "INSTR_RETIRED_ANY:FIXC0"}, {"flops", "FP_ARITH:PMC0"}}, {});
  EXPECT_THAT(likwid.cpus, ElementsAre(0));
  EXPECT_EQ(session->scope(), CounterScope::process);
  session.reset();
  likwid.sockets.everywhere = true;
  session = backend->open({{"instructions", "INSTR_RETIRED_ANY:FIXC0"}}, {});
  EXPECT_EQ(session->scope(), CounterScope::node) << "a processor counts whoever runs on it";
}

TEST(Likwid, TakesMetricsOfItsOwnPerformanceGroups) {
  FakeLikwid likwid;
  const auto backend = likwid.backend();
  const auto session = backend->open({{"volume", "MEM/Memory data volume [GBytes]"}}, {});
  EXPECT_EQ(likwid.events, "MEM");
  session->start(0, 1);
  session->stop();
  EXPECT_EQ(session->counts().front().front(), EventCount(102));
}

TEST(Likwid, ARunOfZerosIsNoCount) {
  FakeLikwid likwid;
  likwid.reads_as = 0;
  const auto backend = likwid.backend();
  const auto session = backend->open(memory_events, {});
  session->start(0, 1);
  session->stop();
  EXPECT_THAT(session->counts().front(), ElementsAre(std::nullopt, std::nullopt));
  likwid.reads_as = std::numeric_limits<double>::quiet_NaN();
  session->start(0, 1);
  session->stop();
  EXPECT_THAT(message_of<CounterError>([&] { return session->counts(); }), HasSubstr("perfmon_readCounters"));
}

TEST(Likwid, CountsForOneSessionAtATime) {
  FakeLikwid likwid;
  const auto backend = likwid.backend();
  auto session = backend->open(memory_events, {});
  EXPECT_THAT(message_of<CounterError>([&] { (void)backend->open(memory_events, {}); }), HasSubstr("one session"));
  session.reset();
  EXPECT_NO_THROW((void)backend->open(memory_events, {}));
}

TEST(Likwid, RefusesCodesItCannotCountTogether) {
  FakeLikwid likwid;
  const auto backend = likwid.backend();
  const auto open = [&](std::vector<EventSpec> events) {
    return [&backend, events] { (void)backend->open(events, {}); };
  };
  EXPECT_THAT(message_of<CounterRequestError>(open({{"x", "CAS_COUNT_RD"}})), HasSubstr("EVENT:COUNTER"));
  EXPECT_THAT(message_of<CounterRequestError>(open({{"x", "MEM/CPI"}, {"y", "A:PMC0"}})),
              HasSubstr("one performance group"));
  EXPECT_THAT(message_of<CounterRequestError>(open({{"x", "MEM/CPI"}, {"y", "L3/CPI"}})),
              HasSubstr("one performance group"));
  EXPECT_THAT(message_of<CounterRequestError>(open({{"x", "MEM/Memory data volume [MBytes]"}})),
              HasSubstr("did you mean 'Memory data volume [GBytes]'"));
  likwid.not_configured = {0};
  EXPECT_THAT(message_of<CounterRequestError>(open({{"x", "NO_SUCH:PMC0"}})),
              AllOf(HasSubstr("NO_SUCH:PMC0"), HasSubstr("likwid-perfctr -e")));
}

struct LikwidFailure {
  const char* call;
  bool users;  ///< the user's error, or the machine's
};
class LikwidFails : public testing::TestWithParam<LikwidFailure> {};

TEST_P(LikwidFails, NamesTheCallAndTheReasonInItsOwnWords) {
  FakeLikwid likwid;
  likwid.fails = GetParam().call;
  likwid.prints = "ERROR - [perfmon.c:1] the library's own words\n";
  const auto backend = likwid.backend();
  OutputCapture terminal;
  const auto act = [&] {
    const auto session = backend->open(memory_events, {});
    session->start(0, 2);
    session->switch_to(1);
    session->stop();
    (void)session->counts();
  };
  const std::string message = GetParam().users ? message_of<CounterRequestError>(act) : message_of<CounterError>(act);
  const bool during_the_run = likwid.fails == "perfmon_readCounters";
  const std::string printed = terminal.text();
  if (!during_the_run) {
    EXPECT_EQ(printed, "") << "nothing of it reaches the terminal";
    EXPECT_THAT(message, HasSubstr("the library's own words"));
  }
  if (likwid.fails.starts_with("perfmon")) {
    EXPECT_THAT(message, AllOf(HasSubstr(likwid.fails), HasSubstr("Operation not permitted")));
  }
  EXPECT_NO_THROW({
    likwid.fails.clear();
    (void)backend->open(memory_events, {});
  }) << "it can be tried again";
}

INSTANTIATE_TEST_SUITE_P(
    EachCall, LikwidFails,
    testing::Values(LikwidFailure{"init_configuration", false}, LikwidFailure{"topology_init", false},
                    LikwidFailure{"perfmon_init", false}, LikwidFailure{"perfmon_addEventSet", true},
                    LikwidFailure{"perfmon_setupCounters", false}, LikwidFailure{"perfmon_startCounters", false},
                    LikwidFailure{"perfmon_readCounters", false}, LikwidFailure{"perfmon_stopCounters", false}),
    [](const auto& param) { return std::string(param.param.call); });

TEST(Likwid, AnUnknownProcessorIsReportedBeforeAnythingIsCounted) {
  FakeLikwid likwid;
  likwid.processor = {"", "", 25, 0x11};
  const auto backend = likwid.backend();
  EXPECT_THAT(backend->unavailable(),
              HasSubstr("does not know this processor (without a name, family 0x19, model 0x11)"));
  EXPECT_THAT(message_of<CounterError>([&] { (void)backend->open(memory_events, {}); }), HasSubstr("0x19"));
  EXPECT_THAT(likwid.calls_made, testing::Not(testing::Contains("perfmon_init")));
}

TEST(Likwid, MarksPhasesAsRegionsOfLikwidPerfctr) {
  FakeLikwid likwid;
  likwid.marker = true;
  const auto backend = likwid.backend();
  EXPECT_EQ(backend->default_group(), "REGIONS");
  EXPECT_EQ(backend->unavailable(), "");
  CounterRequest request;
  request.buckets = {"other", "fft"};
  auto session = backend->open({{"regions", "regions"}}, request);
  EXPECT_THAT(session->uncounted(), HasSubstr("counted outside by likwid-perfctr"));
  session->start(0, 3);
  session->switch_to(1);
  session->switch_to(2);
  session->stop();
  EXPECT_THAT(likwid.regions, ElementsAre("+other", "-other", "+fft", "-fft", "+bucket-2", "-bucket-2"));
  EXPECT_EQ(session->counts(), std::vector<std::vector<EventCount>>(3, {std::nullopt}));
  session.reset();
  EXPECT_THAT(likwid.calls_made, AllOf(testing::Contains("likwid_markerInit"), testing::Contains("likwid_markerClose"),
                                       testing::Not(testing::Contains("perfmon_init"))));
}

TEST(Likwid, MarkerRegionsThatFailAreErrors) {
  FakeLikwid likwid;
  likwid.marker = true;
  likwid.fails = "likwid_markerStartRegion";
  likwid.with = -EFAULT;
  const auto backend = likwid.backend();
  const auto session = backend->open({{"regions", "regions"}}, {});
  EXPECT_THAT(message_of<CounterError>([&] { session->start(0, 1); }), HasSubstr("that likwid-perfctr was given (-C)"));
  likwid.fails = "likwid_markerStopRegion";
  session->start(0, 2);
  session->switch_to(1);
  session->stop();
  EXPECT_THAT(message_of<CounterError>([&] { return session->counts(); }), HasSubstr("marker regions"));
  likwid.marker = false;
  EXPECT_THAT(message_of<CounterError>([&] {
                return backend->open({{"regions", "regions"}}, {});
              }),
              HasSubstr("likwid-perfctr -C CORES -g GROUP -m PROGRAM"));
}

TEST(LikwidAccess, IsDirectWhereTheRegistersCanBeOpened) {
  const Root root;
  EXPECT_EQ(likwid_access({root.path(), {}, false}, {0, 1}), LikwidAccess::direct);
}

TEST(LikwidAccess, WithoutRegistersSaysWhichFileIsMissing) {
  const Root root;
  EXPECT_THAT(message_of<CounterError>([&] {
                return likwid_access({root.path(), {}, false}, {0, 7});
              }),
              AllOf(HasSubstr("dev/cpu/7/msr"), HasSubstr("modprobe msr"), HasSubstr("virtual machine")));
}

TEST(LikwidAccess, NeedsADaemonThatMayReadThemWhereTheProcessMayNot) {
  const Root root;
  // A folder cannot be opened for writing, not even by root.
  fs::remove(root.path() / "dev/cpu/0/msr");
  fs::create_directories(root.path() / "dev/cpu/0/msr");
  const LikwidSurroundings surroundings{root.path(), {root.path() / "bin"}, false};
  const auto access = [&] { (void)likwid_access(surroundings, {0}); };
  EXPECT_THAT(message_of<CounterError>(access), HasSubstr("likwid-accessD is not in PATH"));
  const fs::path daemon = root.path() / "bin/likwid-accessD";
  fs::create_directories(daemon.parent_path());
  std::ofstream(daemon) << "#!/bin/sh\n";
  ASSERT_EQ(::chmod(daemon.c_str(), 0755), 0);
  EXPECT_THAT(message_of<CounterError>(access), AllOf(HasSubstr("chmod u+s"), HasSubstr(daemon.string())));
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(daemon.c_str(), 04755), 0);
    EXPECT_EQ(likwid_access(surroundings, {0}), LikwidAccess::daemon);
  }
}

TEST(LikwidSurroundings, KnowThatLikwidPerfctrStartedUs) {
  ::unsetenv("LIKWID_MODE");
  EXPECT_FALSE(likwid_surroundings().marker);
  for (const char* name : {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"}) ::setenv(name, "0", 1);
  EXPECT_TRUE(likwid_surroundings().marker);
  for (const char* name : {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"}) ::unsetenv(name);
  EXPECT_FALSE(likwid_surroundings().path.empty());
}

// What follows asks the library that this program is linked with.

TEST(RealLikwid, KnowsTheMachineAndSaysWhyItCannotCount) {
  const LikwidCalls library = likwid_library(likwid_file());
  if (!library.topology_init) GTEST_SKIP() << "built without LIKWID";
  OutputCapture terminal;
  EXPECT_EQ(library.init_configuration(), 0);
  EXPECT_EQ(library.topology_init(), 0);
  EXPECT_GT(library.processor().family, 0U);
  CounterBackend& backend = counter_backend("likwid");
  const std::string reason = backend.unavailable();
  const std::string opening = message_of<CounterError>([&] {
    (void)backend.open({{"instructions", "INSTR_RETIRED_ANY:FIXC0"}}, {});
  });
  EXPECT_EQ(terminal.text(), "") << "the library's words belong into our messages";
  if (reason.empty()) GTEST_SKIP() << "LIKWID can count here";
  EXPECT_EQ(opening, reason);
}

TEST(RealLikwid, IsUnavailableAndNamesTheFileThatIsGoneOrAnother) {
  if (likwid_file().empty()) GTEST_SKIP() << "built without LIKWID";
  const auto unavailable = [](const std::string& file) {
    return make_likwid_backend(likwid_library(file), "", likwid_surroundings, [] { return process_sockets(); })
        ->unavailable();
  };
  EXPECT_THAT(unavailable("/proc/nowhere/liblikwid.so.5"),
              AllOf(HasSubstr("LIKWID cannot be loaded"), HasSubstr("/proc/nowhere/liblikwid.so.5"),
                    HasSubstr("configure anew")));
  EXPECT_THAT(unavailable("libm.so.6"), AllOf(HasSubstr("LIKWID cannot be used"), HasSubstr("libm.so.6")));
}

TEST(RealLikwid, MarkerRegionsWithoutCountersThrow) {
  const LikwidCalls library = likwid_library(likwid_file());
  if (!library.topology_init) GTEST_SKIP() << "built without LIKWID";
  const fs::path file = fs::path(testing::TempDir()) / "fourscore-likwid-marker";
  ::setenv("LIKWID_FILEPATH", file.c_str(), 1);
  ::setenv("LIKWID_EVENTS", "INSTR_RETIRED_ANY:FIXC0", 1);
  ::setenv("LIKWID_THREADS", "0", 1);
  CounterBackend& backend = counter_backend("likwid");
  if (backend.unavailable().empty()) GTEST_SKIP() << "LIKWID can count here";
  ::setenv("LIKWID_MODE", "0", 1);
  OutputCapture terminal;
  const std::string message = message_of<CounterError>([&] {
    const auto session = backend.open({{"regions", "regions"}}, {});
    session->start(0, 1);
  });
  for (const char* name : {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"}) ::unsetenv(name);
  EXPECT_EQ(terminal.text(), "");
  EXPECT_THAT(message, HasSubstr("likwid_markerStartRegion"));
  fs::remove(file);
}

}  // namespace
}  // namespace fourscore
