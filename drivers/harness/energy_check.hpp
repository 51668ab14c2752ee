#pragma once
// Whether a convolution keeps the energy that its operator's factors leave of a spectrum: by Parseval, over all modes.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "harness/round_trip.hpp"
#include "harness/verifier.hpp"

namespace fourscore {

/// White noise comes back with sum |output|^2 = N sum |factor(k) X(k)|^2 for each field, where X is what the plan's
/// forward half alone leaves, which other checks compare with the definition. The error is that of the square roots,
/// relative to what is expected. Plane waves tell factors of some modes; this tells whether any other mode goes wrong
/// in size. `problem`: of one instance. Collective over comm, and the same on every rank.
[[nodiscard]] Check check_energy(const Problem& problem, MPI_Comm comm, RoundTrip& plan, std::uint64_t seed,
                                 double tolerance);

/// Whether the forward half of a plan that truncates() leaves of three waves the peaks that are kept, each where it
/// belongs, and nothing else: such a half is no whole transform, which a Verifier could check. Collective as above.
[[nodiscard]] Check check_kept_modes(const Problem& problem, MPI_Comm comm, RoundTrip& plan, std::uint64_t seed,
                                     double tolerance);

}  // namespace fourscore
