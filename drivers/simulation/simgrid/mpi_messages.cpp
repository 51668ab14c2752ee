// The calls of MPI that send and receive, in the place of SimGrid's: carried_messages.hpp. A request of ours is
// distinguished from one of SimGrid's, which only collective calls return that stay SimGrid's, by its lowest bit.

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mpi/error.hpp"
#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/carried_requests.hpp"
#include "simulation/simgrid/shared_communicators.hpp"

namespace fourscore {
namespace {

bool is_ours(MPI_Request request) { return (reinterpret_cast<std::uintptr_t>(request) & 1U) != 0; }  // NOLINT

MPI_Request handle_to(const CarriedRequest* request) {
  return reinterpret_cast<MPI_Request>(reinterpret_cast<std::uintptr_t>(request) + 1U);  // NOLINT
}

CarriedRequest* ours(MPI_Request request) {
  if (!is_ours(request)) throw std::logic_error("a request of SimGrid's among those that this program carries");
  return reinterpret_cast<CarriedRequest*>(reinterpret_cast<std::uintptr_t>(request) - 1U);  // NOLINT
}

bool is_over(const CarriedRequest& request, double now_s) {
  return std::ranges::all_of(request.sides, [now_s](const TransferSide& side) { return over_s(side) <= now_s; });
}

/// Fills in the status of the message that was received; nobody asks for that of other requests.
void tell_status(const CarriedRequest& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE || request.sides.empty()) return;
  const Transfer& transfer = *request.sides.front().transfer;
  *status = {transfer.address.source, static_cast<int>(transfer.address.tag), MPI_SUCCESS,
             static_cast<int>(transfer.bytes), 0};
}

/// It is over.
void finish(MPI_Request& handle, MPI_Status* status) {
  CarriedRequest* const request = ours(handle);
  tell_status(*request, status);
  this_rank().requests.remove(*request);
  for (const auto& side : request->sides) release(side);
  delete request;
  handle = MPI_REQUEST_NULL;
}

/// Takes those that are over, `most` at most; what a rank spends for each message that it takes so is added to its
/// time.
int finish_some(int count, MPI_Request* requests, int* indices, MPI_Status* statuses, int most) {
  const double now_s = thread_now_s();
  message_network().backlogs->begun_until(now_s);
  RequestQueue& queue = this_rank().requests;
  // Not for a few: to queue all that is in flight takes longer.
  const bool by_queue = count >= 16 && queue.has_one_message_each();
  std::span<CarriedRequest* const> over;
  int taken = 0, received = 0;
  if (by_queue) over = queue.over_at(now_s);
  for (int i = 0; i < count && taken < most && !(by_queue && over.empty()); ++i) {
    if (over.size() == 1)  // as mostly
      i = static_cast<int>(std::find(requests + i, requests + count, handle_to(over[0])) - requests);
    if (i == count) break;
    if (requests[i] == MPI_REQUEST_NULL) continue;
    CarriedRequest* const request = ours(requests[i]);
    if (!(by_queue ? std::ranges::binary_search(over, request) : is_over(*request, now_s))) continue;
    for (const auto& side : request->sides) received += side.receives ? 1 : 0;
    finish(requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[taken]);
    indices[taken++] = i;
    if (by_queue) over = queue.over_at(now_s);
  }
  this_thread().busy_until_s = now_s + received * message_network().overheads.receive_s;
  return taken;
}

bool are_all_null(int count, const MPI_Request* requests) {
  return std::all_of(requests, requests + count, [](MPI_Request each) { return each == MPI_REQUEST_NULL; });
}

TransferSides sides_of(int count, const MPI_Request* requests) {
  TransferSides sides;
  for (int i = 0; i < count; ++i)
    if (requests[i] != MPI_REQUEST_NULL)
      sides.insert(sides.end(), ours(requests[i])->sides.begin(), ours(requests[i])->sides.end());
  return sides;
}

/// None of those given is over. Where they are all that the rank has, its queue knows what is next.
bool is_queue_asked(int count, const MPI_Request* requests) {
  const RequestQueue& queue = this_rank().requests;
  const auto given = static_cast<std::size_t>(count - std::count(requests, requests + count, MPI_REQUEST_NULL));
  return given == queue.size() && queue.has_one_message_each();
}

/// The first unfinished side of each request; no request is finished.
TransferSides missing_of(int count, const MPI_Request* requests) {
  const double now_s = thread_now_s();
  TransferSides missing;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    const auto& sides = ours(requests[i])->sides;
    missing.push_back(*std::ranges::find_if(sides, [now_s](const TransferSide& side) { return over_s(side) > now_s; }));
  }
  return missing;
}

TransferSide send_to(const void* data, int count, MPI_Datatype type, int rank, std::int64_t tag, MPI_Comm comm) {
  return post_send(comm, {static_cast<int>(rank_in_shared(comm)), rank, tag}, buffer_of(data, count, type));
}

