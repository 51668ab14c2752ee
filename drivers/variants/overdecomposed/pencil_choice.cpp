#include "variants/overdecomposed/pencil_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "core/rank_map.hpp"

namespace fourscore {

namespace {

constexpr std::size_t max_pencils_unasked = 4;  ///< per rank and state; lee2018's optimum was near one a core
constexpr std::array<char, 3> letters{'x', 'y', 'z'};

bool slabs_wanted(const Problem& problem) {
  return choice_parameter(problem, "x-state", {"pencils", "slabs"}) == "slabs";
}

/// Every pencil of every state has elements.
Cuts max_cuts(const Problem& problem) {
  const auto& n = problem.shape;
  return {slabs_wanted(problem) ? n[0] : std::min(n[0], n[1]), std::min(n[1], n[2])};
}

std::optional<Cuts> decomposition_asked(const Problem& problem) {
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

/// Pencils asked for, per rank and state; 0: not asked for.
Index pencils_asked(const Problem& problem) { return integer_parameter(problem, "pencils", 0, 1, Index{1} << 30); }

bool is_within(const Cuts& cuts, const Cuts& most) {
  return cuts[0] <= most[0] && cuts[1] <= most[1] && cuts[0] * cuts[1] <= std::numeric_limits<int>::max();
}

/// `pencils` a rank, cut along the first axis as far as it goes: then whole planes and lines stay together.
std::optional<Cuts> cuts_of(Index pencils, const Grid& grid, const Cuts& most) {
  for (Index first = pencils; first > 0; --first) {
    if (pencils % first != 0) continue;
    const Cuts cuts{first * grid.extents[0], pencils / first * grid.extents[1]};
    if (is_within(cuts, most)) return cuts;
  }
  return std::nullopt;
}

/// As many a rank as asked for, or as fit.
std::optional<Cuts> cuts_unasked(const Problem& problem, const Grid& grid) {
  const Cuts most = max_cuts(problem);
  if (const Index asked = pencils_asked(problem); asked > 0) return cuts_of(asked, grid, most);
  for (Index pencils = max_pencils_unasked; pencils > 0; --pencils)
    if (const auto cuts = cuts_of(pencils, grid, most)) return cuts;
  return std::nullopt;
}

std::optional<Cuts> cuts_on(const Problem& problem, const Grid& grid) {
  const auto asked = decomposition_asked(problem);
  if (!asked) return cuts_unasked(problem, grid);
  const bool fits =
      (*asked)[0] >= grid.extents[0] && (*asked)[1] >= grid.extents[1] && is_within(*asked, max_cuts(problem));
  return fits ? asked : std::nullopt;
}

/// Any number of pencils, on any number of ranks, of which some may get none.
std::optional<Cuts> linear_cuts(const Problem& problem, int ranks) {
  require_grid(problem, ranks, 1);
  const Cuts most = max_cuts(problem);
  if (const auto asked = decomposition_asked(problem)) return is_within(*asked, most) ? asked : std::nullopt;
  for (const Grid& grid : two_dimensional_grids(ranks))
    if (const auto cuts = cuts_unasked(problem, grid)) return cuts;
  if (pencils_asked(problem) > 0 || !is_within(most, most)) return std::nullopt;
  return most;
}

/// The file that says which rank gets which pencil, if that is asked for.
std::optional<std::string> map_asked(const Problem& problem) {
  const auto given = problem.parameters.find("dealing");
  if (given == problem.parameters.end() || !given->second.starts_with(map_prefix)) return std::nullopt;
  return given->second;
}

/// By the linear numbers of the pencils. A map has a rank for each.
Dealing dealing_of(const Problem& problem, const Cuts& cuts, int ranks) {
  const Index pencils = cuts[0] * cuts[1];
  const auto map = map_asked(problem);
  if (!map)
    return {problem.parameters.at("dealing") == "blocks" ? Dealing::Rule::blocks : Dealing::Rule::round_robin, pencils,
            ranks};
  const std::vector<int>& owners = rank_map(*map);
  if (static_cast<Index>(owners.size()) != pencils)
    throw InputError(
        fmt::format("parameter 'dealing': the map {} has {} ranks; expected {}, one for each pencil of {}x{}", *map,
                    owners.size(), pencils, cuts[0], cuts[1]));
  if (const int last = std::ranges::max(owners); last >= ranks)
    throw InputError(
        fmt::format("parameter 'dealing': the map {} has rank {}; expected 0 to {}", *map, last, ranks - 1));
  return Dealing::listed(owners, ranks);
}

/// A state that is cut along two axes into pencils whose numbers are dealt.
PencilState dealt_state(const Extents& shape, const std::array<std::size_t, 2>& axes, const Cuts& cuts,
                        const PencilChoice& choice) {
  PencilState state;
  state.axis = 3 - axes[0] - axes[1];
  Grid of_pencils;
  for (std::size_t which = 0; which < 2; ++which) of_pencils.extents[axes[which]] = static_cast<int>(cuts[which]);
  state.pencils = decompose(shape, of_pencils);
  const auto rule = choice.dealing.rule;
  const std::string how = rule == Dealing::Rule::blocks        ? "in blocks"
                          : rule == Dealing::Rule::round_robin ? "round-robin"
                                                               : "by a map";
  state.layout = Decomposition::dealt(
      state.pencils, choice.dealing,
      fmt::format("{}x{} {}-pencils dealt {} to {}", cuts[0], cuts[1], letters[*state.axis], how, choice.ranks));
  return state;
}

/// A state that is cut along two axes, its pencils dealt in blocks to the ranks: by which dimensions of the grid along
/// each of the two.
PencilState cut_state(const Extents& shape, const std::array<std::size_t, 2>& axes, const Cuts& cuts, const Grid& grid,
                      const std::array<AxisCut::Level, 2>& dealt) {
  const std::vector<int> ranks{grid.extents[0], grid.extents[1]};
  PencilState state;
  state.axis = 3 - axes[0] - axes[1];
  std::array<AxisCut, 3> of_ranks;
  Grid of_pencils;
  for (std::size_t which = 0; which < 2; ++which) {
    of_ranks[axes[which]].levels = {dealt[which]};
    of_ranks[axes[which]].pieces = cuts[which];
    of_pencils.extents[axes[which]] = static_cast<int>(cuts[which]);
  }
  state.pencils = decompose(shape, of_pencils);
  state.layout =
      Decomposition(shape, ranks, std::move(of_ranks),
                    fmt::format("{}x{} {}-pencils on {}", cuts[0], cuts[1], letters[*state.axis], grid_text(ranks)));
  return state;
}

std::vector<PencilState> states_on_grid(const Problem& problem, const PencilChoice& choice) {
  const Extents shape = problem.extents();
  const Grid& grid = *choice.grid;
  const std::array<AxisCut::Level, 2> rows_and_columns{AxisCut::Level{0}, AxisCut::Level{1}};
  std::vector<PencilState> list{cut_state(shape, {0, 1}, choice.cuts, grid, rows_and_columns),
                                cut_state(shape, {0, 2}, choice.cuts, grid, rows_and_columns)};
  if (!choice.x_in_slabs) {
    list.push_back(cut_state(shape, {1, 2}, choice.cuts, grid, rows_and_columns));
    return list;
  }
  // A column's ranks hold the same part of z in the Y state: they get the slabs of that part.
  const Index count = slabs_of(problem, choice);
  list.push_back(cut_state(shape, {1, 2}, {1, count}, grid, {AxisCut::Level{}, AxisCut::Level{1, 0}}));
  list.back().layout.name = fmt::format("{} z-slabs on {} ranks", count, grid.ranks());
  return list;
}

std::vector<PencilState> dealt_states(const Problem& problem, const PencilChoice& choice) {
  const Extents shape = problem.extents();
  const Cuts last = choice.x_in_slabs ? Cuts{1, slabs_of(problem, choice)} : choice.cuts;
  return {dealt_state(shape, {0, 1}, choice.cuts, choice), dealt_state(shape, {0, 2}, choice.cuts, choice),
          dealt_state(shape, {1, 2}, last, choice)};
}

/// Backwards where the data starts transposed; led back through Y to Z where it must end natural. A state that would
/// only be passed through is left out where its neighbour has the same boxes.
std::vector<PencilState> arranged(const Problem& problem, std::vector<PencilState> list) {
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

}  // namespace

bool deals_linear_numbers(const Problem& problem) {
  if (map_asked(problem)) return true;
  return choice_parameter(problem, "dealing", {"grid", "blocks", "round-robin", "file:PATH"}) != "grid";
}

std::optional<PencilChoice> choose_pencils(const Problem& problem, int ranks) {
  PencilChoice choice;
  choice.ranks = ranks;
  choice.x_in_slabs = slabs_wanted(problem);
  choice.local_messages = choice_parameter(problem, "local-messages", {"no", "yes"}) == "yes";
  if (deals_linear_numbers(problem)) {
    const auto cuts = linear_cuts(problem, ranks);
    if (!cuts) return std::nullopt;
    choice.cuts = *cuts;
    choice.dealing = dealing_of(problem, *cuts, ranks);
    return choice;
  }
  choice.grid = pencil_grid(problem, ranks, [&](const Grid& g) { return cuts_on(problem, g).has_value(); });
  if (!choice.grid) return std::nullopt;
  choice.cuts = *cuts_on(problem, *choice.grid);
  return choice;
}

std::string reason_against_pencils(const Problem& problem, int ranks) {
  const Cuts most = max_cuts(problem);
  const std::string where =
      problem.grid.empty() ? fmt::format("{} ranks", ranks) : fmt::format("a grid of {}", grid_text(problem.grid));
  const std::string limits =
      deals_linear_numbers(problem)
          ? fmt::format("D1 x D2 with D1 from 1 to {} and D2 from 1 to {} for shape {}", most[0], most[1],
                        shape_text(problem.shape))
          : fmt::format("D1 x D2 with D1 from P1 to {} and D2 from P2 to {} for shape {} on a P1 x P2 grid", most[0],
                        most[1], shape_text(problem.shape));
  if (const auto asked = decomposition_asked(problem))
    return fmt::format("decomposition {}x{} does not fit {}: allowed are {}", (*asked)[0], (*asked)[1], where, limits);
  if (const Index asked = pencils_asked(problem); asked > 0)
    return fmt::format("{} pencils a rank do not fit {}: the decomposition would have to be {}", asked, where, limits);
  return fmt::format("{} have more places than overdecomposed can use: it takes {}", where, limits);
}

std::vector<PencilState> pencil_states(const Problem& problem, const PencilChoice& choice) {
  auto list = arranged(problem, choice.grid ? states_on_grid(problem, choice) : dealt_states(problem, choice));
  for (PencilState& state : list) state.local_messages = choice.local_messages;
  return list;
}

/// As many as pencils in the other states (lee2018, Table 2.1: "chares per dim"). Numbered linearly, some may be empty;
/// on a grid all have planes.
Index slabs_of(const Problem& problem, const PencilChoice& choice) {
  const Index asked = choice.cuts[0] * choice.cuts[1];
  return choice.grid ? std::min(asked, problem.shape[2]) : asked;
}

PencilPairs pairs_between(const PencilState& from, const PencilState& to, std::size_t element_bytes) {
  PencilPairs pairs;
  for (int rank = 0; rank < from.layout.ranks(); ++rank)
    for (const Box& held : from.layout.boxes(rank))
      for (const Overlap& source : from.pencils.overlaps(held))
        for (const Overlap& target : to.pencils.overlaps(source.box)) {
          ++pairs.all;
          if (to.owner(target.rank) == rank) continue;
          ++pairs.apart;
          pairs.bytes_apart += static_cast<double>(target.box.volume()) * static_cast<double>(element_bytes);
        }
  return pairs;
}

}  // namespace fourscore
