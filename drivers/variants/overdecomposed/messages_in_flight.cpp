#include "variants/overdecomposed/messages_in_flight.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>

#include "mpi/error.hpp"

namespace fourscore {

namespace {

/// Messages looked at in one call. MPI walks through all that it is given: with the tens of thousands of a fine
/// decomposition that would take longer than the transform.
constexpr std::size_t window = 512;

}  // namespace

MessagesInFlight::~MessagesInFlight() {
  if (!mpi::is_running()) return;
  for (std::size_t i = 0; i < active_; ++i) {  // only after an error
    FOURSCORE_MPI_NOTHROW(MPI_Cancel(&requests_[i]));
    FOURSCORE_MPI_NOTHROW(MPI_Request_free(&requests_[i]));
  }
}

void MessagesInFlight::reserve(std::size_t most) {
  requests_.assign(most, MPI_REQUEST_NULL);
  ids_.resize(most);
  completed_.resize(most);
  completed_ids_.resize(most);
}

void MessagesInFlight::send(std::size_t id, const std::byte* data, int count, int rank, int tag) {
  ids_[active_] = id;
  FOURSCORE_MPI(MPI_Isend(data, count, type_, rank, tag, comm_, &requests_[active_]));
  ++active_;
}

void MessagesInFlight::receive(std::size_t id, std::byte* data, int count, int rank, int tag) {
  ids_[active_] = id;
  FOURSCORE_MPI(MPI_Irecv(data, count, type_, rank, tag, comm_, &requests_[active_]));
  ++active_;
}

std::span<const std::size_t> MessagesInFlight::complete_some(bool wait) {
  int count = 0;
  std::size_t first = 0;
  if (wait && active_ <= window) {
    FOURSCORE_MPI(
        MPI_Waitsome(static_cast<int>(active_), requests_.data(), &count, completed_.data(), MPI_STATUSES_IGNORE));
  } else {
    do {
      if (next_window_ >= active_) {
        next_window_ = 0;
        if (wait) std::this_thread::yield();
      }
      first = next_window_;
      const std::size_t length = std::min(window, active_ - first);
      FOURSCORE_MPI(
          MPI_Testsome(static_cast<int>(length), &requests_[first], &count, completed_.data(), MPI_STATUSES_IGNORE));
      next_window_ = first + length;
    } while (wait && count == 0);
  }
  if (count == MPI_UNDEFINED) throw std::logic_error("messages in flight that MPI does not know");
  retire(first, count);
  return std::span(completed_ids_).first(static_cast<std::size_t>(count));
}

void MessagesInFlight::retire(std::size_t first, int count) {
  // From the back, so that what takes a free place is still in flight.
  std::sort(completed_.begin(), completed_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    const std::size_t place = first + static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    completed_ids_[static_cast<std::size_t>(i)] = ids_[place];
    --active_;
    requests_[place] = requests_[active_];
    ids_[place] = ids_[active_];
  }
}

void MessagesInFlight::wait_all() {
  FOURSCORE_MPI(MPI_Waitall(static_cast<int>(active_), requests_.data(), MPI_STATUSES_IGNORE));
  active_ = 0;
}

}  // namespace fourscore
