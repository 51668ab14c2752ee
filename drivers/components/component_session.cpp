#include "components/component_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <stdexcept>

#include "components/benchmark_flags.hpp"
#include "components/google_benchmark.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::component {
namespace {

using Clock = std::chrono::steady_clock;

double largest_over_ranks(MPI_Comm comm, double value) {
  double largest = value;
  FOURSCORE_MPI(MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm));
  return largest;
}

double number_of(const Benchmark& benchmark, const char* name) {
  const auto it = benchmark.numbers.find(name);
  return it == benchmark.numbers.end() ? 0 : it->second;
}

/// Adds up the slowest rank's seconds in each iteration. The ranks compare as many iterations at once as fit here.
class SumOfMaxima {
 public:
  explicit SumOfMaxima(MPI_Comm comm) : comm_(comm) {}
  void add(double own_s) {
    own_s_[count_++] = own_s;
    if (count_ == own_s_.size()) compare();
  }
  /// Collective.
  [[nodiscard]] double sum() {
    compare();
    return sum_;
  }

 private:
  void compare() {
    FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, own_s_.data(), static_cast<int>(count_), MPI_DOUBLE, MPI_MAX, comm_));
    sum_ += std::accumulate(own_s_.begin(), own_s_.begin() + static_cast<std::ptrdiff_t>(count_), 0.0);
    count_ = 0;
  }

  MPI_Comm comm_;
  std::array<double, 1024> own_s_{};
  std::size_t count_ = 0;
  double sum_ = 0;
};

}  // namespace

/// Passes everything on to what shows it (on rank 0), and tells the session how many repetitions each benchmark made.
class BenchmarkSession::Reporter : public benchmark::BenchmarkReporter {
 public:
  Reporter(BenchmarkSession& session, google::SharedReporter shown) : session_(session), nowhere_(&nothing_) {
    if (session.rank_ == 0) {
      shown_ = std::move(shown);
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
        return run.run_type == Run::RT_Iteration && !google::was_skipped(run) &&
               run.run_name.function_name == entry.benchmark.name;
      });
      for (auto call = calls.end() - repetitions; call != calls.end(); ++call) {
        entry.iterations = call->iterations;
        entry.own_s.push_back(call->own_s);
        entry.time_s.push_back(call->time_s);
      }
    }
    if (shown_ != nullptr) shown_->ReportRuns(report);
  }
  void Finalize() override {
    if (shown_ != nullptr) shown_->Finalize();
  }

 private:
  /// Takes what is written to it.
  class NullBuffer : public std::streambuf {
    int overflow(int c) override { return c; }
  };

  BenchmarkSession& session_;
  NullBuffer nothing_;
  std::ostream nowhere_;
  google::SharedReporter shown_;  ///< Google Benchmark's own; null on all ranks but 0
};

BenchmarkSession::BenchmarkSession(MPI_Comm comm, Agreement& agreement, const ProgramCard& card, const Options& options,
                                   const std::vector<NodeFacts>& nodes)
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
  entries_.push_back({std::move(benchmark), {}, 0, {}, {}});
}

std::int64_t batch_of(std::int64_t iterations) {
  // So many barriers cut a repetition: ranks that drift apart meet again, and their cost stays outside the times.
  constexpr std::int64_t batches = 10;
  return std::max<std::int64_t>(1, iterations / batches);
}

bool BenchmarkSession::in_cache(const Benchmark& benchmark) const {
  if (benchmark.in_cache) return *benchmark.in_cache;
  return number_of(benchmark, "working_set_bytes") * ranks_on_node_ < 4 * last_level_cache_bytes_;
}

void BenchmarkSession::initialize_benchmark() {
  // Ours last, so that they hold against the environment too.
  std::vector<std::string> flags = options_.benchmark_flags;
  flags.push_back(fmt::format("--benchmark_repetitions={}", options_.settings.repetitions));
  flags.push_back(google::min_time_flag(options_.settings.min_time_s));
  flags.push_back("--benchmark_out=" + (output_ ? output_->temporary().string() : ""));  // one rank writes
  std::vector<char*> arguments{program_.data()};  // which Google Benchmark keeps, not a copy
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1)
    throw InputError(
        fmt::format("Google Benchmark, as this program was built with it, does not understand {}", arguments[1]));
}

void BenchmarkSession::open_output() {
  const std::string file = benchmark_flag(options_.benchmark_flags, "out", "");
  if (file.empty() || benchmark_flag_is_on(options_.benchmark_flags, "list_tests")) return;
  try {  // Google Benchmark would end this rank, and leave the others waiting.
    output_ = std::make_unique<OutputFile>(file);
  } catch (const std::runtime_error& error) {
    throw InputError(fmt::format("--benchmark_out: {}", error.what()));
  }
}

void BenchmarkSession::register_benchmark(std::size_t index) {
  auto* registered = benchmark::RegisterBenchmark(entries_[index].benchmark.name.c_str(),
                                                  [this, index](benchmark::State& state) { execute(index, state); });
  registered->UseManualTime();
  if (benchmark_flag(options_.benchmark_flags, "time_unit", "").empty()) registered->Unit(benchmark::kMicrosecond);
}

