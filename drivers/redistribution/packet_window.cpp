#include "redistribution/packet_window.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "mpi/error.hpp"

namespace fourscore {

namespace {

constexpr Index line_bytes = 64;
constexpr int to_sender_tag = 0;
constexpr int to_target_tag = 1;

/// A millisecond or so: on a core of its own a rank that yields sooner loses it to whatever else runs on the machine.
constexpr std::uint64_t patient_polls = 4096;
/// Some microseconds, in which a flag often comes: giving the core away at once was seen to take longer.
constexpr std::uint64_t hasty_polls = 128;
/// A probe takes as long as many polls, and only moves what MPI does not move by itself.
constexpr std::uint64_t polls_before_probe = 16;

/// Idle polls before a rank gives its core away: fewer where the node has more ranks than cores. Collective.
std::uint64_t polls_before_yield(MPI_Comm comm) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  return mpi::size_of(node.get()) > sysconf(_SC_NPROCESSORS_ONLN) ? hasty_polls : patient_polls;
}

/// A counter that others put into, read as MPI writes it: in one piece.
std::uint64_t value_of(std::uint64_t* counter) {
  return std::atomic_ref<std::uint64_t>(*counter).load(std::memory_order_acquire);
}

}  // namespace

SlotRule slot_rule(Index packets, Index largest_bytes, Index in_flight) {
  SlotRule rule;
  rule.packets = packets;
  rule.slots = std::min(in_flight, 2 * packets);
  rule.slot_bytes = (largest_bytes + line_bytes - 1) / line_bytes * line_bytes;
  rule.burst = std::max<Index>(1, rule.slots / 2);
  return rule;
}

PacketWindow::PacketWindow(MPI_Comm comm, MPI_Comm plan_comm, const std::vector<Partner>& targets,
                           const std::vector<Partner>& senders)
    : polls_before_yield_(polls_before_yield(plan_comm)) {
  Index bytes = static_cast<Index>(targets.size() + senders.size()) * line_bytes;
  for (const Partner& sender : senders) bytes += sender.rule.bytes();
  bytes_ = static_cast<std::size_t>(bytes);
  ranks_ = mpi::duplicate(plan_comm);
  MPI_Win window = MPI_WIN_NULL;
  FOURSCORE_MPI(MPI_Win_allocate(static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, ranks_.get(),
                                 static_cast<void*>(&base_), &window));
  window_ = mpi::Window(window);
  FOURSCORE_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  if (bytes_ > 0) std::memset(base_, 0, bytes_);
  FOURSCORE_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
  FOURSCORE_MPI(MPI_Win_sync(window));
  const std::vector<int> in_window = mpi::translate_ranks(comm, plan_comm);
  for (const Partner& target : targets)
    outgoing_.push_back({in_window[static_cast<std::size_t>(target.rank)], target.rule});
  for (const Partner& sender : senders)
    incoming_.push_back({in_window[static_cast<std::size_t>(sender.rank)], sender.rule});
  exchange_places(comm, targets, senders);
  unflushed_.reserve(2 * outgoing_.size() + incoming_.size());
}

PacketWindow::~PacketWindow() {
  if (window_.get() != MPI_WIN_NULL && mpi::may_call_collectives())
    FOURSCORE_MPI_NOTHROW(MPI_Win_unlock_all(window_.get()));
}