TransferSide receive_from(void* data, int count, MPI_Datatype type, int rank, std::int64_t tag, MPI_Comm comm) {
  if (rank == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
    throw std::logic_error("a simulated rank receives from a rank that it names, by its tag");
  return post_receive(comm, {rank, static_cast<int>(rank_in_shared(comm)), tag}, buffer_of(data, count, type));
}

int wait(CarriedRequest request, MPI_Status* status) {
  wait_for_all(request.sides);
  tell_status(request, status);
  for (const auto& side : request.sides) release(side);
  return MPI_SUCCESS;
}

bool probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const Transfer* const found = find_sent(comm, source, tag);
  if (found != nullptr && status != MPI_STATUS_IGNORE)
    *status = {found->address.source, static_cast<int>(found->address.tag), MPI_SUCCESS, static_cast<int>(found->bytes),
               0};
  return found != nullptr;
}

}  // namespace

MPI_Request handle_of(TransferSides sides, MPI_Comm comm) {
  auto* const request = new CarriedRequest{std::move(sides), comm};  // finish() deletes it
  this_rank().requests.add(*request);
  return handle_to(request);
}

}  // namespace fourscore

// In the place of SimGrid's, which the linker would take otherwise.
extern "C" {

using namespace fourscore;  // NOLINT: no header

int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  *request = handle_of({send_to(data, count, type, rank, tag, comm)}, comm);
  return MPI_SUCCESS;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  *request = handle_of({receive_from(data, count, type, rank, tag, comm)}, comm);
  return MPI_SUCCESS;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
  return wait({{send_to(data, count, type, rank, tag, comm)}, comm}, MPI_STATUS_IGNORE);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status* status) {
  return wait({{receive_from(data, count, type, rank, tag, comm)}, comm}, status);
}

int MPI_Sendrecv(const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
                 int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const TransferSide received = receive_from(receive, receive_count, receive_type, from, receive_tag, comm);
  return wait({{received, send_to(send, send_count, send_type, to, send_tag, comm)}, comm}, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL || !is_ours(*request)) return PMPI_Wait(request, status);
  wait_for_all(ours(*request)->sides);
  finish(*request, status);
  return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  wait_for_all(sides_of(count, requests));
  for (int i = 0; i < count; ++i)
    if (requests[i] != MPI_REQUEST_NULL)
      finish(requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
  return MPI_SUCCESS;
}

int MPI_Waitsome(int count, MPI_Request* requests, int* taken, int* indices, MPI_Status* statuses) {
  *taken = MPI_UNDEFINED;
  if (are_all_null(count, requests)) return MPI_SUCCESS;
  while ((*taken = finish_some(count, requests, indices, statuses, count)) == 0) {
    if (is_queue_asked(count, requests))
      wait_for_any_request();
    else
      wait_for_any(missing_of(count, requests));
  }
  return MPI_SUCCESS;
}

int MPI_Testsome(int count, MPI_Request* requests, int* taken, int* indices, MPI_Status* statuses) {
  *taken = MPI_UNDEFINED;
  if (are_all_null(count, requests)) return MPI_SUCCESS;
  *taken = finish_some(count, requests, indices, statuses, count);
  if (*taken == 0) spend_a_poll();
  return MPI_SUCCESS;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (*request == MPI_REQUEST_NULL || !is_ours(*request)) return PMPI_Test(request, flag, status);
  int index = 0;
  *flag = finish_some(1, request, &index, status, 1);
  if (*flag == 0) spend_a_poll();
  return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (are_all_null(count, requests)) return MPI_SUCCESS;
  if (int first = 0; finish_some(count, requests, &first, status, 1) == 1)
    *index = first;
  else
    *flag = 0;
  if (*flag == 0) spend_a_poll();
  return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const double now_s = thread_now_s();
  message_network().backlogs->begun_until(now_s);
  *flag = std::all_of(requests, requests + count,
                      [now_s](MPI_Request each) { return each == MPI_REQUEST_NULL || is_over(*ours(each), now_s); });
  if (*flag == 0) {
    spend_a_poll();
    return MPI_SUCCESS;
  }
  return MPI_Waitall(count, requests, statuses);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  *flag = probe(source, tag, comm, status) ? 1 : 0;
  if (*flag == 0) spend_a_poll();
  return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  while (!probe(source, tag, comm, status)) spend_a_poll();
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  for (const auto& side : ours(*request)->sides) cancel(ours(*request)->comm, side);
  return MPI_SUCCESS;
}

/// One thread runs at a time, each of which knows its rank.
int MPI_Query_thread(int* provided) {
  *provided = MPI_THREAD_MULTIPLE;
  return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request* request) {
  finish(*request, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}

}  // extern "C"
