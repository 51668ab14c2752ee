#include "mpi/broadcast.hpp"

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::mpi {

std::string broadcast_text(MPI_Comm comm, int root, std::string text) {
  int length = static_cast<int>(text.size());
  FOURSCORE_MPI(MPI_Bcast(&length, 1, MPI_INT, root, comm));
  text.resize(static_cast<std::size_t>(length));
  FOURSCORE_MPI(MPI_Bcast(text.data(), length, MPI_CHAR, root, comm));
  return text;
}

std::optional<std::string> first_text(MPI_Comm comm, const std::optional<std::string>& mine) {
  int speaker = mine ? rank_in(comm) : size_of(comm);
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm));
  if (speaker == size_of(comm)) return std::nullopt;
  return broadcast_text(comm, speaker, mine.value_or(""));
}

}  // namespace fourscore::mpi
