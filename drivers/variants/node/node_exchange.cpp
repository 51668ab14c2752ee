#include "variants/node/node_exchange.hpp"

#include <algorithm>
#include <stdexcept>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

NodeExchange::NodeExchange(const NodeExchangeSpec& spec)
    : team_(spec.team),
      threads_(spec.team.threads()),
      element_bytes_(static_cast<Index>(spec.element_bytes)),
      callers_(spec.callers),
      one_packs_(spec.one_packs),
      comm_(spec.comm),
      type_(mpi::element_type(spec.element_bytes)),
      segments_(spec) {
  if (callers_ != MpiCallers::one) {
    deal_to_threads(segments_.sends, first_send_, one_packs_ ? 1 : static_cast<std::size_t>(threads_));
    deal_to_threads(segments_.receives, first_receive_, static_cast<std::size_t>(threads_));
  }
  send_requests_.assign(segments_.sends.size(), MPI_REQUEST_NULL);
  receive_requests_.assign(segments_.receives.size(), MPI_REQUEST_NULL);
  completed_.resize(segments_.receives.size());
  arrivals_.resize(segments_.receives.size());
  packed_ = std::make_unique<std::atomic<int>[]>(segments_.sends.size());
}

void NodeExchange::use_workspace(std::byte* space) {
  for (auto* list : {&segments_.sends, &segments_.receives})
    for (Segment& segment : *list)
      if (segment.copied) segment.at = space + segment.offset;
}

/// One after another, as cards: so each thread has its share of every message. Those beyond `threads` get nothing.
void NodeExchange::deal_to_threads(std::vector<Segment>& segments, std::vector<std::size_t>& first,
                                   std::size_t threads) const {
  std::vector<Segment> dealt;
  for (std::size_t thread = 0; thread < static_cast<std::size_t>(threads_); ++thread) {
    first.push_back(dealt.size());
    if (thread >= threads) continue;
    for (std::size_t i = thread; i < segments.size(); i += threads) dealt.push_back(segments[i]);
  }
  first.push_back(dealt.size());
  segments = std::move(dealt);
}

void NodeExchange::pack_segment(std::size_t i) const {
  if (i >= segments_.sends.size()) {
    const OwnSegment& own = segments_.own[i - segments_.sends.size()];
    team_.works_on(Phase::pack, own.copy.bytes());
    own.copy.run(own.from, own.to);
  } else if (segments_.sends[i].copied) {
    team_.works_on(Phase::pack, segments_.sends[i].copy.bytes());
    segments_.sends[i].copy.run(segments_.sends[i].box, segments_.sends[i].at);
  }
}

void NodeExchange::unpack_segment(std::size_t i) const {
  if (!segments_.receives[i].copied) return;
  team_.works_on(Phase::unpack, segments_.receives[i].copy.bytes());
  segments_.receives[i].copy.run(segments_.receives[i].at, segments_.receives[i].box);
}

void NodeExchange::send(std::size_t i) {
  const Segment& segment = segments_.sends[i];
  FOURSCORE_MPI(MPI_Isend(segment.at, segment.count, type_, segment.rank, segment.tag, comm_, &send_requests_[i]));
}

void NodeExchange::receive(std::size_t i) {
  const Segment& segment = segments_.receives[i];
  FOURSCORE_MPI(MPI_Irecv(segment.at, segment.count, type_, segment.rank, segment.tag, comm_, &receive_requests_[i]));
}

void NodeExchange::post(int thread) {
  if (thread == 0) arrived_.store(0, std::memory_order_relaxed);
  if (callers_ != MpiCallers::one) {
    const auto at = static_cast<std::size_t>(thread);
    for (std::size_t i = first_receive_[at]; i < first_receive_[at + 1]; ++i) receive(i);
    return;
  }
  if (thread != 0) return;
  for (std::size_t i = 0; i < segments_.receives.size(); ++i) receive(i);
  for (std::size_t i = 0; i < segments_.sends.size(); ++i) packed_[i].store(0, std::memory_order_relaxed);
  next_pack_.store(0, std::memory_order_relaxed);
  next_unpack_.store(0, std::memory_order_relaxed);
  sent_ = received_ = 0;
}

void NodeExchange::move(int thread, PhaseClock& clock) {
  if (callers_ != MpiCallers::one) {
    pack_and_send_own(thread, clock);
    take_own(thread, clock);
  } else if (thread == 0) {
    lead(clock, true);
  } else {
    pack_all(clock);
    unpack_all(clock);
  }
}

void NodeExchange::start(int thread, PhaseClock& clock) {
  if (callers_ != MpiCallers::one)
    pack_and_send_own(thread, clock);
  else if (thread == 0)
    lead(clock, false);
  else
    pack_all(clock);
}

