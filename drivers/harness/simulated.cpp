#include "harness/simulated.hpp"

#include <optional>
#include <utility>

namespace fourscore {
namespace {

std::optional<SimulatedMachine>& machine_at_hand() {
  static std::optional<SimulatedMachine> machine;
  return machine;
}

std::string& message_at_hand() {
  static std::string message;
  return message;
}

}  // namespace

void note_of_deadlock(const std::string& message) { message_at_hand() = message; }
const std::string& noted_of_deadlock() { return message_at_hand(); }
const SimulatedMachine* simulated_machine() { return machine_at_hand() ? &*machine_at_hand() : nullptr; }
void simulate_machine(SimulatedMachine machine) { machine_at_hand() = std::move(machine); }

}  // namespace fourscore
