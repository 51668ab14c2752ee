#pragma once

#include <mpi.h>

#include <string>

namespace fourscore::mpi {

/// Collective: the text of rank `root`.
[[nodiscard]] std::string broadcast_text(MPI_Comm comm, int root, std::string text);
/// Collective: the text of the lowest rank that has one; empty where none has.
[[nodiscard]] std::string first_text(MPI_Comm comm, const std::string& mine);

}  // namespace fourscore::mpi
