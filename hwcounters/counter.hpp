#pragma once
// Counter backends: where events come from while a piece of work runs. Knows neither MPI nor the drivers.
//
// A Group (group.hpp, a data file) names the events of one question and the formulas that make metrics of them. A
// backend opens a CounterSession on the events of a group. The session shares its counts out over numbered buckets (the
// driver takes one for each phase) while the work runs; the group's formulas are applied afterwards.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/registry.hpp"
namespace fourscore {

/// The owner of the counted events. Beyond a process, one process reads for all of that scope (the driver elects it).
enum class CounterScope : std::uint8_t { thread, process, socket, node };
[[nodiscard]] std::string_view to_string(CounterScope scope);

/// Size and shape of the last-level cache of a simulation. Zero: as the machine's.
struct CacheGeometry {
  std::uint64_t size_bytes = 0;
  std::uint64_t ways = 0;
  std::uint64_t line_bytes = 0;
  bool operator==(const CacheGeometry&) const = default;
};

/// What a user asks of a backend.
struct CounterRequest {
  std::string backend = "none";
  std::string group;                   ///< empty: the backend's default
  std::filesystem::path groups;        ///< folder of group files; empty: the one of this installation
  CacheGeometry cache;                 ///< for backends that simulate one
  std::vector<std::string> buckets{};  ///< what the caller calls its buckets, for a backend that passes the names on
  double idle_s = 0;                   ///< for how long the machine at rest is read; 0: as the caller does
};

/// The request cannot be met because of what it says: an unknown event or group, an impossible cache. Exit code 2.
class CounterRequestError : public InputError {
 public:
  using InputError::InputError;
};
/// The machine does not let us count: no permission, no such unit, counters taken. Says what to do. Exit code 3.
class CounterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One event of a group, as a backend shall count it.
struct EventSpec {
  std::string name;      ///< as formulas call it: an identifier
  std::string code;      ///< the backend's own name of it
  std::size_t pass = 0;  ///< the run of the work that counts it, where a unit has too few counters for all at once
};

/// Counts of one event. Absent: the event could not be counted (never 0 in its place).
using EventCount = std::optional<double>;

/// Counts of one process over runs of equal work.
class CounterSession {
 public:
  virtual ~CounterSession() = default;
  [[nodiscard]] virtual CounterScope scope() const = 0;
  /// How many runs of the same work it takes to count everything once (a simulation may take one for each bucket).
  [[nodiscard]] virtual std::size_t passes(std::size_t buckets) const {
    (void)buckets;
    return 1;
  }
  /// Starts one run of the work, in bucket 0. From here to stop() nothing is allocated. Throws CounterError.
  virtual void start(std::size_t pass, std::size_t buckets) = 0;
  /// What happens from here on belongs to `bucket`. Cheap, never throws.
  virtual void switch_to(std::size_t bucket) noexcept = 0;
  virtual void stop() = 0;
  /// [bucket][event, in the group's order], of the last run of each pass. Throws CounterError when a read failed.
  [[nodiscard]] virtual std::vector<std::vector<EventCount>> counts() const = 0;
  /// Why counts() holds nothing though all went well: somebody else counts. Empty for a session that counts itself.
  [[nodiscard]] virtual std::string uncounted() const { return {}; }
  /// Whether some event had the counter for only part of the time, so that its count is an extrapolation.
  [[nodiscard]] virtual bool multiplexed() const { return false; }
};

class CounterBackend {
 public:
  virtual ~CounterBackend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  [[nodiscard]] Card card() const { return {name(), summary(), {}}; }
  /// Why it cannot count on this machine; empty when it can. Said of its default group: another one may need less, and
  /// then open() tells.
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  /// The group asked for where none is named; empty for a backend that counts nothing.
  [[nodiscard]] virtual std::string default_group() const { return {}; }
  /// Whether counts and times are of a simulated machine.
  [[nodiscard]] virtual bool simulates() const { return false; }
  /// Whether counts are of a stand-in for the machine's own counters, which somebody named.
  [[nodiscard]] virtual bool emulated() const { return false; }
  /// The last-level cache that a simulation of this request has; zeros where nothing is simulated. Throws
  /// CounterRequestError for one that is impossible.
  [[nodiscard]] virtual CacheGeometry simulated_cache(const CounterRequest& request) const {
    (void)request;
    return {};
  }
  /// Whether it can count the events of a group in several runs of the work (EventSpec::pass).
  [[nodiscard]] virtual bool counts_in_passes() const { return false; }
  /// A command under which the counting program has to run ("valgrind --tool=callgrind ..."), empty where it runs as
  /// it is or already does. Throws CounterRequestError.
  [[nodiscard]] virtual std::vector<std::string> launch_prefix(const CounterRequest& request) const {
    (void)request;
    return {};
  }
  /// What to run under launch_prefix() in place of `program`: another build of it, where this one cannot run there.
  [[nodiscard]] virtual std::filesystem::path countable(const std::filesystem::path& program) const { return program; }
  /// Names of values that formulas may use beside the events (a simulation's line size), and their values.
  [[nodiscard]] virtual std::map<std::string, double> constants(const CounterRequest& request) const {
    (void)request;
    return {};
  }
  /// Null for a backend that counts nothing. Throws CounterRequestError (unknown event: names the nearest) and
  /// CounterError.
  [[nodiscard]] virtual std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                             const CounterRequest& request) = 0;
};

using CounterRegistry = Registry<CounterBackend>;  ///< one self-registering file each

/// Throws CounterRequestError that lists the names there are.
[[nodiscard]] CounterBackend& counter_backend(const std::string& name);

}  // namespace fourscore

#define FOURSCORE_REGISTER_COUNTER(Type) \
  static const bool registered_##Type = ::fourscore::CounterRegistry::instance().add(std::make_unique<Type>())
