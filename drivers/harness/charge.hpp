#pragma once
// The time of a rank's own work on a simulated machine: charged by what the work is, not measured.

#include <array>
#include <cstdint>
#include <map>

#include "core/phase.hpp"
#include "harness/simulated.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

using PhaseSeconds = std::array<double, phase_count>;

/// The time of one run on one rank, by phase: the longer of its flops at the host's speed and its bytes at the host's
/// memory bandwidth (a roofline). `flops`: of the rank, shared out over the phases fft, twiddle and combine by their
/// bytes, or over phase other where the plan has that alone. `min_bytes`: Instances::min_bytes(). The exchange is left
/// to the network.
[[nodiscard]] PhaseSeconds charges_of(const SimulatedMachine& machine, double flops,
                                      const std::map<Phase, Index>& min_bytes);

/// The share of a component that runs alone in what its phase is charged: by its bytes.
[[nodiscard]] double charge_of(const Component& component, const PhaseSeconds& charges,
                               const std::map<Phase, Index>& min_bytes);

/// Lets a phase's time pass where its Regions begin, an equal part in each of as many as the run before had. The first
/// run of all only counts them. The link loads of the second are kept, of which there always is one.
class ChargingObserver final : public PhaseObserver {
 public:
  ChargingObserver(const SimulatedMachine& machine, const PhaseSeconds& charges)
      : machine_(machine), charges_(charges) {}
  void begin_run() {
    stretches_.fill(0);
    keeps_loads_ = runs_++ == 1;
  }
  void end_run();
  void switched_to(Phase phase) noexcept override;

 private:
  const SimulatedMachine& machine_;
  PhaseSeconds charges_;
  int runs_ = 0;
  bool keeps_loads_ = false;
  std::array<std::int64_t, phase_count> stretches_{};         ///< in the run in hand
  std::array<std::int64_t, phase_count> stretches_before_{};  ///< in the one before
};

}  // namespace fourscore
