#pragma once
// The stages of a chain: what is transformed in which layout. Calls no MPI.

#include <optional>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"

namespace fourscore {

using Axes = std::vector<std::size_t>;

/// What is transformed while the data lies in one layout. Every rank's box is whole along `axes`.
struct ChainStage {
  Decomposition layout;
  Axes axes;  ///< may be empty: the layout is only passed through
  /// The same cut of fewer modes, in a truncated transform: before they are padded for the transform, and after the
  /// others were dropped behind it.
  std::optional<Decomposition> padded_from{};
  std::optional<Decomposition> cut_to{};

  /// The same axes, dealt over passes that are planned and run one after another. Empty: all at once.
  std::vector<Axes> in_turn{};

  [[nodiscard]] std::vector<Axes> passes() const {
    return in_turn.empty() && !axes.empty() ? std::vector<Axes>{axes} : in_turn;
  }
  [[nodiscard]] const Decomposition& arriving() const { return padded_from ? *padded_from : layout; }
  [[nodiscard]] const Decomposition& leaving() const { return cut_to ? *cut_to : layout; }
};

/// The stages of one half of a convolution that truncates() from those of whole transforms: forward each stage drops
/// modes of the axes that it transformed, backward it pads them before.
[[nodiscard]] std::vector<ChainStage> truncated_stages(const Problem& problem, std::vector<ChainStage> stages);
/// Nothing, or why a problem that truncates() cannot be one of these stages: it is no half of a convolution that
/// dealiases, or ranks would have no modes.
[[nodiscard]] Reason truncation_limits(const Problem& problem, const std::vector<ChainStage>& stages);

/// z-pencils, y-pencils and x-pencils, each transformed along its own axis: the stages of a forward transform.
[[nodiscard]] std::vector<ChainStage> pencil_stages(const Extents& shape, const Grid& grid);

/// Slabs along the first axis, all other axes transformed; slabs along the second, transformed along the first.
[[nodiscard]] std::vector<ChainStage> slab_stages(const Problem& problem, int ranks);

/// All on one rank, all axes transformed at once.
[[nodiscard]] std::vector<ChainStage> whole_stage(const Problem& problem);

/// The way back to the input's layout where the result must be in natural order.
enum class Return {
  through_stages,  ///< back through every layout: each redistribution once more
  direct,          ///< one redistribution from the last layout to the first
};

/// What becomes of stages that follow each other in the same layout, and so need no exchange.
enum class Merging {
  all,           ///< one pass over all their axes
  leaves_batch,  ///< the same, but in several passes where one would be over all axes and leave nothing to cut
  none,          ///< one stage of a pass for each
};

/// The stages of a forward transform, from the natural input layout on, for a problem's contract: backwards where
/// the data starts transposed or the halved axis must come last, and led back to the input's layout where it must end
/// natural. What truncates() goes backwards too, so that modes are padded as late as can be. Stages that follow each
/// other in the same layout become one.
[[nodiscard]] std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward,
                                                     Return way_back = Return::through_stages,
                                                     Merging merging = Merging::all);

/// Elements of the largest of the rank's boxes, of all stages, or of those that are `transformed`.
[[nodiscard]] Index largest_box(const std::vector<ChainStage>& stages, int rank, bool transformed = false);

/// What `rank` exchanges with whom from stage to stage.
[[nodiscard]] std::vector<RedistributionGroup> redistributions_between(const std::vector<ChainStage>& stages, int rank);

}  // namespace fourscore
