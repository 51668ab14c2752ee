#pragma once
// Where the time of one rank goes. Only the Sampler starts and stops a PhaseClock; variants open Regions on it.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace fourscore {

/// h2d and d2h: copies from the host's memory to a device's, and back. product: of a convolution, in the spectrum.
/// work: what is no part of a transform.
enum class Phase : std::uint8_t { fft, pack, exchange, unpack, twiddle, combine, h2d, d2h, product, work, other };
inline constexpr std::size_t phase_count = 11;
inline constexpr std::array<std::string_view, phase_count> phase_names{
    "fft", "pack", "exchange", "unpack", "twiddle", "combine", "h2d", "d2h", "product", "work", "other"};

/// Says that an event is of no piece or instance in particular.
inline constexpr std::int32_t no_piece = -1;

/// One stretch of time of one thread, in nanoseconds of its host's steady clock.
struct PhaseEvent {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int32_t piece = no_piece;  ///< number of a piece of the work or of an instance; no_piece: none
  Phase phase = Phase::other;
};

/// The events of one thread in time order, in room made beforehand. What comes once it is full is counted and left out,
/// so that a run that switches phases without end costs neither memory nor more time than any other.
class alignas(64) EventLog {
 public:
  explicit EventLog(std::size_t capacity = 0) : events_(capacity) {}
  void add(const PhaseEvent& event) {
    if (used_ < events_.size())
      events_[used_++] = event;
    else
      ++dropped_;
  }
  void clear() { used_ = dropped_ = 0; }
  [[nodiscard]] std::span<const PhaseEvent> events() const { return {events_.data(), used_}; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  std::vector<PhaseEvent> events_;
  std::size_t used_ = 0;
  std::size_t dropped_ = 0;
};

/// Told of every switch of the thread that executes a plan, for counters that share their counts out over the phases.
class PhaseObserver {
 public:
  virtual ~PhaseObserver() = default;
  virtual void switched_to(Phase phase) noexcept = 0;
};

/// Accumulates time per phase. At any moment exactly one phase runs ("other" outside all Regions), so the phases add
/// up to the time between start() and stop(). A disabled clock costs one branch a Region.
class alignas(64) PhaseClock {
 public:
  /// What runs: a phase, and the piece of the work or the instance that it works on.
  struct Place {
    Phase phase = Phase::other;
    std::int32_t piece = no_piece;
  };

  explicit PhaseClock(bool enabled = true) : enabled_(enabled) {}
  /// A clock that also writes down each stretch, of its own thread into log, and of further threads by the clocks
  /// `lanes` (those count no phase of the rank). All of them must outlive it.
  explicit PhaseClock(EventLog& log, std::span<PhaseClock> lanes = {}, bool keep_other = true)
      : log_(&log),
        lanes_(lanes.data()),
        lane_count_(lanes.size()),
        keep_other_(keep_other),
        enabled_(true),
        watched_(true) {}
  /// A clock that also tells `observer`, which must outlive it, of every switch after start(), when phase other runs.
  explicit PhaseClock(PhaseObserver& observer) : observer_(&observer), enabled_(true), watched_(true) {}

  /// From here on `observer`, which must outlive the clock, is told as well.
  void observe(PhaseObserver& observer) {
    observer_ = &observer;
    enabled_ = watched_ = true;
  }