/// Credits of the targets, flags of the senders, slots of the senders. Nobody puts anything before he was told where.
void PacketWindow::exchange_places(MPI_Comm comm, const std::vector<Partner>& targets,
                                   const std::vector<Partner>& senders) {
  using Places = std::array<Index, 2>;  // for flag and slots; for the credit
  std::vector<Places> told_senders(senders.size());
  std::vector<Places> told_targets(targets.size());
  std::vector<Places> by_senders(senders.size());
  std::vector<Places> by_targets(targets.size());
  mpi::Requests requests;
  requests.reserve(2 * (senders.size() + targets.size()));
  const auto receive = [&](Places& places, int rank, int tag) {
    FOURSCORE_MPI(MPI_Irecv(places.data(), 2, MPI_INT64_T, rank, tag, comm, requests.next()));
  };
  const auto send = [&](const Places& places, int rank, int tag) {
    FOURSCORE_MPI(MPI_Isend(places.data(), 2, MPI_INT64_T, rank, tag, comm, requests.next()));
  };
  Index place = 0;
  for (std::size_t i = 0; i < targets.size(); ++i, place += line_bytes) {
    outgoing_[i].credit = reinterpret_cast<std::uint64_t*>(base_ + place);
    told_targets[i] = {place, 0};
    receive(by_targets[i], targets[i].rank, to_sender_tag);
    send(told_targets[i], targets[i].rank, to_target_tag);
  }
  Index slots = place + static_cast<Index>(senders.size()) * line_bytes;
  for (std::size_t i = 0; i < senders.size(); ++i, place += line_bytes) {
    incoming_[i].flag = reinterpret_cast<std::uint64_t*>(base_ + place);
    incoming_[i].slots = base_ + slots;
    told_senders[i] = {place, slots};
    receive(by_senders[i], senders[i].rank, to_target_tag);
    send(told_senders[i], senders[i].rank, to_sender_tag);
    slots += senders[i].rule.bytes();
  }
  requests.wait_all();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    outgoing_[i].flag = static_cast<MPI_Aint>(by_targets[i][0]);
    outgoing_[i].slots = static_cast<MPI_Aint>(by_targets[i][1]);
  }
  for (std::size_t i = 0; i < senders.size(); ++i) incoming_[i].credit = static_cast<MPI_Aint>(by_senders[i][0]);
}

void PacketWindow::poll() const { FOURSCORE_MPI(MPI_Win_sync(window_.get())); }

bool PacketWindow::has_room(std::size_t target, Index count) const {
  const Outgoing& to = outgoing_[target];
  return to.sent + static_cast<std::uint64_t>(count) - value_of(to.credit) <= static_cast<std::uint64_t>(to.rule.slots);
}

void PacketWindow::put(std::size_t target, const std::byte* data, Index count, MPI_Datatype type) {
  Outgoing& to = outgoing_[target];
  const auto slot = static_cast<Index>(to.sent % static_cast<std::uint64_t>(to.rule.slots));
  const auto place = to.slots + static_cast<MPI_Aint>(slot * to.rule.slot_bytes);
  const int elements = static_cast<int>(count);
  FOURSCORE_MPI(MPI_Put(data, elements, type, to.target, place, elements, type, window_.get()));
  ++to.sent;
  if (unflushed_.empty() || unflushed_.back() != to.target) unflushed_.push_back(to.target);
}

void PacketWindow::flag(std::size_t target) {
  Outgoing& to = outgoing_[target];
  to.told = to.sent;
  put_counter(to.told, to.target, to.flag);
}

bool PacketWindow::has_come(std::size_t sender, Index count) const {
  const Incoming& from = incoming_[sender];
  return value_of(from.flag) >= from.taken + static_cast<std::uint64_t>(count);
}

const std::byte* PacketWindow::packet(std::size_t sender, Index ahead) const {
  const Incoming& from = incoming_[sender];
  const std::uint64_t number = from.taken + static_cast<std::uint64_t>(ahead);
  return from.slots + static_cast<Index>(number % static_cast<std::uint64_t>(from.rule.slots)) * from.rule.slot_bytes;
}

/// What was read of the slots must have been read before their sender hears of it.
void PacketWindow::credit(std::size_t sender, Index count) {
  take(sender, count);
  Incoming& from = incoming_[sender];
  from.told = from.taken;
  FOURSCORE_MPI(MPI_Win_sync(window_.get()));
  put_counter(from.told, from.sender, from.credit);
}

/// An accumulate, since a put is not bound to write a counter in one piece.
void PacketWindow::put_counter(const std::uint64_t& value, int rank, MPI_Aint place) {
  FOURSCORE_MPI(MPI_Accumulate(&value, 1, MPI_UINT64_T, rank, place, 1, MPI_UINT64_T, MPI_REPLACE, window_.get()));
  unflushed_.push_back(rank);
}

void PacketWindow::flush() {
  for (const int rank : unflushed_) FOURSCORE_MPI(MPI_Win_flush(rank, window_.get()));
  unflushed_.clear();
}

void PacketWindow::give_way() {
  int found = 0;
  if (idle_polls_ % polls_before_probe == 0)
    FOURSCORE_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_.get(), &found, MPI_STATUS_IGNORE));
  if (++idle_polls_ % polls_before_yield_ == 0) std::this_thread::yield();
}

}  // namespace fourscore
