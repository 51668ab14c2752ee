// An MPI in which one call fails on the last rank, or on all: FOURSCORE_FAULTY_MPI_CALL names it. Those that are here
// are made by one or two kinds of plan each, while it executes: MPI_Testsome by variant node, MPI_Win_sync by the
// exchanges shared and active, MPI_Win_flush by active and MPI_Win_flush_all by rma. None of them sends: those are the
// program's own (harness/sent_messages.hpp).

#include <mpi.h>

#include <cstdlib>
#include <string_view>

#include "harness/sent_messages.hpp"

namespace {

bool fails(std::string_view call) {
  const char* chosen = std::getenv("FOURSCORE_FAULTY_MPI_CALL");
  if (chosen == nullptr || call != chosen) return false;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return rank == size - 1;
}

}  // namespace

extern "C" {
int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  if (fails("MPI_Testsome")) return MPI_ERR_OTHER;
  const fourscore::Completing completing(count, requests);
  return PMPI_Testsome(count, requests, completed, indices, statuses);
}
int MPI_Win_sync(MPI_Win window) {
  if (fails("MPI_Win_sync")) return MPI_ERR_OTHER;
  return PMPI_Win_sync(window);
}
/// On all ranks, as where no component of MPI makes windows.
int MPI_Win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  const char* chosen = std::getenv("FOURSCORE_FAULTY_MPI_CALL");
  if (chosen != nullptr && std::string_view(chosen) == "MPI_Win_create") return MPI_ERR_WIN;
  return PMPI_Win_create(base, bytes, unit, info, comm, window);
}
/// The same.
int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  const char* chosen = std::getenv("FOURSCORE_FAULTY_MPI_CALL");
  if (chosen != nullptr && std::string_view(chosen) == "MPI_Win_allocate") return MPI_ERR_WIN;
  return PMPI_Win_allocate(bytes, unit, info, comm, base, window);
}
/// Says on the last rank that a window has the separate memory model.
int MPI_Win_get_attr(MPI_Win window, int key, void* value, int* found) {
  static int separate = MPI_WIN_SEPARATE;
  const int error = PMPI_Win_get_attr(window, key, value, found);
  if (key == MPI_WIN_MODEL && fails("MPI_Win_get_attr")) *static_cast<int**>(value) = &separate;
  return error;
}
int MPI_Win_flush(int rank, MPI_Win window) {
  if (fails("MPI_Win_flush")) return MPI_ERR_OTHER;
  return PMPI_Win_flush(rank, window);
}
int MPI_Win_flush_all(MPI_Win window) {
  if (fails("MPI_Win_flush_all")) return MPI_ERR_OTHER;
  return PMPI_Win_flush_all(window);
}
}
