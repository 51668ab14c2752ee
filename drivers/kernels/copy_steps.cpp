#include "kernels/copy_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "kernels/copy_kernels.hpp"

namespace fourscore {

namespace {

/// Rows of a turn in which elements change places: as many as a transposition reads at a time, also in single
/// precision.
constexpr Index rows_of_a_turn = 16;
/// As many rows as there are in this much of the source are a turn, where they are short.
constexpr Index turn_bytes = Index{32} << 10;
/// So that the rows of a turn stay in the second cache while all steps read from them.
constexpr Index longest_row_bytes = Index{16} << 10;
/// Beyond this the hardware fetches little that lies between the pieces.
constexpr Index long_piece_bytes = Index{16} << 10;

using Loop = CopyPlan::Loop;

/// The copy's remaining loops and its run, in elements.
CopyPlan plan_of(std::vector<Loop> loops, const CopyPlan& like) {
  const auto element = static_cast<Index>(like.element_bytes());
  if (const Index run = static_cast<Index>(like.run_bytes()); run > element)
    loops.push_back({run / element, element, element});
  Extents extents{1, 1, 1};
  Extents from{1, 1, 1};
  Extents to{1, 1, 1};
  for (std::size_t i = 0; i < loops.size(); ++i) {
    extents.at(i) = loops[i].count;
    from[i] = loops[i].from / element;
    to[i] = loops[i].to / element;
  }
  return {extents, from, to, like.element_bytes(), like.stores()};
}

}  // namespace

bool CopySteps::Rows::same_in_source(const Rows& other) const {
  if (per_turn == 0 || per_turn != other.per_turn || over_rows != other.over_rows || are_runs != other.are_runs)
    return false;
  for (std::size_t i = 0; i <= over_rows; ++i)
    if (loops[i].count != other.loops[i].count || loops[i].from != other.loops[i].from) return false;
  return true;
}

CopySteps::Rows CopySteps::rows_of(const CopyStep& step) {
  Rows rows;
  const auto run = static_cast<Index>(step.plan.run_bytes());
  const bool streams =
      step.plan.stores() == Stores::streaming && copy_kernels::is_aligned(step.to, step.plan.element_bytes());
  if (step.overlapping || !streams || step.plan.bytes() == 0 || run > long_piece_bytes) return rows;
  rows.loops = step.plan.loops();
  std::ranges::stable_sort(rows.loops, std::greater{}, &Loop::from);
  const auto is_row = [run](const Loop& loop) { return loop.count > 1 && loop.from > run; };
  const auto end = std::ranges::find_if_not(rows.loops, is_row);
  if (end == rows.loops.begin()) return rows;
  auto cut = std::find_if(rows.loops.begin(), end, [](const Loop& loop) { return loop.from <= longest_row_bytes; });
  rows.row_bytes = cut == end ? 0 : cut->from;
  // A transposition's last loop reads adjacent elements; it is cut along the loop that writes adjacent ones.
  const auto element = static_cast<Index>(step.plan.element_bytes());
  const bool reads_on = end != rows.loops.end() && end->count > 1 && end->from == element;
  const auto written = std::find_if(rows.loops.begin(), end, [&](const Loop& loop) { return loop.to == element; });
  if (run == element && reads_on && written != end) {
    rows.row_bytes = std::prev(end)->from;
    cut = std::prev(end);
    std::rotate(written, written + 1, end);
  }
  if (cut == end || rows.row_bytes > longest_row_bytes) return rows;
  rows.over_rows = static_cast<std::size_t>(cut - rows.loops.begin());
  rows.are_runs = std::next(cut) == end && !reads_on && run >= static_cast<Index>(copy_kernels::line_bytes);
  const Index fit = turn_bytes / rows.row_bytes / rows_of_a_turn * rows_of_a_turn;
  rows.per_turn = rows.are_runs ? 1 : std::min(cut->count, std::max(fit, rows_of_a_turn));
  return rows;
}

CopySteps::Turn CopySteps::turn_of(const CopyPlan& plan, const Rows& rows) {
  Turn turn;
  for (std::size_t i = 0; i < rows.over_rows; ++i) turn.outer_strides[i] = rows.loops[i].to;
  turn.row_stride = rows.loops[rows.over_rows].to;
  if (rows.are_runs) return turn;
  std::vector<Loop> loops;
  for (std::size_t i = rows.over_rows; i < 3; ++i)
    if (rows.loops[i].count > 1) loops.push_back(rows.loops[i]);
  const Index all = loops.front().count;
  loops.front().count = rows.per_turn;
  turn.whole = plan_of(loops, plan);
  if (const Index left = all % rows.per_turn; left > 0) {
    loops.front().count = left;
    turn.rest = plan_of(loops, plan);
  }
  return turn;
}

bool CopySteps::joins(const Pass& pass, const CopyStep& step, const Rows& rows) const {
  if (!pass.rows.same_in_source(rows)) return false;
  const CopyStep& first = steps_[pass.first];
  const auto distance = static_cast<Index>(reinterpret_cast<std::uintptr_t>(step.from)) -
                        static_cast<Index>(reinterpret_cast<std::uintptr_t>(first.from));
  return std::abs(distance) < rows.row_bytes;
}

void CopySteps::push_back(const CopyStep& step) {
  const Rows rows = rows_of(step);
  if (passes_.empty() || !joins(passes_.back(), step, rows)) {
    passes_.push_back({steps_.size(), 1, rows, {}});
  } else {
    Pass& pass = passes_.back();
    if (pass.count == 1) {
      const CopyStep& first = steps_[pass.first];
      pass.turns.push_back(turn_of(first.plan, rows_of(first)));
    }
    pass.turns.push_back(turn_of(step.plan, rows));
    pass.count += 1;
  }
  steps_.push_back(step);
}

void CopySteps::append(const CopySteps& others) {
  for (const CopyStep& step : others) push_back(step);
}

void CopySteps::run() const {
  for (const Pass& pass : passes_)
    if (pass.turns.empty())
      steps_[pass.first].run();
    else
      run_in_turns(pass);
}

void CopySteps::run_in_turns(const Pass& pass) const {
  const Rows& rows = pass.rows;
  const Loop slow = rows.over_rows < 1 ? Loop{} : rows.loops[0];
  const Loop middle = rows.over_rows < 2 ? Loop{} : rows.loops[1];
  for (Index i = 0; i < slow.count; ++i)
    for (Index j = 0; j < middle.count; ++j) {
      const Index from = i * slow.from + j * middle.from;
      rows.are_runs ? run_row_by_row(pass, from, {i, j}) : take_turns(pass, from, {i, j});
    }
  if (rows.are_runs) copy_kernels::fence_stores();
}

/// `place`: in the loops around the rows; `from` is its offset in the source.
void CopySteps::run_row_by_row(const Pass& pass, Index from, const std::array<Index, 2>& place) const {
  const Loop& cut = pass.rows.loops[pass.rows.over_rows];
  for (Index row = 0; row < cut.count; ++row, from += cut.from)
    for (std::size_t k = 0; k < pass.count; ++k) {
      const CopyStep& step = steps_[pass.first + k];
      const Turn& turn = pass.turns[k];
      copy_kernels::stream_run(step.from + from, step.to + turn.offset(place) + row * turn.row_stride,
                               step.plan.run_bytes());
    }
}

void CopySteps::take_turns(const Pass& pass, Index from, const std::array<Index, 2>& place) const {
  const Rows& rows = pass.rows;
  const Loop& cut = rows.loops[rows.over_rows];
  for (Index row = 0; row < cut.count; row += rows.per_turn) {
    const bool whole = row + rows.per_turn <= cut.count;
    for (std::size_t k = 0; k < pass.count; ++k) {
      const CopyStep& step = steps_[pass.first + k];
      const Turn& turn = pass.turns[k];
      (whole ? turn.whole : turn.rest)
          .run(step.from + from + row * cut.from, step.to + turn.offset(place) + row * turn.row_stride);
    }
  }
}

Index CopySteps::bytes() const {
  Index bytes = 0;
  for (const CopyStep& step : steps_) bytes += step.plan.bytes();
  return bytes;
}

std::size_t CopySteps::in_turns() const {
  std::size_t count = 0;
  for (const Pass& pass : passes_) count += pass.turns.size();
  return count;
}

}  // namespace fourscore
