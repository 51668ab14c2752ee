// LIKWID, through its library: its own performance groups, or events and counters by name. Under likwid-perfctr -m the
// phases are marker regions instead, and it counts from outside.

#include "hwcounters/likwid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/did_you_mean.hpp"
#include "hwcounters/likwid_events.hpp"
#include "hwcounters/output_capture.hpp"

namespace fourscore {
namespace {

constexpr const char* regions_code = "regions";  ///< code of the group of marker regions
constexpr const char* regions_group = "REGIONS";

std::string its_words(const std::string& said) { return said.empty() ? "" : "; it says: " + said; }

/// LIKWID's return value: a negative errno, or the number of a thread that failed.
std::string reason_of(int code) {
  return code > -4096 && code < 0 ? fmt::format("{} ({})", std::strerror(-code), code) : std::to_string(code);
}

class LikwidSession : public CounterSession {
 public:
  LikwidSession(const LikwidCalls& calls, const std::vector<EventSpec>& events, LikwidEventSet set,
                const ProcessSockets& sockets, LikwidAccess access);
  ~LikwidSession() override;
  LikwidSession(const LikwidSession&) = delete;
  LikwidSession& operator=(const LikwidSession&) = delete;

  [[nodiscard]] CounterScope scope() const override { return scope_; }
  void start(std::size_t pass, std::size_t buckets) override;
  void switch_to(std::size_t bucket) noexcept override;
  void stop() override;
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override;

 private:
  void choose_processors(const ProcessSockets& sockets);
  void initialise(LikwidAccess access);
  void add_events(const std::vector<EventSpec>& events);
  void choose_metrics();
  [[nodiscard]] int read_into_bucket() noexcept;

