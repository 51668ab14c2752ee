#include "variants/reference/reference_variant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chain/limits_and_cost.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore {

Reason ReferenceVariant::refuses_fields(const Problem& problem) const { return whole_fields(problem, *this); }

std::unique_ptr<Plan> ReferenceVariant::make_plan(const PlanContext& context) const {
  if (const std::string missing = unavailable(); !missing.empty())
    throw InputError(fmt::format("variant '{}' cannot run here: {}", card().name, missing));
  if (const auto reason = supports(context.problem, mpi::size_of(context.comm))) throw InputError(*reason);
  return plan_of(context);
}

Reason PencilReference::supports(const Problem& problem, int ranks) const {
  if (auto reason = chain_limits(problem, least_axes_, 3)) return reason;
  const auto grid = reference_grid(problem, ranks);
  if (!grid) return no_reference_grid(problem, ranks, library());
  if (problem.threads > 1) return fmt::format("{} threads; {} is used with one", problem.threads, library());
  return limit(problem, ranks, *grid);
}

Cost PencilReference::cost(const Problem& problem, int ranks) const {
  const auto grid = reference_grid(problem, ranks);
  if (!grid) throw InputError(no_reference_grid(problem, ranks, library()));
  return pencil_cost(problem, ranks, *grid);
}

std::unique_ptr<Plan> PencilReference::plan_of(const PlanContext& context) const {
  return plan_on(context, reference_grid(context.problem, mpi::size_of(context.comm)).value());
}

Reason SlabReference::supports(const Problem& problem, int ranks) const {
  if (auto reason = chain_limits(problem, 2, 3)) return reason;
  require_grid(problem, ranks, 1);
  return limit(problem, ranks);
}

Cost SlabReference::cost(const Problem& problem, int ranks) const { return slab_cost(problem, ranks); }

}  // namespace fourscore
