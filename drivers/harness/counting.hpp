#pragma once
// Counted runs: the work of the samples once more, with counters on. They come after the samples and are among none of
// them, so that times stay those of a run without counters.

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "hwcounters/group.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// Buckets of a session: phase other, in which every run begins, is the first.
[[nodiscard]] std::size_t bucket_of(Phase phase);

/// Counts are shared out over the phases of the rank that reads them. Where a counter counts for one thread or process,
/// every rank reads its own. Where it counts for a whole socket or node, one elected rank reads for all on it, between
/// two barriers; phases are then those of the elected rank. What the machine does when idle is read over a sleep of all
/// ranks, and subtracted by the time that each phase took. Counters that move seldom (Group::update_s) count over as
/// many runs as it takes (slow_counters.cpp).
class CountedRuns {
 public:
  /// Collective. Opens the counters. Throws on all ranks, what the lowest rank that failed had to say:
  /// CounterRequestError for a request that cannot be met, CounterError where the machine does not let us count.
  /// `threads`: per rank; what counts for one thread is no count of several.
  CountedRuns(MPI_Comm comm, const CounterRequest& request, int threads = 1);
  ~CountedRuns();
  CountedRuns(const CountedRuns&) = delete;
  CountedRuns& operator=(const CountedRuns&) = delete;

  /// Collective. prepare() is called before each run, uncounted. One run warms, then as many are counted as the
  /// backend needs.
  void count(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run);
  /// Collective. The component alone, between barriers.
  void count_component(const Component& component);

  /// Collective. The record's "counters" object (results/README.md) on rank 0, null elsewhere. Where reading failed on
  /// the way it holds no numbers but the reason.
  [[nodiscard]] nlohmann::json gather() const;

 private:
  /// Metrics by name, absent where they could not be counted.
  using Values = std::map<std::string, EventCount>;
  struct Run {
    std::vector<std::vector<EventCount>> counts;  ///< [bucket][event]
    std::vector<double> seconds;                  ///< [bucket]
    std::vector<std::size_t> parts;               ///< [bucket] how often it was entered
    std::size_t passes = 1;
  };

  void together(const std::function<void()>& work) const;
  void open(int threads);
  void read_idle();
  void count_by_phase(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run);
  void count_long_enough(const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& run);
  void count_component_long_enough(const Component& component);
  Run repeated(double times, const std::function<void()>& work);
  void take_difference(const Run& both, const Run& refills, double times);
  void refuse_short_phases(const Run& run);
  [[nodiscard]] std::string too_short(double run_s, double refill_s, double times) const;
  [[nodiscard]] double least_s() const;  ///< that slow counters must count
  /// Throws CounterRequestError where the request asks for less than the counters tell anything in.
  [[nodiscard]] double idle_s() const;
  [[nodiscard]] bool slow() const { return group_.update_s > 0; }
  [[nodiscard]] bool reads() const { return session_ != nullptr; }
  [[nodiscard]] bool wide() const { return scope_ == CounterScope::socket || scope_ == CounterScope::node; }
  /// Runs `work` in all passes, each after prepare(), and adds up what they counted.
  Run counted(std::size_t buckets, const std::function<void()>& prepare, const std::function<void(PhaseClock&)>& work);
  void one_pass(std::size_t pass, std::size_t buckets, const std::function<void(PhaseClock&)>& work, Run& run);
  /// A counter that fails must not leave the other ranks waiting.
  void guarded(const std::function<void()>& step);
  void agree_on_failure();
  [[nodiscard]] Values metrics_of(const std::vector<EventCount>& counts) const;
  [[nodiscard]] Values honest(Values values) const;
  [[nodiscard]] nlohmann::json header() const;
  [[nodiscard]] std::vector<double> row(const std::vector<std::string>& components) const;
  [[nodiscard]] std::vector<std::string> component_names() const;
  [[nodiscard]] Values without_idle(Values values, double seconds) const;
  [[nodiscard]] static std::vector<EventCount> sum_of(const std::vector<std::vector<EventCount>>& counts);

  MPI_Comm comm_;
  mpi::Communicator node_;
  CounterRequest request_;
  CounterBackend& backend_;
  Group group_;
  std::map<std::string, double> constants_;
  std::unique_ptr<CounterSession> session_;  // for the ranks that read
  CounterScope scope_ = CounterScope::process;
  std::string failure_;
  std::size_t runs_ = 0;
  bool multiplexed_ = false;
  Values idle_per_s_;
  Values total_;
  Values with_idle_;  // the total before what the machine takes at rest was subtracted
  double run_s_ = 0;
  std::optional<double> other_cores_;  // that other processes kept busy on the node
  std::string phases_refused_;
  std::map<Phase, Values> phases_;
  std::vector<std::pair<std::string, Values>> components_;
};

}  // namespace fourscore
