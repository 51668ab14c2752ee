// Windows of MPI into which others put, in the place of SimGrid's: carried_messages.hpp. What is put arrives when the
// backlogs say so, and the target finds it in its memory once it looks after that: in MPI_Win_sync, or at the end of an
// epoch. SimGrid makes the windows. All ranks share one memory, so that any window is one of shared memory.

#include <algorithm>
#include <memory>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/error.hpp"
#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/shared_communicators.hpp"

namespace fourscore {
namespace {

/// What has been put and not been seen.
struct Put {
  double arrival_s = 0;
  std::uint64_t number = 0;
  MessageBuffer target;
  std::vector<std::byte> data;
  bool operator>(const Put& other) const {
    return arrival_s != other.arrival_s ? arrival_s > other.arrival_s : number > other.number;
  }
};
using Puts = std::priority_queue<Put, std::vector<Put>, std::greater<>>;

/// A rank's part of a window, as it told the others.
struct WindowPart {
  std::byte* base = nullptr;
  MPI_Aint bytes = 0;
  int unit = 0;
  Puts* arriving = nullptr;
};

/// SimGrid has a handle for each rank of a window.
struct CarriedWindow {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<WindowPart> parts;     // [rank]
  Puts arriving;                     // at this rank
  std::vector<double> arrived_by_s;  // [rank] all that this rank put there
};

std::unordered_map<MPI_Win, std::unique_ptr<CarriedWindow>>& windows() {
  static std::unordered_map<MPI_Win, std::unique_ptr<CarriedWindow>> all;
  return all;
}

/// Called after a call that makes a window, with its code.
int carry_window(int code, void* base, MPI_Aint bytes, int unit, MPI_Comm comm, MPI_Win made) {
  if (code != MPI_SUCCESS) return code;
  auto window = std::make_unique<CarriedWindow>();
  window->comm = comm;
  window->parts.resize(shared_communicator(comm).hosts.size());
  window->arrived_by_s.resize(window->parts.size());
  const WindowPart own{static_cast<std::byte*>(base), bytes, unit, &window->arriving};
  const int told =
      MPI_Allgather(&own, sizeof own, MPI_BYTE, window->parts.data(), sizeof own, MPI_BYTE, comm);  // fourscore's own
  windows()[made] = std::move(window);
  return told;
}

CarriedWindow* find(MPI_Win window) {
  const auto found = windows().find(window);
  return found == windows().end() ? nullptr : found->second.get();
}

/// What has arrived by now is there.
void look(CarriedWindow& window) {
  const double now_s = thread_now_s();
  for (Puts& puts = window.arriving; !puts.empty() && puts.top().arrival_s <= now_s; puts.pop())
    unpack_message(puts.top().data, puts.top().target, window.comm);
}

int put(const MessageBuffer& data, int target, MPI_Aint place, int count, MPI_Datatype type, MPI_Win handle) {
  CarriedWindow* const window = find(handle);
  if (window == nullptr) throw std::logic_error("a put into a window that mpi_windows.cpp does not know");
  static std::uint64_t puts = 0;
  const MessageNetwork& network = message_network();
  pass_time(network.put_s);
  const WindowPart& part = window->parts[static_cast<std::size_t>(target)];
  const std::size_t to = shared_communicator(window->comm).hosts[static_cast<std::size_t>(target)];
  const double arrival_s = network.backlogs->arrival_s(
      {thread_now_s(), static_cast<double>(data.bytes()), this_rank().host, to, this_rank().exchange});
  double& arrived_by_s = window->arrived_by_s[static_cast<std::size_t>(target)];
  arrived_by_s = std::max(arrived_by_s, arrival_s);
  part.arriving->push(
      {arrival_s, puts++, buffer_of(part.base + place * part.unit, count, type), packed(data, window->comm)});
  return MPI_SUCCESS;
}

void flush_all(CarriedWindow& window) {
  sleep_until(std::max(thread_now_s(), *std::ranges::max_element(window.arrived_by_s)));
}

}  // namespace
}  // namespace fourscore

// In the place of SimGrid's, which the linker would take otherwise.
extern "C" {

using namespace fourscore;  // NOLINT: no header

int MPI_Win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  const int code = PMPI_Win_create(base, bytes, unit, info, comm, window);
  return carry_window(code, base, bytes, unit, comm, *window);
}

int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  const int code = PMPI_Win_allocate(bytes, unit, info, comm, base, window);
  return carry_window(code, *static_cast<void**>(base), bytes, unit, comm, *window);
}

int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  return MPI_Win_allocate(bytes, unit, info, comm, base, window);
}

int MPI_Win_shared_query(MPI_Win window, int rank, MPI_Aint* bytes, int* unit, void* base) {
  const CarriedWindow* const carried = find(window);
  if (carried == nullptr) return PMPI_Win_shared_query(window, rank, bytes, unit, base);
  const WindowPart& part = carried->parts[static_cast<std::size_t>(rank)];
  *bytes = part.bytes;
  *unit = part.unit;
  *static_cast<void**>(base) = part.base;
  return MPI_SUCCESS;
}

/// SimGrid does not know the model of its windows.
int MPI_Win_get_attr(MPI_Win window, int key, void* value, int* flag) {
  if (key != MPI_WIN_MODEL) return PMPI_Win_get_attr(window, key, value, flag);
  static int unified = MPI_WIN_UNIFIED;
  *static_cast<int**>(value) = &unified;
  *flag = 1;
  return MPI_SUCCESS;
}

int MPI_Win_free(MPI_Win* window) {
  const MPI_Win freed = *window;
  const int code = PMPI_Win_free(window);  // after all ranks have come
  windows().erase(freed);
  return code;
}

int MPI_Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  return put(buffer_of(data, count, type), target, place, target_count, target_type, window);
}

int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
                   MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  if (op != MPI_REPLACE) throw std::logic_error("an MPI_Accumulate of simulated ranks that does not replace");
  return put(buffer_of(data, count, type), target, place, target_count, target_type, window);
}

int MPI_Win_flush(int rank, MPI_Win window) {
  const CarriedWindow* const carried = find(window);
  if (carried == nullptr) return PMPI_Win_flush(rank, window);
  sleep_until(std::max(thread_now_s(), carried->arrived_by_s[static_cast<std::size_t>(rank)]));
  return MPI_SUCCESS;
}

int MPI_Win_flush_all(MPI_Win window) {
  CarriedWindow* const carried = find(window);
  if (carried == nullptr) return PMPI_Win_flush_all(window);
  flush_all(*carried);
  return MPI_SUCCESS;
}

int MPI_Win_sync(MPI_Win window) {
  CarriedWindow* const carried = find(window);
  if (carried == nullptr) return PMPI_Win_sync(window);
  look(*carried);
  return MPI_SUCCESS;
}

/// An epoch of all ranks takes no message: everyone may put at any time.
int MPI_Win_lock_all(int assert, MPI_Win window) {
  return find(window) == nullptr ? PMPI_Win_lock_all(assert, window) : MPI_SUCCESS;
}

int MPI_Win_unlock_all(MPI_Win window) {
  return find(window) == nullptr ? PMPI_Win_unlock_all(window) : MPI_Win_flush_all(window);
}

int MPI_Win_fence(int assert, MPI_Win window) {
  CarriedWindow* const carried = find(window);
  if (carried == nullptr) return PMPI_Win_fence(assert, window);
  flush_all(*carried);
  const int code = MPI_Barrier(carried->comm);
  look(*carried);
  return code;
}

}  // extern "C"
