#include "harness/counting.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <thread>

#include "core/topology.hpp"
#include "harness/agreement.hpp"
#include "harness/gather.hpp"
#include "harness/other_work.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr std::size_t bucket_count = phase_count;

double seconds_since(std::int64_t begin_ns) { return 1e-9 * static_cast<double>(PhaseClock::now_ns() - begin_ns); }

Phase phase_of(std::size_t bucket) { return bucket == 0 ? Phase::other : static_cast<Phase>(bucket - 1); }

class SessionObserver : public PhaseObserver {
 public:
  SessionObserver(CounterSession& session, std::vector<std::size_t>& parts) : session_(session), parts_(parts) {}
  void switched_to(Phase phase) noexcept override {
    const std::size_t bucket = bucket_of(phase);
    session_.switch_to(bucket);
    if (bucket < parts_.size()) ++parts_[bucket];
  }

 private:
  CounterSession& session_;
  std::vector<std::size_t>& parts_;
};

/// Whether no lower rank of the node runs on the same socket. Collective over the ranks of the node.
bool is_first_on_its_socket(MPI_Comm node) {
  const auto units = gather_values(node, ::sched_getcpu());
  std::vector<int> first(units.size());
  if (!units.empty()) {
    const Topology topology;
    std::set<int> seen;
    std::ranges::transform(units, first.begin(),
                           [&](int unit) { return seen.insert(topology.package_of(unit)).second ? 1 : 0; });
  }
  int mine = 0;
  FOURSCORE_MPI(MPI_Scatter(first.data(), 1, MPI_INT, &mine, 1, MPI_INT, 0, node));
  return mine != 0;
}

}  // namespace

std::size_t bucket_of(Phase phase) {
  // Phase other is the last of the enumeration and the first of the buckets.
  return phase == Phase::other ? 0 : static_cast<std::size_t>(phase) + 1;
}

CountedRuns::CountedRuns(MPI_Comm comm, const CounterRequest& request, int threads)
    : comm_(comm), node_(mpi::split_by_node(comm)), request_(request), backend_(counter_backend(request.backend)) {
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
    request_.buckets.emplace_back(phase_names[static_cast<std::size_t>(phase_of(bucket))]);
  together([&] {
    group_ = find_group(backend_, request_);
    if (const std::string reason = backend_.unavailable(); !reason.empty() && group_.name == backend_.default_group())
      throw CounterError("counters '" + request_.backend + "': " + reason);
    constants_ = backend_.constants(request_);
    (void)idle_s();
  });
  open(threads);
}

CountedRuns::~CountedRuns() = default;

/// Work of each rank for itself; where it throws on some rank, all throw.
void CountedRuns::together(const std::function<void()>& work) const {
  const auto failure = failure_of_any(comm_, work);
  if (!failure) return;
  if (failure->code == 2) throw CounterRequestError(failure->message);
  throw CounterError(failure->message);
}

/// The lowest rank of each node opens first and learns whose counts these are: of a socket's counters there must not be
/// two readers.
void CountedRuns::open(int threads) {
  const bool first = mpi::rank_in(node_.get()) == 0;
  const auto open_here = [&] {
    session_ = backend_.open(group_.events, request_);
    if (session_ == nullptr) throw CounterRequestError("counters '" + request_.backend + "' count nothing");
  };
  together([&] {
    if (first) open_here();
  });
  int scope = session_ ? static_cast<int>(session_->scope()) : -1;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &scope, 1, MPI_INT, MPI_MAX, comm_));
  scope_ = static_cast<CounterScope>(scope);
  if (scope_ == CounterScope::thread && threads > 1)
    throw CounterRequestError(
        fmt::format("counters '{}' count the thread that executes the plan, and each rank has {}; expected 1 thread, "
                    "or counters of "
                    "a process, socket or node",
                    request_.backend, threads));
  const bool elected = scope_ == CounterScope::socket ? is_first_on_its_socket(node_.get()) : first || !wide();
  if (!elected) session_.reset();
  together([&] {
    if (elected && session_ == nullptr) open_here();
  });
}

