#pragma once
// Runs the benchmarks of one program by Google Benchmark, on all ranks alike, and keeps every repetition.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "components/component_main.hpp"
#include "components/component_options.hpp"
#include "harness/agreement.hpp"
#include "program/memory_check.hpp"
#include "results/output_file.hpp"

namespace benchmark {
class State;
}

namespace fourscore::component {

/// One benchmark's repetitions: seconds an iteration, and what its check said.
struct Entry {
  Benchmark benchmark;
  Check check;
  std::int64_t iterations = 0;  ///< in each repetition
  std::vector<double> own_s;    ///< on this rank, [repetition]; empty: it was not run
  std::vector<double> time_s;   ///< over all ranks: the maximum of own_s, or the mean of each iteration's maximum
};

/// Iterations that are timed together, of so many in a repetition.
[[nodiscard]] std::int64_t batch_of(std::int64_t iterations);

class BenchmarkSession : public Session {
 public:
  /// Collective. `nodes` are those of rank 0's provenance.
  BenchmarkSession(MPI_Comm comm, Agreement& agreement, const ProgramCard& card, const Options& options,
                   const std::vector<NodeFacts>& nodes);

  [[nodiscard]] MPI_Comm comm() const override { return comm_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  [[nodiscard]] const Parameters& parameters() const override { return parameters_; }
  [[nodiscard]] int ranks_on_node() const override { return ranks_on_node_; }
  [[nodiscard]] double last_level_cache_bytes() const override { return last_level_cache_bytes_; }
  void require_memory(double bytes_of_a_rank, const std::string& what) const override;
  void add(Benchmark benchmark) override;

  /// Collective. Runs what the flags of Google Benchmark choose. Throws InputError for flags it does not know and where
  /// no benchmark is chosen. False when they only ask for names.
  bool run();
  /// All that were run are right.
  [[nodiscard]] bool ok() const { return wrong_.empty(); }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool in_cache(const Benchmark& benchmark) const;

 private:
  class Reporter;
  void register_benchmark(std::size_t index);
  /// Throws InputError for flags that this version of Google Benchmark does not have.
  void initialize_benchmark();
  /// On rank 0: where Google Benchmark writes its own output. Throws InputError where that is not possible.
  void open_output();
  void execute(std::size_t index, benchmark::State& state);
  void begin(std::size_t index);
  void measure(Entry& entry, benchmark::State& state);
  /// Seconds of all iterations of a call: this rank's own, and what counts as the benchmark's.
  struct Taken {
    double own_s = 0;
    double all_s = 0;
  };
  [[nodiscard]] Taken run_in_batches(benchmark::State& state);
  [[nodiscard]] Taken run_synchronised(benchmark::State& state);
  void show_rates(double own_bytes_per_s, benchmark::State& state) const;
  void show_against_baseline(const Benchmark& benchmark, double time_s, benchmark::State& state) const;

  MPI_Comm comm_;
  Agreement& agreement_;
  std::string program_;
  const Options& options_;
  Parameters parameters_;
  int rank_;
  int ranks_;
  bench::MemoryShare memory_;
  int ranks_on_node_ = 1;
  double last_level_cache_bytes_ = 0;
  std::unique_ptr<OutputFile> output_;  ///< for --benchmark_out; null on all ranks but 0, and where none is asked for
  std::vector<Entry> entries_;
  /// A call of Google Benchmark's: a repetition, or one of the calls before that find the number of iterations.
  struct Call {
    std::int64_t iterations = 0;
    double own_s = 0;   ///< an iteration, of this rank
    double time_s = 0;  ///< an iteration, of all
  };
  std::vector<std::vector<Call>> calls_;  ///< [entry]
  std::size_t current_ = static_cast<std::size_t>(-1);
  std::unique_ptr<Work> work_;
  std::string wrong_;  ///< the first result that was not right
  std::optional<LeaveTogether> leaving_;
};

}  // namespace fourscore::component