  void start() {
    total_.fill(0);
    current_ = {};
    if (!enabled_) return;
    last_ = now_ns();
    for (std::size_t i = 0; i < lane_count_; ++i) lanes_[i].start();
  }
  void stop() {
    if (!enabled_) return;
    switch_to({});
    for (std::size_t i = 0; i < lane_count_; ++i) lanes_[i].stop();
  }
  /// Returns what ran until now.
  Place enter(Place place) {
    const Place previous = current_;
    if (enabled_) switch_to(place);
    return previous;
  }
  [[nodiscard]] Place place() const { return current_; }
  /// A device worked while this thread waited, and its own clock saw the `stretches`: in time order, without overlap,
  /// on any axis in nanoseconds; the last ended just now. They take the place of the time since the last switch: what
  /// lies before it, while this thread did something else, is left out, and what no stretch covers stays with the phase
  /// that runs.
  void share_wait(std::span<const PhaseEvent> stretches) {
    if (!enabled_ || stretches.empty()) return;
    const std::int64_t time = now_ns();
    const std::int64_t ahead = time - stretches.back().end_ns;
    for (PhaseEvent stretch : stretches) {
      stretch.begin_ns = std::max(stretch.begin_ns + ahead, last_);
      stretch.end_ns += ahead;
      if (stretch.end_ns <= stretch.begin_ns) continue;
      total_[static_cast<std::size_t>(current_.phase)] += stretch.begin_ns - last_;
      total_[static_cast<std::size_t>(stretch.phase)] += stretch.end_ns - stretch.begin_ns;
      if (log_ != nullptr) log_->add(stretch);
      last_ = stretch.end_ns;
    }
  }
  /// The clock for Regions of thread `thread` of this rank: this one for thread 0, which is the one that executes the
  /// plan; for others one that only draws their line into a timeline, and is disabled where none is recorded. Each
  /// clock belongs to one thread at a time.
  [[nodiscard]] PhaseClock& lane(std::size_t thread) {
    if (thread == 0) return *this;
    return thread <= lane_count_ ? lanes_[thread - 1] : idle_;
  }
  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] double seconds(Phase phase) const {
    return 1e-9 * static_cast<double>(total_[static_cast<std::size_t>(phase)]);
  }
  /// This host's steady clock, or the one that stands in for it.
  [[nodiscard]] static std::int64_t now_ns() {
    if (stand_in_ != nullptr) [[unlikely]]
      return stand_in_();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  /// From here on the whole program goes by another clock: that of a simulation, in which time passes otherwise. Before
  /// the first rank starts.
  static void use_clock(std::int64_t (*now_ns)()) { stand_in_ = now_ns; }

 private:
  void switch_to(Place place) {
    const std::int64_t time = now_ns();
    total_[static_cast<std::size_t>(current_.phase)] += time - last_;
    if (watched_) [[unlikely]]
      tell(time, place.phase);
    last_ = time;
    current_ = place;
  }
  void tell(std::int64_t time, Phase next) {
    if (log_ != nullptr) write_down(time);
    if (observer_ != nullptr) observer_->switched_to(next);
  }
  /// Writes down a stretch by a device's clock, which is `ahead` ns behind this host's.
  void write_down(std::int64_t time) {
    if (time > last_ && (keep_other_ || current_.phase != Phase::other))
      log_->add({last_, time, current_.piece, current_.phase});
  }

  static inline std::int64_t (*stand_in_)() = nullptr;
  static PhaseClock idle_;  // disabled, so nothing ever writes to it and threads may share it

  std::array<std::int64_t, phase_count> total_{};
  std::int64_t last_ = 0;
  Place current_{};
  EventLog* log_ = nullptr;
  PhaseObserver* observer_ = nullptr;
  PhaseClock* lanes_ = nullptr;  // for threads 1, 2 ...
  std::size_t lane_count_ = 0;
  bool keep_other_ = true;
  bool enabled_;
  bool watched_ = false;  // there is a log or an observer: one branch for both
};

inline PhaseClock PhaseClock::idle_{false};

/// Attributes the time of a scope to a phase; nests. A piece or instance number stays until a Region inside names
/// another: it tells the stretches of a timeline apart and counts in nothing.
class Region {
 public:
  Region(PhaseClock& clock, Phase phase) : Region(clock, phase, clock.place().piece) {}
  Region(PhaseClock& clock, Phase phase, std::int32_t piece) : clock_(clock), previous_(clock.enter({phase, piece})) {}
  ~Region() { clock_.enter(previous_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

 private:
  PhaseClock& clock_;
  PhaseClock::Place previous_;
};

}  // namespace fourscore
