// Charm-FFT (lee2018, chapter 2): each state is cut into more pencils than there are ranks, so that a rank transforms
// one while another of its pencils waits for messages.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "chain/pencil_grids.hpp"
#include "core/parameters.hpp"
#include "variants/overdecomposed/message_driven.hpp"

namespace fourscore {

namespace {

constexpr std::size_t max_pencils_unasked = 4;  ///< of a rank and state; lee2018's optimum was near one a core

/// How many pieces the first and the second axis of a state's cut have.
using Cuts = std::array<Index, 2>;

/// The rank at a place of the grid to which a state is dealt.
using RankAt = std::function<int(int row, int column)>;

/// A state that is cut along two axes: pencils.size() == cuts[0] * cuts[1], dealt in blocks to the places of the grid.
PencilState cut_state(const Extents& shape, const std::array<std::size_t, 2>& axes, const Cuts& cuts, const Grid& grid,
                      const RankAt& rank_at) {
  PencilState state;
  state.layout.shape = shape;
  state.axis = 3 - axes[0] - axes[1];
  state.layout.boxes.assign(static_cast<std::size_t>(grid.ranks()), Box{});
  const std::array<int, 2> places{grid.extents[0], grid.extents[1]};
  const auto range = [&](std::size_t which, Index first, Index last) {
    const int parts = static_cast<int>(cuts[which]);
    return Range{block_range(shape[axes[which]], parts, static_cast<int>(first)).low,
                 block_range(shape[axes[which]], parts, static_cast<int>(last) - 1).high};
  };
  const auto box = [&](const std::array<Range, 2>& ranges) {
    Box result{{0, 0, 0}, shape};
    for (std::size_t which = 0; which < 2; ++which) {
      result.low[axes[which]] = ranges[which].low;
      result.high[axes[which]] = ranges[which].high;
    }
    return result;
  };
  for (int row = 0; row < places[0]; ++row)
    for (int column = 0; column < places[1]; ++column) {
      const Range rows = block_range(cuts[0], places[0], row);
      const Range columns = block_range(cuts[1], places[1], column);
      if (rows.size() == 0 || columns.size() == 0) continue;
      const int rank = rank_at(row, column);
      state.layout.boxes[static_cast<std::size_t>(rank)] =
          box({range(0, rows.low, rows.high), range(1, columns.low, columns.high)});
      for (Index i = rows.low; i < rows.high; ++i)
        for (Index j = columns.low; j < columns.high; ++j) {
          state.pencils.push_back(box({range(0, i, i + 1), range(1, j, j + 1)}));
          state.owners.push_back(rank);
        }
    }
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  state.layout.name = fmt::format("{}x{} {}-pencils on {}", cuts[0], cuts[1], letters[*state.axis],
                                  grid_text({grid.extents[0], grid.extents[1]}));
  return state;
}

struct Choice {
  Grid grid;
  Cuts cuts;
};

class Overdecomposed : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {
        "overdecomposed",
        "message-driven pencils, several a rank and state, no barrier between states; transposed: left in x-pencils",
        "lee2018"};
  }
  [[nodiscard]] bool takes_exchange() const override { return false; }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{"decomposition", {"2x3", "5x2", "4x4"}}, {"pencils", {"1", "2", "6"}}, {"x-state", {"pencils", "slabs"}}};
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    if (choose(problem, ranks)) return std::nullopt;
    return reason_against(problem, ranks);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    const Choice choice = require_choice(problem, mpi::size_of(context.comm));
    return std::make_unique<MessageDrivenPlan>(context, arrange(problem, states(problem, choice)),
                                               std::vector<int>{choice.grid.extents[0], choice.grid.extents[1]});
  }

  /// Bytes as for `pencil` (czechowski2012, equation 3, less what stays). A rank's D1 D2 / P pencils of the Z state
  /// send to D2 pencils each, of which 1/P2 are its own; those of the Y state to D1, of which 1/P1 are. The way back to
  /// natural order doubles all.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Choice choice = require_choice(problem, ranks);
    const Grid& grid = choice.grid;
    const double own = static_cast<double>(choice.cuts[0] * choice.cuts[1]) / ranks;
    const double receivers =
        slabs_wanted(problem)
            ? std::max(1.0, static_cast<double>(slabs(problem, choice.cuts)) / static_cast<double>(choice.cuts[1]))
            : static_cast<double>(choice.cuts[0]);
    const auto leaving = [](int places) { return static_cast<double>(places - 1) / places; };
    const double messages =
        own * (static_cast<double>(choice.cuts[1]) * leaving(grid.extents[1]) + receivers * leaving(grid.extents[0]));
    const double bytes = even_exchange_cost(problem, ranks, grid.extents[1]).bytes_per_rank +
                         even_exchange_cost(problem, ranks, grid.extents[0]).bytes_per_rank;
    const int times = problem.contract.layout == LayoutContract::natural ? 2 : 1;
    return {problem.credited_flops(), times * bytes, times * messages};
  }

 private:
  [[nodiscard]] static bool slabs_wanted(const Problem& problem) {
    return choice_parameter(problem, "x-state", {"pencils", "slabs"}) == "slabs";
  }
  /// As many slabs as pencils in the other states (lee2018, Table 2.1: "chares per dim"), while there are planes.
  [[nodiscard]] static Index slabs(const Problem& problem, const Cuts& cuts) {
    return std::min(cuts[0] * cuts[1], problem.shape[2]);
  }
  /// Every pencil of every state has elements.
  [[nodiscard]] static Cuts max_cuts(const Problem& problem) {
    const auto& n = problem.shape;
    return {slabs_wanted(problem) ? n[0] : std::min(n[0], n[1]), std::min(n[1], n[2])};
  }
  [[nodiscard]] static std::optional<Cuts> decomposition_asked(const Problem& problem) {
    const auto given = problem.parameters.find("decomposition");
    if (given == problem.parameters.end() || given->second == "auto") return std::nullopt;
    const std::vector<int> entries = parse_grid(given->second, "parameter 'decomposition'");
    if (entries.size() != 2)
      throw InputError(
          fmt::format("parameter 'decomposition' is '{}'; allowed: D1xD2, as 10x10, or auto", given->second));
    if (problem.parameters.contains("pencils"))
      throw InputError("parameters 'decomposition' and 'pencils' exclude each other; expected one of them");
    return Cuts{entries[0], entries[1]};
  }
  /// Of one rank and state; 0: not asked for.
  [[nodiscard]] static Index pencils_asked(const Problem& problem) {
    return integer_parameter(problem, "pencils", 0, 1, Index{1} << 30);
  }

  /// `pencils` a rank, cut along the first axis as far as it goes: then whole planes and lines stay together.
  [[nodiscard]] static std::optional<Cuts> cuts_of(Index pencils, const Grid& grid, const Cuts& most) {
    for (Index first = pencils; first > 0; --first) {
      if (pencils % first != 0) continue;
      const Cuts cuts{first * grid.extents[0], pencils / first * grid.extents[1]};
      if (cuts[0] <= most[0] && cuts[1] <= most[1]) return cuts;
    }
    return std::nullopt;
  }

  [[nodiscard]] static std::optional<Cuts> cuts_on(const Problem& problem, const Grid& grid) {
    const Cuts most = max_cuts(problem);
    if (const auto asked = decomposition_asked(problem)) {
      const bool fits = (*asked)[0] >= grid.extents[0] && (*asked)[1] >= grid.extents[1] && (*asked)[0] <= most[0] &&
                        (*asked)[1] <= most[1];
      return fits ? asked : std::nullopt;
    }
    if (const Index asked = pencils_asked(problem); asked > 0) return cuts_of(asked, grid, most);
    for (Index pencils = max_pencils_unasked; pencils > 0; --pencils)
      if (const auto cuts = cuts_of(pencils, grid, most)) return cuts;
    return std::nullopt;
  }

  [[nodiscard]] static std::optional<Choice> choose(const Problem& problem, int ranks) {
    const auto grid = pencil_grid(problem, ranks, [&](const Grid& g) { return cuts_on(problem, g).has_value(); });
    if (!grid) return std::nullopt;
    return Choice{*grid, *cuts_on(problem, *grid)};
  }

  [[nodiscard]] Choice require_choice(const Problem& problem, int ranks) const {
    const auto choice = choose(problem, ranks);
    if (!choice) throw InputError(supports(problem, ranks).value_or("no decomposition fits"));
    return *choice;
  }

  [[nodiscard]] static std::string reason_against(const Problem& problem, int ranks) {
    const Cuts most = max_cuts(problem);
    const std::string where =
        problem.grid.empty() ? fmt::format("{} ranks", ranks) : fmt::format("a grid of {}", grid_text(problem.grid));
    const std::string limits =
        fmt::format("D1 x D2 with D1 from P1 to {} and D2 from P2 to {} for shape {} on a P1 x P2 grid", most[0],
                    most[1], shape_text(problem.shape));
    if (const auto asked = decomposition_asked(problem))
      return fmt::format("decomposition {}x{} does not fit {}: allowed are {}", (*asked)[0], (*asked)[1], where,
                         limits);
    if (const Index asked = pencils_asked(problem); asked > 0)
      return fmt::format("{} pencils a rank do not fit {}: the decomposition would have to be {}", asked, where,
                         limits);
    return fmt::format("{} have more places than overdecomposed can use: it takes {}", where, limits);
  }

  /// Z, Y and X, as in lee2018, Figure 2.1.
  [[nodiscard]] static std::vector<PencilState> states(const Problem& problem, const Choice& choice) {
    const Extents shape = problem.extents();
    const Grid& grid = choice.grid;
    const auto by_row = [&](int row, int column) { return grid.rank_of({row, column, 0}); };
    std::vector<PencilState> list{cut_state(shape, {0, 1}, choice.cuts, grid, by_row),
                                  cut_state(shape, {0, 2}, choice.cuts, grid, by_row)};
    if (!slabs_wanted(problem)) {
      list.push_back(cut_state(shape, {1, 2}, choice.cuts, grid, by_row));
      return list;
    }
    // A column's ranks hold the same part of z in the Y state: they get the slabs of that part.
    const auto by_column = [&](int /*row*/, int place) {
      return grid.rank_of({place % grid.extents[0], place / grid.extents[0], 0});
    };
    const Index count = slabs(problem, choice.cuts);
    list.push_back(cut_state(shape, {1, 2}, {1, count}, Grid{{1, grid.ranks(), 1}}, by_column));
    list.back().layout.name = fmt::format("{} z-slabs on {} ranks", count, grid.ranks());
    return list;
  }

  /// Backwards where the data starts transposed; led back through Y to Z where it must end natural. A state that would
  /// only be passed through is left out where its neighbour has the same boxes.
  [[nodiscard]] static std::vector<PencilState> arrange(const Problem& problem, std::vector<PencilState> list) {
    if (problem.contract.layout == LayoutContract::natural) {
      const auto boxes_like = [&](const PencilState& a, const PencilState& b) {
        return a.layout.boxes == b.layout.boxes;
      };
      PencilState y = list[1];
      PencilState z = list[0];
      y.axis.reset();
      z.axis.reset();
      if (!boxes_like(y, list[2]) && !boxes_like(y, z)) list.push_back(y);
      if (!boxes_like(z, list.back())) list.push_back(z);
      list.back().layout.name = list.front().layout.name;
    } else if (problem.direction == Direction::backward) {
      std::ranges::reverse(list);
    }
    return list;
  }
};

FOURSCORE_REGISTER_VARIANT(Overdecomposed);

}  // namespace

}  // namespace fourscore
