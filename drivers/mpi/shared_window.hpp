#pragma once
// Memory that the ranks of a node read and write in each other's place.

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpi/handles.hpp"
#include "mpi/shared_pages.hpp"

namespace fourscore::mpi {

/// In huge pages (SharedPages) where it is large and the system has them; else an MPI-3 shared window, in a passive
/// access epoch from construction to destruction.
class SharedWindow {
 public:
  /// Collective, as is the destruction. Each rank adds `bytes` of its own, zero and touched by it, aligned to 64
  /// bytes. `processes`: see SharedPages.
  SharedWindow(const Communicator& node, std::size_t bytes, const std::string& processes = "/proc");
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  [[nodiscard]] std::byte* segment(int rank_in_node) const {
    return segments_.at(static_cast<std::size_t>(rank_in_node));
  }
  /// Memory barrier between this process's accesses and those of others, as MPI_Win_sync.
  void sync() const;

 private:
  void allocate_window(MPI_Comm node, std::size_t bytes);

  std::optional<SharedPages> pages_;
  Window window_;  ///< where there are no pages
  std::vector<std::byte*> segments_;
};

}  // namespace fourscore::mpi
