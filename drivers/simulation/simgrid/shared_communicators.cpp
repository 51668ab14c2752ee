#include "simulation/simgrid/shared_communicators.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "simulation/simgrid/collective_calls.hpp"

namespace fourscore {
namespace {

std::unique_ptr<SharedCommunicator> make_shared_communicator(std::vector<std::size_t> hosts) {
  auto shared = std::make_unique<SharedCommunicator>();
  shared->users = hosts.size();
  shared->mailboxes.resize(hosts.size());
  shared->call_of.resize(hosts.size());
  shared->hosts = std::move(hosts);
  return shared;
}

std::unique_ptr<SharedCommunicator>& world() {
  static std::unique_ptr<SharedCommunicator> shared;
  return shared;
}

/// A rank's handle of a communicator.
struct Handle {
  SharedCommunicator* shared = nullptr;
  std::size_t rank = 0;
};

/// SimGrid has one handle of MPI_COMM_WORLD for all ranks, and one for each rank of every other communicator.
std::unordered_map<MPI_Comm, Handle>& others() {
  static std::unordered_map<MPI_Comm, Handle> all;
  return all;
}

/// Null for one whose making this file does not see.
Handle* find_other(MPI_Comm comm) {
  const auto found = others().find(comm);
  return found == others().end() ? nullptr : &found->second;
}

/// Called by the rank's first thread.
void keep(MPI_Comm made, SharedCommunicator* shared) {
  others()[made] = {shared, static_cast<std::size_t>(mpi::rank_in(made))};
}

/// What a rank brings to the call that makes a communicator, and what it takes along.
struct Founding {
  int color = 0, key = 0;
  std::shared_ptr<const std::vector<int>> members;  // ranks in the parent, in the order of the new ranks
  SharedCommunicator* shared = nullptr;             // the last rank that frees it deletes it
};

/// One communicator for each color. SimGrid's own MPI_Comm_split gathers at rank 0 what all have, which takes the
/// square of the ranks.
void found(std::span<Founding* const> all, const std::vector<std::size_t>& hosts) {
  std::map<int, std::vector<std::pair<int, int>>> by_color;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank]->color != MPI_UNDEFINED) by_color[all[rank]->color].emplace_back(all[rank]->key, rank);
  for (auto& [color, ranks] : by_color) {
    std::ranges::sort(ranks);
    auto members = std::make_shared<std::vector<int>>();
    std::vector<std::size_t> on_hosts;
    for (const auto& [key, rank] : ranks) {
      members->push_back(rank);
      on_hosts.push_back(hosts[static_cast<std::size_t>(rank)]);
    }
    SharedCommunicator* const shared = make_shared_communicator(std::move(on_hosts)).release();
    for (const int rank : *members) {
      all[static_cast<std::size_t>(rank)]->members = members;
      all[static_cast<std::size_t>(rank)]->shared = shared;
    }
  }
}

/// Together with the other ranks of `comm`.
Founding found_together(MPI_Comm comm, int color, int key) {
  Founding own{color, key, nullptr, nullptr};
  const MessageBuffer brought{reinterpret_cast<std::byte*>(&own), 0, MPI_BYTE};  // NOLINT: read while this rank waits
  (void)together(comm, brought, {}, [comm](std::span<Visit> visits, std::span<const Comer> comers) {
    std::vector<Founding*> all;
    for (const Visit& visit : visits) all.push_back(reinterpret_cast<Founding*>(visit.send.at));  // NOLINT
    found(all, shared_communicator(comm).hosts);
    return disseminate(comers, sizeof(int) * 2);
  });
  return own;
}

int split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const Founding own = found_together(comm, color, key);
  *made = MPI_COMM_NULL;
  if (own.shared == nullptr) return MPI_SUCCESS;
  MPI_Group all = MPI_GROUP_NULL, members = MPI_GROUP_NULL;
  FOURSCORE_MPI(MPI_Comm_group(comm, &all));
  FOURSCORE_MPI(MPI_Group_incl(all, static_cast<int>(own.members->size()), own.members->data(), &members));
  const int code = PMPI_Comm_create(comm, members, made);
  FOURSCORE_MPI(MPI_Group_free(&members));
  FOURSCORE_MPI(MPI_Group_free(&all));
  if (code == MPI_SUCCESS) keep(*made, own.shared);
  return code;
}

