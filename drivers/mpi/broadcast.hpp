#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace fourscore::mpi {

/// Collective: the text of rank `root`.
[[nodiscard]] std::string broadcast_text(MPI_Comm comm, int root, std::string text);
/// Collective: the text of the lowest rank that has one; nothing where none has.
[[nodiscard]] std::optional<std::string> first_text(MPI_Comm comm, const std::optional<std::string>& mine);

}  // namespace fourscore::mpi
