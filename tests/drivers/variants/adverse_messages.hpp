#pragma once
// For one source file of a program: MPI_Isend that counts, and completions in an order that no scheduler would hope
// for (MPI 3.1, chapter 14). What MPI promises is kept: requests complete in any order, and a test may find none.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <vector>

namespace fourscore::test {

struct CountedSends {
  std::atomic<bool> on{false};
  std::atomic<long long> bytes{0};
  std::atomic<long long> messages{0};
};
inline CountedSends counted_sends;

/// Completions are reported one at a time, drawn at random, and half of the tests find none; this rank sends late.
inline std::atomic<bool> adverse{false};

inline std::mt19937& draws() {
  thread_local std::mt19937 generator = [] {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return std::mt19937(static_cast<unsigned>(rank) + 17U);
  }();
  return generator;
}

/// One request that is through, if any is: 1, 0, or MPI_UNDEFINED where none is in flight.
inline int complete_one(int count, MPI_Request* requests, int* index, MPI_Status* /*statuses*/) {
  std::vector<int> active;
  for (int i = 0; i < count; ++i)
    if (requests[i] != MPI_REQUEST_NULL) active.push_back(i);
  if (active.empty()) return MPI_UNDEFINED;
  std::ranges::shuffle(active, draws());
  for (const int i : active) {
    int flag = 0;
    PMPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    if (flag == 0) continue;
    *index = i;
    return 1;
  }
  return 0;
}

}  // namespace fourscore::test

extern "C" {
int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  using namespace fourscore::test;
  int size = 0;
  PMPI_Type_size(type, &size);
  if (counted_sends.on && count > 0) {
    counted_sends.bytes += static_cast<long long>(count) * size;
    ++counted_sends.messages;
  }
  if (adverse && draws()() % 8 == 0) usleep(200);
  return PMPI_Isend(data, count, type, rank, tag, comm, request);
}
int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  using namespace fourscore::test;
  if (!adverse) return PMPI_Testsome(count, requests, completed, indices, statuses);
  *completed = draws()() % 2 == 0 ? 0 : complete_one(count, requests, indices, statuses);
  return MPI_SUCCESS;
}
int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  using namespace fourscore::test;
  if (!adverse) return PMPI_Testany(count, requests, index, flag, status);
  const int found = draws()() % 2 == 0 ? 0 : complete_one(count, requests, index, status);
  if (found != 1) *index = MPI_UNDEFINED;
  *flag = found == 0 ? 0 : 1;  // none in flight: as if through
  return MPI_SUCCESS;
}
int MPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  using namespace fourscore::test;
  if (!adverse) return PMPI_Waitsome(count, requests, completed, indices, statuses);
  while ((*completed = complete_one(count, requests, indices, statuses)) == 0) usleep(1);
  return MPI_SUCCESS;
}
}
