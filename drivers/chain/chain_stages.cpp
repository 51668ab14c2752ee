#include "chain/chain_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "interfaces/truncation.hpp"

namespace fourscore {

namespace {

void append(Axes& axes, const Axes& more) { axes.insert(axes.end(), more.begin(), more.end()); }

/// The passes of stages that became one.
std::vector<Axes> merge_passes(const std::vector<Axes>& passes, Merging merging, std::size_t dimensions) {
  std::vector<Axes> merged;
  for (const Axes& pass : passes) {
    const bool joins =
        !merged.empty() && merging == Merging::leaves_batch && merged.back().size() + pass.size() < dimensions;
    if (joins)
      append(merged.back(), pass);
    else
      merged.push_back(pass);
  }
  return merged;
}

/// Stages that follow each other in the same layout become one.
std::vector<ChainStage> merge_stages(std::vector<ChainStage> stages, Merging merging, std::size_t dimensions) {
  std::vector<ChainStage> merged;
  for (ChainStage& stage : stages) {
    const std::vector<Axes> passes = stage.passes();
    if (!merged.empty() && merged.back().layout.same_boxes(stage.layout)) {
      append(merged.back().axes, stage.axes);
      merged.back().in_turn.insert(merged.back().in_turn.end(), passes.begin(), passes.end());
    } else {
      merged.push_back(std::move(stage));
      merged.back().in_turn = passes;
    }
  }
  for (ChainStage& stage : merged) {
    stage.in_turn = merging == Merging::all ? std::vector<Axes>{} : merge_passes(stage.in_turn, merging, dimensions);
    if (stage.in_turn.size() == 1) stage.in_turn.clear();
  }
  return merged;
}

}  // namespace

std::vector<ChainStage> pencil_stages(const Extents& shape, const Grid& grid) {
  const int rows = grid.extents[0];
  const int columns = grid.extents[1];
  return {{decompose(shape, Grid{{rows, columns, 1}}), {2}},
          {decompose(shape, Grid{{rows, 1, columns}}), {1}},
          {decompose(shape, Grid{{1, rows, columns}}), {0}}};
}

std::vector<ChainStage> slab_stages(const Problem& problem, int ranks) {
  const Extents shape = problem.complex_extents();
  std::vector<std::size_t> others{1};
  if (problem.shape.size() == 3) others.push_back(2);
  return {{decompose(shape, Grid{{ranks, 1, 1}}), others}, {decompose(shape, Grid{{1, ranks, 1}}), {0}}};
}

std::vector<ChainStage> whole_stage(const Problem& problem) {
  ChainStage stage{decompose(problem.complex_extents(), Grid{}), {}};
  for (std::size_t a = 0; a < problem.shape.size(); ++a) stage.axes.push_back(a);
  return {stage};
}

std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward, Return way_back,
                                       Merging merging) {
  std::vector<ChainStage> stages = std::move(forward);
  const bool natural = problem.contract.layout == LayoutContract::natural;
  if (natural && way_back == Return::through_stages)
    for (std::size_t i = stages.size() - 1; i-- > 0;) stages.push_back({stages[i].layout, {}});
  else if (natural)
    stages.push_back({stages.front().layout, {}});
  if (problem.direction == Direction::backward && (!natural || problem.real_output() || truncates(problem)))
    std::ranges::reverse(stages);
  return merge_stages(std::move(stages), merging, problem.shape.size());
}

std::vector<RedistributionGroup> redistributions_between(const std::vector<ChainStage>& stages, int rank) {
  std::vector<RedistributionGroup> groups;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i)
    groups.push_back(redistribution_group(stages[i].leaving(), stages[i + 1].arriving(), rank));
  return groups;
}

std::vector<ChainStage> truncated_stages(const Problem& problem, std::vector<ChainStage> stages) {
  const bool forward = problem.direction == Direction::forward;
  const Extents whole = problem.complex_extents(), kept = kept_extents(problem);
  const auto cut_of = [](const ChainStage& stage, const Extents& extents) {
    Decomposition layout = stage.layout;
    layout.shape = extents;
    return layout;
  };
  Extents now = forward ? whole : kept;
  for (ChainStage& stage : stages) {
    Extents transformed = now, after = now;
    for (const std::size_t axis : stage.axes) {
      transformed[axis] = whole[axis];
      after[axis] = forward ? kept[axis] : whole[axis];
    }
    if (transformed != now) stage.padded_from = cut_of(stage, now);
    if (transformed != after) stage.cut_to = cut_of(stage, after);
    stage.layout = cut_of(stage, transformed);
    now = after;
  }
  return stages;
}

Reason truncation_limits(const Problem& problem, const std::vector<ChainStage>& stages) {
  if (problem.operator_name.empty() || !OperatorRegistry::instance().get(problem.operator_name, "operator").dealiases())
    return "truncation=before-exchange takes direction convolution and operator dealias-2/3";
  for (const ChainStage& stage : truncated_stages(problem, stages))
    for (const Decomposition* layout : {&stage.arriving(), &stage.layout, &stage.leaving()})
      if (layout->idle_ranks() > 0)
        return fmt::format("truncation=before-exchange leaves {} of {} ranks without modes", layout->idle_ranks(),
                           layout->ranks());
  return std::nullopt;
}

Index largest_box(const std::vector<ChainStage>& stages, int rank, bool transformed) {
  Index most = 0;
  for (const ChainStage& stage : stages)
    if (!transformed || !stage.axes.empty()) most = std::max(most, stage.layout.box(rank).volume());
  return most;
}

}  // namespace fourscore
