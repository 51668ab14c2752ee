#pragma once
// The session of backends whose counters can be read at any moment: differences between reads go to buckets.
//
// A backend supplies a CounterReader and says which of its counters make up which event; EventSession does the rest:
// shares out, extrapolates what was multiplexed, keeps absent what could not be counted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hwcounters/counter.hpp"

namespace fourscore {

/// What one counter shows when it is read.
struct Reading {
  bool valid = true;             ///< false: it shows no number just now ("Unavailable")
  std::uint64_t value = 0;       ///< grows from an arbitrary start, modulo 2^bits
  std::uint64_t enabled_ns = 0;  ///< time for which it was to count
  std::uint64_t running_ns = 0;  ///< time for which it did; less where counters are shared (multiplexed)
};

/// One counter of a reader: where its counts go. Several counters of one event (memory channels) are summed; an event
/// without any counter is absent.
struct CounterSource {
  std::size_t event = 0;
  double scale = 1.0;      ///< a count times this is in the event's unit
  unsigned bits = 64;      ///< width of the counter: it wraps to 0 there
  bool timed = true;       ///< whether readings tell enabled_ns and running_ns
  std::size_t pass = 0;    ///< the run of the work in which it counts
  std::uint64_t most = 0;  ///< the number after which it starts again at 0, where that is no power of two less 1
};

/// The counters of one backend, opened. Their order is that of the sources given to the session.
class CounterReader {
 public:
  virtual ~CounterReader() = default;
  /// The counters of one pass begin to count. Throws CounterError.
  virtual void start(std::size_t pass) { (void)pass; }
  /// Fills one reading for each counter of that pass. False when a read failed; the session then throws `error()`.
  /// Allocates nothing.
  virtual bool read(std::span<Reading> readings) noexcept = 0;
  /// Counting ends. Never throws.
  virtual void stop() noexcept {}
  /// What went wrong in the last read that failed.
  [[nodiscard]] virtual std::string error() const = 0;
};

class EventSession final : public CounterSession {
 public:
  /// `events` is how many the group has. Throws std::invalid_argument where a source names none of them.
  EventSession(CounterScope scope, std::size_t events, std::vector<CounterSource> sources,
               std::unique_ptr<CounterReader> reader);

  [[nodiscard]] CounterScope scope() const override { return scope_; }
  [[nodiscard]] std::size_t passes(std::size_t buckets) const override;
  void start(std::size_t pass, std::size_t buckets) override;
  void switch_to(std::size_t bucket) noexcept override;
  void stop() override;
  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override;
  [[nodiscard]] bool multiplexed() const override { return multiplexed_; }

 private:
  /// What one counter counted in one bucket.
  struct Share {
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0;
    bool absent = false;
  };
  void add_to_bucket() noexcept;
  [[nodiscard]] static EventCount count_of(const Share& share, const CounterSource& source);

  CounterScope scope_;
  std::size_t events_;
  std::vector<CounterSource> sources_;
  std::unique_ptr<CounterReader> reader_;
  std::size_t buckets_ = 0;
  std::size_t bucket_ = 0;
  std::size_t pass_ = 0;
  std::vector<Share> shares_;  ///< [bucket][source]
  std::vector<Reading> last_;
  std::vector<Reading> now_;
  bool failed_ = false;
  bool out_of_range_ = false;
  bool multiplexed_ = false;
};

}  // namespace fourscore
