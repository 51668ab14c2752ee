#include "qualification/qualify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "hwcounters/cache_geometry.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr std::size_t usual_factor = 16;
constexpr std::size_t min_factor = 4;
constexpr int runs_of_hardware = 5;
constexpr std::chrono::milliseconds idle_time{300};

std::string in_mib(std::size_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

/// Counts what one piece of work does, with the group's formulas, less what the rest of a socket or node does anyway.
class TrafficCounter {
 public:
  TrafficCounter(CounterBackend& backend, const CounterRequest& request)
      : group_(find_group(backend, request)), constants_(backend.constants(request)) {
    for (const char* name : {"dram_read_bytes", "dram_write_bytes", "dram_bytes"})
      if (metric(name) < group_.metrics.size()) has_traffic_ = true;
    if (!has_traffic_)
      throw CounterRequestError(
          fmt::format("group {} of backend {} counts no memory traffic (dram_read_bytes, "
                      "dram_write_bytes or dram_bytes), so there is nothing to qualify",
                      group_.name, backend.name()));
    session_ = backend.open(group_.events, request);
    if (session_ == nullptr) throw CounterRequestError(fmt::format("backend {} counts nothing", backend.name()));
    if (const std::string why = session_->uncounted(); !why.empty()) throw CounterError(why);
    if (!is_wide()) return;
    double seconds = 0;
    const auto idle = raw([] { std::this_thread::sleep_for(idle_time); }, seconds);
    for (const auto& value : idle) idle_per_s_.push_back(value ? EventCount(*value / seconds) : EventCount());
  }

  [[nodiscard]] const Group& group() const { return group_; }
  [[nodiscard]] CounterScope scope() const { return session_->scope(); }

  template <class Work>
  CountedTraffic count(Work work) {
    double seconds = 0;
    auto values = raw(work, seconds);
    for (std::size_t i = 0; i < idle_per_s_.size(); ++i)
      if (values[i] && idle_per_s_[i]) *values[i] -= *idle_per_s_[i] * seconds;
    const auto value = [&](const char* name) {
      const std::size_t i = metric(name);
      return i < values.size() ? values[i] : EventCount();
    };
    return {value("dram_read_bytes"), value("dram_write_bytes"), value("dram_bytes")};
  }

 private:
  [[nodiscard]] bool is_wide() const {
    return session_->scope() == CounterScope::socket || session_->scope() == CounterScope::node;
  }
  [[nodiscard]] std::size_t metric(const char* name) const {
    const auto found = std::ranges::find(group_.metrics, name, &Metric::name);
    return static_cast<std::size_t>(found - group_.metrics.begin());
  }
  template <class Work>
  std::vector<EventCount> raw(Work work, double& seconds) {
    const std::size_t passes = session_->passes(1);
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t pass = 0; pass < passes; ++pass) {
      session_->start(pass, 1);
      work();
      session_->stop();
    }
    seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(passes);
    if (session_->multiplexed())
      throw CounterError("the counters were shared with somebody else (multiplexed), so that their counts are guesses");
    return evaluate(group_, session_->counts().front(), constants_);
  }

  Group group_;
  std::map<std::string, double> constants_;
  std::unique_ptr<CounterSession> session_;
  std::vector<EventCount> idle_per_s_;
  bool has_traffic_ = false;
};

double sum_of(const CountedTraffic& counted) {
  return counted.all_bytes.value_or(counted.read_bytes.value_or(0) + counted.write_bytes.value_or(0));
}

KernelResult result_of(TrafficKernel kernel, TrafficCounter& counter, std::size_t bytes, std::size_t line,
                       bool simulates) {
  TrafficArrays arrays(kernel, bytes, line);
  arrays.pass();
  std::vector<CountedTraffic> runs;
  for (int run = 0; run < (simulates ? 1 : runs_of_hardware); ++run)
    runs.push_back(counter.count([&] { arrays.pass(); }));
  std::ranges::sort(runs, {}, sum_of);
  KernelResult result{kernel, known_traffic(kernel, bytes, !simulates), runs[runs.size() / 2], {}};
  // A counter that the machine has not, or that others hold, often reads 0: that is no count. A simulation's 0 is one.
  const auto no_zero = [&](EventCount& count, double known) {
    if (!simulates && known > 0 && count && *count <= 0) count.reset();
  };
  no_zero(result.counted.read_bytes, result.known.read_bytes);
  no_zero(result.counted.write_bytes, result.known.write_bytes);
  no_zero(result.counted.all_bytes, result.known.read_bytes + result.known.write_bytes);
  result.ratio = ratio_of(result.known, result.counted);
  return result;
}

