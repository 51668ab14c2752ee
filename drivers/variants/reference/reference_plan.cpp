#include "variants/reference/reference_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "chain/pencil_grids.hpp"
#include "mpi/error.hpp"

namespace fourscore {

MessageVolume payload_between(const Decomposition& from, const Decomposition& to, int me, std::size_t element_bytes) {
  MessageVolume traffic;
  const auto bytes = static_cast<Index>(element_bytes);
  const Box& held = from.boxes[static_cast<std::size_t>(me)];
  for (int rank = 0; rank < to.ranks(); ++rank) {
    const Index volume = intersect(held, to.boxes[static_cast<std::size_t>(rank)]).volume();
    if (rank == me) {
      traffic.bytes_self += volume * bytes;
    } else if (volume > 0) {
      traffic.bytes_sent += volume * bytes;
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
  Decomposition layout{shape, {}, order, {}, std::move(name)};
  for (std::size_t i = 0; i < all.size(); i += 6)
    layout.boxes.push_back({{all[i], all[i + 1], all[i + 2]}, {all[i + 3], all[i + 4], all[i + 5]}});
  return layout;
}

std::optional<Grid> reference_grid(const Problem& problem, int ranks) {
  return pencil_grid(problem, ranks, [&](const Grid& grid) { return fits_pencils(problem.extents(), grid); });
}

std::string no_reference_grid(const Problem& problem, int ranks, const std::string& library) {
  const Extents n = problem.extents();
  return fmt::format("{} ranks on grid {}: {} is given P1 x P2 with P1 at most {} and P2 at most {} for shape {}",
                     ranks, grid_text(problem.grid), library, std::min(n[0], n[1]), std::min(n[1], n[2]),
                     shape_text(problem.shape));
}

Cost reference_cost(const Problem& problem, int ranks, const Grid& grid) {
  const Cost row = even_exchange_cost(problem, ranks, grid.extents[1]);
  const Cost column = even_exchange_cost(problem, ranks, grid.extents[0]);
  const int times = problem.contract.layout == LayoutContract::natural ? 2 : 1;
  return {problem.credited_flops(), times * (row.bytes_per_rank + column.bytes_per_rank),
          times * (row.messages_per_rank + column.messages_per_rank)};
}

ReferencePlan::ReferencePlan(const PlanContext& context, std::vector<Decomposition> route, const Grid& grid,
                             std::size_t min_bytes)
    : route_(std::move(route)), grid_{grid.extents[0], grid.extents[1]} {
  const Problem& problem = context.problem;
  if (problem.direction == Direction::backward) std::ranges::reverse(route_);
  const int me = mpi::rank_in(context.comm);
  for (std::size_t i = 0; i + 1 < route_.size(); ++i)
    if (route_[i].boxes != route_[i + 1].boxes)
      message_volume_ += payload_between(route_[i], route_[i + 1], me, problem.element_bytes());
  const auto at = static_cast<std::size_t>(me);
  const auto elements = std::max(route_.front().boxes.at(at).volume(), route_.back().boxes.at(at).volume());
  const std::size_t bytes = std::max(static_cast<std::size_t>(elements) * problem.element_bytes(), min_bytes);
  const bool in_place = problem.contract.buffers == Buffers::in_place;
  for (int i = 0; i < (in_place ? 1 : 2); ++i) buffers_.push_back(ordinary_buffer(bytes));
}

std::size_t ReferencePlan::buffer_bytes() const {
  std::size_t total = 0;
  for (const auto& buffer : buffers_) total += buffer->bytes();
  return total;
}

}  // namespace fourscore
