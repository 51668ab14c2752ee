#include "harness/sent_messages.hpp"

#ifndef FOURSCORE_COUNTS_MESSAGES

namespace fourscore {

Completing::Completing(int /*count*/, const MPI_Request* /*requests*/) {}
Completing::~Completing() = default;

bool can_count_messages() { return false; }

SentMessages count_messages(const std::function<void()>& run) {
  run();
  return {};
}

}  // namespace fourscore

#else

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>

namespace fourscore {
namespace {

std::atomic<bool> counts{false};
std::atomic<Index> bytes{0};
std::atomic<Index> messages{0};
std::atomic<Index> control_messages{0};
std::atomic<bool> complete{true};
std::atomic<Index> open_requests{0};

constexpr auto relaxed = std::memory_order_relaxed;

bool counting() { return counts.load(relaxed); }

void add(Index count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const Index payload = count * size;
  if (payload == 0) {
    control_messages.fetch_add(1, relaxed);
    return;
  }
  bytes.fetch_add(payload, relaxed);
  messages.fetch_add(1, relaxed);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

void add_message(Index count, MPI_Datatype type, int rank, MPI_Comm comm) {
  if (counting() && rank != MPI_PROC_NULL && rank != rank_in(comm)) add(count, type);
}

/// part(rank) calls add() with what there is for the rank.
template <class Part>
void add_parts(MPI_Comm comm, const Part& part) {
  if (!counting()) return;
  const int me = rank_in(comm);
  int size = 0;
  PMPI_Comm_size(comm, &size);
  for (int rank = 0; rank < size; ++rank)
    if (rank != me) part(rank);
}

/// A collective is no message to those for whom it has nothing.
void add_part(Index count, MPI_Datatype type) {
  if (count > 0) add(count, type);
}

bool is_own(int rank, MPI_Win window) {
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &group);
  int me = 0;
  PMPI_Group_rank(group, &me);
  PMPI_Group_free(&group);
  return rank == me;
}

/// A put is a message to the rank whose window it goes to.
void add_put(int count, MPI_Datatype type, int rank, MPI_Win window) {
  if (counting() && rank != MPI_PROC_NULL && !is_own(rank, window)) add(count, type);
}

void add_accumulated(int rank, MPI_Win window) {
  if (counting() && rank != MPI_PROC_NULL && !is_own(rank, window)) control_messages.fetch_add(1, relaxed);
}

void note_other_call() {
  if (counting()) complete.store(false, relaxed);
}

void add_alltoall(const void* send, int send_count, MPI_Datatype send_type, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  add_parts(comm, [&](int) { add_part(in_place ? receive_count : send_count, in_place ? receive_type : send_type); });
}

void add_alltoallv(const void* send, const int* send_counts, MPI_Datatype send_type, const int* receive_counts,
                   MPI_Datatype receive_type, MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  const int* const part_counts = in_place ? receive_counts : send_counts;
  add_parts(comm, [&](int rank) { add_part(part_counts[rank], in_place ? receive_type : send_type); });
}

void add_alltoallw(const void* send, const int* send_counts, const MPI_Datatype* send_types, const int* receive_counts,
                   const MPI_Datatype* receive_types, MPI_Comm comm) {
  const bool in_place = send == MPI_IN_PLACE;
  add_parts(comm, [&](int rank) {
    if (in_place)
      add_part(receive_counts[rank], receive_types[rank]);
    else
      add_part(send_counts[rank], send_types[rank]);
  });
}

void add_gather(int send_count, MPI_Datatype send_type, int root, MPI_Comm comm) {
  if (counting() && rank_in(comm) != root) add_part(send_count, send_type);
}

void add_scatter(int send_count, MPI_Datatype send_type, int root, MPI_Comm comm) {
  if (counting() && rank_in(comm) == root) add_parts(comm, [&](int) { add_part(send_count, send_type); });
}

void add_scatterv(const int* send_counts, MPI_Datatype send_type, int root, MPI_Comm comm) {
  if (counting() && rank_in(comm) == root) add_parts(comm, [&](int rank) { add_part(send_counts[rank], send_type); });
}

void note_begun(const MPI_Request& request) {
  if (counting() && request != MPI_REQUEST_NULL) open_requests.fetch_add(1, relaxed);
}

/// The next definition of a call: that of a tool that was loaded before MPI, or MPI's own.
template <class Function>
Function* next(const char* name, Function* own) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  return found == nullptr ? own : reinterpret_cast<Function*>(found);
}

Index active_of(std::span<const MPI_Request> requests) {
  return std::ranges::count_if(requests, [](MPI_Request one) { return one != MPI_REQUEST_NULL; });
}

}  // namespace

Completing::Completing(int count, const MPI_Request* requests)
    : requests_(requests, counting() ? static_cast<std::size_t>(count) : 0), active_(active_of(requests_)) {}

