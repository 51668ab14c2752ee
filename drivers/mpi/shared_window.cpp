#include "mpi/shared_window.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "mpi/error.hpp"

namespace fourscore::mpi {

namespace {

constexpr std::size_t cache_line_bytes = 64;

}  // namespace

SharedWindow::SharedWindow(const Communicator& node, std::size_t bytes, const std::string& processes)
    : pages_(SharedPages::make(node.get(), bytes, processes)) {
  if (pages_) {
    segments_ = pages_->segments();
  } else {
    allocate_window(node.get(), bytes);
  }
}

void SharedWindow::allocate_window(MPI_Comm node, std::size_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  FOURSCORE_MPI(MPI_Info_create(&info));
  // Each rank's part on pages of its own, so that they can lie in its NUMA domain.
  const int set = MPI_Info_set(info, "alloc_shared_noncontig", "true");
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int allocated =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes + cache_line_bytes), 1, info, node, &base, &window);
  FOURSCORE_MPI_NOTHROW(MPI_Info_free(&info));
  check(set, "MPI_Info_set");
  check(allocated, "MPI_Win_allocate_shared");
  window_ = Window(window);
  FOURSCORE_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  for (int rank = 0; rank < size_of(node); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    FOURSCORE_MPI(MPI_Win_shared_query(window, rank, &size, &unit, &base));
    // Every process maps the segment at a multiple of the page size, so that all round up to the same byte.
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    const std::uintptr_t aligned = (address + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    segments_.push_back(static_cast<std::byte*>(base) + (aligned - address));
  }
  FOURSCORE_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
  std::memset(segment(rank_in(node)), 0, bytes);  // pages lie with the rank that touches them first
}

SharedWindow::~SharedWindow() {
  if (window_.get() != MPI_WIN_NULL && may_call_collectives()) FOURSCORE_MPI_NOTHROW(MPI_Win_unlock_all(window_.get()));
}

void SharedWindow::sync() const {
  if (pages_) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    FOURSCORE_MPI(MPI_Win_sync(window_.get()));
  }
}

}  // namespace fourscore::mpi
