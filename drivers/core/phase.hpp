#pragma once
// Where the time of one rank goes. Only the Sampler starts and stops a PhaseClock; variants open Regions on it.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fourscore {

enum class Phase : std::uint8_t { fft, pack, exchange, unpack, twiddle, combine, h2d, d2h, other };
inline constexpr std::size_t phase_count = 9;
inline constexpr std::array<std::string_view, phase_count> phase_names{
    "fft", "pack", "exchange", "unpack", "twiddle", "combine", "h2d", "d2h", "other"};

/// Accumulates time per phase. At any moment exactly one phase runs ("other" outside all Regions), so the phases add
/// up to the time between start() and stop(). A disabled clock costs one branch a Region.
class PhaseClock {
 public:
  explicit PhaseClock(bool enabled = true) : enabled_(enabled) {}

  void start() {
    total_.fill(0);
    current_ = Phase::other;
    if (enabled_) last_ = now();
  }
  void stop() {
    if (enabled_) switch_to(Phase::other);
  }
  /// Returns the phase that was running.
  Phase enter(Phase phase) {
    const Phase previous = current_;
    if (enabled_) switch_to(phase);
    return previous;
  }
  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] double seconds(Phase phase) const {
    return 1e-9 * static_cast<double>(total_[static_cast<std::size_t>(phase)]);
  }

 private:
  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void switch_to(Phase phase) {
    const std::int64_t time = now();
    total_[static_cast<std::size_t>(current_)] += time - last_;
    last_ = time;
    current_ = phase;
  }

  std::array<std::int64_t, phase_count> total_{};
  std::int64_t last_ = 0;
  Phase current_ = Phase::other;
  bool enabled_;
};

/// Attributes the time of a scope to a phase; nests.
class Region {
 public:
  Region(PhaseClock& clock, Phase phase) : clock_(clock), previous_(clock.enter(phase)) {}
  ~Region() { clock_.enter(previous_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  PhaseClock& clock_;
  Phase previous_;
};

}  // namespace fourscore