Completing::~Completing() {
  if (!requests_.empty()) open_requests.fetch_sub(active_ - active_of(requests_), relaxed);
}

bool can_count_messages() { return true; }

SentMessages count_messages(const std::function<void()>& run) {
  for (auto* const value : {&bytes, &messages, &control_messages, &open_requests}) value->store(0);
  complete.store(true);
  struct Counting {
    Counting() { counts.store(true); }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;
    ~Counting() { counts.store(false); }
  };
  {
    const Counting counting;
    run();
  }
  return {bytes.load(), messages.load(), control_messages.load(), complete.load(), open_requests.load()};
}

}  // namespace fourscore

// Weak, so that a program may have definitions of its own.
#define FOURSCORE_CALL(call, parameters, arguments, note)         \
  __attribute__((weak)) int MPI_##call parameters {               \
    using namespace fourscore;                                    \
    note;                                                         \
    static const auto pass_on = next("MPI_" #call, &PMPI_##call); \
    return pass_on arguments;                                     \
  }
#define FOURSCORE_UNWRAP(...) __VA_ARGS__
#define FOURSCORE_REQUEST(call, parameters, arguments, note)                                \
  __attribute__((weak)) int MPI_##call(FOURSCORE_UNWRAP parameters, MPI_Request* request) { \
    using namespace fourscore;                                                              \
    note;                                                                                   \
    static const auto pass_on = next("MPI_" #call, &PMPI_##call);                           \
    const int code = pass_on(FOURSCORE_UNWRAP arguments, request);                          \
    note_begun(*request);                                                                   \
    return code;                                                                            \
  }
// The same call twice: one returns when it is done, the other returns a request.
#define FOURSCORE_CALL_AND_REQUEST(call, with_request, parameters, arguments, note) \
  FOURSCORE_CALL(call, parameters, arguments, note)                                 \
  FOURSCORE_REQUEST(with_request, parameters, arguments, note)
#define FOURSCORE_SEND(call, with_request)                                                                     \
  FOURSCORE_CALL_AND_REQUEST(call, with_request,                                                               \
                             (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
                             (data, count, type, to, tag, comm), add_message(count, type, to, comm))

extern "C" {
FOURSCORE_SEND(Send, Isend)
FOURSCORE_SEND(Bsend, Ibsend)
FOURSCORE_SEND(Rsend, Irsend)
FOURSCORE_SEND(Ssend, Issend)
FOURSCORE_CALL(Sendrecv,
               (const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                MPI_Status* status),
               (send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from, receive_tag,
                comm, status),
               add_message(send_count, send_type, to, comm))
FOURSCORE_CALL(Sendrecv_replace,
               (void* data, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                MPI_Comm comm, MPI_Status* status),
               (data, count, type, to, send_tag, from, receive_tag, comm, status), add_message(count, type, to, comm))
FOURSCORE_CALL_AND_REQUEST(Alltoall, Ialltoall,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_count, receive_type, comm),
                           add_alltoall(send, send_count, send_type, receive_count, receive_type, comm))
FOURSCORE_CALL_AND_REQUEST(Alltoallv, Ialltoallv,
                           (const void* send, const int* send_counts, const int* send_places, MPI_Datatype send_type,
                            void* receive, const int* receive_counts, const int* receive_places,
                            MPI_Datatype receive_type, MPI_Comm comm),
                           (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                            receive_type, comm),
                           add_alltoallv(send, send_counts, send_type, receive_counts, receive_type, comm))
FOURSCORE_CALL_AND_REQUEST(Alltoallw, Ialltoallw,
                           (const void* send, const int* send_counts, const int* send_places,
                            const MPI_Datatype* send_types, void* receive, const int* receive_counts,
                            const int* receive_places, const MPI_Datatype* receive_types, MPI_Comm comm),
                           (send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
                            receive_types, comm),
                           add_alltoallw(send, send_counts, send_types, receive_counts, receive_types, comm))
FOURSCORE_CALL_AND_REQUEST(Gather, Igather,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, int root, MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_count, receive_type, root, comm),
                           add_gather(send_count, send_type, root, comm))
FOURSCORE_CALL_AND_REQUEST(Gatherv, Igatherv,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive,
                            const int* receive_counts, const int* receive_places, MPI_Datatype receive_type, int root,
                            MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, root,
                            comm),
                           add_gather(send_count, send_type, root, comm))
FOURSCORE_CALL_AND_REQUEST(Scatter, Iscatter,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, int root, MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_count, receive_type, root, comm),
                           add_scatter(send_count, send_type, root, comm))
FOURSCORE_CALL_AND_REQUEST(Scatterv, Iscatterv,
                           (const void* send, const int* send_counts, const int* send_places, MPI_Datatype send_type,
                            void* receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm),
                           (send, send_counts, send_places, send_type, receive, receive_count, receive_type, root,
                            comm),
                           add_scatterv(send_counts, send_type, root, comm))
