#pragma once
// Counter backends: where events come from while a piece of work runs. Knows neither MPI nor the drivers.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fourscore {

/// One counted event over the work between start() and stop(), on the calling process.
struct CounterReading {
  std::string name;  ///< the backend's own name of the event
  std::uint64_t count = 0;
  std::string unit;  ///< "events", "bytes"
};

class CounterBackend {
 public:
  virtual ~CounterBackend() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string summary() const = 0;
  /// Why it cannot count on this machine; empty when it can.
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  /// Events counted from here on. start() and stop() alternate.
  virtual void start() = 0;
  [[nodiscard]] virtual std::vector<CounterReading> stop() = 0;
};

/// Backends by name; one self-registering file each.
class CounterRegistry {
 public:
  static CounterRegistry& instance() {
    static CounterRegistry registry;
    return registry;
  }
  /// Aborts on a duplicate name, which only a programmer can mend.
  bool add(std::unique_ptr<CounterBackend> backend) {
    const std::string name = backend->name();
    if (!backends_.emplace(name, std::move(backend)).second) {
      std::fprintf(stderr, "fourscore: the counter backend '%s' is registered twice\n", name.c_str());
      std::abort();
    }
    return true;
  }
  [[nodiscard]] const std::map<std::string, std::unique_ptr<CounterBackend>>& backends() const { return backends_; }

 private:
  std::map<std::string, std::unique_ptr<CounterBackend>> backends_;
};

}  // namespace fourscore

#define FOURSCORE_REGISTER_COUNTER(Type) \
  static const bool registered_##Type = ::fourscore::CounterRegistry::instance().add(std::make_unique<Type>())
