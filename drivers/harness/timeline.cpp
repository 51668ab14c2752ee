#include "harness/timeline.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

constexpr std::size_t min_room = 256;
constexpr std::size_t max_room = 20'000;
constexpr int clock_tag = 4711;

/// Values of all ranks in rank order, on rank 0.
std::vector<std::int64_t> gather_integers(MPI_Comm comm, std::int64_t mine) {
  std::vector<std::int64_t> all(mpi::rank_in(comm) == 0 ? static_cast<std::size_t>(mpi::size_of(comm)) : 0);
  FOURSCORE_MPI(MPI_Gather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, 0, comm));
  return all;
}

std::vector<double> gather_seconds(MPI_Comm comm, std::int64_t mine_ns) {
  std::vector<double> seconds;
  for (const std::int64_t ns : gather_integers(comm, mine_ns)) seconds.push_back(static_cast<double>(ns) / 1e9);
  return seconds;
}

mpi::Datatype event_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  FOURSCORE_MPI(MPI_Type_contiguous(static_cast<int>(sizeof(PhaseEvent)), MPI_BYTE, &type));
  mpi::Datatype owner(type);
  FOURSCORE_MPI(MPI_Type_commit(&type));
  return owner;
}

}  // namespace

ClockOffset clock_offset_by_ping_pong(MPI_Comm comm, int asking, int rounds,
                                      const std::function<std::int64_t()>& now_ns) {
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
    FOURSCORE_MPI(MPI_Send(&sent, 1, MPI_INT64_T, 0, clock_tag, comm));
    FOURSCORE_MPI(MPI_Recv(&theirs, 1, MPI_INT64_T, 0, clock_tag, comm, MPI_STATUS_IGNORE));
    const std::int64_t received = now_ns();
    const std::int64_t half = (received - sent + 1) / 2;
    if (half < best.uncertainty_ns) best = {theirs - (sent + half), half};
  }
  return asks ? best : ClockOffset{};
}

ClockOffset align_clocks(MPI_Comm comm, int rounds) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  const int rank = mpi::rank_in(comm);
  // Lowest rank of this node in comm: it speaks for the node.
  int leader = rank;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &leader, 1, MPI_INT, MPI_MIN, node.get()));
  ClockOffset offset;
  if (const mpi::Communicator leaders = mpi::split(comm, leader == rank ? 0 : MPI_UNDEFINED, rank); leader == rank) {
    const int me = mpi::rank_in(leaders.get());
    for (int other = 1; other < mpi::size_of(leaders.get()); ++other)
      if (me == 0 || me == other) {
        const ClockOffset found = clock_offset_by_ping_pong(leaders.get(), other, rounds, PhaseClock::now_ns);
        if (me == other) offset = found;
      }
  }
  std::array<std::int64_t, 2> shared{offset.offset_ns, offset.uncertainty_ns};
  // One rank of the node has other than zeros, and an offset may be negative.
  if (rank != leader) shared = {0, 0};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, shared.data(), 2, MPI_INT64_T, MPI_SUM, node.get()));
  return {shared[0], shared[1]};
}

TimelineRecorder::TimelineRecorder(MPI_Comm comm, std::size_t threads, std::size_t events_in_all)
    : comm_(comm),
      room_(
          std::clamp(events_in_all / (std::max<std::size_t>(1, threads) * static_cast<std::size_t>(mpi::size_of(comm))),
                     min_room, max_room)),
      offset_(align_clocks(comm)),
      logs_(std::max<std::size_t>(1, threads), EventLog(room_)) {
  lanes_.reserve(logs_.size() - 1);
  // Outside its Regions a further thread does nothing for this transform: that is no phase of its own.
  for (std::size_t i = 1; i < logs_.size(); ++i) lanes_.emplace_back(logs_[i], std::span<PhaseClock>{}, false);
  clock_ = PhaseClock(logs_.front(), lanes_);
}

Timeline TimelineRecorder::gather(std::int64_t begin_ns, std::int64_t end_ns) const {
  Timeline timeline;
  timeline.room = room_;
  const int ranks = mpi::size_of(comm_);
  const int rank = mpi::rank_in(comm_);
  std::int64_t zero = begin_ns + offset_.offset_ns;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &zero, 1, MPI_INT64_T, MPI_MIN, comm_));
  const std::int64_t shift = offset_.offset_ns - zero;
  timeline.rank_start_s = gather_seconds(comm_, begin_ns + shift);
  timeline.rank_end_s = gather_seconds(comm_, end_ns + shift);
  timeline.clock_offset_s = gather_seconds(comm_, offset_.offset_ns);
  timeline.clock_uncertainty_s = gather_seconds(comm_, offset_.uncertainty_ns);
  const auto beyond = [](double seconds) { return seconds > 0; };
  timeline.alignment = std::ranges::any_of(timeline.clock_uncertainty_s, beyond) ? "ping-pong" : "shared clock";

  const mpi::Datatype type = event_type();
  for (std::size_t lane = 0; lane < logs_.size(); ++lane) {
    std::vector<PhaseEvent> mine(logs_[lane].events().begin(), logs_[lane].events().end());
    for (PhaseEvent& event : mine) {
      event.begin_ns += shift;
      event.end_ns += shift;
    }
    const auto counts = gather_integers(comm_, static_cast<std::int64_t>(mine.size()));
    const auto dropped = gather_integers(comm_, static_cast<std::int64_t>(logs_[lane].dropped()));
    std::vector<int> sizes, places;
    std::vector<PhaseEvent> all;
    if (rank == 0) {
      int total = 0;
      for (const std::int64_t count : counts) {
        sizes.push_back(static_cast<int>(count));
        places.push_back(total);
        total += sizes.back();
      }
      all.resize(static_cast<std::size_t>(total));
    }
    FOURSCORE_MPI(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), type.get(), all.data(), sizes.data(),
                              places.data(), type.get(), 0, comm_));
    for (std::size_t r = 0; rank == 0 && r < static_cast<std::size_t>(ranks); ++r) {
      if (lane > 0 && sizes[r] == 0 && dropped[r] == 0) continue;
      const auto first = all.begin() + places[r];
      timeline.lanes.push_back({static_cast<int>(r),
                                static_cast<int>(lane),
                                static_cast<std::size_t>(dropped[r]),
                                {first, first + sizes[r]}});
    }
  }
  std::ranges::stable_sort(timeline.lanes, {}, &Timeline::Lane::rank);
  return timeline;
}

}  // namespace fourscore
