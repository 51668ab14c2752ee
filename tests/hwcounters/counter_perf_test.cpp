#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "hwcounters/group.hpp"
#include "hwcounters/perf.hpp"
#include "support/message_of.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

/// A kernel that gives every counter a descriptor from 100 on, and reads what it is told.
class FakeKernel : public PerfKernel {
 public:
  struct Opened {
    perf_event_attr attributes;
    pid_t pid;
    int cpu;
  };
  int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept override {
    if (attributes.type == fails_of && fails_with != 0) return -fails_with;
    opened.push_back({attributes, pid, cpu});
    return 99 + static_cast<int>(opened.size());
  }
  long enable(int) noexcept override { return ++enabled, 0; }
  long disable(int) noexcept override { return ++disabled, 0; }
  long read(int descriptor, void* buffer, std::size_t) noexcept override {
    if (bytes != 24) return bytes;
    const std::uint64_t numbers[3] = {now * static_cast<std::uint64_t>(descriptor - 99), now, now};
    std::memcpy(buffer, numbers, sizeof(numbers));
    return 24;
  }
  void close(int) noexcept override { ++closed; }

  std::vector<Opened> opened;
  std::uint32_t fails_of = 0;
  int fails_with = 0;
  long bytes = 24;
  std::uint64_t now = 0;  ///< counter i shows (i + 1) * now
  int enabled = 0;
  int disabled = 0;
  int closed = 0;
};

class PerfOn {
 public:
  explicit PerfOn(const std::string& tree, const std::string& paranoid = "2") : machine_(tree) {
    if (!paranoid.empty()) machine_.write("sys/kernel/perf_event_paranoid", paranoid);
    backend_ = make_perf_backend({machine_.root(), machine_.root(), kernel, [] { return 0; }});
  }
  std::unique_ptr<CounterSession> open(const std::vector<std::string>& codes) {
    std::vector<EventSpec> events;
    for (const auto& code : codes) events.push_back({fmt::format("e{}", events.size()), code});
    return backend_->open(events, {});
  }
  template <class Error = CounterError>
  std::string error_of(const std::vector<std::string>& codes) {
    return test::message_of<Error>([&] { return open(codes); });
  }
  /// The message when opening counters of a perf type fails with this errno.
  std::string failing(std::uint32_t type, int error, const std::string& code) {
    kernel->fails_of = type;
    kernel->fails_with = error;
    return error_of({code});
  }
  [[nodiscard]] std::string unavailable() const { return backend_->unavailable(); }
  [[nodiscard]] RecordedTree& machine() { return machine_; }

  std::shared_ptr<FakeKernel> kernel = std::make_shared<FakeKernel>();

 private:
  RecordedTree machine_;
  std::unique_ptr<CounterBackend> backend_;
};

constexpr std::uint32_t software = PERF_TYPE_SOFTWARE;
constexpr std::uint32_t hardware = PERF_TYPE_HARDWARE;
constexpr std::uint32_t imc_0 = 19;
const std::string reads = "uncore_imc/event=0x04,umask=0x03/";

TEST(Perf, ChannelsOfASocketAreSummedAndOpenedForEverybody) {
  PerfOn perf("sysfs/skylake-sp.txt");
  {
    const auto session = perf.open({reads, "uncore_imc/cas_count_write/"});
    EXPECT_EQ(session->scope(), CounterScope::socket);
    ASSERT_EQ(perf.kernel->opened.size(), 12U);
    EXPECT_EQ(perf.kernel->opened[0].pid, -1);
    EXPECT_EQ(perf.kernel->opened[0].cpu, 0);
    EXPECT_EQ(perf.kernel->opened[0].attributes.inherit, 0U);
    EXPECT_EQ(perf.kernel->opened[0].attributes.exclude_kernel, 0U);
    EXPECT_EQ(perf.kernel->opened[6].attributes.config, 0x0c04U);
    session->start(0, 2);
    perf.kernel->now = 10;
    session->switch_to(1);
    perf.kernel->now = 11;
    session->stop();
    // Counters 1 to 6 are reads, 7 to 12 writes, whose named event has lines of 64 bytes.
    EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(210.0), Optional(570.0 * 64)),
                                               ElementsAre(Optional(21.0), Optional(57.0 * 64))));
    EXPECT_EQ(perf.kernel->enabled, 12);
    EXPECT_EQ(perf.kernel->disabled, 12);
  }
  EXPECT_EQ(perf.kernel->closed, 12);
}

