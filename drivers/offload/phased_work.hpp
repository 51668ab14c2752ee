#pragma once
// What a device does, told apart in phases by the device's own clock.

#include <memory>
#include <vector>

#include "core/phase.hpp"
#include "interfaces/device.hpp"

namespace fourscore {

/// Work that one thread queues on one device and then waits for. Everything is made beforehand.
class PhasedWork {
 public:
  /// For `most` spans between two settle().
  PhasedWork(Device& device, std::size_t most);

  /// Whatever `enqueue` puts into the queue is of this phase. Throws std::logic_error beyond the most.
  template <class Enqueue>
  void span(Queue& queue, Phase phase, const Enqueue& enqueue) {
    Span& span = next(phase);
    queue.record(*span.begin);
    enqueue();
    queue.record(*span.end);
  }
  /// Waits for all of it, and tells the clock how the time since its last switch was spent. Each moment counts once,
  /// for a transform where one runs, else for copies within the device, else for those to and from it. Time in which
  /// the device did nothing, because it was asked late or this thread woke late, stays with the phase that runs, which
  /// a DeviceRegion makes `other`.
  void settle(PhaseClock& clock);
  [[nodiscard]] bool is_done();  ///< does not wait
  void settle();

 private:
  struct Span {
    std::unique_ptr<Mark> begin;
    std::unique_ptr<Mark> end;
    Phase phase = Phase::other;
  };
  struct Edge {
    std::int64_t at_ns = 0;
    int step = 0;  ///< +1 where a span begins, -1 where it ends
    Phase phase = Phase::other;
  };
  Span& next(Phase phase);
  void wait();
  void find_stretches();

  std::vector<Span> spans_;
  std::size_t used_ = 0;
  std::vector<Edge> edges_;
  std::vector<PhaseEvent> stretches_;
};

/// The time of a scope is the device's work, which settle() shares out. Observers are told which phase begins.
class DeviceRegion {
 public:
  DeviceRegion(PhaseClock& clock, Phase phase) : work_(clock, phase), idle_(clock, Phase::other) {}

 private:
  Region work_;
  Region idle_;
};

}  // namespace fourscore
