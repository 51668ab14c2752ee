#pragma once
// Memory that the ranks of a node share, in huge pages where the system has them. MPI's own shared windows get small
// ones: their file lies on a file system that is mounted without.

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fourscore::mpi {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// One file without a name (memfd_create), mapped by all ranks of a node. Each rank's part begins on a huge page of its
/// own. The memory lives as long as one rank maps it, so its release asks nothing of the others.
class SharedPages {
 public:
  /// Collective over node. Each rank adds `bytes` of its own, which it touches: they are zero. Nothing, on all ranks,
  /// where no rank has two huge pages to share, or where one of them cannot map the others' memory: ranks in
  /// containers of their own do not see each other under `processes`.
  [[nodiscard]] static std::optional<SharedPages> make(MPI_Comm node, std::size_t bytes,
                                                       const std::string& processes = "/proc");
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept
      : mapped_(std::exchange(other.mapped_, nullptr)),
        mapped_bytes_(other.mapped_bytes_),
        segments_(std::move(other.segments_)) {}
  SharedPages& operator=(SharedPages&&) = delete;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  [[nodiscard]] const std::vector<std::byte*>& segments() const { return segments_; }  ///< by rank of node

 private:
  SharedPages() = default;

  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::vector<std::byte*> segments_;
};

}  // namespace fourscore::mpi