void CountedRuns::read_idle() {
  if (!wide()) return;
  // All sleep: who waits in a barrier keeps a core busy.
  const Run run = counted(
      1, [] {}, [&](PhaseClock&) { std::this_thread::sleep_for(std::chrono::duration<double>(idle_s())); });
  if (!failure_.empty() || !reads()) return;
  for (auto& [name, value] : metrics_of(run.counts.front()))
    idle_per_s_[name] = value ? EventCount(*value / run.seconds.front()) : EventCount();
}

void CountedRuns::guarded(const std::function<void()>& step) {
  if (!failure_.empty()) return;
  try {
    step();
  } catch (const std::exception& error) {
    failure_ = error.what();
    if (failure_.empty()) failure_ = "the counters failed without a word";
  }
}

void CountedRuns::agree_on_failure() {
  try {
    together([&] {
      if (!failure_.empty()) throw CounterError(failure_);
    });
  } catch (const CounterError& error) {
    failure_ = error.what();
  }
}

void CountedRuns::one_pass(std::size_t pass, std::size_t buckets, const std::function<void(PhaseClock&)>& work,
                           Run& run) {
  std::optional<SessionObserver> observer;
  run.parts.assign(buckets, 0);
  if (reads()) observer.emplace(*session_, run.parts);
  PhaseClock clock = observer && buckets > 1 ? PhaseClock(*observer) : PhaseClock(true);
  PhaseClock unwatched(true);
  FOURSCORE_MPI(MPI_Barrier(comm_));
  if (reads()) guarded([&] { session_->start(pass, buckets); });
  PhaseClock& used = failure_.empty() ? clock : unwatched;
  // All of what the counter sees of the others must lie between its start and its stop.
  if (wide()) FOURSCORE_MPI(MPI_Barrier(comm_));
  const std::int64_t begin = PhaseClock::now_ns();
  used.start();
  work(used);
  used.stop();
  if (wide()) FOURSCORE_MPI(MPI_Barrier(comm_));
  const double elapsed_s = seconds_since(begin);
  if (reads()) guarded([&] { session_->stop(); });
  double inside_s = 0;
  for (std::size_t bucket = 1; bucket < buckets; ++bucket) {
    run.seconds[bucket] += used.seconds(phase_of(bucket));
    inside_s += used.seconds(phase_of(bucket));
  }
  run.seconds[0] += elapsed_s - inside_s;
}

CountedRuns::Run CountedRuns::counted(std::size_t buckets, const std::function<void()>& prepare,
                                      const std::function<void(PhaseClock&)>& work) {
  Run run;
  run.seconds.assign(buckets, 0);
  int passes = session_ ? static_cast<int>(session_->passes(buckets)) : 1;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &passes, 1, MPI_INT, MPI_MAX, comm_));
  for (int pass = 0; pass < passes && failure_.empty(); ++pass) {
    prepare();
    one_pass(static_cast<std::size_t>(pass), buckets, work, run);
    agree_on_failure();
  }
  for (double& seconds : run.seconds) seconds /= passes;
  if (reads())
    guarded([&] {
      if (const std::string reason = session_->uncounted(); !reason.empty()) throw CounterError(reason);
      run.counts = session_->counts();
    });
  agree_on_failure();
  if (!failure_.empty() || !reads()) run.counts.assign(buckets, std::vector<EventCount>(group_.events.size()));
  run.passes = static_cast<std::size_t>(passes);
  multiplexed_ = multiplexed_ || (reads() && session_->multiplexed());
  return run;
}

void CountedRuns::count(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run) {
  if (!failure_.empty()) return;
  std::optional<OtherWork> others;
  if (slow()) others.emplace(node_.get());
  read_idle();
  prepare();
  PhaseClock silent(false);
  run(silent);
  if (slow())
    count_long_enough(prepare, run);
  else
    count_by_phase(prepare, run);
  if (others) other_cores_ = others->cores();
}

