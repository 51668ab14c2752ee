// PAPI: presets and native events of the core, software events, and the memory controllers of Intel processors.

#include "hwcounters/papi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "core/nearest.hpp"

namespace fourscore {
namespace {

constexpr int max_units = 32;  ///< memory controllers that a '*' in a code stands for

/// What to do about a code of PAPI; empty where there is nothing to say.
std::string advice(int code) {
  switch (code) {
    case papi_code::system:
      return fmt::format("; the system said: {}", std::strerror(errno));
    case papi_code::no_event:
      return "; a virtual machine usually shows no hardware counter (`papi_native_avail` lists what there is)";
    case papi_code::conflict:
      return "; the counters cannot hold all these events at once, or somebody else has one (the kernel's NMI watchdog "
             "does until 0 is written to /proc/sys/kernel/nmi_watchdog); fourscore does not multiplex: use a group of "
             "fewer events";
    case papi_code::no_counters:
      return "; a virtual machine usually has no counters of its own";
    case papi_code::permission:
      return "; write 0 (-1 for memory controllers) to /proc/sys/kernel/perf_event_paranoid, or have CAP_PERFMON";
    default:
      return {};
  }
}

/// All events of one component: PAPI keeps them apart.
struct EventSet {
  int component = 0;
  int handle = -1;
  bool running = false;
  std::vector<std::size_t> events;  ///< which event of the group each counter is of; several counters of one are summed
  std::vector<long long> last;
  std::vector<long long> now;
};

class PapiSession : public CounterSession {
 public:
  PapiSession(const PapiCalls& calls, const std::vector<EventSpec>& events, const ProcessSockets& sockets);
  ~PapiSession() override;
  PapiSession(const PapiSession&) = delete;
  PapiSession& operator=(const PapiSession&) = delete;

  [[nodiscard]] CounterScope scope() const override { return scope_; }
  void start(std::size_t pass, std::size_t buckets) override;
  void switch_to(std::size_t bucket) noexcept override;
  void stop() override;
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override;

 private:
  void check(int code, const std::string& call) const;
  void add(std::size_t event, const EventSpec& spec, const ProcessSockets& sockets);
  void add_native(std::size_t event, const std::string& name, int code, const ProcessSockets& sockets);
  [[noreturn]] void fail_unknown(const EventSpec& spec) const;
  EventSet& set_of(int component);
  void add_to_bucket(EventSet& set) noexcept;