  static inline bool exists_ = false;  ///< the library has one state
  const LikwidCalls& calls_;
  LikwidEventSet set_;
  std::vector<int> cpus_;
  CounterScope scope_ = CounterScope::socket;
  int group_ = -1;
  bool running_ = false;
  std::vector<std::vector<double>> buckets_;
  std::size_t current_ = 0;
  int failed_read_ = 0;
};

LikwidSession::LikwidSession(const LikwidCalls& calls, const std::vector<EventSpec>& events, LikwidEventSet set,
                             const ProcessSockets& sockets, LikwidAccess access)
    : calls_(calls), set_(std::move(set)) {
  if (exists_) throw CounterError("LIKWID counts for one session at a time, and one is open");
  choose_processors(sockets);
  initialise(access);
  try {
    add_events(events);
  } catch (...) {
    const OutputCapture quiet;
    calls_.finalize();
    throw;
  }
  exists_ = true;
}

LikwidSession::~LikwidSession() {
  const OutputCapture quiet;
  if (running_) (void)calls_.stop_counters();
  calls_.finalize();
  exists_ = false;
}

/// LIKWID counts what processors do, whoever runs on them: those of this process when it has some of its own; whole
/// sockets for what is counted there.
void LikwidSession::choose_processors(const ProcessSockets& sockets) {
  if (!set_.of_socket) {
    cpus_ = sockets.cpus;
    scope_ = sockets.everywhere ? CounterScope::node : CounterScope::process;
    return;
  }
  for (const auto& cpus : sockets.sockets) cpus_.insert(cpus_.end(), cpus.begin(), cpus.end());
  scope_ = sockets.sockets.size() > 1 ? CounterScope::node : CounterScope::socket;
}

void LikwidSession::initialise(LikwidAccess access) {
  OutputCapture output;
  calls_.set_access(access);
  if (const int code = calls_.perfmon_init(cpus_); code < 0)
    throw CounterError(fmt::format("LIKWID's perfmon_init on processors {} failed: {}{}", fmt::join(cpus_, ","),
                                   reason_of(code), its_words(output.text())));
}

void LikwidSession::add_events(const std::vector<EventSpec>& events) {
  OutputCapture output;
  group_ = calls_.add_event_set(set_.text);
  const std::string said = output.text();
  if (group_ < 0)
    throw CounterRequestError(
        fmt::format("LIKWID has no {} on this processor: perfmon_addEventSet({}) failed: {}{}; "
                    "`likwid-perfctr -{}` lists what there is",
                    set_.own_group ? "such performance group" : "such events", set_.text, reason_of(group_),
                    its_words(said), set_.own_group ? "a" : "e"));
  if (set_.own_group) {
    choose_metrics();
    return;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    std::erase_if(set_.parts[i], [this](int part) { return !calls_.is_configured(group_, part); });
    if (set_.parts[i].empty())
      throw CounterRequestError(
          fmt::format("LIKWID has no event '{}' ({}) on this processor{}; `likwid-perfctr -e` "
                      "lists what there is",
                      events[i].code, events[i].name, its_words(said)));
  }
}

void LikwidSession::choose_metrics() {
  const std::vector<std::string> metrics = calls_.metrics_of_group(group_);
  for (std::size_t i = 0; i < set_.metrics.size(); ++i) {
    const std::string& wanted = set_.metrics[i];
    const auto found = std::ranges::find(metrics, wanted);
    if (found == metrics.end()) {
      throw CounterRequestError(
          fmt::format("LIKWID's performance group {} has no metric '{}' on this processor{}; there "
                      "is: {}",
                      set_.text, wanted, did_you_mean(wanted, metrics), fmt::join(metrics, ", ")));
    }
    set_.parts[i] = {static_cast<int>(found - metrics.begin())};
  }
}

void LikwidSession::start(std::size_t, std::size_t buckets) {
  buckets_.assign(buckets, std::vector<double>(set_.parts.size(), 0.0));
  current_ = 0;
  failed_read_ = 0;
  OutputCapture output;
  // Not before the first start: another process of the socket may still be counting with the same registers.
  if (const int code = calls_.setup_counters(group_); code < 0)
    throw CounterError(
        fmt::format("LIKWID's perfmon_setupCounters failed: {}{}", reason_of(code), its_words(output.text())));
  if (const int code = calls_.start_counters(); code < 0)
    throw CounterError(
        fmt::format("LIKWID's perfmon_startCounters failed: {}{}", reason_of(code), its_words(output.text())));
  running_ = true;
}

int LikwidSession::read_into_bucket() noexcept {
  if (const int code = calls_.read_counters(); code < 0) return code;
  for (std::size_t i = 0; i < set_.parts.size(); ++i)
    for (const int part : set_.parts[i])
      for (std::size_t thread = 0; thread < cpus_.size(); ++thread) {
        const int t = static_cast<int>(thread);
        const double count = set_.own_group ? calls_.last_metric(group_, part, t) : calls_.last_result(group_, part, t);
        if (!std::isfinite(count)) return -1;
        buckets_[current_][i] += count;
      }
  return 0;
}

void LikwidSession::switch_to(std::size_t bucket) noexcept {
  if (const int code = read_into_bucket(); code < 0) failed_read_ = code;
  current_ = std::min(bucket, buckets_.size() - 1);
}

void LikwidSession::stop() {
  if (!running_) return;
  if (const int code = read_into_bucket(); code < 0) failed_read_ = code;
  running_ = false;
  OutputCapture output;
  if (const int code = calls_.stop_counters(); code < 0)
    throw CounterError(
        fmt::format("LIKWID's perfmon_stopCounters failed: {}{}", reason_of(code), its_words(output.text())));
}

std::vector<std::vector<EventCount>> LikwidSession::counts() const {
  if (failed_read_ < 0)
    throw CounterError(fmt::format("LIKWID's perfmon_readCounters failed: {}", reason_of(failed_read_)));
  // Where LIKWID cannot read a register, or not work out a metric, it says 0: a whole run of nothing was not counted.
  std::vector<bool> counted(set_.parts.size(), false);
  for (const auto& bucket : buckets_)
    for (std::size_t i = 0; i < bucket.size(); ++i) counted[i] = counted[i] || bucket[i] != 0.0;
  std::vector<std::vector<EventCount>> result;
  for (const auto& bucket : buckets_) {
    auto& row = result.emplace_back();
    for (std::size_t i = 0; i < bucket.size(); ++i) row.push_back(counted[i] ? EventCount(bucket[i]) : std::nullopt);
  }
  return result;
}

/// Buckets are regions of LIKWID's marker interface; likwid-perfctr, which started this program, counts and prints.
class MarkerSession : public CounterSession {
 public:
  MarkerSession(const LikwidCalls& calls, std::size_t events, std::vector<std::string> names)
      : calls_(calls), events_(events), names_(std::move(names)) {
    OutputCapture output;
    calls_.marker_init();
    said_ = output.text();
  }
  ~MarkerSession() override {
    const OutputCapture quiet;
    calls_.marker_close();
  }
  MarkerSession(const MarkerSession&) = delete;
  MarkerSession& operator=(const MarkerSession&) = delete;

  [[nodiscard]] CounterScope scope() const override { return CounterScope::process; }
  [[nodiscard]] std::string uncounted() const override {
    return "counted outside by likwid-perfctr: the phases are its marker regions";
  }

