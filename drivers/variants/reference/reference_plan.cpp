#include "variants/reference/reference_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "chain/limits_and_cost.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

MessageVolume payload_between(const Decomposition& from, const Decomposition& to, int me, std::size_t element_bytes) {
  MessageVolume traffic;
  const auto bytes = static_cast<Index>(element_bytes);
  for (const Overlap& part : to.overlaps(from.box(me))) {
    if (part.rank == me) {
      traffic.bytes_self += part.box.volume() * bytes;
    } else {
      traffic.bytes_sent += part.box.volume() * bytes;
      traffic.messages_sent += 1;
    }
  }
  return traffic;
}

Decomposition gathered_layout(MPI_Comm comm, const Extents& shape, const Box& mine, const std::array<int, 3>& order,
                              std::string name) {
  std::array<std::int64_t, 6> send{};
  std::ranges::copy(mine.low, send.begin());
  std::ranges::copy(mine.high, send.begin() + 3);
  std::vector<std::int64_t> all(6 * static_cast<std::size_t>(mpi::size_of(comm)));
  FOURSCORE_MPI(MPI_Allgather(send.data(), 6, MPI_INT64_T, all.data(), 6, MPI_INT64_T, comm));
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < all.size(); i += 6)
    boxes.push_back({{all[i], all[i + 1], all[i + 2]}, {all[i + 3], all[i + 4], all[i + 5]}});
  Decomposition layout = Decomposition::of_boxes(shape, std::move(boxes), std::move(name));
  layout.order = order;
  return layout;
}

std::optional<Grid> reference_grid(const Problem& problem, int ranks) { return pencil_grid(problem, ranks); }

std::string no_reference_grid(const Problem& problem, int ranks, const std::string& library) {
  const Extents n = problem.extents();
  return fmt::format(
      "{} ranks on grid {}: fourscore gives {} grids on which each rank has elements, P1 x P2 with P1 at most {} and "
      "P2 at most {} for shape {}",
      ranks, grid_text(problem.grid), library, std::min(n[0], n[1]), std::min(n[1], n[2]), shape_text(problem.shape));
}

ReferencePlan::ReferencePlan(const PlanContext& context, std::vector<Decomposition> route, std::vector<int> grid,
                             std::size_t min_bytes) {
  const Problem& problem = context.problem;
  if (problem.direction == Direction::backward) std::ranges::reverse(route);
  const int me = mpi::rank_in(context.comm);
  const auto bytes = problem.element_bytes() * static_cast<std::size_t>(problem.fields);
  PlanFacts& facts = declared();
  facts.grid = std::move(grid);
  facts.message_volume_is_exact = false;
  for (std::size_t i = 0; i + 1 < route.size(); ++i)
    if (!route[i].same_boxes(route[i + 1])) facts.message_volume += payload_between(route[i], route[i + 1], me, bytes);
  const auto elements = std::max(route.front().box(me).volume(), route.back().box(me).volume());
  allocate(context, std::max(static_cast<std::size_t>(elements) * bytes, min_bytes), false);
  declare_layouts(problem, route.front(), route.back());
}

}  // namespace fourscore
