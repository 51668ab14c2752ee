// How several fields lie in the arrays of a chain: row by row, so that local transforms are those of one field,
// repeated, and exchanges deal boxes that are longer along one axis.

#include <fmt/format.h>

#include <algorithm>

#include "chain/transform_chain.hpp"

namespace fourscore {

void TransformChain::interleave_fields(const Problem& problem, int rank, std::vector<ChainStage>& stages) {
  if (problem.fields == 1) return;
  const std::size_t axis = axis_of_fields(problem);
  const auto rows_of = [&](const Decomposition& layout) {
    return Interleaving{problem.fields, std::max<Index>(1, layout.strides(rank)[axis])};
  };
  declared().input_fields = rows_of(input_layout());
  declared().output_fields = rows_of(output_layout());
  for (ChainStage& stage : stages) stage.layout = stage.layout.with_fields(axis, problem.fields);
}

Reason ChainVariant::refuses_fields(const Problem& problem) const {
  if (problem.field_order != FieldOrder::together || problem.shape.size() > 1) return std::nullopt;
  return fmt::format("{} fields of one extent together; expected two or three extents, or the order in-turn",
                     problem.fields);
}

}  // namespace fourscore
