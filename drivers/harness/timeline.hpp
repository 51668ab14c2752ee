#pragma once
// What every thread of every rank did when, in one run, on one time axis.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "harness/clock_alignment.hpp"

namespace fourscore {

/// One traced run. Filled on rank 0. Event times count from the moment the first rank started.
struct Timeline {
  struct Lane {
    int rank = 0;
    int lane = 0;             ///< thread of the rank, 0 executes the plan
    std::size_t dropped = 0;  ///< events beyond the room there was
    std::vector<PhaseEvent> events;
  };
  /// By rank, then thread; threads but 0 that did nothing are left out, and of many ranks most (TimelineRecorder).
  std::vector<Lane> lanes;
  std::size_t room = 0;                                     ///< events a lane had room for
  std::string alignment;                                    ///< "shared clock" (one node) or "ping-pong"
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

  /// With more ranks than max_ranks, the lanes of kept_of_more are kept: half are those that took longest.
  static constexpr int max_ranks = 64, kept_of_more = 32;

  /// Collective, right before the run.
  void align();
  [[nodiscard]] PhaseClock& clock() { return clock_; }
  /// Collective, after the run that clock() timed from start() to stop(), at begin_ns and end_ns.
  [[nodiscard]] Timeline gather(std::int64_t begin_ns, std::int64_t end_ns) const;

 private:
  [[nodiscard]] std::vector<int> kept_ranks(std::int64_t duration_ns) const;
  void gather_lane(std::size_t lane, std::int64_t shift, bool keep, Timeline& timeline) const;

  MPI_Comm comm_;
  std::size_t room_;
  ClockAligner clocks_;
  ClockOffset before_;
  std::vector<EventLog> logs_;
  std::vector<PhaseClock> lanes_;  // for the threads but 0
  PhaseClock clock_;
};

}  // namespace fourscore