FOURSCORE_CALL_AND_REQUEST(Allgather, Iallgather,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_count, receive_type, comm),
                           add_alltoall(send, send_count, send_type, receive_count, receive_type, comm))
FOURSCORE_CALL_AND_REQUEST(Allgatherv, Iallgatherv,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive,
                            const int* receive_counts, const int* receive_places, MPI_Datatype receive_type,
                            MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_counts, receive_places, receive_type, comm),
                           add_alltoall(send, send_count, send_type, counting() ? receive_counts[rank_in(comm)] : 0,
                                        receive_type, comm))
FOURSCORE_CALL_AND_REQUEST(Put, Rput,
                           (const void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
                            MPI_Datatype target_type, MPI_Win window),
                           (data, count, type, rank, place, target_count, target_type, window),
                           add_put(count, type, rank, window))
FOURSCORE_CALL_AND_REQUEST(Accumulate, Raccumulate,
                           (const void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
                            MPI_Datatype target_type, MPI_Op op, MPI_Win window),
                           (data, count, type, rank, place, target_count, target_type, op, window),
                           add_accumulated(rank, window))
FOURSCORE_CALL_AND_REQUEST(Bcast, Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
                           (data, count, type, root, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Reduce, Ireduce,
                           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                            MPI_Comm comm),
                           (send, receive, count, type, op, root, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Allreduce, Iallreduce,
                           (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                           (send, receive, count, type, op, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Reduce_scatter, Ireduce_scatter,
                           (const void* send, void* receive, const int* receive_counts, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm),
                           (send, receive, receive_counts, type, op, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Reduce_scatter_block, Ireduce_scatter_block,
                           (const void* send, void* receive, int receive_count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm),
                           (send, receive, receive_count, type, op, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Neighbor_alltoall, Ineighbor_alltoall,
                           (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                            MPI_Datatype receive_type, MPI_Comm comm),
                           (send, send_count, send_type, receive, receive_count, receive_type, comm), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Neighbor_alltoallv, Ineighbor_alltoallv,
                           (const void* send, const int* send_counts, const int* send_places, MPI_Datatype send_type,
                            void* receive, const int* receive_counts, const int* receive_places,
                            MPI_Datatype receive_type, MPI_Comm comm),
                           (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
                            receive_type, comm),
                           note_other_call())
FOURSCORE_CALL_AND_REQUEST(Neighbor_alltoallw, Ineighbor_alltoallw,
                           (const void* send, const int* send_counts, const MPI_Aint* send_places,
                            const MPI_Datatype* send_types, void* receive, const int* receive_counts,
                            const MPI_Aint* receive_places, const MPI_Datatype* receive_types, MPI_Comm comm),
                           (send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
                            receive_types, comm),
                           note_other_call())
FOURSCORE_REQUEST(Irecv, (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm),
                  (data, count, type, from, tag, comm), )
FOURSCORE_REQUEST(Imrecv, (void* data, int count, MPI_Datatype type, MPI_Message* message),
                  (data, count, type, message), )
FOURSCORE_CALL(Wait, (MPI_Request * request, MPI_Status* status), (request, status),
               const Completing completing(1, request))
FOURSCORE_CALL(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses),
               const Completing completing(count, requests))
FOURSCORE_CALL(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status),
               (count, requests, index, status), const Completing completing(count, requests))
FOURSCORE_CALL(Waitsome, (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
               (count, requests, completed, indices, statuses), const Completing completing(count, requests))
FOURSCORE_CALL(Test, (MPI_Request * request, int* done, MPI_Status* status), (request, done, status),
               const Completing completing(1, request))
FOURSCORE_CALL(Testall, (int count, MPI_Request* requests, int* done, MPI_Status* statuses),
               (count, requests, done, statuses), const Completing completing(count, requests))
FOURSCORE_CALL(Testany, (int count, MPI_Request* requests, int* index, int* done, MPI_Status* status),
               (count, requests, index, done, status), const Completing completing(count, requests))
FOURSCORE_CALL(Testsome, (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
               (count, requests, completed, indices, statuses), const Completing completing(count, requests))
FOURSCORE_CALL(Request_free, (MPI_Request * request), (request), const Completing completing(1, request))
FOURSCORE_CALL(Start, (MPI_Request * request), (request), note_other_call())
FOURSCORE_CALL(Startall, (int count, MPI_Request* requests), (count, requests), note_other_call())
FOURSCORE_CALL_AND_REQUEST(Get, Rget,
                           (void* data, int count, MPI_Datatype type, int rank, MPI_Aint place, int target_count,
                            MPI_Datatype target_type, MPI_Win window),
                           (data, count, type, rank, place, target_count, target_type, window), note_other_call())
}
#endif
