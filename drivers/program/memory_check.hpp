#pragma once
// Whether the memory is there, asked before anything is allocated.

#include <mpi.h>

#include <limits>
#include <string>

#include "program/options.hpp"
#include "program/resolve.hpp"

namespace fourscore::bench {

/// The memory that is shortest for each of the ranks that share it.
struct MemoryShare {
  std::string scope;  ///< as in MemoryScope; empty: nothing is known
  int ranks = 1;      ///< that share it
  double available_bytes = std::numeric_limits<double>::infinity();
};
/// Collective; the same on all ranks. Over all nodes and control groups; ranks that share a group are counted together.
[[nodiscard]] MemoryShare shortest_memory(MPI_Comm comm);

/// Nothing, or why ranks that need so much each do not find it: both numbers, of all ranks that share that memory.
[[nodiscard]] Reason lacking_memory(const MemoryShare& memory, double bytes_of_a_rank, const std::string& what);

/// What a rank needs at the least, on average over the ranks of an instance: the arrays of its plans, and of the
/// opposite plan by which the result is checked, where it is. A variant that takes an exchange has two arrays of its
/// data as soon as there is something to exchange; of others one is sure in place, two out of place.
[[nodiscard]] double min_bytes_of_a_rank(const ResolvedPoint& resolved, CheckExtent extent);

}  // namespace fourscore::bench
