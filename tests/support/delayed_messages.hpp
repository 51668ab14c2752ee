#pragma once
// For one source file of a program: messages that take their time (MPI 3.1, chapter 14). No request is reported
// complete before a fixed time after its start on this rank, as over a slow network. While one waits the processor is
// free.

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <map>

namespace fourscore::test {

/// The delay of each message, while a test wants it.
inline std::chrono::milliseconds message_delay{0};

using Clock = std::chrono::steady_clock;
/// When each request in flight was started.
inline std::map<MPI_Request, Clock::time_point> starts;

inline int note_start(int result, const MPI_Request* request) {
  starts[*request] = Clock::now();
  return result;
}

/// Whether its time is over and MPI is through with it; then it is completed.
inline bool completes_late(MPI_Request* request) {
  const auto start = starts.find(*request);
  if (start != starts.end() && Clock::now() - start->second < message_delay) return false;
  int flag = 0;
  PMPI_Test(request, &flag, MPI_STATUS_IGNORE);
  if (flag != 0 && start != starts.end()) starts.erase(start);
  return flag != 0;
}

/// The completed requests of an array, as MPI_Testsome returns them.
inline int complete_late(int count, MPI_Request* requests, int* indices) {
  int active = 0;
  int completed = 0;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    ++active;
    if (completes_late(&requests[i])) indices[completed++] = i;
  }
  return active == 0 ? MPI_UNDEFINED : completed;
}

constexpr useconds_t look_again_us = 200;

}  // namespace fourscore::test

extern "C" {
int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  return fourscore::test::note_start(PMPI_Isend(data, count, type, rank, tag, comm, request), request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  return fourscore::test::note_start(PMPI_Irecv(data, count, type, rank, tag, comm, request), request);
}
int MPI_Ialltoallv(const void* from, const int* counts, const int* places, MPI_Datatype type, void* to,
                   const int* to_counts, const int* to_places, MPI_Datatype to_type, MPI_Comm comm,
                   MPI_Request* request) {
  return fourscore::test::note_start(
      PMPI_Ialltoallv(from, counts, places, type, to, to_counts, to_places, to_type, comm, request), request);
}
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  return fourscore::test::note_start(PMPI_Ibcast(data, count, type, root, comm, request), request);
}
int MPI_Ireduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  return fourscore::test::note_start(PMPI_Ireduce(from, to, count, type, op, root, comm, request), request);
}
int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* /*statuses*/) {
  *completed = fourscore::test::complete_late(count, requests, indices);
  return MPI_SUCCESS;
}
int MPI_Waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* /*statuses*/) {
  while ((*completed = fourscore::test::complete_late(count, requests, indices)) == 0)
    usleep(fourscore::test::look_again_us);
  return MPI_SUCCESS;
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* /*status*/) {
  *flag = *request == MPI_REQUEST_NULL || fourscore::test::completes_late(request) ? 1 : 0;
  return MPI_SUCCESS;
}
int MPI_Wait(MPI_Request* request, MPI_Status* /*status*/) {
  while (*request != MPI_REQUEST_NULL && !fourscore::test::completes_late(request))
    usleep(fourscore::test::look_again_us);
  return MPI_SUCCESS;
}
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* /*status*/) {
  while (true) {
    bool active = false;
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      active = true;
      if (!fourscore::test::completes_late(&requests[i])) continue;
      *index = i;
      return MPI_SUCCESS;
    }
    *index = MPI_UNDEFINED;
    if (!active) return MPI_SUCCESS;
    usleep(fourscore::test::look_again_us);
  }
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* /*statuses*/) {
  bool waits = true;
  while (waits) {
    waits = false;
    for (int i = 0; i < count; ++i)
      if (requests[i] != MPI_REQUEST_NULL && !fourscore::test::completes_late(&requests[i])) waits = true;
    if (waits) usleep(fourscore::test::look_again_us);
  }
  return MPI_SUCCESS;
}
}
