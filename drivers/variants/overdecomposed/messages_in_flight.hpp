#pragma once
// Nonblocking messages of which any may be through first.

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

namespace fourscore {

/// Messages in flight over one communicator, each known by an id that its owner chose.
class MessagesInFlight {
 public:
  MessagesInFlight(MPI_Comm comm, MPI_Datatype type) : comm_(comm), type_(type) {}
  ~MessagesInFlight();
  MessagesInFlight(const MessagesInFlight&) = delete;
  MessagesInFlight& operator=(const MessagesInFlight&) = delete;

  /// Memory for at most so many at once; nothing is allocated later.
  void reserve(std::size_t most);
  [[nodiscard]] bool empty() const { return active_ == 0; }
  void send(std::size_t id, const std::byte* data, int count, int rank, int tag);
  void receive(std::size_t id, std::byte* data, int count, int rank, int tag);
  /// Ids of messages that are through, in no order, valid until the next call. With `wait` at least one; there must be
  /// one in flight.
  [[nodiscard]] std::span<const std::size_t> complete_some(bool wait);
  void wait_all();

 private:
  void retire(std::size_t first, int count);

  MPI_Comm comm_;
  MPI_Datatype type_;
  std::size_t active_ = 0;
  std::size_t next_window_ = 0;
  std::vector<MPI_Request> requests_;  ///< the first active_ are in flight
  std::vector<std::size_t> ids_;       ///< theirs
  std::vector<int> completed_;
  std::vector<std::size_t> completed_ids_;
};

}  // namespace fourscore
