// Collective calls of MPI, in the place of SimGrid's: carried_messages.hpp. An all-to-all sends each of its messages.
// The others, which only the harness calls, are done by the rank that comes last, for all, and each leaves when the
// messages of a dissemination or of a binomial tree would let it.

#include <algorithm>
#include <span>
#include <vector>

#include "mpi/error.hpp"
#include "simulation/simgrid/carried_messages.hpp"
#include "simulation/simgrid/carried_requests.hpp"
#include "simulation/simgrid/collective_calls.hpp"
#include "simulation/simgrid/shared_communicators.hpp"

namespace fourscore {
namespace {

LeaveTimes along_a_tree(std::span<const Comer> comers, int root, std::size_t bytes) {
  const MessageNetwork& network = message_network();
  return binomial_tree_s(comers, static_cast<std::size_t>(root), static_cast<double>(bytes), network.overheads,
                         *network.backlogs);
}

/// What a rank gives to a reduction: its receive buffer where it has said MPI_IN_PLACE.
MessageBuffer given(const void* send, const void* receive, int count, MPI_Datatype type) {
  return buffer_of(send == MPI_IN_PLACE ? receive : send, count, type);
}

/// The reduction over all visits, packed.
std::vector<std::byte> reduced(std::span<const Visit> visits, MPI_Op op, MPI_Comm comm) {
  std::vector<std::byte> result = packed(visits.front().send, comm);
  for (const Visit& visit : visits.subspan(1))
    FOURSCORE_MPI(MPI_Reduce_local(visit.send.at, result.data(), visit.send.count, visit.send.type, op));
  return result;
}

/// [rank] bytes from the beginning of a buffer in which each has `count` elements.
std::ptrdiff_t place_of(std::size_t rank, int count, MPI_Datatype type) {
  return static_cast<std::ptrdiff_t>(rank) * count * extent_of(type);
}

struct AllToAll {
  MessageBuffer send, receive;
  const int *send_counts, *send_displacements, *receive_counts, *receive_displacements;
};

/// Its own block is copied; nothing is sent where there is nothing to send.
TransferSides post_all(const AllToAll& call, MPI_Comm comm) {
  const std::size_t self = rank_in_shared(comm), ranks = shared_communicator(comm).hosts.size();
  const std::ptrdiff_t send_extent = extent_of(call.send.type), receive_extent = extent_of(call.receive.type);
  const auto sent = [&](std::size_t to) {
    return call.send.after(call.send_displacements[to] * send_extent, call.send_counts[to]);
  };
  const auto received = [&](std::size_t from) {
    return call.receive.after(call.receive_displacements[from] * receive_extent, call.receive_counts[from]);
  };
  copy_message(sent(self), received(self), comm);
  TransferSides sides;
  // Each begins with the rank after it, so that not all send to one.
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t from = (self + ranks - step) % ranks;
    if (call.receive_counts[from] > 0)
      sides.push_back(
          post_receive(comm, {static_cast<int>(from), static_cast<int>(self), collective_tag}, received(from)));
  }
  for (std::size_t step = 1; step < ranks; ++step) {
    const std::size_t to = (self + step) % ranks;
    if (call.send_counts[to] > 0)
      sides.push_back(post_send(comm, {static_cast<int>(self), static_cast<int>(to), collective_tag}, sent(to)));
  }
  return sides;
}

void complete(const TransferSides& sides) {
  wait_for_all(sides);
  for (const auto& side : sides) release(side);
}

}  // namespace
}  // namespace fourscore

// In the place of SimGrid's, which the linker would take otherwise.
extern "C" {

using namespace fourscore;  // NOLINT: no header

int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                  void* receive, const int* receive_counts, const int* receive_displacements, MPI_Datatype receive_type,
                  MPI_Comm comm) {
  complete(post_all({buffer_of(send, 0, send_type), buffer_of(receive, 0, receive_type), send_counts,
                     send_displacements, receive_counts, receive_displacements},
                    comm));
  return MPI_SUCCESS;
}

int MPI_Ialltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                   void* receive, const int* receive_counts, const int* receive_displacements,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request) {
  *request = handle_of(post_all({buffer_of(send, 0, send_type), buffer_of(receive, 0, receive_type), send_counts,
                                 send_displacements, receive_counts, receive_displacements},
                                comm),
                       comm);
  return MPI_SUCCESS;
}

int MPI_Alltoallw(const void* send, const int* send_counts, const int* send_places, const MPI_Datatype* send_types,
                  void* receive, const int* receive_counts, const int* receive_places,
                  const MPI_Datatype* receive_types, MPI_Comm comm) {
  const int self = static_cast<int>(rank_in_shared(comm)),
            ranks = static_cast<int>(shared_communicator(comm).hosts.size());
  const auto sent = [&](int to) {
    return buffer_of(static_cast<const std::byte*>(send) + send_places[to], send_counts[to], send_types[to]);
  };
  const auto received = [&](int from) {
    return buffer_of(static_cast<std::byte*>(receive) + receive_places[from], receive_counts[from],
                     receive_types[from]);
  };
  copy_message(sent(self), received(self), comm);
  TransferSides sides;
  for (int step = 1; step < ranks; ++step) {
    const int from = (self + ranks - step) % ranks;
    if (received(from).bytes() > 0) sides.push_back(post_receive(comm, {from, self, collective_tag}, received(from)));
  }
  for (int step = 1; step < ranks; ++step) {
    const int to = (self + step) % ranks;
    if (sent(to).bytes() > 0) sides.push_back(post_send(comm, {self, to, collective_tag}, sent(to)));
  }
  complete(sides);
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  return together(comm, {}, {}, [](std::span<Visit>, std::span<const Comer> comers) { return disseminate(comers, 0); });
}

