#include "mpi/handles.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

#include "core/problem.hpp"
#include "core/text.hpp"
#include "mpi/error.hpp"

namespace fourscore::mpi {

namespace {

Communicator returning_errors(MPI_Comm comm) {
  Communicator owner(comm);
  if (comm != MPI_COMM_NULL) FOURSCORE_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return owner;
}

int checked_int(Index value, const char* what) {
  if (value > std::numeric_limits<int>::max())
    throw InputError(std::string(what) + " " + std::to_string(value) + " is more than MPI's int counts hold");
  return static_cast<int>(value);
}

}  // namespace

void CommunicatorTraits::free(Handle& handle) noexcept {
  if (may_call_collectives()) FOURSCORE_MPI_NOTHROW(MPI_Comm_free(&handle));
}
void DatatypeTraits::free(Handle& handle) noexcept {
  if (is_running()) FOURSCORE_MPI_NOTHROW(MPI_Type_free(&handle));
}
void GroupTraits::free(Handle& handle) noexcept {
  if (is_running()) FOURSCORE_MPI_NOTHROW(MPI_Group_free(&handle));
}
void WindowTraits::free(Handle& handle) noexcept {
  if (may_call_collectives()) FOURSCORE_MPI_NOTHROW(MPI_Win_free(&handle));
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  FOURSCORE_MPI(MPI_Comm_rank(comm, &rank));
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  FOURSCORE_MPI(MPI_Comm_size(comm, &size));
  return size;
}

Communicator duplicate(MPI_Comm comm) {
  MPI_Comm result = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Comm_dup(comm, &result));
  return returning_errors(result);
}

Communicator split(MPI_Comm comm, int color, int key) {
  MPI_Comm result = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Comm_split(comm, color, key, &result));
  return returning_errors(result);
}

Communicator split_by_node(MPI_Comm comm) {
  MPI_Comm result = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &result));
  return returning_errors(result);
}

std::optional<int> ranks_per_pretended_node() {
  constexpr const char* variable = "FOURSCORE_RANKS_PER_NODE";
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const auto most = number_from<int>(text);
  if (!most || *most < 1)
    throw InputError(std::string(variable) + " is '" + text + "'; allowed: a whole number, 1 or more");
  return most;
}

Communicator split_by_pretended_node(MPI_Comm comm) {
  const std::optional<int> most = ranks_per_pretended_node();
  Communicator node = split_by_node(comm);
  if (!most) return node;
  const int me = rank_in(node.get());
  return split(node.get(), me / *most, me);
}

Group group_of(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL;
  FOURSCORE_MPI(MPI_Comm_group(comm, &group));
  return Group(group);
}

std::vector<int> translate_ranks(MPI_Comm from, MPI_Comm to) {
  const Group from_group = group_of(from);
  const Group to_group = group_of(to);
  std::vector<int> ranks(static_cast<std::size_t>(size_of(from)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> result(ranks.size());
  FOURSCORE_MPI(MPI_Group_translate_ranks(from_group.get(), static_cast<int>(ranks.size()), ranks.data(),
                                          to_group.get(), result.data()));
  return result;
}

MPI_Datatype element_type(std::size_t element_bytes) {
  if (element_bytes == 16) return MPI_C_DOUBLE_COMPLEX;
  if (element_bytes == 8) return MPI_C_FLOAT_COMPLEX;
  throw std::invalid_argument("element of " + std::to_string(element_bytes) + " bytes; expected 8 or 16");
}

Datatype box_type(std::size_t element_bytes, Index offset, const Extents& extents, const Extents& strides,
                  const std::array<int, 3>& order) {
  const auto bytes = static_cast<Index>(element_bytes);
  // Neighbouring loops that together are one are given to MPI as one: fewer levels to walk for each run.
  struct Level {
    Index count;
    Index stride;
  };
  std::vector<Level> levels;  // fastest first
  for (std::size_t position = 3; position-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[position]);
    if (extents[axis] == 1) continue;
    if (!levels.empty() && strides[axis] == levels.back().count * levels.back().stride &&
        levels.back().count <= std::numeric_limits<int>::max() / extents[axis])
      levels.back().count *= extents[axis];
    else
      levels.push_back({extents[axis], strides[axis]});
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  FOURSCORE_MPI(MPI_Type_contiguous(1, element_type(element_bytes), &made));
  Datatype type(made);
  for (const Level& level : levels) {
    FOURSCORE_MPI(
        MPI_Type_create_hvector(checked_int(level.count, "the extent"), 1, level.stride * bytes, type.get(), &made));
    type = Datatype(made);
  }
  const int one = 1;
  const MPI_Aint displacement = offset * bytes;
  FOURSCORE_MPI(MPI_Type_create_hindexed(1, &one, &displacement, type.get(), &made));
  type = Datatype(made);
  FOURSCORE_MPI(MPI_Type_commit(&made));
  return type;
}

Requests::~Requests() {
  if (requests_.empty() || !is_running()) return;
  if (of_ == RequestsOf::collectives) {
    if (!may_call_collectives()) return;
    FOURSCORE_MPI_NOTHROW(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    return;
  }
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    FOURSCORE_MPI_NOTHROW(MPI_Cancel(&request));
    FOURSCORE_MPI_NOTHROW(MPI_Request_free(&request));
  }
}

void Requests::wait_all() {
  FOURSCORE_MPI(MPI_Waitall(checked_int(static_cast<Index>(requests_.size()), "the number of requests"),
                            requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
}

bool Requests::test_all() {
  if (requests_.empty()) return true;
  int complete = 0;
  FOURSCORE_MPI(MPI_Testall(checked_int(static_cast<Index>(requests_.size()), "the number of requests"),
                            requests_.data(), &complete, MPI_STATUSES_IGNORE));
  if (complete != 0) requests_.clear();
  return complete != 0;
}

std::optional<std::size_t> Requests::wait_any() {
  int index = MPI_UNDEFINED;
  FOURSCORE_MPI(MPI_Waitany(checked_int(static_cast<Index>(requests_.size()), "the number of requests"),
                            requests_.data(), &index, MPI_STATUS_IGNORE));
  if (index != MPI_UNDEFINED) return static_cast<std::size_t>(index);
  requests_.clear();
  return std::nullopt;
}

std::optional<std::size_t> Requests::test_any() {
  int index = MPI_UNDEFINED;
  int complete = 0;
  FOURSCORE_MPI(MPI_Testany(checked_int(static_cast<Index>(requests_.size()), "the number of requests"),
                            requests_.data(), &index, &complete, MPI_STATUS_IGNORE));
  if (index != MPI_UNDEFINED) return static_cast<std::size_t>(index);
  if (complete != 0) requests_.clear();
  return std::nullopt;
}

}  // namespace fourscore::mpi
