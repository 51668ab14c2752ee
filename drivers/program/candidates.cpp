#include "program/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "harness/active_ranks.hpp"
#include "harness/instances.hpp"
#include "program/may_run.hpp"

namespace fourscore::bench {
namespace {

bool reads_parameters(const Point& point, const Variant& variant, const ExchangeMethod& exchange) {
  const auto names = parameter_names(variant, &exchange);
  return std::ranges::all_of(point.problem.parameters, [&](const auto& parameter) {
    return std::ranges::find(names, parameter.first) != names.end();
  });
}

/// Never empty. Where none reads the parameters, resolve_point() tells so of the variant's own exchange.
std::vector<std::string> exchanges_to_try(const Point& point) {
  if (point.exchange != tuned_word) return {point.exchange};
  const Variant* const variant = VariantRegistry::instance().find(point.variant);
  if (variant == nullptr || !variant->takes_exchange()) return {""};
  const ExchangeRegistry& registry = ExchangeRegistry::instance();
  std::vector<std::string> names = registry.names();
  std::erase_if(names, [&](const std::string& name) {
    return name == tuned_word || !reads_parameters(point, *variant, *registry.find(name));
  });
  const std::string own = variant->facts().exchange;
  std::ranges::stable_sort(names, {}, [&](const std::string& name) { return name != own; });
  if (names.empty()) names.push_back(own);
  return names;
}

ResolvedPoint candidate(const Point& asked, const std::string& exchange, const std::vector<int>& grid) {
  Point point = asked;
  point.exchange = exchange;
  point.grid_is_tuned = false;
  point.problem.grid = grid;
  ResolvedPoint resolved = resolve_point(std::move(point));
  resolved.tuned = resolved.point;
  if (asked.exchange == tuned_word) resolved.tuned->exchange = tuned_word;
  resolved.tuned->grid_is_tuned = asked.grid_is_tuned;
  if (asked.grid_is_tuned) resolved.tuned->problem.grid.clear();
  return resolved;
}

std::optional<Refusal> nothing_to_choose(const Point& asked, const ResolvedPoint& first) {
  const auto refuse = [&](const char* key, const std::string& reason) {
    return Refusal{Refusal::Kind::unsupported, key, fmt::format("variant '{}' {}", asked.variant, reason)};
  };
  if (asked.exchange == tuned_word && first.exchange == nullptr)
    return refuse("exchange", "takes no exchange; with exchange tuned there is nothing to choose");
  if (!asked.grid_is_tuned) return std::nullopt;
  const GridRoom room = room_of_grid(first);
  if (room.entries > 1) return std::nullopt;
  return refuse("grid", fmt::format("has but one process grid of {}; with grid tuned there is nothing to choose",
                                    plural(room.ranks, "rank")));
}

/// Adds those on this grid that may run. The first reason why one may not is kept.
void add_candidates(const Point& asked, const std::vector<std::string>& exchanges, const std::vector<int>& grid,
                    Choice& choice) {
  for (const std::string& exchange : exchanges) {
    ResolvedPoint one = candidate(asked, exchange, grid);
    if (auto refusal = may_run(one)) {
      if (!choice.refusal) choice.refusal = std::move(refusal);
    } else {
      choice.candidates.push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<std::vector<int>> grids_to_try(const GridRoom& room) {
  std::vector<std::vector<int>> grids = all_grids(room.ranks, room.entries);
  if (grids.size() < 3) return grids;
  std::rotate(grids.begin() + 1, grids.end() - 1, grids.end());
  std::stable_sort(grids.begin() + 2, grids.end(), [](const auto& a, const auto& b) {
    const auto key = [](const std::vector<int>& grid) {
      return std::pair(std::ranges::max(grid), std::accumulate(grid.begin(), grid.end(), 0));
    };
    return key(a) < key(b);
  });
  return grids;
}

GridRoom room_of_grid(const ResolvedPoint& resolved) {
  const Problem& problem = resolved.point.problem;
  const auto ranks = static_cast<int>(ranks_of_instance(problem, resolved.point.ranks, 0).size());
  return {resolved.variant->grid_entries(problem, ranks), active_ranks_of(*resolved.variant, problem, ranks)};
}

Choice resolve_choice(const Point& point) {
  if (!is_tuned(point)) {
    Choice plain{resolve_point(point), std::nullopt};
    plain.refusal = may_run(plain.resolved);
    return plain;
  }
  const std::vector<std::string> exchanges = exchanges_to_try(point);
  Choice choice{candidate(point, exchanges.front(), point.problem.grid), std::nullopt};
  choice.refusal = nothing_to_choose(point, choice.resolved);
  if (choice.refusal) return choice;
  std::vector<std::vector<int>> grids;
  if (point.grid_is_tuned)
    grids = grids_to_try(room_of_grid(choice.resolved));
  else
    grids.push_back(point.problem.grid);
  std::size_t on_grids = 0;
  for (const std::vector<int>& grid : grids) {
    const std::size_t before = choice.candidates.size();
    add_candidates(point, exchanges, grid, choice);
    const std::size_t added = choice.candidates.size() - before;
    if (added > 0) ++on_grids;
    if (on_grids == max_tuned_grids || choice.candidates.size() + added > max_candidates) break;
  }
  if (choice.candidates.empty()) {
    // Nobody asked for the grid that does not fit.
    if (point.grid_is_tuned && choice.refusal->kind == Refusal::Kind::misfit)
      choice.refusal->kind = Refusal::Kind::unsupported;
    return choice;
  }
  choice.refusal.reset();
  choice.resolved = choice.candidates.front();
  return choice;
}

}  // namespace fourscore::bench