void NodeExchange::finish(int thread, PhaseClock& clock) {
  if (callers_ != MpiCallers::one)
    take_own(thread, clock);
  else if (thread == 0)
    lead(clock, true);
  else
    unpack_all(clock);
}

/// Each thread its own segments.
void NodeExchange::pack_and_send_own(int thread, PhaseClock& clock) {
  const auto at = static_cast<std::size_t>(thread);
  for (std::size_t i = first_send_[at]; i < first_send_[at + 1]; ++i) {
    {
      const Region region(clock, Phase::pack);
      pack_segment(i);
    }
    const Region region(clock, Phase::exchange);
    send(i);
  }
  const Region region(clock, Phase::pack);
  const std::size_t packers = one_packs_ ? 1 : static_cast<std::size_t>(threads_);
  for (std::size_t i = at; at < packers && i < segments_.own.size(); i += packers)
    pack_segment(segments_.sends.size() + i);
}

/// Each thread unpacks its own segments, or what comes in next.
void NodeExchange::take_own(int thread, PhaseClock& clock) {
  if (callers_ == MpiCallers::own) {
    wait_for_own(thread, clock, true);
    return;
  }
  take_arrivals(clock);
  const auto at = static_cast<std::size_t>(thread);
  const Region region(clock, Phase::exchange);
  wait_for_sends(first_send_[at], first_send_[at + 1]);
}

/// Until all segments of the rank are taken, by whichever thread.
void NodeExchange::take_arrivals(PhaseClock& clock) {
  while (!team_.failed() && arrived_.load(std::memory_order_acquire) < segments_.receives.size()) {
    std::size_t segment = 0;
    {
      const Region region(clock, Phase::exchange);
      if (!next_arrival(segment)) {
        team_.pause_together();
        continue;
      }
      team_.take_over();
    }
    const Region region(clock, Phase::unpack);
    unpack_segment(segment);
  }
}

/// One thread at a time asks MPI: two must not test one request at once.
bool NodeExchange::next_arrival(std::size_t& segment) {
  if (asks_mpi_.test_and_set(std::memory_order_acquire)) return false;
  int index = MPI_UNDEFINED;
  int flag = 0;
  const int result = MPI_Testany(static_cast<int>(segments_.receives.size()), receive_requests_.data(), &index, &flag,
                                 MPI_STATUS_IGNORE);
  const bool found = result == MPI_SUCCESS && flag != 0 && index != MPI_UNDEFINED;
  if (found) arrived_.fetch_add(1, std::memory_order_release);
  asks_mpi_.clear(std::memory_order_release);
  FOURSCORE_MPI(result);
  if (found) segment = static_cast<std::size_t>(index);
  return found;
}

/// At least one of a thread's receives is through: MPI's own waiting never gives way to a thread that packs.
void NodeExchange::wait_for_some(std::size_t first, std::size_t last, int& count) {
  const auto most = static_cast<int>(last - first);
  if (!team_.crowded()) {
    FOURSCORE_MPI(MPI_Waitsome(most, &receive_requests_[first], &count, &completed_[first], MPI_STATUSES_IGNORE));
    return;
  }
  while (true) {
    FOURSCORE_MPI(MPI_Testsome(most, &receive_requests_[first], &count, &completed_[first], MPI_STATUSES_IGNORE));
    if (count != 0) return;
    team_.pause();
  }
}

void NodeExchange::wait_for_sends(std::size_t first, std::size_t last) {
  if (first == last) return;
  const auto count = static_cast<int>(last - first);
  int done = 0;
  while (team_.crowded() && done == 0) {
    FOURSCORE_MPI(MPI_Testall(count, &send_requests_[first], &done, MPI_STATUSES_IGNORE));
    if (done == 0) team_.pause();
  }
  if (done == 0) FOURSCORE_MPI(MPI_Waitall(count, &send_requests_[first], MPI_STATUSES_IGNORE));
}

void NodeExchange::wait_for_own(int thread, PhaseClock& clock, bool unpacks) {
  const auto at = static_cast<std::size_t>(thread);
  const std::size_t first = first_receive_[at];
  const std::size_t last = first_receive_[at + 1];
  for (std::size_t received = first; received < last;) {
    int count = 0;
    {
      const Region region(clock, Phase::exchange);
      wait_for_some(first, last, count);
    }
    if (count == MPI_UNDEFINED) throw std::logic_error("a segment that is not on its way");
    const Region region(clock, Phase::unpack);
    for (std::size_t i = 0; unpacks && i < static_cast<std::size_t>(count); ++i)
      unpack_segment(first + static_cast<std::size_t>(completed_[first + i]));
    received += static_cast<std::size_t>(count);
  }
  const Region region(clock, Phase::exchange);
  wait_for_sends(first_send_[at], first_send_[at + 1]);
}