int own_rank(MPI_Comm comm) { return mpi::rank_in(comm); }

}  // namespace

Transfer& Mailbox::side_of(const MessageAddress& address, bool receives) {
  const auto [place, is_new] = queues_.try_emplace(key_of(address));
  Queue& queue = place->second;
  if (!is_new && queue.has_receives != receives) {
    Transfer& first = *queue.first;
    queue.first = first.next;
    if (queue.first == nullptr) queues_.erase(place);
    return first;
  }
  auto* const made = new Transfer;  // release() deletes it
  made->address = address;
  (is_new ? queue.first : queue.last->next) = made;
  queue.last = made;
  queue.has_receives = receives;
  return *made;
}

const Transfer* Mailbox::find_sent(int source, int tag) const {
  for (const auto& [key, queue] : queues_) {
    const Transfer* const first = queue.first;
    if (first->sender == nullptr || first->address.tag >= collective_tag) continue;
    if ((source == MPI_ANY_SOURCE || source == first->address.source) &&
        (tag == MPI_ANY_TAG || tag == first->address.tag))
      return first;
  }
  return nullptr;
}

void Mailbox::remove(const Transfer* transfer) {
  const auto place = queues_.find(key_of(transfer->address));
  if (place == queues_.end()) return;
  Queue& queue = place->second;
  Transfer* before = nullptr;
  for (Transfer* each = queue.first; each != transfer; each = each->next) before = each;
  (before == nullptr ? queue.first : before->next) = transfer->next;
  if (queue.last == transfer) queue.last = before;
  if (queue.first == nullptr) queues_.erase(place);
}

void share_world(std::vector<std::size_t> hosts) { world() = make_shared_communicator(std::move(hosts)); }

namespace {

Handle& other(MPI_Comm comm) {
  Handle* const found = find_other(comm);
  if (found == nullptr) throw std::logic_error("a communicator whose making shared_communicators.cpp does not see");
  return *found;
}

}  // namespace

SharedCommunicator& shared_communicator(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? *world() : *other(comm).shared;
}

std::size_t rank_in_shared(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? this_rank().number : other(comm).rank; }

}  // namespace fourscore

// In the place of SimGrid's, which the linker would take otherwise.
extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  using namespace fourscore;
  const Founding own = found_together(comm, 0, own_rank(comm));
  const int code = PMPI_Comm_dup(comm, made);
  if (code == MPI_SUCCESS) keep(*made, own.shared);
  return code;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return fourscore::split(comm, color, key, made);
}

/// By hosts, whose ranks can share memory.
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info /*info*/, MPI_Comm* made) {
  using namespace fourscore;
  if (type != MPI_COMM_TYPE_SHARED) throw std::logic_error("simulated ranks split by shared memory only");
  return split(comm, static_cast<int>(this_rank().host), key, made);
}

/// A rank keeps its number.
int MPI_Cart_create(MPI_Comm comm, int dimensions, const int* extents, const int* periods, int reorder,
                    MPI_Comm* made) {
  using namespace fourscore;
  int ranks = 1;
  for (int dimension = 0; dimension < dimensions; ++dimension) ranks *= extents[dimension];
  const int rank = own_rank(comm);
  const Founding own = found_together(comm, rank < ranks ? 0 : MPI_UNDEFINED, rank);
  const int code = PMPI_Cart_create(comm, dimensions, extents, periods, reorder, made);
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) keep(*made, own.shared);
  return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  using namespace fourscore;
  if (const Handle* const found = find_other(*comm)) {
    if (--found->shared->users == 0) delete found->shared;
    others().erase(*comm);
  }
  return PMPI_Comm_free(comm);
}

}  // extern "C"
