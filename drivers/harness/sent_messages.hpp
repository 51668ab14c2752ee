#pragma once
// What a process hands to MPI, counted where it does: our programs define MPI's sending calls themselves and pass them
// on (MPI 3.1, chapter 14).

#include <mpi.h>

#include <functional>
#include <span>

#include "core/box.hpp"

namespace fourscore {

/// Payload and messages to other ranks, as MessageVolume has them. A collective is one message to each rank for which
/// it has something.
struct SentMessages {
  Index bytes = 0;
  Index messages = 0;
  Index control_messages = 0;  ///< without payload, or accumulated in a window
  /// False where a call moved data of which this does not say who sent it: reductions, broadcasts, neighbourhood
  /// collectives, persistent requests, MPI_Get.
  bool complete = true;
  Index open_requests = 0;  ///< begun and neither completed nor freed
};

/// Lives in the definition of an MPI call that may complete requests: those that are null behind it, and were not
/// before it. (One that is persistent stays.) Ours have it; so does a program's own that stands in the place of ours.
class Completing {
 public:
  Completing(int count, const MPI_Request* requests);
  ~Completing();
  Completing(const Completing&) = delete;
  Completing& operator=(const Completing&) = delete;

 private:
  std::span<const MPI_Request> requests_;
  [[maybe_unused]] Index active_ = 0;
};

/// Not under SimGrid's MPI, whose ranks are threads of one process.
[[nodiscard]] bool can_count_messages();

/// The messages that this process sends while run() runs, and the requests that run() leaves open, through MPI's
/// interface for C.
[[nodiscard]] SentMessages count_messages(const std::function<void()>& run);

}  // namespace fourscore
