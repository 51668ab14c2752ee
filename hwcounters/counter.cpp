#include "hwcounters/counter.hpp"

namespace fourscore {

std::string_view to_string(CounterScope scope) {
  switch (scope) {
    case CounterScope::thread:
      return "thread";
    case CounterScope::process:
      return "process";
    case CounterScope::socket:
      return "socket";
    case CounterScope::node:
      return "node";
  }
  return "unknown";
}

CounterBackend& counter_backend(const std::string& name) {
  const CounterRegistry& registry = CounterRegistry::instance();
  if (CounterBackend* const found = registry.find(name)) return *found;
  std::string names;
  for (const std::string& known : registry.names()) names += (names.empty() ? "" : ", ") + known;
  throw CounterRequestError("counter backend '" + name + "' is unknown; there are: " + names);
}

}  // namespace fourscore
