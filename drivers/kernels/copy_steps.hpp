#pragma once
// Copies that an exchange makes around its messages, with their addresses.

#include <array>
#include <cstddef>
#include <vector>

#include "kernels/copy.hpp"

namespace fourscore {

/// A copy planned with its addresses.
struct CopyStep {
  CopyPlan plan;
  const std::byte* from;
  std::byte* to;
  bool overlapping = false;
  void run() const { overlapping ? plan.run_overlapping(from, to) : plan.run(from, to); }
};

/// Copies in the order in which they were added. Neighbours in the list that read pieces of the same rows of a source,
/// as messages cut along its fastest axis do, take turns, so that the source is read in one pass. One after the other,
/// each would have the hardware fetch what lies between its pieces. In the caches, where stores are ordinary, that
/// costs less than turns do.
class CopySteps {
 public:
  /// A destination is no source of another step that takes turns with it.
  void push_back(const CopyStep& step);
  void append(const CopySteps& others);
  void run() const;

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] auto begin() const { return steps_.begin(); }
  [[nodiscard]] auto end() const { return steps_.end(); }
  [[nodiscard]] Index bytes() const;  ///< copied by a run
  /// How many of the steps take turns with others.
  [[nodiscard]] std::size_t in_turns() const;

 private:
  /// The loops of a copy down to that over rows of its source.
  struct Rows {
    std::array<CopyPlan::Loop, 3> loops{};  ///< from the outermost on
    std::size_t over_rows = 0;              ///< the one of `loops` that is cut into turns
    Index per_turn = 0;                     ///< how many of its rows; 0: it has none that would be worth it
    Index row_bytes = 0;                    ///< in the source
    bool are_runs = false;                  ///< a row is one contiguous run in both arrays, and a turn is a row
    [[nodiscard]] bool same_in_source(const Rows& other) const;
  };
  /// What a step that takes turns copies in one, and where to: strides of the loops of its pass, in bytes.
  struct Turn {
    CopyPlan whole;
    CopyPlan rest;  ///< in the last one, if fewer rows are left
    std::array<Index, 2> outer_strides{0, 0};
    Index row_stride = 0;
    [[nodiscard]] Index offset(const std::array<Index, 2>& place) const {
      return place[0] * outer_strides[0] + place[1] * outer_strides[1];
    }
  };
  /// Steps that take turns, or one alone.
  struct Pass {
    std::size_t first = 0;
    std::size_t count = 1;
    Rows rows;
    std::vector<Turn> turns{};  ///< none: the only step runs as a whole
  };

  [[nodiscard]] static Rows rows_of(const CopyStep& step);
  [[nodiscard]] static Turn turn_of(const CopyPlan& plan, const Rows& rows);
  [[nodiscard]] bool joins(const Pass& pass, const CopyStep& step, const Rows& rows) const;
  void run_in_turns(const Pass& pass) const;
  void run_row_by_row(const Pass& pass, Index from, const std::array<Index, 2>& place) const;
  void take_turns(const Pass& pass, Index from, const std::array<Index, 2>& place) const;

  std::vector<CopyStep> steps_;
  std::vector<Pass> passes_;
};

}  // namespace fourscore
