#include "harness/clock_alignment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "harness/simulated.hpp"
#include "mpi/error.hpp"

namespace fourscore {
namespace {

constexpr int clock_tag = 4711;

}  // namespace

ClockOffset between(const ClockOffset& before, const ClockOffset& after) {
  const std::int64_t drift = after.offset_ns - before.offset_ns;
  return {before.offset_ns + drift / 2,
          std::max(before.uncertainty_ns, after.uncertainty_ns) + (std::abs(drift) + 1) / 2};
}

ClockOffset clock_offset_by_ping_pong(MPI_Comm comm, int answering, int asking, int rounds, const ReadClock& now_ns) {
  ClockOffset best{0, std::numeric_limits<std::int64_t>::max()};
  const bool asks = mpi::rank_in(comm) == asking;
  for (int round = 0; round < rounds; ++round) {
    std::int64_t theirs = 0;
    if (!asks) {
      FOURSCORE_MPI(MPI_Recv(&theirs, 1, MPI_INT64_T, asking, clock_tag, comm, MPI_STATUS_IGNORE));
      theirs = now_ns();
      FOURSCORE_MPI(MPI_Send(&theirs, 1, MPI_INT64_T, asking, clock_tag, comm));
      continue;
    }
    const std::int64_t sent = now_ns();
    FOURSCORE_MPI(MPI_Send(&sent, 1, MPI_INT64_T, answering, clock_tag, comm));
    FOURSCORE_MPI(MPI_Recv(&theirs, 1, MPI_INT64_T, answering, clock_tag, comm, MPI_STATUS_IGNORE));
    const std::int64_t received = now_ns();
    const std::int64_t half = (received - sent + 1) / 2;
    if (half < best.uncertainty_ns) best = {theirs - (sent + half), half};
  }
  return asks ? best : ClockOffset{};
}

ClockAligner::ClockAligner(MPI_Comm comm, ReadClock now_ns) : now_ns_(std::move(now_ns)) {
  if (simulated_machine() != nullptr) return;  // one clock for all
  node_ = mpi::split_by_node(comm);
  const bool leads = mpi::rank_in(node_.get()) == 0;
  leaders_ = mpi::split(comm, leads ? 0 : MPI_UNDEFINED, mpi::rank_in(comm));
  if (leads) nodes_ = mpi::size_of(leaders_.get());
  FOURSCORE_MPI(MPI_Bcast(&nodes_, 1, MPI_INT, 0, node_.get()));
}

ClockOffset ClockAligner::align(int rounds) const {
  if (shares_a_clock()) return {};
  ClockOffset mine;
  if (leaders_.get() != MPI_COMM_NULL) {
    const MPI_Comm leaders = leaders_.get();
    const int me = mpi::rank_in(leaders);
    for (int step = 1; step < nodes_; step *= 2) {
      if (me < step && me + step < nodes_) {
        FOURSCORE_MPI(MPI_Send(&mine.uncertainty_ns, 1, MPI_INT64_T, me + step, clock_tag, leaders));
        (void)clock_offset_by_ping_pong(leaders, me, me + step, rounds, [&] { return now_ns_() + mine.offset_ns; });
      } else if (me >= step && me < 2 * step) {
        std::int64_t of_theirs = 0;
        FOURSCORE_MPI(MPI_Recv(&of_theirs, 1, MPI_INT64_T, me - step, clock_tag, leaders, MPI_STATUS_IGNORE));
        mine = clock_offset_by_ping_pong(leaders, me - step, me, rounds, now_ns_);
        mine.uncertainty_ns += of_theirs;
      }
    }
  }
  std::array<std::int64_t, 2> shared{mine.offset_ns, mine.uncertainty_ns};
  FOURSCORE_MPI(MPI_Bcast(shared.data(), 2, MPI_INT64_T, 0, node_.get()));
  return {shared[0], shared[1]};
}

}  // namespace fourscore
