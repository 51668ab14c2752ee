#pragma once
// What every thread of every rank did when, in one run, on one time axis.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/phase.hpp"

namespace fourscore {

/// What to add to this rank's steady clock to read that of rank 0, and how far off the sum may be. Nanoseconds.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;
};

/// Collective. Ranks on the node of rank 0 share its clock. For any other node its lowest rank asks rank 0 for the
/// time, `rounds` times: the answer was given between question and receipt, so its middle is right within half the
/// round trip, and the shortest one counts (Cristian, Probabilistic clock synchronization, Distributed Computing 3,
/// 1989). The ranks of a node share what it found.
[[nodiscard]] ClockOffset align_clocks(MPI_Comm comm, int rounds = 50);

/// Collective over two ranks of comm: rank `asking` asks, rank 0 answers. The offset is right on the one that asks,
/// zero on rank 0.
[[nodiscard]] ClockOffset clock_offset_by_ping_pong(MPI_Comm comm, int asking, int rounds,
                                                    const std::function<std::int64_t()>& now_ns);

/// One traced run. Filled on rank 0. Event times count from the moment the first rank started.
struct Timeline {
  struct Lane {
    int rank = 0;
    int lane = 0;             ///< thread of the rank, 0 executes the plan
    std::size_t dropped = 0;  ///< events beyond the room there was
    std::vector<PhaseEvent> events;
  };
  std::vector<Lane> lanes;  ///< by rank, then thread; threads but 0 that did nothing are left out
  std::size_t room = 0;     ///< events a lane had room for
  std::string alignment;    ///< "shared clock" (one node) or "ping-pong"
  std::vector<double> clock_offset_s, clock_uncertainty_s;  ///< by rank
  std::vector<double> rank_start_s, rank_end_s;             ///< by rank
};

/// Room of one rank for a traced run: made before it, read after it.
class TimelineRecorder {
 public:
  /// Collective. `threads` lanes; all lanes of all ranks together have room for about `events_in_all` events.
  TimelineRecorder(MPI_Comm comm, std::size_t threads, std::size_t events_in_all = 200'000);
  TimelineRecorder(const TimelineRecorder&) = delete;
  TimelineRecorder& operator=(const TimelineRecorder&) = delete;

  [[nodiscard]] PhaseClock& clock() { return clock_; }
  /// Collective, after the run that clock() timed from start() to stop(), at begin_ns and end_ns.
  [[nodiscard]] Timeline gather(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  MPI_Comm comm_;
  std::size_t room_;
  ClockOffset offset_;
  std::vector<EventLog> logs_;
  std::vector<PhaseClock> lanes_;  // of the threads but 0
  PhaseClock clock_;
};

}  // namespace fourscore