TEST(Perf, EnergyIsThatOfThePackageOfTheSocketInJoules) {
  PerfOn perf("sysfs/skylake-sp.txt");
  const auto session = perf.open({"power/energy-pkg/"});
  EXPECT_EQ(session->scope(), CounterScope::socket);
  ASSERT_EQ(perf.kernel->opened.size(), 1U);
  EXPECT_EQ(perf.kernel->opened[0].pid, -1);
  EXPECT_EQ(perf.kernel->opened[0].attributes.config, 2U);
  const std::uint32_t power = perf.kernel->opened[0].attributes.type;
  session->start(0, 1);
  perf.kernel->now = 10;
  session->stop();
  EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(10.0 / (1ULL << 32)))));
  EXPECT_THAT(perf.failing(power, EACCES, "power/energy-pkg/"),
              AllOf(HasSubstr("counting for a whole socket is not permitted"), HasSubstr("at most 0 is needed")));
}

TEST(Perf, EveryThreadThatIsThereGetsItsCounter) {
  PerfOn perf("sysfs/skylake-sp.txt");
  perf.machine().write("self/task/71/stat", "");
  perf.machine().write("self/task/72/stat", "");
  const auto session = perf.open({"instructions:u"});
  EXPECT_EQ(session->scope(), CounterScope::process);
  ASSERT_EQ(perf.kernel->opened.size(), 2U);
  EXPECT_EQ(perf.kernel->opened[0].pid + perf.kernel->opened[1].pid, 143);
  EXPECT_EQ(perf.kernel->opened[0].cpu, -1);
  EXPECT_EQ(perf.kernel->opened[0].attributes.inherit, 1U);
  EXPECT_EQ(perf.kernel->opened[0].attributes.exclude_kernel, 1U);
  EXPECT_EQ(perf.kernel->opened[0].attributes.read_format,
            static_cast<std::uint64_t>(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
}

TEST(Perf, OnlyTheCountersOfAPassAreOn) {
  PerfOn perf("sysfs/zen4.txt");
  const auto session =
      make_perf_backend({perf.machine().root(), perf.machine().root(), perf.kernel, [] { return 0; }})
          ->open({{"a", "amd_df/event=0x07,umask=0x38/", 0}, {"b", "amd_df/event=0x47,umask=0x38/", 1}}, {});
  EXPECT_EQ(session->passes(1), 2U);
  session->start(0, 1);
  perf.kernel->now = 10;
  session->stop();
  EXPECT_EQ(perf.kernel->enabled, 1);
  EXPECT_EQ(perf.kernel->disabled, 1);
  session->start(1, 1);
  perf.kernel->now = 15;
  session->stop();
  EXPECT_EQ(perf.kernel->enabled, 2);
  EXPECT_THAT(session->counts(), ElementsAre(ElementsAre(Optional(10.0), Optional(10.0))));
}

TEST(Perf, ScopesCannotBeMixed) {
  PerfOn perf("sysfs/skylake-sp.txt");
  EXPECT_THAT(
      perf.error_of<CounterRequestError>({reads, "instructions:u"}),
      AllOf(HasSubstr("'instructions:u' counts for a process"), HasSubstr(fmt::format("'{}' for a socket", reads))));
}

TEST(Perf, PermissionIsExplainedWithTheLevelThatIsNeeded) {
  PerfOn perf("sysfs/skylake-sp.txt", "2");
  EXPECT_THAT(
      perf.failing(imc_0, EACCES, reads),
      AllOf(HasSubstr(fmt::format("perf event '{}'", reads)), HasSubstr("kernel.perf_event_paranoid is 2"),
            HasSubstr("at most 0"), HasSubstr("sysctl -w kernel.perf_event_paranoid=0"), HasSubstr("CAP_PERFMON")));
  EXPECT_THAT(perf.failing(hardware, EACCES, "instructions"), HasSubstr("at most 1"));
  PerfOn debian("sysfs/skylake-sp.txt", "3");
  EXPECT_THAT(debian.failing(hardware, EPERM, "instructions:u"), AllOf(HasSubstr("is 3"), HasSubstr("at most 2")));
  PerfOn container("sysfs/skylake-sp.txt", "-1");
  EXPECT_THAT(container.failing(hardware, EPERM, "instructions:u"),
              AllOf(HasSubstr("although kernel.perf_event_paranoid is -1"), HasSubstr("seccomp")));
  PerfOn bare("sysfs/skylake-sp.txt", "");
  EXPECT_THAT(bare.failing(hardware, EACCES, "instructions:u"), HasSubstr("there is no perf_event_paranoid"));
}

TEST(Perf, EveryOtherErrorSaysWhatToDo) {
  PerfOn perf("sysfs/skylake-sp.txt");
  EXPECT_THAT(perf.failing(hardware, ENOENT, "instructions:u"), HasSubstr("virtual machines"));
  EXPECT_THAT(perf.failing(hardware, EOPNOTSUPP, "cycles:u"), AllOf(HasSubstr("cannot count it"), HasSubstr("type 0")));
  EXPECT_THAT(perf.failing(imc_0, EBUSY, reads), AllOf(HasSubstr("taken"), HasSubstr("kernel.nmi_watchdog=0")));
  EXPECT_THAT(perf.failing(hardware, ENOSYS, "cycles:u"), HasSubstr("has no perf_event_open"));
  EXPECT_THAT(perf.failing(imc_0, ENODEV, reads), AllOf(HasSubstr("uncore_imc_0"), HasSubstr("processor 0")));
  EXPECT_THAT(perf.failing(imc_0, EINVAL, reads), HasSubstr("refuses the encoding (type 19, config 0x304)"));
  EXPECT_THAT(perf.failing(imc_0, EMFILE, reads), HasSubstr("ulimit -n"));
  EXPECT_THAT(perf.failing(imc_0, EIO, reads), HasSubstr("Input/output error"));
}

TEST(Perf, WhatWasOpenedBeforeAnErrorIsClosed) {
  PerfOn perf("sysfs/skylake-sp.txt");
  EXPECT_THAT(perf.failing(imc_0 + 3, EBUSY, reads), HasSubstr("taken"));
  EXPECT_EQ(perf.kernel->opened.size(), 3U);
  EXPECT_EQ(perf.kernel->closed, 3);
}

TEST(Perf, ASoftwareEventThatIsNotPermittedIsAbsentBesideOthers) {
  PerfOn perf("sysfs/virtual.txt");
  struct OnlyUserMode : FakeKernel {
    int open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept override {
      return attributes.exclude_kernel == 0 ? -EACCES : FakeKernel::open(attributes, pid, cpu);
    }
  };
  const auto backend = make_perf_backend(
      {perf.machine().root(), perf.machine().root(), std::make_shared<OnlyUserMode>(), [] { return 0; }});
  const auto session = backend->open({{"a", "context-switches"}, {"b", "page-faults:u"}}, {});
  session->start(0, 1);
  session->stop();
  EXPECT_THAT(session->counts()[0][0], Eq(std::nullopt));
  EXPECT_THROW((void)backend->open({{"a", "context-switches"}}, {}), CounterError);
}

TEST(Perf, ACounterThatCannotBeReadIsAnError) {
  for (const long bytes : {-EIO, 0}) {
    PerfOn perf("sysfs/skylake-sp.txt");
    const auto session = perf.open({"cycles:u"});
    session->start(0, 1);
    perf.kernel->bytes = bytes;
    session->stop();
    EXPECT_THROW((void)session->counts(), CounterError);
  }
}

TEST(Perf, SaysWhyItCannotCountHere) {
  EXPECT_EQ(PerfOn("sysfs/skylake-sp.txt").unavailable(), "");
  EXPECT_THAT(PerfOn("sysfs/virtual.txt").unavailable(), HasSubstr("group SOFTWARE alone can be counted"));
  PerfOn forbidden("sysfs/skylake-sp.txt", "3");
  forbidden.kernel->fails_of = software;
  forbidden.kernel->fails_with = EACCES;
  EXPECT_THAT(forbidden.unavailable(), HasSubstr("kernel.perf_event_paranoid is 3"));
}

/// Pages of our own that are not there yet: touching each faults once.
class FreshPages {
 public:
  explicit FreshPages(std::size_t pages) : bytes_(pages * page) {
    data_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data_, bytes_, MADV_NOHUGEPAGE);
  }
  ~FreshPages() { ::munmap(data_, bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;
  void touch() {
    for (std::size_t i = 0; i < bytes_; i += page) static_cast<volatile char*>(data_)[i] = 1;
  }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t bytes_;
  char* data_ = nullptr;
};

/// Counts for real, with the group SOFTWARE, where perf_event_open is permitted.
class PerfForReal : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = backend_.unavailable();
    if (reason.find("not permitted") != std::string::npos || reason.find("no perf_event_open") != std::string::npos)
      GTEST_SKIP() << reason;
    if (::sysconf(_SC_PAGESIZE) != 4096) GTEST_SKIP() << "pages are not 4 KiB";
    group_ = find_group(backend_, {"perf", "SOFTWARE", "", {}});
    session_ = backend_.open(group_.events, {});
  }
  /// [bucket] of one metric.
  std::vector<EventCount> metric(const std::string& name) {
    std::vector<EventCount> values;
    for (const auto& counts : session_->counts())
      for (std::size_t i = 0; i < group_.metrics.size(); ++i)
        if (group_.metrics[i].name == name) values.push_back(evaluate(group_, counts, {})[i]);
    return values;
  }

  CounterBackend& backend_ = counter_backend("perf");
  Group group_;
  std::unique_ptr<CounterSession> session_;
};

TEST_F(PerfForReal, PagesThatAreTouchedFaultInTheBucketOfTheirTime) {
  FreshPages first(1000);
  FreshPages second(300);
  session_->start(0, 3);
  first.touch();
  session_->switch_to(1);
  second.touch();
  session_->switch_to(2);
  session_->stop();
  const auto faults = metric("page_faults");
#ifdef FOURSCORE_SANITIZED
  constexpr double per_page = 1.125;  // its shadow memory is an eighth of the memory
#else
  constexpr double per_page = 1;
#endif
  EXPECT_THAT(faults[0], Optional(AllOf(::testing::Ge(1000.0), ::testing::Le(1000 * per_page + 50))));
  EXPECT_THAT(faults[1], Optional(AllOf(::testing::Ge(300.0), ::testing::Le(300 * per_page + 50))));
  EXPECT_THAT(faults[2], Optional(::testing::Le(50.0)));
}

TEST_F(PerfForReal, TimeOnAProcessorPasses) {
  session_->start(0, 1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (std::chrono::steady_clock::now() < until) {
  }
  session_->stop();
  EXPECT_THAT(metric("task_clock_ns"), ElementsAre(Optional(AllOf(::testing::Gt(0.0), ::testing::Lt(20e9)))));
}

TEST_F(PerfForReal, ThreadsThatComeLaterAreCounted) {
  FreshPages pages(500);
  session_->start(0, 1);
  std::thread([&pages] { pages.touch(); }).join();
  session_->stop();
  EXPECT_THAT(metric("page_faults")[0], Optional(::testing::Ge(500.0)));
}

TEST_F(PerfForReal, ThreadsThatWereThereAreCounted) {
  FreshPages pages(500);
  std::promise<void> begin;
  std::thread worker([&] {
    begin.get_future().wait();
    pages.touch();
  });
  session_ = backend_.open(group_.events, {});
  session_->start(0, 1);
  begin.set_value();
  worker.join();
  session_->stop();
  EXPECT_THAT(metric("page_faults")[0], Optional(::testing::Ge(500.0)));
}

}  // namespace
}  // namespace fourscore
