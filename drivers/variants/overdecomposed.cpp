// Charm-FFT (lee2018, chapter 2): each state is cut into more pencils than there are ranks, so that a rank transforms
// one while another of its pencils waits for messages.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "variants/overdecomposed/message_driven.hpp"

namespace fourscore {

namespace {

constexpr std::size_t max_pencils_unasked = 4;  ///< of a rank and state; lee2018's optimum was near one a core

/// How many pieces the first and the second axis of a state's cut have.
using Cuts = std::array<Index, 2>;

/// A state that is cut along two axes, its pencils dealt in blocks to the ranks: by which dimensions of the grid along
/// each of the two.
PencilState cut_state(const Extents& shape, const std::array<std::size_t, 2>& axes, const Cuts& cuts,
                      const std::array<int, 2>& grid, const std::array<AxisCut::Level, 2>& dealt) {
  PencilState state;
  state.axis = 3 - axes[0] - axes[1];
  std::array<AxisCut, 3> of_ranks;
  Grid of_pencils;
  for (std::size_t which = 0; which < 2; ++which) {
    of_ranks[axes[which]].levels = {dealt[which]};
    of_ranks[axes[which]].pieces = cuts[which];
    of_pencils.extents[axes[which]] = static_cast<int>(cuts[which]);
  }
  constexpr std::array<char, 3> letters{'x', 'y', 'z'};
  state.pencils = decompose(shape, of_pencils);
  state.layout = Decomposition(
      shape, {grid[0], grid[1]}, std::move(of_ranks),
      fmt::format("{}x{} {}-pencils on {}", cuts[0], cuts[1], letters[*state.axis], grid_text({grid[0], grid[1]})));
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
    return {{.name = "decomposition",
             .summary = "pencils of a state, D1xD2 as 10x10, or auto",
             .fallback = "auto",
             .samples = {"2x3", "5x2", "4x4"}},
            {.name = "pencils",
             .summary = "pencils of a rank and state, in place of a decomposition",
             .fallback = "4, or as many as fit",
             .samples = {"1", "2", "6"}},
            {"x-state", "what the state with whole x-lines is cut in", "pencils", {"pencils", "slabs"}}};
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
  /// send to D2 pencils each, of which 1/P2 are its own; those of the Y state to D1, or to the slabs that they meet, of
  /// which 1/P1 are. The way back to natural order doubles all, but on P x 1 and 1 x P: there it leaves out the Y state
  /// (arrange()), and what is sent goes from X to all of Z that meets it.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const auto [grid, cuts] = require_choice(problem, ranks);
    const auto [p1, p2, one] = grid.extents;
    const bool in_slabs = slabs_wanted(problem);
    const auto slab_count = static_cast<double>(slabs(problem, cuts));
    const double own = static_cast<double>(cuts[0] * cuts[1]) / ranks;
    const double receivers =
        in_slabs ? parts_met(problem.shape[2], cuts[1], slabs(problem, cuts)) : static_cast<double>(cuts[0]);
    const auto leaving = [](int places) { return static_cast<double>(places - 1) / places; };
    const double messages = own * (static_cast<double>(cuts[1]) * leaving(p2) + receivers * leaving(p1));
    const double receivers_of_x =
        in_slabs ? slab_count : static_cast<double>(cuts[0]) * parts_met(problem.shape[1], cuts[0], cuts[1]);
    Cost cost = pencil_cost(problem, ranks, grid);
    cost.messages_per_rank = messages;
    if (problem.contract.layout == LayoutContract::natural)
      cost.messages_per_rank += p1 > 1 && p2 > 1 ? messages : own * receivers_of_x * leaving(p1 * p2 * one);
    return cost;
  }
  /// Between ranks; the messages of one pair are those of their pencils.
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    const auto list = arrange(problem, states(problem, require_choice(problem, ranks)));
    std::vector<RedistributionGroup> groups;
    for (std::size_t s = 0; s + 1 < list.size(); ++s)
      groups.push_back(redistribution_group(list[s].layout, list[s + 1].layout, rank));
    return groups;
  }

 private:
  /// How many of the `others` parts of n elements one of their `parts` parts meets, on average.
  [[nodiscard]] static double parts_met(Index n, Index parts, Index others) {
    Index meetings = 0;
    const auto low = [n](Index count, Index part) { return block_range(n, count, part).low; };
    for (Index a = 0, b = 0; a < parts && b < others; ++meetings) {
      const Index here = low(parts, a);
      const Index there = low(others, b);
      if (here <= there) ++a;
      if (there <= here) ++b;
      if (a == parts) meetings += others - b;
      if (b == others) meetings += parts - a;
    }
    return static_cast<double>(meetings) / static_cast<double>(parts);
  }
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
                        (*asked)[1] <= most[1] && (*asked)[0] * (*asked)[1] <= std::numeric_limits<int>::max();
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
    const std::array<int, 2> grid{choice.grid.extents[0], choice.grid.extents[1]};
    const std::array<AxisCut::Level, 2> rows_and_columns{AxisCut::Level{0}, AxisCut::Level{1}};
    std::vector<PencilState> list{cut_state(shape, {0, 1}, choice.cuts, grid, rows_and_columns),
                                  cut_state(shape, {0, 2}, choice.cuts, grid, rows_and_columns)};
    if (!slabs_wanted(problem)) {
      list.push_back(cut_state(shape, {1, 2}, choice.cuts, grid, rows_and_columns));
      return list;
    }
    // A column's ranks hold the same part of z in the Y state: they get the slabs of that part.
    const Index count = slabs(problem, choice.cuts);
    list.push_back(cut_state(shape, {1, 2}, {1, count}, grid, {AxisCut::Level{}, AxisCut::Level{1, 0}}));
    list.back().layout.name = fmt::format("{} z-slabs on {} ranks", count, grid[0] * grid[1]);
    return list;
  }

  /// Backwards where the data starts transposed; led back through Y to Z where it must end natural. A state that would
  /// only be passed through is left out where its neighbour has the same boxes.
  [[nodiscard]] static std::vector<PencilState> arrange(const Problem& problem, std::vector<PencilState> list) {
    if (problem.contract.layout == LayoutContract::natural) {
      const auto boxes_like = [&](const PencilState& a, const PencilState& b) { return a.layout.same_boxes(b.layout); };
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
