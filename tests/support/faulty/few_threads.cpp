// An MPI that gives less thread support than was asked for: FOURSCORE_FAULTY_MPI_THREADS=funneled bounds it.

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const char* bound = std::getenv("FOURSCORE_FAULTY_MPI_THREADS");
  const bool funneled = bound != nullptr && std::string_view(bound) == "funneled";
  return PMPI_Init_thread(argc, argv, funneled ? std::min<int>(required, MPI_THREAD_FUNNELED) : required, provided);
}
