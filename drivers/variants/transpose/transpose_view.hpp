#pragma once
// A one-dimensional array seen as an m-dimensional one, and where its elements lie while the transpose method
// (gupta1993, sections 3.2 and 5.1) works on it. No MPI here.

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/decomposition.hpp"

namespace fourscore {

/// n = n_1 n_2 ... n_m over p = p_1 p_2 ... p_(m-1) ranks, which are the row-major places of that grid. Input i has the
/// place (i_1 ... i_m) with i_m fastest, output k the place (k_1 ... k_m) with k_1 fastest. Axes count from 0.
struct TransposeView {
  std::vector<Index> extents;
  std::vector<int> grid;

  [[nodiscard]] std::size_t dimensions() const { return extents.size(); }
  [[nodiscard]] int ranks() const;
  [[nodiscard]] Index elements() const;
  /// A rank's place along one dimension of the grid.
  [[nodiscard]] int coordinate(int rank, std::size_t dimension) const;
  /// The rank with coordinate 0 along one dimension and else those of `rank`.
  [[nodiscard]] int first_along(int rank, std::size_t dimension) const;
  /// Distance of neighbours along each axis in the order of the input, or of the output.
  [[nodiscard]] std::vector<Index> input_weights() const;
  [[nodiscard]] std::vector<Index> output_weights() const;
};

struct ViewRequest {
  Index elements = 1;
  int ranks = 1;
  int dimensions = 2;
  std::vector<int> grid;  ///< empty: any
  Index min_first = 1;    ///< the first extent is at least this
  Index min_common = 1;   ///< the greatest common divisor of the first and the last extent is at least this
};
/// The view whose extents are most alike and divide best among the ranks. Each extent is at least 2, and at least the
/// number of ranks that cut it; with more than two dimensions each dimension of the grid has at least 2 ranks. Nothing
/// where there is none.
[[nodiscard]] std::optional<TransposeView> choose_view(const ViewRequest& request);

/// The elements of a rank while one axis is whole: the axes before it are cut by the dimensions of the grid of the same
/// number, those behind it by the dimensions before them.
struct ViewLayout {
  std::size_t whole = 0;
  std::vector<std::size_t> order;  ///< order of storage, slowest axis first
};
[[nodiscard]] Range range_of(const TransposeView& view, const ViewLayout& layout, std::size_t axis, int rank);
[[nodiscard]] std::vector<Index> local_extents(const TransposeView& view, const ViewLayout& layout, int rank);
[[nodiscard]] Index local_volume(const TransposeView& view, const ViewLayout& layout, int rank);

/// One layout for each axis. Those axes which a redistribution leaves alone always lie together, so that it has no more
/// than three axes: two or three dimensions keep their order, with more the axis that was transformed goes to the end.
/// last_at_an_end: the last layout has the last axis slowest or fastest.
[[nodiscard]] std::vector<ViewLayout> stage_layouts(const TransposeView& view, bool last_at_an_end);

/// A layout of stage_layouts() for the redistribution between axes `axis` and `axis + 1`, among those ranks that differ
/// from `rank` in that dimension of the grid alone: these two are axes 0 and 1, all others together axis 2.
[[nodiscard]] Decomposition folded(const TransposeView& view, const ViewLayout& layout, std::size_t axis, int rank);

/// Contiguous blocks: one axis is cut among all ranks in equal units, all other axes are whole. Axis 0 is that axis,
/// axis 1 all others together, rank by rank as `layout` deals them.
[[nodiscard]] Range block_of(const TransposeView& view, std::size_t axis, Index units, int rank);
[[nodiscard]] Decomposition folded_blocks(const TransposeView& view, const ViewLayout& layout, Index units);
/// `layout`, where its axis `whole` is at an end of the order, in the same axes.
[[nodiscard]] Decomposition folded_whole(const TransposeView& view, const ViewLayout& layout);

/// One loop of a copy from contiguous blocks in natural order (`natural` strides) to the same elements with axis 1 in
/// the order of folded_blocks() (`dealt` strides).
struct DealtLoop {
  Index count;
  Index natural;
  Index dealt;
};
struct DealtBox {
  std::vector<DealtLoop> loops;
  Index natural_offset = 0;
  Index dealt_offset = 0;
};
/// One box for each rank's share of the block that `rank` holds. weights: of natural order.
[[nodiscard]] std::vector<DealtBox> dealt_boxes(const TransposeView& view, const ViewLayout& layout, Index units,
                                                const std::vector<Index>& weights, int rank);

/// The whole array in one axis, as global indices: in contiguous blocks of equal units, or as `layout` deals and stores
/// the view's axes, whose steps are `weights`.
[[nodiscard]] Decomposition block_layout(const TransposeView& view, Index units);
[[nodiscard]] Decomposition whole_layout(const TransposeView& view, const ViewLayout& layout,
                                         const std::vector<Index>& weights);

}  // namespace fourscore
