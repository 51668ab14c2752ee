#pragma once
// Strided copies of boxes between two local arrays, planned once and run often. No MPI here.

#include <array>
#include <cstddef>

#include "core/box.hpp"

namespace fourscore {

/// Streaming stores bypass the caches: a store that misses does not first read the line it is about to overwrite, and
/// what lies in the caches stays. They pay when the data is not found in the cache again anyway.
enum class Stores { ordinary, streaming };

/// Streaming when a pass from `bytes` of source to as many of destination outgrows this core's share of the caches.
/// With 32 MiB of last-level cache for 2 cores, streaming a grid of 64^3 into memory costs its next FFT more than the
/// copy gains, and at 128^3 it is the other way round; with 480 MiB that is so from 256^3 on.
[[nodiscard]] Stores stores_for(std::size_t bytes);

/// Copies a box of elements from one local array to another. The loops are merged to as few, as long runs as there
/// are; where the fastest axes of the two arrays differ, the box is transposed in tiles of whole cache lines.
class CopyPlan {
 public:
  /// Strides in bytes.
  struct Loop {
    Index count = 1;
    Index from = 0;
    Index to = 0;
  };
  CopyPlan() = default;  ///< copies nothing
  /// Strides are in elements, at least 1 and without overlap in the destination. Elements have 8 or 16 bytes,
  /// else std::invalid_argument.
  CopyPlan(const Extents& extents, const Extents& from_strides, const Extents& to_strides, std::size_t element_bytes,
           Stores stores);

  /// The box's first elements are at `from` and `to`; the two arrays do not overlap.
  void run(const void* from, void* to) const;
  /// As run(), but source and destination may overlap. Needs preserves_order().
  void run_overlapping(const void* from, void* to) const;

  [[nodiscard]] Index bytes() const { return bytes_; }
  /// Nothing, or one contiguous run in both arrays.
  [[nodiscard]] bool is_one_run() const { return shape_ == Shape::runs && loops_ == 0; }
  /// All loops, the one that is fastest in the destination last, around contiguous runs of run_bytes().
  [[nodiscard]] std::array<Loop, 3> loops() const;
  [[nodiscard]] std::size_t run_bytes() const { return run_bytes_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] Stores stores() const { return streaming_ ? Stores::streaming : Stores::ordinary; }
  /// Elements lie in the same order in both arrays, so that they can be moved within one array.
  [[nodiscard]] bool preserves_order() const { return preserves_order_; }

 private:
  enum class Shape { runs, transposition };
  [[nodiscard]] Index runs() const;
  [[nodiscard]] std::array<Index, 2> offsets_of_run(Index run) const;  ///< in source and destination
  template <bool streaming>
  void copy_runs(const std::byte* from, std::byte* to) const;
  template <bool streaming>
  void transpose(const std::byte* from, std::byte* to) const;

  Shape shape_ = Shape::runs;
  bool preserves_order_ = true;
  bool streaming_ = false;
  std::size_t element_bytes_ = 16;
  std::size_t run_bytes_ = 0;
  int loops_ = 0;                ///< loops over runs or transpositions that are not trivial
  std::array<Loop, 3> outer_{};  ///< slowest in the destination first (streamed: in the source); trailing ones count 1
  Loop read_;                    ///< in a transposition: the axis contiguous in the source
  Loop write_;                   ///< and that contiguous in the destination
  Index bytes_ = 0;
};

/// One copy without a plan of its own; stores as the size suggests.
void copy_box(const void* from, const Extents& from_strides, void* to, const Extents& to_strides,
              const Extents& extents, std::size_t element_bytes);

}  // namespace fourscore
