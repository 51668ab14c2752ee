#include "harness/charge.hpp"

#include <algorithm>

namespace fourscore {
namespace {

constexpr std::int64_t most_exchanges = 8;
constexpr std::array<Phase, 3> computing{Phase::fft, Phase::twiddle, Phase::combine};

std::size_t number_of(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

PhaseSeconds charges_of(const SimulatedMachine& machine, double flops, const std::map<Phase, Index>& min_bytes) {
  PhaseSeconds bytes{}, flops_of{};
  for (const auto& [phase, count] : min_bytes)
    if (phase != Phase::exchange) bytes[number_of(phase)] = static_cast<double>(count);
  double computed = 0;
  for (const Phase phase : computing) computed += bytes[number_of(phase)];
  if (computed > 0)
    for (const Phase phase : computing) flops_of[number_of(phase)] = flops * bytes[number_of(phase)] / computed;
  else
    flops_of[number_of(bytes[number_of(Phase::other)] > 0 ? Phase::other : Phase::fft)] = flops;
  PhaseSeconds seconds{};
  for (std::size_t phase = 0; phase < phase_count; ++phase)
    seconds[phase] =
        std::max(flops_of[phase] / machine.flops_per_s, bytes[phase] / machine.memory_bandwidth_bytes_per_s);
  return seconds;
}

double charge_of(const Component& component, const PhaseSeconds& charges, const std::map<Phase, Index>& min_bytes) {
  const auto of_phase = min_bytes.find(component.phase);
  if (!component.min_bytes || of_phase == min_bytes.end() || of_phase->second == 0) return 0;
  return charges[number_of(component.phase)] * static_cast<double>(*component.min_bytes) /
         static_cast<double>(of_phase->second);
}

void ChargingObserver::end_run() {
  stretches_before_ = stretches_;
  if (keeps_loads_) machine_.enter_exchange(-1);
}

void ChargingObserver::switched_to(Phase phase) noexcept {
  const std::size_t number = number_of(phase);
  const auto stretch = ++stretches_[number];
  // Variants that send piece by piece have hundreds of stretches: the last of those kept has all that follow.
  if (keeps_loads_ && phase == Phase::exchange)
    machine_.enter_exchange(static_cast<int>(std::min<std::int64_t>(stretch, most_exchanges) - 1));
  if (stretches_before_[number] == 0 || charges_[number] <= 0) return;
  machine_.advance(charges_[number] / static_cast<double>(stretches_before_[number]));
}

}  // namespace fourscore
