#pragma once
// Move-only owners of MPI handles. What they make returns its errors (MPI_ERRORS_RETURN), so that every error becomes
// an MpiError. Destructors never throw, and do nothing once MPI is finalized. Those that are collective also do
// nothing while an exception unwinds the stack: may_call_collectives() in error.hpp says why.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/box.hpp"

namespace fourscore::mpi {

/// Owns one handle; Traits has `using Handle`, `static Handle null()` and `static void free(Handle&) noexcept`.
template <class Traits>
class Owner {
 public:
  using Handle = typename Traits::Handle;
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  ~Owner() { reset(); }
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, Traits::null())) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Traits::null());
    }
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  [[nodiscard]] Handle get() const { return handle_; }
  void reset() noexcept {
    if (handle_ != Traits::null()) Traits::free(handle_);
    handle_ = Traits::null();
  }

 private:
  Handle handle_ = Traits::null();
};

struct CommunicatorTraits {
  using Handle = MPI_Comm;
  static Handle null() { return MPI_COMM_NULL; }
  static void free(Handle& handle) noexcept;
};
struct DatatypeTraits {
  using Handle = MPI_Datatype;
  static Handle null() { return MPI_DATATYPE_NULL; }
  static void free(Handle& handle) noexcept;
};
struct GroupTraits {
  using Handle = MPI_Group;
  static Handle null() { return MPI_GROUP_NULL; }
  static void free(Handle& handle) noexcept;
};
struct WindowTraits {
  using Handle = MPI_Win;
  static Handle null() { return MPI_WIN_NULL; }
  static void free(Handle& handle) noexcept;
};

using Communicator = Owner<CommunicatorTraits>;
using Datatype = Owner<DatatypeTraits>;
using Group = Owner<GroupTraits>;
using Window = Owner<WindowTraits>;

[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int size_of(MPI_Comm comm);

/// Collective over comm, as is the release of all communicators and windows made here.
[[nodiscard]] Communicator duplicate(MPI_Comm comm);
/// Ranks with one color share a communicator, ordered by key; MPI_UNDEFINED gives an empty owner.
[[nodiscard]] Communicator split(MPI_Comm comm, int color, int key);
/// The ranks of comm that can share memory with this one.
[[nodiscard]] Communicator split_by_node(MPI_Comm comm);
/// What FOURSCORE_RANKS_PER_NODE says; nullopt where it is not set. Throws InputError for a value below 1.
[[nodiscard]] std::optional<int> ranks_per_pretended_node();
/// The ranks that exchanges take for those of one node: split_by_node(), cut into groups of FOURSCORE_RANKS_PER_NODE
/// ranks where the environment sets it, to try on one machine what happens on several.
[[nodiscard]] Communicator split_by_pretended_node(MPI_Comm comm);

[[nodiscard]] Group group_of(MPI_Comm comm);
/// Rank in `to` of each rank 0, 1 ... of `from`; MPI_UNDEFINED where it is not in it.
[[nodiscard]] std::vector<int> translate_ranks(MPI_Comm from, MPI_Comm to);

/// The predefined type of a complex number of 8 or 16 bytes. Throws std::invalid_argument for any other size.
[[nodiscard]] MPI_Datatype element_type(std::size_t element_bytes);
/// Committed type of a box of elements, visited with axis order[0] slowest and order[2] fastest. offset and strides are
/// in elements from the address given to MPI. One rank's order may differ from that in which the box is stored: MPI
/// matches elements in the order of the visit.
[[nodiscard]] Datatype box_type(std::size_t element_bytes, Index offset, const Extents& extents, const Extents& strides,
                                const std::array<int, 3>& order);

enum class RequestsOf { messages, collectives };

/// Requests in flight, all of one kind. wait_all() returns when all are complete. At destruction, messages still
/// in flight are cancelled; collectives are waited for, because MPI forbids to cancel or to free them (MPI
/// 3.1, 5.12), and left alone where an error keeps other ranks from joining them.
class Requests {
 public:
  explicit Requests(RequestsOf of = RequestsOf::messages) : of_(of) {}
  ~Requests();
  Requests(Requests&&) noexcept = default;
  Requests& operator=(Requests&&) = delete;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  void reserve(std::size_t count) { requests_.reserve(count); }
  /// A place for one more request, valid until the next call.
  [[nodiscard]] MPI_Request* next() { return &requests_.emplace_back(MPI_REQUEST_NULL); }
  void wait_all();
  /// Lets MPI move what is in flight; true when all are complete.
  bool test_all();
  /// The number, in the order of next(), of one more that is complete; each is told once. Nothing: all were told, or,
  /// for test_any(), none is by now. Their places are free again after the last.
  std::optional<std::size_t> wait_any();
  std::optional<std::size_t> test_any();

 private:
  RequestsOf of_;
  std::vector<MPI_Request> requests_;
};

}  // namespace fourscore::mpi
