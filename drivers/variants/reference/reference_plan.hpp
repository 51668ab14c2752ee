#pragma once
// What the plans of other people's distributed transforms share. Their time is not told apart in phases, and what they
// send is known by geometry only.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/plan.hpp"

namespace fourscore {

/// Payload of rank `me` when data goes from one layout to another: what other ranks get, with one message for each of
/// them, and what stays. A library may pad it or send it in more messages.
[[nodiscard]] MessageVolume payload_between(const Decomposition& from, const Decomposition& to, int me,
                                            std::size_t element_bytes);

/// The boxes that the ranks of comm say they hold, as the library dealt them. Collective.
[[nodiscard]] Decomposition gathered_layout(MPI_Comm comm, const Extents& shape, const Box& mine,
                                            const std::array<int, 3>& order, std::string name);

/// The problem's grid of two entries, or P x 1, 1 x P and the other grids of two factors in turn, the most square
/// first: the first on which every rank has elements in z-, y- and x-pencils. Throws InputError where the problem's
/// grid is not of two entries with the product `ranks`.
[[nodiscard]] std::optional<Grid> reference_grid(const Problem& problem, int ranks);
/// The reason to give where reference_grid() gives none.
[[nodiscard]] std::string no_reference_grid(const Problem& problem, int ranks, const std::string& library);

/// Buffers, layouts and traffic; a library's file adds execute() and, once it is planned, what it says of itself.
class ReferencePlan : public Plan {
 protected:
  /// route: the layouts of complex data through which a forward transform leads it, both ends included; a backward one
  /// goes through them in reverse. Each buffer holds the larger end, and min_bytes at least.
  ReferencePlan(const PlanContext& context, std::vector<Decomposition> route, std::vector<int> grid,
                std::size_t min_bytes = 0);
  ReferencePlan(const PlanContext& context, std::vector<Decomposition> route, const Grid& grid,
                std::size_t min_bytes = 0)
      : ReferencePlan(context, std::move(route), std::vector{grid.extents[0], grid.extents[1]}, min_bytes) {}
  void declare_library(std::string text, std::size_t workspace_bytes = 0) {
    declared().local_ffts = {std::move(text)};
    declared().workspace_bytes = workspace_bytes;
  }
};

}  // namespace fourscore
