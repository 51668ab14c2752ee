#include "hwcounters/perf.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "hwcounters/event_session.hpp"
#include "hwcounters/perf_event.hpp"

namespace fourscore {
namespace fs = std::filesystem;

int PerfKernel::open(const perf_event_attr& attributes, pid_t pid, int cpu) noexcept {
  const long result = ::syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return result < 0 ? -errno : static_cast<int>(result);
}
long PerfKernel::enable(int descriptor) noexcept {
  return ::ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}
long PerfKernel::disable(int descriptor) noexcept {
  return ::ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}
long PerfKernel::read(int descriptor, void* buffer, std::size_t bytes) noexcept {
  const ssize_t result = ::read(descriptor, buffer, bytes);
  return result < 0 ? -errno : result;
}
void PerfKernel::close(int descriptor) noexcept { ::close(descriptor); }

namespace {

/// perf_event_paranoid, or nothing where the file is not there.
std::string paranoid_level(const fs::path& proc) {
  std::ifstream file(proc / "sys/kernel/perf_event_paranoid");
  std::string level;
  file >> level;
  return level;
}

/// Linux, Documentation/admin-guide/perf-security.rst: which level still allows what an event asks for.
std::string permission_advice(const PerfEvent& event, const fs::path& proc) {
  const int needed = event.uncore ? 0 : event.user_only ? 2 : 1;
  const char* what = event.uncore      ? "counting for a whole socket"
                     : event.user_only ? "counting in user mode"
                                       : "counting in the kernel too";
  const std::string level = paranoid_level(proc);
  if (level.empty())
    return fmt::format(
        "{} is not permitted, and there is no perf_event_paranoid: the kernel is built without "
        "perf_event_open, or hides it",
        what);
  int value = 0;
  std::from_chars(level.data(), level.data() + level.size(), value);
  if (value > needed)
    return fmt::format(
        "{} is not permitted: kernel.perf_event_paranoid is {}, at most {} is needed (sysctl -w "
        "kernel.perf_event_paranoid={}, or give the program CAP_PERFMON)",
        what, level, needed, needed);
  return fmt::format(
      "{} is not permitted although kernel.perf_event_paranoid is {}: a container's seccomp profile or a "
      "security module forbids it (CAP_PERFMON may help)",
      what, level);
}

/// What perf_event_open's errno means for a user (perf_event_open(2), ERRORS).
std::string explain(int error, const PerfEvent& event, const PerfEvent::Counter& counter, const fs::path& proc) {
  const auto& [type, config, scale] = counter.encoding;
  const std::string encoding = fmt::format("type {}, config {:#x}", type, config[0]);
  switch (error) {
    case EACCES:
    case EPERM:
      return permission_advice(event, proc);
    case ENOSYS:
      return "the kernel has no perf_event_open";
    case ENOENT:
    case EOPNOTSUPP:
      return fmt::format(
          "this machine cannot count it ({}): the processor shows no such counter, as in most virtual "
          "machines",
          encoding);
    case EBUSY:
      return "the counters are taken, by another program that counts or by the kernel's watchdog (sysctl -w "
             "kernel.nmi_watchdog=0 frees that one)";
    case ENODEV:
      return fmt::format("unit {} is not there, or processor {} is switched off", counter.unit, counter.cpu);
    case EMFILE:
      return "too many files are open (ulimit -n raises the limit)";
    case EINVAL:
      return fmt::format("the kernel refuses the encoding ({})", encoding);
    default:
      return fmt::format("{} ({})", std::strerror(error), encoding);
  }
}

perf_event_attr attributes_of(const PerfEvent& event, const PmuEncoding& encoding) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = encoding.type;
  attributes.config = encoding.config[0];
  attributes.config1 = encoding.config[1];
  attributes.config2 = encoding.config[2];
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.disabled = 1;
  attributes.inherit = event.uncore ? 0 : 1;
  attributes.exclude_kernel = event.user_only ? 1 : 0;
  attributes.exclude_hv = event.user_only ? 1 : 0;
  return attributes;
}

/// Threads that are there already do not inherit: each gets its own counter. Those that come later inherit.
std::vector<pid_t> own_threads(const fs::path& proc) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc / "self/task", error)) {
    const std::string name = entry.path().filename().string();
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc{}) threads.push_back(thread);
  }
  if (threads.empty()) threads.push_back(0);
  return threads;
}

class PerfReader : public CounterReader {
 public:
  explicit PerfReader(std::shared_ptr<PerfKernel> kernel) : kernel_(std::move(kernel)) {}
  ~PerfReader() override {
    for (const Counter& counter : counters_) kernel_->close(counter.descriptor);
  }
  PerfReader(const PerfReader&) = delete;
  PerfReader& operator=(const PerfReader&) = delete;

  void add(int descriptor, std::size_t pass) { counters_.push_back({descriptor, pass}); }

