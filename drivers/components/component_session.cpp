#include "components/component_session.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <ostream>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::component {
namespace {

/// Barriers that a repetition is cut by: ranks that drift apart meet again, and their cost stays outside the times.
constexpr std::int64_t batches = 10;

double largest_over_ranks(MPI_Comm comm, double value) {
  double largest = value;
  FOURSCORE_MPI(MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm));
  return largest;
}

double number_of(const Benchmark& benchmark, const char* name) {
  const auto it = benchmark.numbers.find(name);
  return it == benchmark.numbers.end() ? 0 : it->second;
}

/// Takes what is written to it.
class NullBuffer : public std::streambuf {
  int overflow(int c) override { return c; }
};

}  // namespace

/// Passes everything on to what shows it (on rank 0), and tells the session how many repetitions each benchmark made.
class BenchmarkSession::Reporter : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(BenchmarkSession& session) : session_(session), nowhere_(&nothing_) {
    if (session.rank_ == 0) {
      shown_ = benchmark::CreateDefaultDisplayReporter();
    } else {
      SetOutputStream(&nowhere_);
      SetErrorStream(&nowhere_);
    }
  }
  bool ReportContext(const Context& context) override { return shown_ == nullptr || shown_->ReportContext(context); }
  /// All repetitions of a benchmark are reported at once, and are its last calls: those before were calibration.
  void ReportRuns(const std::vector<Run>& report) override {
    for (std::size_t i = 0; i < session_.entries_.size(); ++i) {
      Entry& entry = session_.entries_[i];
      const auto& calls = session_.calls_[i];
      const auto repetitions = std::ranges::count_if(report, [&](const Run& run) {
        return run.run_type == Run::RT_Iteration && !run.error_occurred &&
               run.run_name.function_name == entry.benchmark.name;
      });
      for (auto call = calls.end() - repetitions; call != calls.end(); ++call) {
        entry.iterations = call->first;
        entry.own_s.push_back(call->second);
      }
    }
    if (shown_ != nullptr) shown_->ReportRuns(report);
  }
  void Finalize() override {
    if (shown_ != nullptr) shown_->Finalize();
  }

 private:
  BenchmarkSession& session_;
  NullBuffer nothing_;
  std::ostream nowhere_;
  benchmark::BenchmarkReporter* shown_ = nullptr;  ///< Google Benchmark's own
};

BenchmarkSession::BenchmarkSession(MPI_Comm comm, bench::Agreement& agreement, const ProgramCard& card,
                                   const Options& options, const std::vector<NodeFacts>& nodes)
    : comm_(comm),
      agreement_(agreement),
      program_(card.name),
      options_(options),
      parameters_(card.name, card.parameters, options.parameters),
      rank_(mpi::rank_in(comm)),
      ranks_(mpi::size_of(comm)),
      memory_(bench::shortest_memory(comm)) {
  for (const NodeFacts& node : nodes) {
    ranks_on_node_ = std::max(ranks_on_node_, static_cast<int>(node.ranks.size()));
    last_level_cache_bytes_ = std::max(last_level_cache_bytes_, node.last_level_cache_bytes);
  }
  FOURSCORE_MPI(MPI_Bcast(&ranks_on_node_, 1, MPI_INT, 0, comm));
  FOURSCORE_MPI(MPI_Bcast(&last_level_cache_bytes_, 1, MPI_DOUBLE, 0, comm));
}

void BenchmarkSession::require_memory(double bytes_of_a_rank, const std::string& what) const {
  if (const auto reason = bench::lacking_memory(memory_, bytes_of_a_rank, what)) throw LacksMemory(*reason);
}

void BenchmarkSession::add(Benchmark benchmark) {
  const auto same = [&](const Entry& entry) { return entry.benchmark.name == benchmark.name; };
  if (std::ranges::any_of(entries_, same)) throw std::logic_error("two benchmarks are named " + benchmark.name);
  entries_.push_back({std::move(benchmark), {}, 0, {}});
}

bool BenchmarkSession::in_cache(const Benchmark& benchmark) const {
  if (benchmark.in_cache) return *benchmark.in_cache;
  return number_of(benchmark, "working_set_bytes") * ranks_on_node_ < 4 * last_level_cache_bytes_;
}

