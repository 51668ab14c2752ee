#pragma once
// Owns clocks, barriers and repetitions: nothing else in the program times a transform.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "harness/charge.hpp"
#include "harness/clock_alignment.hpp"
#include "harness/slow_down.hpp"
#include "harness/timeline.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

struct SamplingOptions {
  int repetitions = 10;
  int warmup = 1;                    ///< runs kept apart
  std::optional<double> max_time_s;  ///< no further repetition once the timed runs and their refills took this long
  bool phases = true;
  std::optional<SlowDown> slow_down{};  ///< in all these runs; wants phases
  /// On a simulated machine: what a run's phases take on this rank beside messages.
  std::optional<Charges> charges{};
  bool keeps_link_loads = true;  ///< likewise, those of the second run
};

/// Clocks count as aligned where they are off by no more than this share of the shortest run.
inline constexpr double max_clock_error = 0.01;

/// All times in seconds; filled on rank 0, empty elsewhere. [rank][repetition].
struct Samples {
  /// The time from the first start on any rank to the last end; where clocks are not aligned the maximum over ranks of
  /// the time from a rank's own start to its end, which may be less.
  std::vector<double> time_s;
  std::vector<double> warmup_s;      ///< the same of the warm-up runs
  bool are_spans = false;            ///< clocks are aligned
  std::vector<double> start_skew_s;  ///< [repetition], from the first start to the last
  std::string clock_alignment;       ///< "shared clock" (one node) or "ping-pong"
  double clock_uncertainty_s = 0;    ///< largest of any rank against rank 0, drift during the run included
  std::vector<std::vector<double>> rank_total_s;
  std::map<Phase, std::vector<std::vector<double>>> rank_phase_s;  ///< phases that took time on any rank
  std::optional<double> closure_worst;                             ///< absent without phases
  /// [rank][the rank's instance][repetition]: from the start of all to the end of that instance; empty where there is
  /// one.
  std::vector<std::vector<std::vector<double>>> rank_instance_s;
  std::vector<double> turn_s;  ///< [repetition], of round trips: the maximum over ranks of rank_turn_s
  /// [rank][repetition], of round trips: from the start of all to the end of the rank's forward halves.
  std::vector<std::vector<double>> rank_turn_s;
  /// The same of each instance, as rank_instance_s: to the end of its forward half.
  std::vector<std::vector<std::vector<double>>> rank_instance_turn_s;
  /// rank_phase_s as far as there, of what lies before the turn. Not of several instances, whose halves mix.
  std::map<Phase, std::vector<std::vector<double>>> rank_turn_phase_s;
};

struct ComponentSamples {
  std::string name;
  Phase phase = Phase::other;
  std::vector<double> time_s;
  std::vector<std::vector<double>> rank_s;
};

/// Every run starts together (MPI_Barrier) and is timed on each rank from the end of its barrier to the end of its
/// own work. The clocks of several nodes are aligned before each run, when the data is prepared, and after the last.
/// All storage is reserved before the first run.
class Sampler {
 public:
  /// Collective. `now_ns`: this rank's clock; tests pretend others.
  Sampler(MPI_Comm comm, const SamplingOptions& options, ReadClock now_ns = PhaseClock::now_ns);

  /// Collective. prepare(run) is called before each run, untimed: -warmup ... -1 for the warm-up, then 0, 1, ...
  [[nodiscard]] Samples measure(const std::function<void(int run)>& prepare,
                                const std::function<void(PhaseClock&)>& run);
  /// The same for a run of several instances, as many here as on every rank, that calls done(i) when number i of those
  /// here is complete, and, where there are round trips, done(instances + i) when the forward half of that one is.
  using Done = std::function<void(std::size_t moment)>;
  [[nodiscard]] Samples measure_instances(std::size_t instances, const std::function<void(int run)>& prepare,
                                          const std::function<void(PhaseClock&, const Done&)>& run,
                                          bool round_trips = false);
  /// Collective. The component alone, with the same warm-up and repetitions.
  [[nodiscard]] ComponentSamples measure_component(const Component& component);

  /// Collective. One more run, apart from all samples, in which each of the rank's `threads` threads writes down what
  /// it does when: that costs a little more than timing the phases.
  [[nodiscard]] Timeline trace(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run,
                               int threads);

  /// Smallest step between two clock readings that differ, and the name of what is recorded as the start.
  [[nodiscard]] static double clock_resolution_s();
  static constexpr const char* start_method = "barrier";

 private:
  /// Times warm-up and repetitions; returns how many timed runs were made (the same on all ranks).
  int loop(const std::function<void(int run)>& prepare, const std::function<void()>& run,
           const std::function<void(int run)>& keep);
  [[nodiscard]] bool stop_now(double started) const;
  /// [rank][run] on rank 0 from each rank's `runs` values.
  [[nodiscard]] std::vector<std::vector<double>> gather(const double* values, int runs) const;

  /// The phases that took time on any rank, of `times` as phase_ has them.
  [[nodiscard]] std::map<Phase, std::vector<std::vector<double>>> gather_phases(const std::vector<double>& times,
                                                                                int runs) const;
  void keep_closure(Samples& samples) const;

  struct Spans {
    std::vector<double> span_s, start_skew_s;
    double uncertainty_s = 0;
    bool aligned = false;
  };
  [[nodiscard]] Spans spans(std::size_t runs) const;
  void keep_spans(const Spans& spans, Samples& samples) const;

  MPI_Comm comm_;
  int rank_ = 0;
  SamplingOptions options_;
  ClockAligner clocks_;
  std::int64_t begin_ns_ = 0;            // start of the run
  std::vector<std::int64_t> begins_ns_;  // this rank: warm-up first, then the timed runs
  std::vector<std::int64_t> ends_ns_;    // the same
  std::vector<ClockOffset> offsets_;     // before each run, and after the last
  std::vector<double> total_;            // this rank: warm-up first, then the timed runs
  std::vector<double> phase_;            // [phase][timed run]
  std::vector<double> turn_phase_;       // the same as far as the turn; empty where it is not told
};

}  // namespace fourscore