json kernel_json(const KernelResult& result) {
  const auto number = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  json entry{{"name", to_string(result.kernel)},
             {"known_read_bytes", result.known.read_bytes},
             {"known_write_bytes", result.known.write_bytes},
             {"counted_read_bytes", number(result.counted.read_bytes)},
             {"counted_write_bytes", number(result.counted.write_bytes)},
             {"ratio", number(result.ratio)}};
  if (result.counted.all_bytes) entry["counted_bytes"] = *result.counted.all_bytes;
  return entry;
}

/// The cache that the arrays must not fit into: the simulated one, else the machine's.
CacheGeometry cache_of(const CounterBackend& backend, const CounterRequest& request) {
  CacheGeometry cache = backend.simulates() ? backend.simulated_cache(request) : machine_cache();
  if (cache.size_bytes == 0) cache.size_bytes = std::size_t{32} << 20;
  if (cache.line_bytes == 0) cache.line_bytes = 64;
  return cache;
}

}  // namespace

std::optional<double> ratio_of(const MemoryTraffic& known, const CountedTraffic& counted) {
  std::optional<double> worst;
  const auto consider = [&](const EventCount& count, double of) {
    if (!count || of <= 0) return;
    const double ratio = *count / of;
    if (!worst || std::abs(ratio - 1) > std::abs(*worst - 1)) worst = ratio;
  };
  consider(counted.read_bytes, known.read_bytes);
  consider(counted.write_bytes, known.write_bytes);
  EventCount both = counted.all_bytes;
  if (!both && counted.read_bytes && counted.write_bytes) both = *counted.read_bytes + *counted.write_bytes;
  consider(both, known.read_bytes + known.write_bytes);
  return worst;
}

std::optional<double> worst_ratio(const std::vector<KernelResult>& kernels) {
  std::optional<double> worst;
  for (const auto& kernel : kernels) {
    if (!kernel.ratio) return std::nullopt;
    if (!worst || std::abs(*kernel.ratio - 1) > std::abs(*worst - 1)) worst = kernel.ratio;
  }
  return worst;
}

std::optional<std::size_t> available_memory(const std::filesystem::path& meminfo) {
  std::ifstream in(meminfo);
  for (std::string line; std::getline(in, line);)
    if (std::size_t kib = 0; std::sscanf(line.c_str(), "MemAvailable: %zu kB", &kib) == 1) return kib << 10;
  return std::nullopt;
}

std::size_t array_size(std::size_t asked, const CacheGeometry& cache, std::optional<std::size_t> memory) {
  const std::size_t least = min_factor * cache.size_bytes;
  std::size_t bytes = asked;
  if (asked == 0) {
    bytes = usual_factor * cache.size_bytes;
    if (memory && 2 * bytes > *memory / 2) bytes = std::max(least, *memory / 4);
  }
  bytes = bytes / cache.line_bytes * cache.line_bytes;
  if (bytes < least)
    throw CounterRequestError(
        fmt::format("arrays of {} are too small: expected at least {} times the last-level cache of "
                    "{}, {}",
                    in_mib(asked), min_factor, in_mib(cache.size_bytes), in_mib(least)));
  if (memory && bytes > *memory / 2)
    throw CounterRequestError(
        fmt::format("two arrays of {} do not fit into memory: {} can be had", in_mib(bytes), in_mib(*memory)));
  return bytes;
}

json qualify(CounterBackend& backend, const CounterRequest& request, std::size_t asked_bytes) {
  // Said of the default group: what another one needs, opening it tells.
  const bool by_default = request.group.empty() || request.group == backend.default_group();
  if (const std::string reason = backend.unavailable(); !reason.empty() && by_default)
    throw CounterError(fmt::format("counters '{}': {}", backend.name(), reason));
  const CacheGeometry cache = cache_of(backend, request);
  const std::size_t bytes = array_size(asked_bytes, cache, available_memory());
  TrafficCounter counter(backend, request);
  std::vector<KernelResult> results;
  for (const TrafficKernel kernel : traffic_kernels())
    results.push_back(result_of(kernel, counter, bytes, cache.line_bytes, backend.simulates()));
  const auto worst = worst_ratio(results);
  if (!worst)
    throw CounterError(fmt::format("backend {} counted no traffic with group {}: its counters read 0 or nothing",
                                   backend.name(), counter.group().name));
  json answer{{"backend", backend.name()},
              {"group", counter.group().name},
              {"arch", counter.group().arch},
              {"scope", to_string(counter.scope())},
              {"simulated", backend.simulates()},
              {"array_bytes", bytes},
              {"limit", qualification_limit},
              {"fit", std::abs(*worst - 1) <= qualification_limit},
              {"worst_ratio", *worst},
              {"kernels", json::array()}};
  if (backend.simulates())
    answer["cache"] = {{"size_bytes", cache.size_bytes}, {"ways", cache.ways}, {"line_bytes", cache.line_bytes}};
  for (const auto& result : results) answer["kernels"].push_back(kernel_json(result));
  return answer;
}

}  // namespace fourscore
