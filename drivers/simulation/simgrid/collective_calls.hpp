#pragma once
// Calls that all ranks of a communicator come to, and in which the last one does the work of all.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/shared_communicators.hpp"

namespace fourscore {

using LeaveTimes = std::vector<double>;

inline CollectiveCall& call_number(SharedCommunicator& shared, std::uint64_t number) {
  while (shared.first_call + shared.calls.size() <= number) {
    shared.calls.emplace_back();
    shared.calls.back().visits.resize(shared.hosts.size());
  }
  return shared.calls[number - shared.first_call];
}

/// `for_all(visits, comers)` gives the seconds at which each leaves.
template <class ForAll>
int together(MPI_Comm comm, const MessageBuffer& send, const MessageBuffer& receive, const ForAll& for_all) {
  SharedCommunicator& shared = shared_communicator(comm);
  const std::size_t self = rank_in_shared(comm);
  const std::uint64_t number = shared.call_of[self]++;
  CollectiveCall& call = call_number(shared, number);
  const std::span<Visit> visits = call.visits;
  SimulatedThread& thread = this_thread();
  visits[self] = {&thread, {thread.rank->host, thread_now_s()}, send, receive, 0};
  thread.awaited = 1;
  if (++call.came < visits.size()) {
    sleep_until_woken();
  } else {
    std::vector<Comer> comers;
    for (const Visit& visit : visits) comers.push_back(visit.comer);
    const LeaveTimes leave_s = for_all(visits, comers);
    for (std::size_t each = 0; each < visits.size(); ++each) visits[each].leaves_s = leave_s[each];
    thread.awaited = 0;
    for (std::size_t each = 0; each < visits.size(); ++each)
      if (each != self) tell(*visits[each].thread);
  }
  const double leaves_s = visits[self].leaves_s;
  ++call.left;
  while (!shared.calls.empty() && shared.calls.front().left == shared.hosts.size()) {
    shared.calls.pop_front();
    ++shared.first_call;
  }
  sleep_until(leaves_s);
  return MPI_SUCCESS;
}

inline LeaveTimes disseminate(std::span<const Comer> comers, std::size_t bytes) {
  const MessageNetwork& network = message_network();
  return dissemination_s(comers, static_cast<double>(bytes), network.overheads, *network.backlogs);
}

}  // namespace fourscore
