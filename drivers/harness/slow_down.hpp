#pragma once
// An extra cost of a known size in one phase: what a regression would do. Only to try out whoever looks for
// regressions.

#include <cstdint>

#include "core/phase.hpp"

namespace fourscore {

struct SlowDown {
  Phase phase = Phase::other;
  double part = 0;  ///< share of the time of a whole run: 0.05 makes it take 1.05 times as long
};

/// Spins whenever the phase begins, on this rank, so long that a run takes `part` more of what runs took before, not
/// counting the spinning. The first run of all has no cost: the warm-up has it. Watches one thread.
class SlowDownObserver final : public PhaseObserver {
 public:
  explicit SlowDownObserver(const SlowDown& cost) : cost_(cost) {}
  void begin_run();
  void end_run();
  void switched_to(Phase phase) noexcept override;

 private:
  SlowDown cost_;
  std::int64_t began_ns_ = 0;       ///< the run in hand
  std::int64_t spun_ns_ = 0;        ///< in it
  std::int64_t stretches_ = 0;      ///< stretches of the phase in it
  std::int64_t all_runs_ns_ = 0;    ///< the time of the runs that ended, without the spinning
  std::int64_t all_stretches_ = 0;  ///< in them
};

}  // namespace fourscore
