#pragma once
// The messages of simulated ranks, carried by this program in the place of SimGrid. SimGrid takes tens of microseconds
// of the host for each message, and an all-to-all of a thousand ranks has a million. Ranks, communicators, types,
// windows and the clock stay SimGrid's. Here all ranks see one memory: data are copied once both sides of a message are
// there, the backlogs say when it arrives, and a rank sleeps until then.
//
// mpi_messages.cpp has the calls of MPI that send and receive, mpi_collectives.cpp the collective ones,
// shared_communicators.cpp those that make communicators. Windows, and the collective calls that stand in none of these
// files, send SimGrid's own messages over the same links.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

#include "core/phase.hpp"
#include "simulation/backlogs.hpp"
#include "simulation/collective_times.hpp"
#include "simulation/platform.hpp"
#include "simulation/simgrid/recycled.hpp"
#include "simulation/simgrid/request_queue.hpp"

namespace fourscore {

/// Before the first rank starts.
void carry_messages(const Platform& platform, std::shared_ptr<Backlogs> backlogs);

/// The calling thread's time: the simulation's clock, or later by what its messages cost it since it last slept.
[[nodiscard]] double thread_now_s();
/// Lets so many seconds of the calling thread's own time pass.
void pass_time(double seconds);
inline constexpr double poll_s = 1e-6;  ///< a look for what has not come

/// What a platform says of messages, and its links.
struct MessageNetwork {
  MessageOverheads overheads;
  double put_s = 0;  ///< a rank's own time for each MPI_Put
  double eager_limit_bytes = 0;
  std::shared_ptr<Backlogs> backlogs;
};
[[nodiscard]] const MessageNetwork& message_network();

/// Data of a call of MPI.
struct MessageBuffer {
  std::byte* at = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;

  [[nodiscard]] std::size_t bytes() const;
  /// `displacement` bytes further.
  [[nodiscard]] MessageBuffer after(std::ptrdiff_t displacement, int elements) const {
    return {at + displacement, elements, type};
  }
};
[[nodiscard]] MessageBuffer buffer_of(const void* at, int count, MPI_Datatype type);
[[nodiscard]] std::ptrdiff_t extent_of(MPI_Datatype type);
[[nodiscard]] std::vector<std::byte> packed(const MessageBuffer& from, MPI_Comm comm);
/// Throws std::logic_error where `to` has no room for it, as copy_message does.
void unpack_message(const std::vector<std::byte>& from, const MessageBuffer& to, MPI_Comm comm);
void copy_message(const MessageBuffer& from, const MessageBuffer& to, MPI_Comm comm);

struct SimulatedThread;
struct SimulatedTeam;

/// A rank of MPI_COMM_WORLD as this program keeps it.
struct SimulatedRank {
  std::size_t number = 0;
  std::size_t host = 0;
  int exchange = -1;  ///< whose messages it sends: ExchangeLoads
  RequestQueue requests{};
  SimulatedThread* asleep_for_any = nullptr;  ///< until the other side of one of the rank's requests comes
  SimulatedTeam* team = nullptr;              ///< its threads, where there are several now
  std::function<void(Phase, std::int64_t bytes)> listener{};  ///< told what they work on
};

/// A thread of a rank: an actor of SimGrid. Those that run at once share the rank's requests.
struct SimulatedThread {
  SimulatedRank* rank = nullptr;
  simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
  double busy_until_s = 0;
  int awaited = 0;       ///< what has to come before it is woken
  double looked_s = -1;  ///< when it last paused
};
/// The calling actor is from here on a thread of `rank`. The thread must outlive the actor's calls.
void be_thread(SimulatedThread& thread);
[[nodiscard]] SimulatedThread& this_thread();
[[nodiscard]] inline SimulatedRank& this_rank() { return *this_thread().rank; }
/// Sleeps until all that the calling thread's `awaited` counts has come.
void sleep_until_woken();
/// One thing that it waits for has come.
void tell(SimulatedThread& thread);
void sleep_until(double time_s);

struct MessageAddress {
  int source = 0, destination = 0;  ///< within the communicator
  std::int64_t tag = 0;
};
/// Beyond those of MPI: what the collective calls send.
inline constexpr std::int64_t collective_tag = std::int64_t{1} << 31U;

/// A message of which at least one side is there.
struct Transfer {
  MessageAddress address;
  SimulatedRank* sender = nullptr;
  SimulatedRank* receiver = nullptr;
  MessageBuffer sent{}, received{};
  double sent_s = 0, posted_s = 0;  ///< on the sender's and the receiver's clock
  double begin_s = -1;              ///< on its way; negative: not known yet
  double arrival_s = -1;            ///< the same
  std::vector<std::byte> kept{};    ///< the data, if the sender does not wait for its receiver
  std::size_t bytes = 0;
  int exchange = -1;                                                     ///< its sender's
  bool waits = false;                                                    ///< for its receiver
  SimulatedThread *asleep_sender = nullptr, *asleep_receiver = nullptr;  ///< until the other side comes
  int users = 2;                                                         ///< the ranks that are not done with it
  CarriedRequest *send_request = nullptr, *receive_request = nullptr;
  Transfer* next = nullptr;  ///< that waits for its other side: Mailbox

  [[nodiscard]] bool is_met() const { return sender != nullptr && receiver != nullptr; }
  static void* operator new(std::size_t /*bytes*/) { return Recycled<Transfer>{}.allocate(1); }
  static void operator delete(void* place) { Recycled<Transfer>{}.deallocate(static_cast<Transfer*>(place), 1); }
};

/// A side of a transfer that a rank has posted.
struct TransferSide {
  Transfer* transfer = nullptr;
  bool receives = false;
};
using TransferSides = std::vector<TransferSide, Recycled<TransferSide>>;

[[nodiscard]] TransferSide post_send(MPI_Comm comm, const MessageAddress& address, const MessageBuffer& buffer);
[[nodiscard]] TransferSide post_receive(MPI_Comm comm, const MessageAddress& address, const MessageBuffer& buffer);
/// A message from there that nobody has received yet.
[[nodiscard]] const Transfer* find_sent(MPI_Comm comm, int source, int tag);
/// Takes it back where the other side has not come.
void cancel(MPI_Comm comm, const TransferSide& side);
/// The rank is done with it.
void release(const TransferSide& side);

/// When the side's rank may go on; never_s where that is not known yet.
inline constexpr double never_s = std::numeric_limits<double>::infinity();
[[nodiscard]] inline double over_s(const TransferSide& side) {
  const Transfer& transfer = *side.transfer;
  if (!side.receives && !transfer.waits) return transfer.sent_s;
  return transfer.is_met() && transfer.arrival_s >= 0 ? transfer.arrival_s : never_s;
}
/// Sleeps until all are over, and takes what arrives in the order of arrival.
void wait_for_all(const TransferSides& sides);
/// Sleeps until one of them is over, or was when the rank last looked: it looks every microsecond.
void wait_for_any(const TransferSides& sides);
/// The same for all requests of the calling thread's rank, of which each must have one message.
void wait_for_any_request();
/// The time that a thread spends on a poll that finds no message.
void spend_a_poll();

}  // namespace fourscore
