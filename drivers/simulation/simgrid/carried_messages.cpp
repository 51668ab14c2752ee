#include "simulation/simgrid/carried_messages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <stdexcept>
#include <utility>

#include "mpi/error.hpp"
#include "simulation/simgrid/shared_communicators.hpp"
#include "simulation/simgrid/simulated_threads.hpp"

namespace fourscore {
namespace {

namespace s4u = simgrid::s4u;

std::optional<MessageNetwork> carrying;  // NOLINT: written before the first rank starts

/// Its elements follow each other without gaps, in order.
bool is_plain(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  FOURSCORE_MPI(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
  return combiner == MPI_COMBINER_NAMED;
}

std::size_t size_of_type(MPI_Datatype type) {
  int size = 0;
  FOURSCORE_MPI(MPI_Type_size(type, &size));
  return static_cast<std::size_t>(size);
}

/// The other side of a message has come.
void tell_of_meeting(SimulatedRank& rank, SimulatedThread*& asleep, const CarriedRequest* request) {
  SimulatedThread* const waits = std::exchange(asleep, nullptr);
  SimulatedThread* const waits_for_any = request == nullptr ? nullptr : std::exchange(rank.asleep_for_any, nullptr);
  if (waits != nullptr) tell(*waits);
  if (waits_for_any != nullptr && waits_for_any != waits) tell(*waits_for_any);
}

void set_off(Transfer& transfer, double begin_s, std::size_t to) {
  transfer.begin_s = begin_s;
  carrying->backlogs->announce(
      {begin_s, static_cast<double>(transfer.bytes), transfer.sender->host, to, transfer.exchange},
      &transfer.arrival_s);
}

/// Both sides are there.
void meet(Transfer& transfer, MPI_Comm comm) {
  if (transfer.waits) {
    copy_message(transfer.sent, transfer.received, comm);
    set_off(transfer, std::max(transfer.sent_s, transfer.posted_s), transfer.receiver->host);
  } else {
    unpack_message(transfer.kept, transfer.received, comm);
    transfer.kept = {};
  }
  if (transfer.send_request != nullptr) transfer.sender->requests.meet(*transfer.send_request);
  if (transfer.receive_request != nullptr) transfer.receiver->requests.meet(*transfer.receive_request);
}

/// Until the backlogs know when they arrive.
void sleep_until_begun(const TransferSides& sides) {
  double begun_s = thread_now_s();
  for (const auto& side : sides) begun_s = std::max(begun_s, side.transfer->begin_s);
  sleep_until(begun_s);
  carrying->backlogs->begun_until(begun_s);
}

SimulatedThread*& asleep_at(const TransferSide& side) {
  return side.receives ? side.transfer->asleep_receiver : side.transfer->asleep_sender;
}

/// Counts what has to come before over_s() can be known in the calling thread's `awaited`, `most` at most.
void await_others(const TransferSides& sides, int most) {
  int missing = 0;
  for (const auto& side : sides) {
    if (side.transfer->is_met() || (!side.receives && !side.transfer->waits)) continue;
    asleep_at(side) = &this_thread();
    ++missing;
  }
  this_thread().awaited = std::min(most, missing);
}

/// Sleeps until what the calling thread awaits comes, or until `at_most_s`.
void sleep_until_told(double at_most_s) {
  SimulatedThread& thread = this_thread();
  const double left_s = at_most_s - s4u::Engine::get_clock();
  if (thread.awaited == 0 && at_most_s < never_s)
    sleep_until(at_most_s);
  else if (at_most_s == never_s)
    sleep_until_woken();
  else if (left_s > 0)
    (void)thread.wake->acquire_timeout(left_s);  // a late wake() only lets a later sleep look again
  thread.awaited = 0;
}

/// Looking at hundreds of requests for each that is over would take the host minutes: it looks as one that polls.
void look_again(double now_s, double next_s) {
  double looks_s = std::max(now_s + poll_s, s4u::Engine::get_clock());
  if (std::abs(looks_s - next_s) < 1e-11) looks_s = next_s;  // SimGrid's clock rounds
  sleep_until(looks_s);
  this_thread().busy_until_s = looks_s;
}

}  // namespace

void sleep_until(double time_s) {
  if (time_s > s4u::Engine::get_clock()) s4u::this_actor::sleep_until(time_s);
}

void sleep_until_woken() {
  SimulatedThread& thread = this_thread();
  while (thread.awaited > 0) thread.wake->acquire();
}

void tell(SimulatedThread& thread) {
  if (--thread.awaited == 0) thread.wake->release();
}

void carry_messages(const Platform& platform, std::shared_ptr<Backlogs> backlogs) {
  carrying = MessageNetwork{{platform.send_overhead_s, platform.receive_overhead_s},
                            platform.put_overhead_s,
                            static_cast<double>(platform.eager_limit_bytes),
                            std::move(backlogs)};
}

const MessageNetwork& message_network() { return *carrying; }

namespace {

std::vector<SimulatedThread*>& threads_of_actors() {
  static std::vector<SimulatedThread*> threads;
  return threads;
}

}  // namespace

void be_thread(SimulatedThread& thread) {
  const auto actor = static_cast<std::size_t>(s4u::this_actor::get_pid());
  auto& threads = threads_of_actors();
  if (actor >= threads.size()) threads.resize(actor + 1);
  threads[actor] = &thread;
}

SimulatedThread& this_thread() { return *threads_of_actors()[static_cast<std::size_t>(s4u::this_actor::get_pid())]; }

double thread_now_s() { return std::max(s4u::Engine::get_clock(), this_thread().busy_until_s); }

void pass_time(double seconds) { s4u::this_actor::sleep_until(thread_now_s() + seconds); }

void spend_a_poll() { pass_time(poll_s); }

std::size_t MessageBuffer::bytes() const {
  return count == 0 ? 0 : size_of_type(type) * static_cast<std::size_t>(count);
}

MessageBuffer buffer_of(const void* at, int count, MPI_Datatype type) {
  return {static_cast<std::byte*>(const_cast<void*>(at)), count, type};  // NOLINT: what is sent is only read
}

std::ptrdiff_t extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  FOURSCORE_MPI(MPI_Type_get_extent(type, &low, &extent));
  return extent;
}

std::vector<std::byte> packed(const MessageBuffer& from, MPI_Comm comm) {
  std::vector<std::byte> bytes(from.bytes());
  int position = 0;
  if (bytes.empty()) return bytes;
  if (is_plain(from.type))
    std::memcpy(bytes.data(), from.at, bytes.size());
  else
    FOURSCORE_MPI(
        MPI_Pack(from.at, from.count, from.type, bytes.data(), static_cast<int>(bytes.size()), &position, comm));
  return bytes;
}

void unpack_message(const std::vector<std::byte>& from, const MessageBuffer& to, MPI_Comm comm) {
  if (from.empty()) return;
  if (from.size() > to.bytes()) throw std::logic_error("a message is longer than its receiver expects");
  if (is_plain(to.type)) {
    std::memcpy(to.at, from.data(), from.size());
    return;
  }
  const int length = static_cast<int>(from.size());
  const int elements = length / static_cast<int>(size_of_type(to.type));
  int position = 0;
  if (to.at != MPI_BOTTOM) {
    FOURSCORE_MPI(MPI_Unpack(from.data(), length, &position, to.at, elements, to.type, comm));
    return;
  }
  // SimGrid's MPI_Unpack does not know MPI_BOTTOM: the same addresses, told from another one.
  std::byte origin{};
  const int one = 1;
  const MPI_Aint from_origin = -reinterpret_cast<MPI_Aint>(&origin);  // NOLINT
  MPI_Datatype told = MPI_DATATYPE_NULL;
  FOURSCORE_MPI(MPI_Type_create_hindexed(1, &one, &from_origin, to.type, &told));
  FOURSCORE_MPI(MPI_Type_commit(&told));
  FOURSCORE_MPI(MPI_Unpack(from.data(), length, &position, &origin, elements, told, comm));
  FOURSCORE_MPI(MPI_Type_free(&told));
}

void copy_message(const MessageBuffer& from, const MessageBuffer& to, MPI_Comm comm) {
  const std::size_t bytes = from.bytes();
  if (bytes == 0) return;
  if (!is_plain(from.type) || !is_plain(to.type)) return unpack_message(packed(from, comm), to, comm);
  if (bytes > to.bytes()) throw std::logic_error("a message is longer than its receiver expects");
  std::memcpy(to.at, from.at, bytes);
}

TransferSide post_send(MPI_Comm comm, const MessageAddress& address, const MessageBuffer& buffer) {
  SimulatedThread& thread = this_thread();
  SimulatedRank& rank = *thread.rank;
  thread.busy_until_s = thread_now_s() + carrying->overheads.send_s;
  SharedCommunicator& shared = shared_communicator(comm);
  const auto destination = static_cast<std::size_t>(address.destination);
  Transfer& transfer = shared.mailboxes[destination].side_of(address, false);
  transfer.sender = &rank;
  transfer.sent = buffer;
  transfer.sent_s = thread.busy_until_s;
  transfer.bytes = buffer.bytes();
  transfer.exchange = rank.exchange;
  transfer.waits = static_cast<double>(transfer.bytes) > carrying->eager_limit_bytes;
  if (!transfer.waits) {
    transfer.kept = packed(buffer, comm);
    set_off(transfer, transfer.sent_s, shared.hosts[destination]);
  }
  if (transfer.is_met()) {
    meet(transfer, comm);
    tell_of_meeting(*transfer.receiver, transfer.asleep_receiver, transfer.receive_request);
  }
  return {&transfer, false};
}

TransferSide post_receive(MPI_Comm comm, const MessageAddress& address, const MessageBuffer& buffer) {
  SimulatedRank& rank = this_rank();
  Mailbox& box = shared_communicator(comm).mailboxes[static_cast<std::size_t>(address.destination)];
  Transfer& transfer = box.side_of(address, true);
  transfer.receiver = &rank;
  transfer.received = buffer;
  transfer.posted_s = thread_now_s();
  if (transfer.is_met()) {
    meet(transfer, comm);
    tell_of_meeting(*transfer.sender, transfer.asleep_sender, transfer.send_request);
  }
  return {&transfer, true};
}

const Transfer* find_sent(MPI_Comm comm, int source, int tag) {
  return shared_communicator(comm).mailboxes[rank_in_shared(comm)].find_sent(source, tag);
}

void cancel(MPI_Comm comm, const TransferSide& side) {
  if (side.transfer->is_met()) return;
  shared_communicator(comm).mailboxes[static_cast<std::size_t>(side.transfer->address.destination)].remove(
      side.transfer);
  --side.transfer->users;  // the other side, which never comes
}

void release(const TransferSide& side) {
  // The backlogs still write the arrival of one that was cancelled on its way: it stays.
  const bool is_on_its_way = side.transfer->begin_s >= 0 && side.transfer->arrival_s < 0;
  if (--side.transfer->users == 0 && !is_on_its_way) delete side.transfer;
}

void wait_for_all(const TransferSides& sides) {
  stop_looking_for_others();
  await_others(sides, std::numeric_limits<int>::max());
  sleep_until_woken();
  sleep_until_begun(sides);
  std::vector<double> arrivals_s;
  double sent_s = thread_now_s(), taken_s = sent_s;
  for (const auto& side : sides) {
    if (side.receives)
      arrivals_s.push_back(over_s(side));
    else
      sent_s = std::max(sent_s, over_s(side));
  }
  std::ranges::sort(arrivals_s);
  for (const double arrival_s : arrivals_s) taken_s = std::max(taken_s, arrival_s) + carrying->overheads.receive_s;
  sleep_until(std::max(sent_s, taken_s));
}

void wait_for_any(const TransferSides& sides) {
  while (true) {
    const double now_s = thread_now_s();
    sleep_until(now_s);
    carrying->backlogs->begun_until(now_s);
    double next_s = never_s;
    for (const auto& side : sides) {
      const double known_s = over_s(side);
      if (known_s <= now_s) return;
      const bool begins = known_s == never_s && side.transfer->is_met();
      next_s = std::min(next_s, begins ? side.transfer->begin_s : known_s);
    }
    await_others(sides, 1);
    sleep_until_told(next_s);
    for (const auto& side : sides) asleep_at(side) = nullptr;
    look_again(now_s, next_s);
  }
}

void wait_for_any_request() {
  SimulatedThread& thread = this_thread();
  SimulatedRank& rank = *thread.rank;
  while (true) {
    const double now_s = thread_now_s();
    sleep_until(now_s);
    carrying->backlogs->begun_until(now_s);
    if (!rank.requests.over_at(now_s).empty()) return;
    const double next_s = rank.requests.next_s();
    rank.asleep_for_any = rank.requests.has_unmet() ? &thread : nullptr;
    thread.awaited = rank.asleep_for_any != nullptr ? 1 : 0;
    sleep_until_told(next_s);
    rank.asleep_for_any = nullptr;
    look_again(now_s, next_s);
  }
}

}  // namespace fourscore