int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const MessageBuffer own = buffer_of(buffer, count, type);
  return together(comm, own, own, [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const Visit& from = visits[static_cast<std::size_t>(root)];
    for (const Visit& visit : visits)
      if (&visit != &from) copy_message(from.send, visit.receive, comm);
    return along_a_tree(comers, root, from.send.bytes());
  });
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const std::vector<std::byte> result = reduced(visits, op, comm);
    for (const Visit& visit : visits) unpack_message(result, visit.receive, comm);
    return disseminate(comers, result.size());
  };
  return together(comm, given(send, receive, count, type), buffer_of(receive, count, type), for_all);
}

int MPI_Reduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const std::vector<std::byte> result = reduced(visits, op, comm);
    unpack_message(result, visits[static_cast<std::size_t>(root)].receive, comm);
    return along_a_tree(comers, root, result.size());
  };
  return together(comm, given(send, receive, count, type), buffer_of(receive, count, type), for_all);
}

int MPI_Exscan(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    std::vector<std::byte> before = packed(visits.front().send, comm);
    for (const Visit& visit : visits.subspan(1)) {
      const std::vector<std::byte> own = packed(visit.send, comm);
      unpack_message(before, visit.receive, comm);
      FOURSCORE_MPI(MPI_Reduce_local(own.data(), before.data(), count, type, op));
    }
    return disseminate(comers, before.size());
  };
  return together(comm, given(send, receive, count, type), buffer_of(receive, count, type), for_all);
}

int MPI_Gatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
                const int* receive_places, MPI_Datatype receive_type, int root, MPI_Comm comm) {
  // Only the root's arguments say where everything goes.
  MessageBuffer mine = buffer_of(send, send_count, send_type);
  const bool is_root = static_cast<int>(rank_in_shared(comm)) == root;
  if (send == MPI_IN_PLACE) mine = {};
  std::vector<MessageBuffer> places;
  if (is_root)
    for (std::size_t rank = 0; rank < shared_communicator(comm).hosts.size(); ++rank)
      places.push_back(buffer_of(receive, 0, receive_type)
                           .after(receive_places[rank] * extent_of(receive_type), receive_counts[rank]));
  // The root's list lies on its stack until it leaves: `at` points to it.
  const MessageBuffer list{reinterpret_cast<std::byte*>(places.data()), 0, MPI_BYTE};  // NOLINT
  return together(comm, mine, list, [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const auto* const into =
        reinterpret_cast<const MessageBuffer*>(visits[static_cast<std::size_t>(root)].receive.at);  // NOLINT
    std::size_t most = 0;
    for (std::size_t rank = 0; rank < visits.size(); ++rank) {
      copy_message(visits[rank].send, into[rank], comm);
      most = std::max(most, visits[rank].send.bytes());
    }
    return along_a_tree(comers, root, most);
  });
}

int MPI_Gather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const MessageBuffer mine = send == MPI_IN_PLACE ? MessageBuffer{} : buffer_of(send, send_count, send_type);
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const MessageBuffer& into = visits[static_cast<std::size_t>(root)].receive;
    for (std::size_t rank = 0; rank < visits.size(); ++rank)
      copy_message(visits[rank].send, into.after(place_of(rank, into.count, into.type), into.count), comm);
    return along_a_tree(comers, root, visits.front().send.bytes());
  };
  return together(comm, mine, buffer_of(receive, receive_count, receive_type), for_all);
}

int MPI_Allgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm comm) {
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    for (const Visit& to : visits)
      for (std::size_t rank = 0; rank < visits.size(); ++rank)
        copy_message(visits[rank].send,
                     to.receive.after(place_of(rank, to.receive.count, to.receive.type), to.receive.count), comm);
    return disseminate(comers, visits.front().send.bytes() * visits.size() / 2);
  };
  return together(comm, buffer_of(send, send_count, send_type), buffer_of(receive, receive_count, receive_type),
                  for_all);
}

int MPI_Scatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm) {
  const auto for_all = [&](std::span<Visit> visits, std::span<const Comer> comers) {
    const MessageBuffer& from = visits[static_cast<std::size_t>(root)].send;
    for (std::size_t rank = 0; rank < visits.size(); ++rank)
      copy_message(from.after(place_of(rank, from.count, from.type), from.count), visits[rank].receive, comm);
    return along_a_tree(comers, root, visits.front().receive.bytes());
  };
  return together(comm, buffer_of(send, send_count, send_type), buffer_of(receive, receive_count, receive_type),
                  for_all);
}

}  // extern "C"
