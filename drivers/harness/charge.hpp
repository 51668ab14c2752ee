#pragma once
// The time of a rank's own work on a simulated machine: charged by what the work is, not measured.

#include <array>
#include <cstdint>
#include <map>

#include "core/phase.hpp"
#include "harness/simulated.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

/// Work that a thread does: the seconds that it takes by itself, and the bytes that it moves.
struct Charge {
  double seconds = 0;
  double bytes = 0;
};

/// What one run on one rank is charged.
struct Charges {
  std::array<Charge, phase_count> phases{};  ///< the work of all threads
  int threads = 1;                           ///< that share them out
};

/// A rank's threads: those of its plan, and those of its local FFT library within each of them.
struct RankThreads {
  int of_plan = 1;
  int of_library = 1;
};

/// The charges of one run on one rank. A phase takes the longer of its flops at a thread's speed and its bytes at a
/// thread's memory bandwidth (a roofline); phase fft that of as many threads as its library has. `flops`: of the rank,
/// shared out over the phases fft, twiddle and combine by their bytes, or over phase other where the plan has that
/// alone. `min_bytes`: Instances::min_bytes(). The exchange is left to the network.
[[nodiscard]] Charges charges_of(const SimulatedMachine& machine, double flops, const std::map<Phase, Index>& min_bytes,
                                 RankThreads threads = {});

/// The share of a component that runs alone in what its phase is charged: by its bytes, and the same for each thread.
[[nodiscard]] Charge charge_of(const Component& component, const Charges& charges,
                               const std::map<Phase, Index>& min_bytes);

/// Lets a phase's time pass where its Regions begin, an equal part in each of as many as the run before had. Where a
/// rank has several threads, each takes the time of what it says that it works on instead, by its bytes. The first run
/// of all only counts. The link loads of the second are kept, of which there always is one, unless `keeps_loads` says
/// no.
class ChargingObserver final : public PhaseObserver {
 public:
  ChargingObserver(const SimulatedMachine& machine, const Charges& charges, bool keeps_loads = true)
      : machine_(machine), charges_(charges), may_keep_loads_(keeps_loads) {}
  void begin_run();
  void end_run();
  void switched_to(Phase phase) noexcept override;

 private:
  void works_on(Phase phase, std::int64_t bytes);

  const SimulatedMachine& machine_;
  Charges charges_;
  bool may_keep_loads_;
  int runs_ = 0;
  bool keeps_loads_ = false;
  std::array<std::int64_t, phase_count> stretches_{};         ///< in the run in hand
  std::array<std::int64_t, phase_count> stretches_before_{};  ///< in the one before
  std::array<std::int64_t, phase_count> told_{};              ///< bytes, of all threads; likewise
  std::array<std::int64_t, phase_count> told_before_{};
};

}  // namespace fourscore
