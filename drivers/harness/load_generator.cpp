#include "harness/load_generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/topology.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

constexpr double unknown_cache_bytes = 64 << 20;
constexpr double least_array_bytes = 4 << 20;
constexpr double slice_s = 20e-6;   // a plan is asked at least so often whether messages came in
constexpr double most_slice = 0.1;  // a share
constexpr int trials = 5;
constexpr std::size_t chains = 8;                         // multiply-adds that do not wait for each other
constexpr double bytes_per_element = 2 * sizeof(double);  // read, and written

/// Twice the caches of this node, over its ranks: a stream over it finds nothing there when it comes back.
std::size_t array_elements(MPI_Comm comm) {
  double caches = 0;
  for (const auto& [number, bytes] : Topology().last_level_caches_of(Topology::usable_units())) caches += bytes;
  if (caches <= 0) caches = unknown_cache_bytes;
  const double ranks = mpi::size_of(mpi::split_by_node(comm).get());
  return static_cast<std::size_t>(std::max(least_array_bytes, std::ceil(2 * caches / ranks)) / sizeof(double));
}

}  // namespace

LoadGenerator::LoadGenerator(MPI_Comm comm, const WorkBeside& asked) : asked_(asked) {
  if (const SimulatedMachine* const machine = simulated_machine()) {
    const double flops_of_unit = 2;
    units_ = asked.seconds() * (asked.load == WorkLoad::compute ? machine->flops_per_s / flops_of_unit
                                                                : machine->memory_bandwidth_bytes_per_s);
    return;
  }
  if (asked.load == WorkLoad::memory) array_.assign(array_elements(comm), 1.0);
  calibrate(comm);
}

std::string_view LoadGenerator::unit() const { return asked_.load == WorkLoad::compute ? "multiply-adds" : "bytes"; }

void LoadGenerator::calibrate(MPI_Comm comm) {
  const auto seconds_of = [this](double units) {
    const std::int64_t begin = PhaseClock::now_ns();
    work(units);
    return 1e-9 * static_cast<double>(PhaseClock::now_ns() - begin);
  };
  const double long_enough_s = std::clamp(asked_.seconds(), 1e-3, 20e-3);
  double units = 1e4;
  while (seconds_of(units) < long_enough_s) units *= 2;
  double per_s = 0;
  for (int trial = 0; trial < trials; ++trial) {
    FOURSCORE_MPI(MPI_Barrier(comm));
    per_s = std::max(per_s, units / seconds_of(units));
  }
  units_ = per_s * asked_.seconds();
}

void LoadGenerator::begin_run() {
  left_ = units_;
  idles_ = boundaries_ = parts_ = 0;
}

void LoadGenerator::after_transform(PhaseClock& clock) {
  if (is_during()) return;
  ++boundaries_;
  if (boundaries_before_ > 0) do_part(clock, units_ / boundaries_before_);
}

bool LoadGenerator::after_part(PhaseClock& clock, Advance result) {
  if (!is_during() || result == Advance::complete) return false;
  if (result == Advance::idle) {
    ++idles_;
    return do_part(clock, units_ * std::min(most_slice, slice_s / asked_.seconds()));
  }
  ++boundaries_;
  return idles_before_ == 0 && boundaries_before_ > 0 && do_part(clock, units_ / boundaries_before_);
}

void LoadGenerator::end_run(PhaseClock& clock) {
  parts_before_ = parts_;
  idles_before_ = idles_;
  boundaries_before_ = boundaries_;
  (void)do_part(clock, left_);
}

bool LoadGenerator::do_part(PhaseClock& clock, double units) {
  const double rounding = 1e-9 * units_;
  if (left_ <= rounding) return false;
  const double part = left_ - units <= rounding ? left_ : units;
  left_ -= part;
  ++parts_;
  const Region region(clock, Phase::work);
  work(part);
  return true;
}

void LoadGenerator::work(double units) {
  if (const SimulatedMachine* const machine = simulated_machine())
    machine->work(asked_.seconds() * units / units_, asked_.load == WorkLoad::memory ? units : 0);
  else if (asked_.load == WorkLoad::compute)
    compute(units);
  else
    stream(units);
}

void LoadGenerator::compute(double units) {
  std::array<double, chains> value{};
  for (std::size_t c = 0; c < chains; ++c) value[c] = sum_ + static_cast<double>(c);
  for (auto steps = std::llround(units / chains); steps > 0; --steps)
    for (double& of_chain : value) of_chain = of_chain * 0.5 + 1.0;
  sum_ = 0;
  for (const double of_chain : value) sum_ += of_chain;
}

void LoadGenerator::stream(double units) {
  for (auto elements = static_cast<std::size_t>(units / bytes_per_element); elements > 0;) {
    const std::size_t here = std::min(elements, array_.size() - next_);
    for (std::size_t i = next_; i < next_ + here; ++i) array_[i] = array_[i] * 0.5 + 1.0;
    next_ = (next_ + here) % array_.size();
    elements -= here;
  }
}

}  // namespace fourscore
