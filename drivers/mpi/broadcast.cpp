#include "mpi/broadcast.hpp"

#include "mpi/error.hpp"

namespace fourscore::mpi {

std::string broadcast_text(MPI_Comm comm, int root, std::string text) {
  int length = static_cast<int>(text.size());
  FOURSCORE_MPI(MPI_Bcast(&length, 1, MPI_INT, root, comm));
  text.resize(static_cast<std::size_t>(length));
  FOURSCORE_MPI(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm));
  return text;
}

}  // namespace fourscore::mpi
