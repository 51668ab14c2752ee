#pragma once
// The device of tests of variants on a device: the stand-in, or the one that FOURSCORE_TEST_DEVICE names.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "interfaces/variant.hpp"

namespace fourscore::test {

[[nodiscard]] inline std::map<std::string, std::string> on_device(std::map<std::string, std::string> parameters) {
  const char* const device = std::getenv("FOURSCORE_TEST_DEVICE");
  parameters["device"] = device == nullptr ? "host" : device;
  parameters["share-device"] = "yes";
  return parameters;
}

/// The part by which the phases of an execution miss the time by the host's clock, on the rank where it is largest: in
/// the quietest of several runs, or in the first where it is less than `enough`. Collective.
[[nodiscard]] inline double smallest_gap(Plan& plan, double enough = 0.02) {
  double smallest = 1;
  for (int run = 0; run < 20 && smallest >= enough; ++run) {
    PhaseClock clock;
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t begin = PhaseClock::now_ns();
    clock.start();
    plan.execute(clock);
    clock.stop();
    const double total = 1e-9 * static_cast<double>(PhaseClock::now_ns() - begin);
    double sum = 0;
    for (std::size_t p = 0; p < phase_count; ++p) sum += clock.seconds(static_cast<Phase>(p));
    double gap = std::abs(sum / total - 1);
    MPI_Allreduce(MPI_IN_PLACE, &gap, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    smallest = std::min(smallest, gap);
  }
  return smallest;
}

}  // namespace fourscore::test
