#include "hwcounters/counter.hpp"

#include <cstdio>
#include <cstdlib>

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

CounterRegistry& CounterRegistry::instance() {
  static CounterRegistry registry;
  return registry;
}

bool CounterRegistry::add(std::unique_ptr<CounterBackend> backend) {
  const std::string name = backend->name();
  if (!backends_.emplace(name, std::move(backend)).second) {
    std::fprintf(stderr, "fourscore: the counter backend '%s' is registered twice\n", name.c_str());
    std::abort();
  }
  return true;
}

CounterBackend& CounterRegistry::at(std::string_view name) const {
  const auto found = backends_.find(std::string(name));
  if (found != backends_.end()) return *found->second;
  std::string names;
  for (const auto& [known, backend] : backends_) names += (names.empty() ? "" : ", ") + known;
  throw CounterRequestError("counter backend '" + std::string(name) + "' is unknown; there are: " + names);
}

}  // namespace fourscore
