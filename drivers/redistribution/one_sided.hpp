#pragma once
// What methods over one-sided messages share: whether MPI can make the windows that they need.

#include <mpi.h>

#include <string>

#include "core/problem.hpp"
#include "core/refusal.hpp"

namespace fourscore {

/// The owner of the memory that a window gives access to, which decides how MPI makes it.
enum class WindowMemory {
  own,       ///< the program's memory: MPI_Win_create
  allocated  ///< MPI's memory: MPI_Win_allocate
};

/// Nothing, or why MPI makes no window of this kind between the ranks of comm: Open MPI 4.1 makes none between nodes
/// that TCP joins. Collective.
[[nodiscard]] Reason why_no_window(MPI_Comm comm, WindowMemory memory);

/// Nothing, or why windows of instances on subsets of the ranks cannot be used with this MPI. `user` of them: "exchange
/// 'rma'".
[[nodiscard]] Reason why_no_windows_of_subsets(const Problem& problem, const std::string& user);

}  // namespace fourscore