  void start(std::size_t pass) override {
    pass_ = pass;
    for (const Counter& counter : counters_)
      if (const long result = counter.pass == pass ? kernel_->enable(counter.descriptor) : 0; result < 0)
        throw CounterError(
            fmt::format("a perf counter cannot be started: {}", std::strerror(static_cast<int>(-result))));
  }
  bool read(std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (counters_[i].pass != pass_) continue;
      std::uint64_t numbers[3] = {0, 0, 0};  // value, time enabled, time running
      const long result = kernel_->read(counters_[i].descriptor, numbers, sizeof(numbers));
      if (result != static_cast<long>(sizeof(numbers))) {
        failure_ = result;
        return false;
      }
      readings[i] = {true, numbers[0], numbers[1], numbers[2]};
    }
    return true;
  }
  void stop() noexcept override {
    for (const Counter& counter : counters_)
      if (counter.pass == pass_) kernel_->disable(counter.descriptor);
  }
  [[nodiscard]] std::string error() const override {
    if (failure_ < 0)
      return fmt::format("a perf counter cannot be read: {}", std::strerror(static_cast<int>(-failure_)));
    return fmt::format(
        "a perf counter gave {} bytes in place of 24: the kernel could not keep it (a pinned counter was "
        "pushed out)",
        failure_);
  }

 private:
  std::shared_ptr<PerfKernel> kernel_;
  struct Counter {
    int descriptor;
    std::size_t pass;
  };
  std::vector<Counter> counters_;
  std::size_t pass_ = 0;
  long failure_ = 0;
};

class Perf : public CounterBackend {
 public:
  explicit Perf(PerfPlaces places = {}) : places_(std::move(places)), pmus_(places_.sys) {}

  [[nodiscard]] std::string name() const override { return "perf"; }
  [[nodiscard]] std::string summary() const override {
    return "perf_event_open: core, uncore and software events as the kernel encodes them";
  }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }
  [[nodiscard]] bool counts_in_passes() const override { return true; }

  [[nodiscard]] std::string unavailable() const override {
    const PerfEvent clock = resolve_perf_event("task-clock:u", pmus_, 0);
    const int descriptor = places_.kernel->open(attributes_of(clock, clock.counters[0].encoding), 0, -1);
    if (descriptor < 0) return explain(-descriptor, clock, clock.counters[0], places_.proc);
    places_.kernel->close(descriptor);
    if (pmus_.has_core_counters()) return {};
    return "the processor shows no hardware counters, as in most virtual machines: group SOFTWARE alone can be counted";
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& specs,
                                                     const CounterRequest& request) override {
    (void)request;
    const int cpu = places_.cpu ? places_.cpu() : std::max(0, ::sched_getcpu());
    std::vector<PerfEvent> events;
    for (const EventSpec& spec : specs) {
      events.push_back(resolve_perf_event(spec.code, pmus_, cpu));
      if (events.back().uncore != events.front().uncore)
        throw CounterRequestError(
            fmt::format("'{}' counts for a process and '{}' for a socket: they cannot be in one "
                        "group",
                        events.front().uncore ? spec.code : specs.front().code,
                        events.front().uncore ? specs.front().code : spec.code));
    }
    auto reader = std::make_unique<PerfReader>(places_.kernel);
    std::vector<CounterSource> sources;
    std::string denied;
    for (std::size_t i = 0; i < events.size(); ++i) open_event(events[i], i, specs[i].pass, *reader, sources, denied);
    if (sources.empty()) throw CounterError(denied);
    const bool socket = !events.empty() && events.front().uncore;
    return std::make_unique<EventSession>(socket ? CounterScope::socket : CounterScope::process, events.size(),
                                          std::move(sources), std::move(reader));
  }

 private:
  /// A software event that is not permitted stays without a counter (absent) as long as others count; `denied` says
  /// why.
  void open_event(const PerfEvent& event, std::size_t index, std::size_t pass, PerfReader& reader,
                  std::vector<CounterSource>& sources, std::string& denied) const {
    const std::vector<pid_t> threads = event.uncore ? std::vector<pid_t>{-1} : own_threads(places_.proc);
    for (const PerfEvent::Counter& counter : event.counters)
      for (const pid_t thread : threads) {
        const int descriptor = places_.kernel->open(attributes_of(event, counter.encoding), thread, counter.cpu);
        if (descriptor >= 0) {
          reader.add(descriptor, pass);
          sources.push_back({index, counter.encoding.scale, 64, true, pass});
          continue;
        }
        if (descriptor == -ESRCH && threads.size() > 1) continue;  // a thread that has ended meanwhile
        const std::string why =
            fmt::format("perf event '{}': {}", event.code, explain(-descriptor, event, counter, places_.proc));
        if (!event.software || (descriptor != -EACCES && descriptor != -EPERM)) throw CounterError(why);
        if (denied.empty()) denied = why;
        return;
      }
  }

  PerfPlaces places_;
  SysfsPmus pmus_;
};

FOURSCORE_REGISTER_COUNTER(Perf);

}  // namespace

std::unique_ptr<CounterBackend> make_perf_backend(PerfPlaces places) {
  return std::make_unique<Perf>(std::move(places));
}

}  // namespace fourscore