void CountedRuns::count_by_phase(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run) {
  const Run result = counted(bucket_count, prepare, run);
  runs_ = result.passes;
  if (!reads() || !failure_.empty()) return;
  double seconds = 0;
  std::vector<std::vector<EventCount>> occurred;  // a bucket that never ran may know no counts
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    seconds += result.seconds[bucket];
    if (bucket == 0 || result.seconds[bucket] > 0) occurred.push_back(result.counts[bucket]);
  }
  run_s_ = seconds;
  with_idle_ = honest(metrics_of(sum_of(occurred)));
  total_ = honest(without_idle(metrics_of(sum_of(occurred)), seconds));
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    if (bucket > 0 && result.seconds[bucket] <= 0) continue;
    Values& values = phases_[phase_of(bucket)] =
        without_idle(metrics_of(result.counts[bucket]), result.seconds[bucket]);
    for (auto& [name, value] : values) {
      if (!total_[name]) value.reset();
      if (value) value = std::max(*value, 0.0);
    }
  }
  if (slow()) refuse_short_phases(result);
}

void CountedRuns::count_component(const Component& component) {
  if (!failure_.empty()) return;
  if (slow()) return count_component_long_enough(component);
  component.run();
  const Run result = counted(
      1, [] {}, [&](PhaseClock&) { component.run(); });
  if (!reads() || !failure_.empty()) return;
  components_.emplace_back(component.name,
                           honest(without_idle(metrics_of(result.counts.front()), result.seconds.front())));
}

std::vector<EventCount> CountedRuns::sum_of(const std::vector<std::vector<EventCount>>& counts) {
  std::vector<EventCount> sum = counts.front();
  for (std::size_t bucket = 1; bucket < counts.size(); ++bucket)
    for (std::size_t event = 0; event < sum.size(); ++event) {
      const EventCount& more = counts[bucket][event];
      sum[event] = sum[event] && more ? EventCount(*sum[event] + *more) : EventCount();
    }
  return sum;
}

CountedRuns::Values CountedRuns::metrics_of(const std::vector<EventCount>& counts) const {
  const std::vector<EventCount> metrics = evaluate(group_, counts, constants_);
  Values values;
  for (std::size_t i = 0; i < group_.metrics.size(); ++i) values[group_.metrics[i].name] = metrics[i];
  return values;
}

CountedRuns::Values CountedRuns::without_idle(Values values, double seconds) const {
  for (auto& [name, value] : values) {
    const auto idle = idle_per_s_.find(name);
    if (value && idle != idle_per_s_.end() && idle->second) *value -= *idle->second * seconds;
  }
  return values;
}

/// A counter that a machine has not, or that others hold, often reads 0: that is no count. A simulation's 0 is one.
CountedRuns::Values CountedRuns::honest(Values values) const {
  if (!backend_.simulates())
    for (auto& [name, value] : values)
      if (value && *value <= 0) value.reset();
  return values;
}

json CountedRuns::header() const {
  json header{{"backend", request_.backend},
              {"group", group_.name},
              {"arch", group_.arch},
              {"scope", to_string(scope_)},
              {"simulated", backend_.simulates()},
              {"attribution", wide() ? "elected" : "own"},
              {"unavailable", failure_}};
  if (backend_.emulated()) header["emulated"] = true;
  if (backend_.simulates()) {
    const CacheGeometry cache = backend_.simulated_cache(request_);
    header["cache"] = {{"size_bytes", cache.size_bytes}, {"ways", cache.ways}, {"line_bytes", cache.line_bytes}};
  }
  return header;
}

