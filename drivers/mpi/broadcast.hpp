#pragma once

#include <mpi.h>

#include <string>

namespace fourscore::mpi {

/// Collective: the text of rank `root`.
[[nodiscard]] std::string broadcast_text(MPI_Comm comm, int root, std::string text);

}  // namespace fourscore::mpi
