#pragma once
// What the simulated ranks of a communicator share: messages that wait for their other side, and collective calls that
// not all have left.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulation/simgrid/carried_messages.hpp"

namespace fourscore {

/// The messages to one rank of which one side is there, in the order in which it came.
class Mailbox {
 public:
  /// The first of which the other side is there, which is then taken out; a new one where there is none.
  [[nodiscard]] Transfer& side_of(const MessageAddress& address, bool receives);
  [[nodiscard]] const Transfer* find_sent(int source, int tag) const;
  void remove(const Transfer* transfer);

 private:
  static std::uint64_t key_of(const MessageAddress& address) {
    return static_cast<std::uint64_t>(address.source) << 32U | static_cast<std::uint64_t>(address.tag);
  }
  struct Queue {
    Transfer *first = nullptr, *last = nullptr;
    bool has_receives = false;  ///< else sends
  };
  using Element = std::pair<const std::uint64_t, Queue>;
  std::unordered_map<std::uint64_t, Queue, std::hash<std::uint64_t>, std::equal_to<>, Recycled<Element>>
      queues_;  // none is empty
};

/// A rank within a collective call.
struct Visit {
  SimulatedThread* thread = nullptr;
  Comer comer;
  MessageBuffer send, receive;
  double leaves_s = 0;
};

struct CollectiveCall {
  std::vector<Visit> visits;
  std::size_t came = 0, left = 0;
};

struct SharedCommunicator {
  std::vector<std::size_t> hosts;      ///< [rank]
  std::vector<Mailbox> mailboxes;      ///< [rank]
  std::vector<std::uint64_t> call_of;  ///< [rank] collective calls so far
  std::deque<CollectiveCall> calls;    ///< that not all have left
  std::uint64_t first_call = 0;        ///< the number of the first of them
  std::size_t users = 0;               ///< ranks that have not freed it
};

/// Takes the hosts of MPI_COMM_WORLD's ranks. Before the first rank starts.
void share_world(std::vector<std::size_t> hosts);
[[nodiscard]] SharedCommunicator& shared_communicator(MPI_Comm comm);
/// The calling thread's rank in `comm`. SimGrid knows only that of a rank's first thread.
[[nodiscard]] std::size_t rank_in_shared(MPI_Comm comm);

}  // namespace fourscore