  const PapiCalls& calls_;
  std::vector<PapiComponent> components_;
  std::vector<EventSet> sets_;
  std::size_t events_;
  CounterScope scope_ = CounterScope::thread;
  std::vector<std::vector<double>> buckets_;
  std::size_t current_ = 0;
  int failed_read_ = papi_code::ok;
};

CounterScope scope_of(const std::string& component, std::size_t sockets) {
  if (component == "perf_event") return CounterScope::thread;
  const bool of_socket = component == "perf_event_uncore" || component == "rapl";
  return of_socket && sockets < 2 ? CounterScope::socket : CounterScope::node;
}

PapiSession::PapiSession(const PapiCalls& calls, const std::vector<EventSpec>& events, const ProcessSockets& sockets)
    : calls_(calls), components_(calls.components()), events_(events.size()) {
  try {
    for (std::size_t i = 0; i < events.size(); ++i) add(i, events[i], sockets);
    for (auto& set : sets_) {
      set.last.assign(set.events.size(), 0);
      set.now.assign(set.events.size(), 0);
    }
  } catch (...) {
    for (auto& set : sets_) {
      (void)calls_.cleanup_eventset(set.handle);
      (void)calls_.destroy_eventset(set.handle);
    }
    throw;
  }
}

PapiSession::~PapiSession() {
  for (auto& set : sets_) {
    if (set.running) (void)calls_.stop(set.handle, set.now.data());
    (void)calls_.cleanup_eventset(set.handle);
    (void)calls_.destroy_eventset(set.handle);
  }
}

void PapiSession::check(int code, const std::string& call) const {
  if (code == papi_code::ok) return;
  throw CounterError(fmt::format("{} failed: {} ({}){}", call, calls_.strerror(code), code, advice(code)));
}

void PapiSession::fail_unknown(const EventSpec& spec) const {
  const bool of_memory = spec.code.find("_unc_") != std::string::npos;
  for (const auto& component : components_)
    if (!component.enabled && component.name == (of_memory ? "perf_event_uncore" : "perf_event"))
      throw CounterError(fmt::format("PAPI cannot look for event '{}' ({}): its component {} is disabled: {}",
                                     spec.name, spec.code, component.name,
                                     component.reason.empty() ? "PAPI gives no reason" : component.reason));
  const std::size_t mask =
      spec.code.find(':', spec.code.find("::") == std::string::npos ? 0 : spec.code.find("::") + 2);
  const std::string base = spec.code.substr(0, mask);
  std::vector<std::string> known = calls_.native_names({});
  const bool base_is_known = std::ranges::find(known, base) != known.end();
  if (base_is_known) known = calls_.native_names(base);
  std::vector<std::string> near;
  while (near.size() < 3) {
    const auto nearest = nearest_name(base_is_known ? spec.code : base, known);
    if (!nearest) break;
    near.push_back(*nearest);
    std::erase(known, *nearest);
  }
  throw CounterRequestError(fmt::format(
      "PAPI has no event '{}' ({}) on this machine; {}", spec.code, spec.name,
      near.empty() ? "`papi_native_avail` lists what there is" : fmt::format("nearest: {}", fmt::join(near, ", "))));
}

EventSet& PapiSession::set_of(int component) {
  for (auto& set : sets_)
    if (set.component == component) return set;
  EventSet set;
  set.component = component;
  check(calls_.create_eventset(set.handle), "PAPI_create_eventset");
  sets_.push_back(std::move(set));
  return sets_.back();
}

void PapiSession::add_native(std::size_t event, const std::string& name, int code, const ProcessSockets& sockets) {
  const int component = calls_.get_event_component(code);
  if (component < 0) check(component, fmt::format("PAPI_get_event_component({})", name));
  const std::string part = static_cast<std::size_t>(component) < components_.size()
                               ? components_[static_cast<std::size_t>(component)].name
                               : std::string();
  scope_ = std::max(scope_, scope_of(part, sockets.sockets.size()));
  // A memory controller is counted through some processor of its socket, which the event has to name.
  std::vector<std::string> names{name};
  if (part == "perf_event_uncore" && name.find(":cpu=") == std::string::npos && !sockets.sockets.empty()) {
    names.clear();
    for (const auto& cpus : sockets.sockets) names.push_back(fmt::format("{}:cpu={}", name, cpus.front()));
  }
  for (const auto& each : names) {
    int exact = code;
    if (each != name) check(calls_.event_name_to_code(each, exact), fmt::format("PAPI_event_name_to_code({})", each));
    EventSet& set = set_of(component);
    check(calls_.add_event(set.handle, exact), fmt::format("PAPI_add_event({})", each));
    set.events.push_back(event);
  }
}

void PapiSession::add(std::size_t event, const EventSpec& spec, const ProcessSockets& sockets) {
  const std::size_t star = spec.code.find('*');
  if (star == std::string::npos) {
    int code = 0;
    const int result = calls_.event_name_to_code(spec.code, code);
    if (result == papi_code::no_event) fail_unknown(spec);
    check(result, fmt::format("PAPI_event_name_to_code({})", spec.code));
    add_native(event, spec.code, code, sockets);
    return;
  }
  bool found = false;
  for (int unit = 0; unit < max_units; ++unit) {
    const std::string name = spec.code.substr(0, star) + std::to_string(unit) + spec.code.substr(star + 1);
    int code = 0;
    if (calls_.event_name_to_code(name, code) != papi_code::ok) continue;
    add_native(event, name, code, sockets);
    found = true;
  }
  if (!found) fail_unknown({spec.name, spec.code.substr(0, star) + "0" + spec.code.substr(star + 1)});
}

void PapiSession::start(std::size_t, std::size_t buckets) {
  buckets_.assign(buckets, std::vector<double>(events_, 0.0));
  current_ = 0;
  failed_read_ = papi_code::ok;
  for (auto& set : sets_) {
    std::ranges::fill(set.last, 0);
    const int code = calls_.start(set.handle);
    if (code != papi_code::ok)
      for (auto& other : sets_) {
        if (other.running) (void)calls_.stop(other.handle, other.now.data());
        other.running = false;
      }
    check(code, "PAPI_start");
    set.running = true;
  }
}

void PapiSession::add_to_bucket(EventSet& set) noexcept {
  auto& bucket = buckets_[current_];
  for (std::size_t i = 0; i < set.events.size(); ++i)
    bucket[set.events[i]] += static_cast<double>(set.now[i] - set.last[i]);
  std::swap(set.now, set.last);
}

void PapiSession::switch_to(std::size_t bucket) noexcept {
  for (auto& set : sets_) {
    const int code = calls_.read(set.handle, set.now.data());
    if (code == papi_code::ok)
      add_to_bucket(set);
    else
      failed_read_ = code;
  }
  current_ = std::min(bucket, buckets_.size() - 1);
}

void PapiSession::stop() {
  for (auto& set : sets_) {
    if (!set.running) continue;
    const int code = calls_.stop(set.handle, set.now.data());
    set.running = false;
    check(code, "PAPI_stop");
    add_to_bucket(set);
  }
}

std::vector<std::vector<EventCount>> PapiSession::counts() const {
  check(failed_read_, "PAPI_read");
  std::vector<std::vector<EventCount>> result;
  for (const auto& bucket : buckets_) result.emplace_back(bucket.begin(), bucket.end());
  return result;
}

class PapiBackend : public CounterBackend {
 public:
  PapiBackend(PapiCalls calls, std::string why_not, std::function<ProcessSockets()> sockets)
      : calls_(std::move(calls)), why_not_(std::move(why_not)), sockets_(std::move(sockets)) {}