  void start(std::size_t, std::size_t buckets) override {
    while (names_.size() < buckets) names_.push_back(fmt::format("bucket-{}", names_.size()));
    buckets_ = buckets;
    failed_ = 0;
    OutputCapture output;
    for (std::size_t i = 0; i < buckets; ++i) (void)calls_.marker_register(names_[i].c_str());
    current_ = 0;
    if (const int code = calls_.marker_start(names_[0].c_str()); code < 0)
      throw CounterError(
          fmt::format("LIKWID's likwid_markerStartRegion({}) failed: {}: this process must run on the processors that "
                      "likwid-perfctr "
                      "was given (-C), and it must be able to count there{}{}",
                      names_[0], reason_of(code), its_words(said_), its_words(output.text())));
  }
  void switch_to(std::size_t bucket) noexcept override {
    if (const int code = calls_.marker_stop(names_[current_].c_str()); code < 0) failed_ = code;
    current_ = std::min(bucket, buckets_ - 1);
    if (const int code = calls_.marker_start(names_[current_].c_str()); code < 0) failed_ = code;
  }
  void stop() override {
    if (const int code = calls_.marker_stop(names_[current_].c_str()); code < 0) failed_ = code;
  }
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override {
    if (failed_ < 0) throw CounterError(fmt::format("LIKWID's marker regions failed: {}", reason_of(failed_)));
    return std::vector<std::vector<EventCount>>(buckets_, std::vector<EventCount>(events_));
  }

 private:
  const LikwidCalls& calls_;
  std::size_t events_;
  std::vector<std::string> names_;
  std::string said_;
  std::size_t buckets_ = 0;
  std::size_t current_ = 0;
  int failed_ = 0;
};

class LikwidBackend : public CounterBackend {
 public:
  LikwidBackend(LikwidCalls calls, std::string why_not, std::function<LikwidSurroundings()> surroundings,
                std::function<ProcessSockets()> sockets)
      : calls_(std::move(calls)),
        why_not_(std::move(why_not)),
        surroundings_(std::move(surroundings)),
        sockets_(std::move(sockets)) {}

  [[nodiscard]] std::string name() const override { return "likwid"; }
  [[nodiscard]] std::string summary() const override {
    return "LIKWID: registers of cores and memory controllers; marker regions under likwid-perfctr -m";
  }
  [[nodiscard]] std::string default_group() const override { return surroundings_().marker ? regions_group : "MEM"; }

  [[nodiscard]] std::string unavailable() const override {
    try {
      if (why_not_.empty() && !surroundings_().marker) (void)prepare(sockets_());
    } catch (const CounterError& error) {
      return error.what();
    }
    return why_not_;
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest& request) override {
    if (!why_not_.empty()) throw CounterError("backend likwid: " + why_not_);
    if (surroundings_().marker) return std::make_unique<MarkerSession>(calls_, events.size(), request.buckets);
    if (!events.empty() && events.front().code == regions_code)
      throw CounterError(
          fmt::format("group {} of backend likwid marks regions for likwid-perfctr: start this program as "
                      "likwid-perfctr -C CORES -g GROUP -m PROGRAM ...",
                      regions_group));
    LikwidEventSet set = likwid_event_set(events);
    const ProcessSockets sockets = sockets_();
    return std::make_unique<LikwidSession>(calls_, events, std::move(set), sockets, prepare(sockets));
  }

 private:
  /// Finds out how the registers can be reached before LIKWID is asked anything that it would end the process over.
  [[nodiscard]] LikwidAccess prepare(const ProcessSockets& sockets) const {
    OutputCapture output;
    if (calls_.init_configuration() != 0)
      throw CounterError(
          "LIKWID found neither its configuration nor its access daemon likwid-accessD in PATH or /usr/sbin" +
          its_words(output.text()));
    LikwidAccess access = calls_.configured_access();
    if (access != LikwidAccess::perf_event) access = likwid_access(surroundings_(), sockets.cpus);
    if (calls_.topology_init() != 0)
      throw CounterError("LIKWID does not understand the processors of this machine" + its_words(output.text()));
    const LikwidProcessor processor = calls_.processor();
    if (processor.short_name.empty() || processor.short_name == "unknown")
      throw CounterError(
          fmt::format("this version of LIKWID does not know this processor ({}, family 0x{:x}, model 0x{:x})",
                      processor.name.empty() ? "without a name" : processor.name, processor.family, processor.model));
    return access;
  }

  LikwidCalls calls_;
  std::string why_not_;
  std::function<LikwidSurroundings()> surroundings_;
  std::function<ProcessSockets()> sockets_;
};

#ifdef FOURSCORE_LIKWID
constexpr const char* built_without = "";
#else
constexpr const char* built_without = "built without LIKWID (Debian: apt install likwid, then configure anew)";
#endif

const bool registered_likwid = CounterRegistry::instance().add(make_likwid_backend(
    likwid_library(likwid_file()), built_without, likwid_surroundings, [] { return process_sockets(); }));

}  // namespace

std::unique_ptr<CounterBackend> make_likwid_backend(LikwidCalls calls, std::string why_not,
                                                    std::function<LikwidSurroundings()> surroundings,
                                                    std::function<ProcessSockets()> sockets) {
  return std::make_unique<LikwidBackend>(std::move(calls), std::move(why_not), std::move(surroundings),
                                         std::move(sockets));
}

}  // namespace fourscore
