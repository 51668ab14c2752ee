#include "harness/slow_down.hpp"

namespace fourscore {

void SlowDownObserver::begin_run() {
  spun_ns_ = stretches_ = 0;
  began_ns_ = PhaseClock::now_ns();
}

void SlowDownObserver::end_run() {
  all_runs_ns_ += PhaseClock::now_ns() - began_ns_ - spun_ns_;
  all_stretches_ += stretches_;
}

void SlowDownObserver::switched_to(Phase phase) noexcept {
  if (phase != cost_.phase) return;
  ++stretches_;
  if (all_stretches_ == 0) return;
  const auto extra_ns =
      static_cast<std::int64_t>(cost_.part * static_cast<double>(all_runs_ns_) / static_cast<double>(all_stretches_));
  const std::int64_t begin_ns = PhaseClock::now_ns();
  std::int64_t now_ns = begin_ns;
  while (now_ns < begin_ns + extra_ns) now_ns = PhaseClock::now_ns();
  spun_ns_ += now_ns - begin_ns;
}

}  // namespace fourscore