  [[nodiscard]] std::string name() const override { return "papi"; }
  [[nodiscard]] std::string summary() const override {
    return "PAPI: events of the core, of Intel's memory controllers, and of the kernel";
  }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }

  [[nodiscard]] std::string unavailable() const override {
    if (!why_not_.empty()) return why_not_;
    if (const int code = initialise(); code != papi_code::ok)
      return fmt::format("PAPI_library_init failed: {} ({}){}", calls_.strerror(code), code, advice(code));
    std::string reasons;
    for (const auto& component : calls_.components()) {
      if (component.name.find("perf_event") == std::string::npos) continue;
      if (component.enabled) return {};
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", component.name,
                             component.reason.empty() ? "disabled" : component.reason);
    }
    return reasons.empty() ? "this PAPI has no component perf_event" : "PAPI has disabled its components: " + reasons;
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest&) override {
    if (const std::string reason = unavailable(); !reason.empty()) throw CounterError("backend papi: " + reason);
    return std::make_unique<PapiSession>(calls_, events, sockets_());
  }

 private:
  /// The library is initialised at most once; it keeps its state to the end of the process.
  int initialise() const {
    if (!initialised_) initialised_ = calls_.library_init();
    return *initialised_;
  }

  PapiCalls calls_;
  std::string why_not_;
  std::function<ProcessSockets()> sockets_;
  mutable std::optional<int> initialised_;
};

#ifdef FOURSCORE_PAPI
constexpr const char* built_without = "";
#else
constexpr const char* built_without = "built without PAPI (Debian: apt install libpapi-dev, then configure anew)";
#endif

const bool registered_papi =
    CounterRegistry::instance().add(make_papi_backend(papi_library(), built_without, [] { return process_sockets(); }));

}  // namespace

std::unique_ptr<CounterBackend> make_papi_backend(PapiCalls calls, std::string why_not,
                                                  std::function<ProcessSockets()> sockets) {
  return std::make_unique<PapiBackend>(std::move(calls), std::move(why_not), std::move(sockets));
}

}  // namespace fourscore
