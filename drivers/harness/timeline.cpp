#include "harness/timeline.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "harness/gather.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

constexpr std::size_t min_room = 256;
constexpr std::size_t max_room = 20'000;

std::vector<double> gather_seconds(MPI_Comm comm, std::int64_t mine_ns) {
  std::vector<double> seconds;
  for (const std::int64_t ns : gather_values(comm, mine_ns)) seconds.push_back(static_cast<double>(ns) / 1e9);
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

TimelineRecorder::TimelineRecorder(MPI_Comm comm, std::size_t threads, std::size_t events_in_all)
    : comm_(comm),
      room_(
          std::clamp(events_in_all / (std::max<std::size_t>(1, threads) * static_cast<std::size_t>(mpi::size_of(comm))),
                     min_room, max_room)),
      clocks_(comm),
      logs_(std::max<std::size_t>(1, threads), EventLog(room_)) {
  lanes_.reserve(logs_.size() - 1);
  // Outside its Regions a further thread does nothing for this transform: that is no phase of its own.
  for (std::size_t i = 1; i < logs_.size(); ++i) lanes_.emplace_back(logs_[i], std::span<PhaseClock>{}, false);
  clock_ = PhaseClock(logs_.front(), lanes_);
}

void TimelineRecorder::align() { before_ = clocks_.align(); }

/// The ranks whose lanes are kept: all, or of many those that took longest and some spread evenly over the others.
std::vector<int> TimelineRecorder::kept_ranks(std::int64_t duration_ns) const {
  const int ranks = mpi::size_of(comm_);
  const auto durations = gather_values(comm_, duration_ns);
  std::vector<int> kept;
  if (!durations.empty() && ranks > max_ranks) {
    std::vector<int> order(durations.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](int r) { return durations[static_cast<std::size_t>(r)]; });
    kept.assign(order.begin(), order.begin() + kept_of_more / 2);
    for (int i = 0; i < kept_of_more / 2; ++i)
      kept.push_back(static_cast<int>(static_cast<std::int64_t>(i) * ranks / (kept_of_more / 2)));
    std::ranges::sort(kept);
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  } else if (!durations.empty()) {
    kept.resize(durations.size());
    std::iota(kept.begin(), kept.end(), 0);
  }
  return kept;
}

Timeline TimelineRecorder::gather(std::int64_t begin_ns, std::int64_t end_ns) const {
  const ClockOffset offset = between(before_, clocks_.align());
  Timeline timeline;
  timeline.room = room_;
  std::int64_t zero = begin_ns + offset.offset_ns;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &zero, 1, MPI_INT64_T, MPI_MIN, comm_));
  const std::int64_t shift = offset.offset_ns - zero;
  timeline.rank_start_s = gather_seconds(comm_, begin_ns + shift);
  timeline.rank_end_s = gather_seconds(comm_, end_ns + shift);
  timeline.clock_offset_s = gather_seconds(comm_, offset.offset_ns);
  timeline.clock_uncertainty_s = gather_seconds(comm_, offset.uncertainty_ns);
  timeline.alignment = clocks_.shares_a_clock() ? "shared clock" : "ping-pong";

  const std::vector<int> kept = kept_ranks(end_ns - begin_ns);
  std::vector<int> keeps(mpi::rank_in(comm_) == 0 ? static_cast<std::size_t>(mpi::size_of(comm_)) : 0);
  for (const int rank : kept) keeps[static_cast<std::size_t>(rank)] = 1;
  int keep = 0;
  FOURSCORE_MPI(MPI_Scatter(keeps.data(), 1, MPI_INT, &keep, 1, MPI_INT, 0, comm_));
  for (std::size_t lane = 0; lane < logs_.size(); ++lane) gather_lane(lane, shift, keep != 0, timeline);
  std::ranges::stable_sort(timeline.lanes, {}, &Timeline::Lane::rank);
  return timeline;
}

void TimelineRecorder::gather_lane(std::size_t lane, std::int64_t shift, bool keep, Timeline& timeline) const {
  std::vector<PhaseEvent> mine;
  if (keep) mine.assign(logs_[lane].events().begin(), logs_[lane].events().end());
  for (PhaseEvent& event : mine) {
    event.begin_ns += shift;
    event.end_ns += shift;
  }
  const auto sizes = gather_values(comm_, keep ? static_cast<int>(mine.size()) : -1);
  const auto dropped = gather_values(comm_, static_cast<std::int64_t>(logs_[lane].dropped()));
  std::vector<int> counts, places;
  int total = 0;
  for (const int size : sizes) {
    counts.push_back(std::max(0, size));
    places.push_back(total);
    total += counts.back();
  }
  std::vector<PhaseEvent> all(static_cast<std::size_t>(total));
  const mpi::Datatype type = event_type();
  FOURSCORE_MPI(MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), type.get(), all.data(), counts.data(),
                            places.data(), type.get(), 0, comm_));
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    if (sizes[r] < 0 || (lane > 0 && sizes[r] == 0 && dropped[r] == 0)) continue;
    const auto first = all.begin() + places[r];
    timeline.lanes.push_back(
        {static_cast<int>(r), static_cast<int>(lane), static_cast<std::size_t>(dropped[r]), {first, first + sizes[r]}});
  }
}

}  // namespace fourscore