bool NodeExchange::pack_next() {
  const std::size_t i = next_pack_.fetch_add(1, std::memory_order_relaxed);
  if (i >= segments_.sends.size() + segments_.own.size()) return false;
  pack_segment(i);
  if (i < segments_.sends.size()) packed_[i].store(1, std::memory_order_release);
  return true;
}

bool NodeExchange::unpack_next() {
  std::size_t next = next_unpack_.load(std::memory_order_relaxed);
  while (next < arrived_.load(std::memory_order_acquire))
    if (next_unpack_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) {
      team_.take_over();
      unpack_segment(arrivals_[next]);
      return true;
    }
  return false;
}

/// Hands to MPI what was packed, and to the threads what came in. Whether anything was done.
bool NodeExchange::serve_mpi(PhaseClock& clock, bool receives) {
  const Region region(clock, Phase::exchange);
  const std::size_t before = sent_ + received_;
  while (sent_ < segments_.sends.size() && packed_[sent_].load(std::memory_order_acquire) != 0) {
    team_.take_over();
    send(sent_++);
  }
  if (!receives || received_ == segments_.receives.size()) return sent_ + received_ > before;
  int count = 0;
  FOURSCORE_MPI(MPI_Testsome(static_cast<int>(segments_.receives.size()), receive_requests_.data(), &count,
                             completed_.data(), MPI_STATUSES_IGNORE));
  if (count == MPI_UNDEFINED) throw std::logic_error("a segment that is not on its way");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    arrivals_[received_++] = static_cast<std::size_t>(completed_[i]);
  arrived_.store(received_, std::memory_order_release);
  return sent_ + received_ > before;
}

/// Thread 0: MPI first, then one segment of what all share, and again; to the end, or until all is sent.
void NodeExchange::lead(PhaseClock& clock, bool unpacks) {
  bool packs = true;
  while (true) {
    const bool served = serve_mpi(clock, unpacks);
    if (packs) {
      const Region region(clock, Phase::pack);
      packs = pack_next();
      if (packs) continue;
    }
    if (unpacks) {
      const Region region(clock, Phase::unpack);
      if (unpack_next()) continue;
    }
    if (team_.failed()) return;
    if (sent_ == segments_.sends.size() && (!unpacks || received_ == segments_.receives.size())) break;
    const Region region(clock, Phase::exchange);
    if (!served) team_.pause();
  }
  if (!unpacks) return;
  const Region region(clock, Phase::exchange);
  wait_for_sends(0, segments_.sends.size());
}

void NodeExchange::pack_all(PhaseClock& clock) {
  const Region region(clock, Phase::pack);
  while (pack_next()) {
  }
}

void NodeExchange::unpack_all(PhaseClock& clock) {
  while (!team_.failed() && next_unpack_.load(std::memory_order_relaxed) < segments_.receives.size()) {
    {
      const Region region(clock, Phase::unpack);
      if (unpack_next()) continue;
    }
    const Region region(clock, Phase::exchange);
    wait_for_arrival();
  }
}

/// Until there is something to unpack, or nothing will come any more.
void NodeExchange::wait_for_arrival() const {
  while (!team_.failed()) {
    const std::size_t next = next_unpack_.load(std::memory_order_relaxed);
    if (next >= segments_.receives.size() || next < arrived_.load(std::memory_order_acquire)) return;
    team_.pause_together();
  }
}

void NodeExchange::pack(int thread) const {
  for (std::size_t i = static_cast<std::size_t>(thread); i < segments_.sends.size() + segments_.own.size();
       i += static_cast<std::size_t>(threads_))
    pack_segment(i);
}

void NodeExchange::unpack(int thread) const {
  for (std::size_t i = static_cast<std::size_t>(thread); i < segments_.receives.size();
       i += static_cast<std::size_t>(threads_))
    unpack_segment(i);
}

void NodeExchange::send_and_wait(int thread) {
  if (callers_ != MpiCallers::one) {
    const auto at = static_cast<std::size_t>(thread);
    for (std::size_t i = first_send_[at]; i < first_send_[at + 1]; ++i) send(i);
    PhaseClock silent(false);
    wait_for_own(thread, silent, false);
    return;
  }
  if (thread != 0) return;
  for (std::size_t i = 0; i < segments_.sends.size(); ++i) send(i);
  FOURSCORE_MPI(
      MPI_Waitall(static_cast<int>(segments_.receives.size()), receive_requests_.data(), MPI_STATUSES_IGNORE));
  FOURSCORE_MPI(MPI_Waitall(static_cast<int>(segments_.sends.size()), send_requests_.data(), MPI_STATUSES_IGNORE));
}

}  // namespace fourscore
