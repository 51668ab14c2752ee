#pragma once
// Counters as the driver uses them: from the options to the record.

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/agreement.hpp"
#include "program/options.hpp"

namespace fourscore::bench {

/// Before MPI: whether the request can be met at all. Throws Exit with code 2 for a request that is wrong in itself (a
/// group that there is not, an impossible cache), and with code 3 for counters that this machine does not have.
void check_counters(const Options& options);

/// Before MPI: where the backend wants the program to run under a command of its own (a simulator), becomes that
/// command. Returns where it needs none, or where this is it already. Throws std::runtime_error when that fails.
void become_countable(const Options& options, int argc, char** argv);

/// For a simulation: small arrays that are allocated from here on lie one behind the other from a multiple of 64 KiB
/// on, and not in holes that earlier work left, which are elsewhere in every run. So a run on one rank counts the same
/// each time. What is in the holes is given up. Does nothing where the C library is not glibc 2.33 or later.
void start_on_an_empty_heap();

/// Collective. Opens the counters and closes them again, so that what is wrong is said before anything is measured.
void try_counters(MPI_Comm comm, Agreement& agreement, const Options& options);

/// What a qualification says about these counters, for the record: {"fit": true, false or null, ...}. Throws InputError
/// for a file that is none, or one of other counters.
[[nodiscard]] nlohmann::json qualification_json(const CounterOptions& counters, const std::string& group);

}  // namespace fourscore::bench
