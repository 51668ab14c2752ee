#pragma once
// One time axis for the clocks of several nodes.

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "core/phase.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

using ReadClock = std::function<std::int64_t()>;  ///< nanoseconds of a clock that runs steadily

/// What to add to this rank's clock to read that of rank 0, and how far off the sum may be. Nanoseconds.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;
};

/// The middle of two alignments, for the time between them. How far the clocks drifted apart is in the uncertainty.
[[nodiscard]] ClockOffset between(const ClockOffset& before, const ClockOffset& after);

/// Collective over two ranks of comm: `asking` asks `answering` for the time, `rounds` times. The answer was given
/// between question and receipt, so its middle is right within half the round trip, and the shortest one counts
/// (Cristian, Probabilistic clock synchronization, Distributed Computing 3, 1989). Zero on the one that answers.
[[nodiscard]] ClockOffset clock_offset_by_ping_pong(MPI_Comm comm, int answering, int asking, int rounds,
                                                    const ReadClock& now_ns);

/// The clocks of a communicator's nodes. Ranks of one node share a clock.
class ClockAligner {
 public:
  /// Collective. `now_ns`: of this rank; tests pretend others.
  explicit ClockAligner(MPI_Comm comm, ReadClock now_ns = PhaseClock::now_ns);
  /// Collective; zeros, and nothing sent, within one node. In log2(n) rounds for n nodes, each that knows the time of
  /// node 0 tells it to one that does not: uncertainties add up on the way. The ranks of a node share what its lowest
  /// rank found.
  [[nodiscard]] ClockOffset align(int rounds = 20) const;
  /// All ranks are on one node.
  [[nodiscard]] bool shares_a_clock() const { return nodes_ == 1; }
  [[nodiscard]] std::int64_t now_ns() const { return now_ns_(); }

 private:
  ReadClock now_ns_;
  mpi::Communicator node_;
  mpi::Communicator leaders_;  ///< the lowest rank of each node; null elsewhere
  int nodes_ = 1;
};

}  // namespace fourscore
