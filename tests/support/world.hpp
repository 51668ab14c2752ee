#pragma once
// This process among those that run a test.

#include "mpi/handles.hpp"

namespace fourscore::test {

inline int rank() { return mpi::rank_in(MPI_COMM_WORLD); }
inline int size() { return mpi::size_of(MPI_COMM_WORLD); }

}  // namespace fourscore::test