bool BenchmarkSession::run() {
  // Ours first, so that what the user gives to Google Benchmark itself holds.
  std::vector<std::string> flags{program_, fmt::format("--benchmark_repetitions={}", options_.repetitions),
                                 fmt::format("--benchmark_min_time={}", options_.min_time_s)};
  bool names_only = false;
  for (const std::string& flag : options_.benchmark_flags) {
    if (flag.starts_with("--benchmark_enable_random_interleaving") && ranks_ > 1)
      throw InputError(flag + ": the ranks would draw different orders; expected one rank, or no such flag");
    names_only = names_only || flag == "--benchmark_list_tests" || flag == "--benchmark_list_tests=true";
    if (flag.starts_with("--benchmark_out=") && rank_ > 0) continue;  // one rank writes
    flags.push_back(flag);
  }
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw InputError(fmt::format("Google Benchmark does not understand {}", arguments[1]));

  calls_.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i)
    benchmark::RegisterBenchmark(entries_[i].benchmark.name.c_str(),
                                 [this, i](benchmark::State& state) { execute(i, state); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  Reporter reporter(*this);
  const std::size_t chosen = benchmark::RunSpecifiedBenchmarks(&reporter);
  work_.reset();
  benchmark::Shutdown();
  if (leaving_) throw bench::LeaveTogether(*leaving_);
  if (chosen == 0) throw InputError(fmt::format("no benchmark of {} is chosen by its flags and parameters", program_));
  return !names_only;
}

void BenchmarkSession::execute(std::size_t index, benchmark::State& state) {
  try {
    if (!leaving_ && ok() && current_ != index) begin(index);
  } catch (const bench::LeaveTogether& leave) {
    leaving_ = leave;  // on all ranks; told when Google Benchmark is done
  }
  if (leaving_ || !ok()) {
    state.SkipWithError(leaving_ ? "the run has failed" : "a result is wrong");
    return;
  }
  measure(entries_[index], state);
}

void BenchmarkSession::begin(std::size_t index) {
  Entry& entry = entries_[index];
  work_.reset();
  current_ = index;
  agreement_.run([&] { work_ = entry.benchmark.make(); });
  double error = 0;
  agreement_.run([&] { error = work_->error(); });
  // MPI does not say what the maximum of a NaN is.
  if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  error = largest_over_ranks(comm_, error);
  const double tolerance = work_->tolerance();
  entry.check = {entry.benchmark.name, "before", error, tolerance, error <= tolerance};
  if (!entry.check.ok)
    wrong_ = fmt::format("{}: {}, tolerance {:.2g}", entry.benchmark.name,
                         std::isfinite(error) ? fmt::format("error {:.2g}", error) : "error not finite", tolerance);
}

/// Of all ranks together, each by its own time, and of the slowest.
void BenchmarkSession::show_rates(double own_bytes_per_s, benchmark::State& state) const {
  double sum = 0;
  FOURSCORE_MPI(MPI_Allreduce(&own_bytes_per_s, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_));
  constexpr auto unit = benchmark::Counter::kIs1024;
  state.counters["sum_per_second"] = benchmark::Counter(sum, benchmark::Counter::kDefaults, unit);
  state.counters["least_per_second"] =
      benchmark::Counter(-largest_over_ranks(comm_, -own_bytes_per_s), benchmark::Counter::kDefaults, unit);
}

/// Bytes a second over those of the benchmark that the label `baseline` names, where that was run before.
void BenchmarkSession::show_against_baseline(const Benchmark& benchmark, double own_s, benchmark::State& state) const {
  const auto label = benchmark.labels.find("baseline");
  if (label == benchmark.labels.end()) return;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].benchmark.name == label->second && !calls_[i].empty())
      state.counters["of_copy"] =
          number_of(benchmark, "bytes") / own_s / (number_of(entries_[i].benchmark, "bytes") / calls_[i].back().second);
}

void BenchmarkSession::measure(Entry& entry, benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t batch = std::max<std::int64_t>(1, state.max_iterations / batches);
  Clock::duration own{};
  while (state.KeepRunningBatch(batch)) {
    FOURSCORE_MPI(MPI_Barrier(comm_));
    const auto start = Clock::now();
    work_->run(batch);
    own += Clock::now() - start;
  }
  const double own_s = std::chrono::duration<double>(own).count();
  const auto iterations = static_cast<std::int64_t>(state.iterations());
  state.SetIterationTime(largest_over_ranks(comm_, own_s));
  calls_[static_cast<std::size_t>(&entry - entries_.data())].emplace_back(iterations,
                                                                          own_s / static_cast<double>(iterations));
  if (const double bytes = number_of(entry.benchmark, "bytes"); bytes > 0) {
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * iterations);
    if (ranks_ > 1) show_rates(bytes * static_cast<double>(iterations) / own_s, state);
  }
  show_against_baseline(entry.benchmark, own_s / static_cast<double>(iterations), state);
  if (const double flops = number_of(entry.benchmark, "flops"); flops > 0)
    state.counters["flops"] = benchmark::Counter(flops * static_cast<double>(iterations), benchmark::Counter::kIsRate);
  if (entry.benchmark.emulated)
    state.SetLabel("emulated");
  else if (in_cache(entry.benchmark))
    state.SetLabel("in cache");
}

}  // namespace fourscore::component