/// What this rank tells, as numbers: whether it reads, whether it multiplexed, how many cores others kept busy, then a
/// number for each metric at rest, in all, with what is taken at rest, in each phase (before them whether it occurred)
/// and of each component; NaN: could not be counted, or is not there.
std::vector<double> CountedRuns::row(const std::vector<std::string>& components) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> row{reads() ? 1.0 : 0.0, multiplexed_ ? 1.0 : 0.0, other_cores_.value_or(unknown)};
  const auto append = [&](const Values* values) {
    for (const Metric& metric : group_.metrics) {
      const auto found = values == nullptr ? Values::const_iterator() : values->find(metric.name);
      const bool known = values != nullptr && found != values->end() && found->second;
      row.push_back(known ? *found->second : unknown);
    }
  };
  append(&idle_per_s_);
  append(&total_);
  append(&with_idle_);
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    const auto found = phases_.find(static_cast<Phase>(phase));
    row.push_back(found == phases_.end() ? 0 : 1);
    append(found == phases_.end() ? nullptr : &found->second);
  }
  for (const std::string& name : components) {
    const auto found = std::ranges::find(components_, name, &std::pair<std::string, Values>::first);
    append(found == components_.end() ? nullptr : &found->second);
  }
  return row;
}

/// The names on the lowest rank that reads; all readers have the same. Collective.
std::vector<std::string> CountedRuns::component_names() const {
  const int ranks = mpi::size_of(comm_);
  int first = reads() ? mpi::rank_in(comm_) : ranks;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_));
  if (first == ranks) return {};
  json names = json::array();
  for (const auto& [name, values] : components_) names.push_back(name);
  return json::parse(mpi::broadcast_text(comm_, first, names.dump())).get<std::vector<std::string>>();
}

json CountedRuns::gather() const {
  const std::vector<std::string> components = component_names();
  const auto rows = gather_rows(comm_, row(components));
  if (mpi::rank_in(comm_) != 0) return nullptr;
  json result = header();
  if (!failure_.empty()) return result;

  std::vector<const std::vector<double>*> readers;
  bool multiplexed = false;
  result["readers"] = json::array();
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    if (rows[rank][0] == 0) continue;
    readers.push_back(&rows[rank]);
    multiplexed = multiplexed || rows[rank][1] != 0;
    result["readers"].push_back({{"rank", rank}, {"scope", to_string(scope_)}});
  }
  result["multiplexed"] = multiplexed;
  result["runs"] = runs_;
  if (wide()) {
    result["run_s"] = run_s_;
    result["idle_s"] = idle_s();
  }
  if (slow()) result["update_s"] = group_.update_s;
  if (!phases_refused_.empty()) result["phases_refused"] = phases_refused_;
  result["metrics"] = json::array();
  for (const Metric& metric : group_.metrics)
    result["metrics"].push_back({{"name", metric.name}, {"unit", metric.unit}});
  std::size_t at = 2;  // in the rows
  const auto number = [&at](const std::vector<double>* reader) {
    return std::isnan((*reader)[at]) ? json() : json((*reader)[at]);
  };
  if (slow())
    for (const auto* reader : readers) result["other_cores"].push_back(number(reader));
  ++at;
  const auto by_metric = [&] {
    json metrics = json::object();
    for (const Metric& metric : group_.metrics) {
      json& values = metrics[metric.name] = json::array();
      for (const auto* reader : readers) values.push_back(number(reader));
      ++at;
    }
    return metrics;
  };
  json idle = by_metric();
  if (wide()) result["idle_per_s"] = std::move(idle);
  result["total"] = by_metric();
  json with_idle = by_metric();
  if (wide()) result["with_idle"] = std::move(with_idle);
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    const bool occurred = std::ranges::any_of(readers, [&](const auto* reader) { return (*reader)[at] != 0; });
    ++at;
    json values = by_metric();
    if (occurred) result["phases"][std::string(phase_names[phase])] = std::move(values);
  }
  for (const std::string& name : components) result["components"][name] = by_metric();
  return result;
}

}  // namespace fourscore
