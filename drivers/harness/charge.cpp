#include "harness/charge.hpp"

#include <algorithm>

namespace fourscore {
namespace {

constexpr std::int64_t most_exchanges = 8;
constexpr std::array<Phase, 3> computing{Phase::fft, Phase::twiddle, Phase::combine};

std::size_t number_of(Phase phase) { return static_cast<std::size_t>(phase); }

}  // namespace

Charges charges_of(const SimulatedMachine& machine, double flops, const std::map<Phase, Index>& min_bytes,
                   RankThreads threads) {
  std::array<double, phase_count> bytes{}, flops_of{};
  for (const auto& [phase, count] : min_bytes)
    if (phase != Phase::exchange) bytes[number_of(phase)] = static_cast<double>(count);
  double computed = 0;
  for (const Phase phase : computing) computed += bytes[number_of(phase)];
  if (computed > 0)
    for (const Phase phase : computing) flops_of[number_of(phase)] = flops * bytes[number_of(phase)] / computed;
  else
    flops_of[number_of(bytes[number_of(Phase::other)] > 0 ? Phase::other : Phase::fft)] = flops;
  Charges charges;
  charges.threads = threads.of_plan;
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    const int together = phase == number_of(Phase::fft) ? threads.of_library : 1;
    charges.phases[phase] = {
        std::max(flops_of[phase] / machine.flops_per_s, bytes[phase] / machine.memory_bandwidth_bytes_per_s) / together,
        bytes[phase]};
  }
  return charges;
}

Charge charge_of(const Component& component, const Charges& charges, const std::map<Phase, Index>& min_bytes) {
  const auto of_phase = min_bytes.find(component.phase);
  if (!component.min_bytes || of_phase == min_bytes.end() || of_phase->second == 0) return {};
  const Charge& all = charges.phases[number_of(component.phase)];
  const double bytes = static_cast<double>(*component.min_bytes), of = static_cast<double>(of_phase->second);
  return {all.seconds * bytes / of / charges.threads, all.bytes * bytes / of};
}

void ChargingObserver::begin_run() {
  stretches_.fill(0);
  told_.fill(0);
  keeps_loads_ = may_keep_loads_ && runs_++ == 1;
  if (charges_.threads > 1)
    machine_.listen_to_threads([this](Phase phase, std::int64_t bytes) { works_on(phase, bytes); });
}

void ChargingObserver::end_run() {
  stretches_before_ = stretches_;
  told_before_ = told_;
  if (keeps_loads_) machine_.enter_exchange(-1);
  if (charges_.threads > 1) machine_.listen_to_threads(nullptr);
}

void ChargingObserver::switched_to(Phase phase) noexcept {
  const std::size_t number = number_of(phase);
  const auto stretch = ++stretches_[number];
  // Variants that send piece by piece have hundreds of stretches: the last of those kept has all that follow.
  if (keeps_loads_ && phase == Phase::exchange)
    machine_.enter_exchange(static_cast<int>(std::min<std::int64_t>(stretch, most_exchanges) - 1));
  const Charge& charge = charges_.phases[number];
  const auto stretches = static_cast<double>(stretches_before_[number]);
  if (stretches == 0 || charge.seconds <= 0 || told_before_[number] > 0) return;
  machine_.work(charge.seconds / stretches, charge.bytes / stretches);
}

void ChargingObserver::works_on(Phase phase, std::int64_t bytes) {
  const std::size_t number = number_of(phase);
  told_[number] += bytes;
  if (bytes == 0 || told_before_[number] == 0) return;
  const double share = static_cast<double>(bytes) / static_cast<double>(told_before_[number]);
  machine_.work(charges_.phases[number].seconds * share, charges_.phases[number].bytes * share);
}

}  // namespace fourscore