bool BenchmarkSession::run() {
  const std::vector<std::string>& given = options_.benchmark_flags;
  if (ranks_ > 1 && benchmark_flag_is_on(given, "enable_random_interleaving"))
    throw InputError(
        "--benchmark_enable_random_interleaving: the ranks would draw different orders; expected one rank, or no such "
        "flag");
  agreement_.run_on_root([&] { open_output(); });
  initialize_benchmark();
  google::SharedReporter shown = google::display_reporter(benchmark_flag(given, "format", "console"),
                                                          benchmark_flag_is_on(given, "counters_tabular"));
  if (shown == nullptr)
    throw InputError("--benchmark_format=csv: Google Benchmark offers it from 1.7 on; expected console or json");

  calls_.resize(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) register_benchmark(i);
  Reporter reporter(*this, std::move(shown));
  const std::size_t chosen = benchmark::RunSpecifiedBenchmarks(&reporter);
  work_.reset();
  benchmark::Shutdown();
  if (leaving_) throw LeaveTogether(*leaving_);
  agreement_.run_on_root([&] {
    if (!output_ || chosen == 0) return;
    output_->require_space();
    output_->commit();
  });
  if (chosen == 0) throw InputError(fmt::format("no benchmark of {} is chosen by its flags and parameters", program_));
  return !benchmark_flag_is_on(given, "list_tests");
}

void BenchmarkSession::execute(std::size_t index, benchmark::State& state) {
  try {
    if (!leaving_ && ok() && current_ != index) begin(index);
  } catch (const LeaveTogether& leave) {
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

/// Shows the rate of all ranks together, each by its own time, and of the slowest.
void BenchmarkSession::show_rates(double own_bytes_per_s, benchmark::State& state) const {
  double sum = 0;
  FOURSCORE_MPI(MPI_Allreduce(&own_bytes_per_s, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_));
  constexpr auto unit = benchmark::Counter::kIs1024;
  state.counters["sum_per_second"] = benchmark::Counter(sum, benchmark::Counter::kDefaults, unit);
  state.counters["min_per_second"] =
      benchmark::Counter(-largest_over_ranks(comm_, -own_bytes_per_s), benchmark::Counter::kDefaults, unit);
}

/// Bytes a second over those of the benchmark that the label `baseline` names, where that was run before.
void BenchmarkSession::show_against_baseline(const Benchmark& benchmark, double time_s, benchmark::State& state) const {
  const auto label = benchmark.labels.find("baseline");
  if (label == benchmark.labels.end()) return;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].benchmark.name == label->second && !calls_[i].empty())
      state.counters["of_copy"] = number_of(benchmark, "bytes") / time_s /
                                  (number_of(entries_[i].benchmark, "bytes") / calls_[i].back().time_s);
}

BenchmarkSession::Taken BenchmarkSession::run_in_batches(benchmark::State& state) {
  const std::int64_t batch = batch_of(state.max_iterations);
  Clock::duration own{};
  while (state.KeepRunningBatch(batch)) {
    FOURSCORE_MPI(MPI_Barrier(comm_));
    const auto start = Clock::now();
    work_->run(batch);
    own += Clock::now() - start;
  }
  const double own_s = std::chrono::duration<double>(own).count();
  return {own_s, largest_over_ranks(comm_, own_s)};
}

BenchmarkSession::Taken BenchmarkSession::run_synchronised(benchmark::State& state) {
  Taken taken;
  SumOfMaxima slowest(comm_);
  while (state.KeepRunning()) {
    FOURSCORE_MPI(MPI_Barrier(comm_));
    const auto start = Clock::now();
    work_->run(1);
    const double own_s = std::chrono::duration<double>(Clock::now() - start).count();
    taken.own_s += own_s;
    slowest.add(own_s);
  }
  taken.all_s = slowest.sum();
  return taken;
}

void BenchmarkSession::measure(Entry& entry, benchmark::State& state) {
  const Taken taken = options_.settings.synchronised ? run_synchronised(state) : run_in_batches(state);
  state.SetIterationTime(taken.all_s);
  const auto iterations = static_cast<double>(state.iterations());
  calls_[static_cast<std::size_t>(&entry - entries_.data())].push_back(
      {static_cast<std::int64_t>(state.iterations()), taken.own_s / iterations, taken.all_s / iterations});
  if (const double bytes = number_of(entry.benchmark, "bytes"); bytes > 0) {
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes * iterations));
    if (ranks_ > 1) show_rates(bytes * iterations / taken.own_s, state);
  }
  show_against_baseline(entry.benchmark, taken.all_s / iterations, state);
  if (const double flops = number_of(entry.benchmark, "flops"); flops > 0)
    state.counters["flops"] = benchmark::Counter(flops * iterations, benchmark::Counter::kIsRate);
  if (entry.benchmark.emulated)
    state.SetLabel("emulated");
  else if (in_cache(entry.benchmark))
    state.SetLabel("in cache");
}

}  // namespace fourscore::component
