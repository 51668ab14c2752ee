#include "hwcounters/counter.hpp"

namespace fourscore {
namespace {

/// The backend of a run without counters: reads nothing, so it costs nothing.
class NoCounters : public CounterBackend {
 public:
  [[nodiscard]] std::string name() const override { return "none"; }
  [[nodiscard]] std::string summary() const override { return "no counters: times only"; }
  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>&, const CounterRequest&) override {
    return nullptr;
  }
};

FOURSCORE_REGISTER_COUNTER(NoCounters);

}  // namespace
}  // namespace fourscore
