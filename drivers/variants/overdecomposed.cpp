// Charm-FFT (lee2018, chapter 2): each state is cut into more pencils than there are ranks, so that a rank transforms
// one while another of its pencils waits for messages.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

#include "chain/limits_and_cost.hpp"
#include "chain/offloading_variant.hpp"
#include "core/parameters.hpp"
#include "variants/overdecomposed/message_driven.hpp"
#include "variants/overdecomposed/pencil_choice.hpp"

namespace fourscore {

namespace {

Synchronisation synchronisation_of(const Problem& problem) {
  return choice_parameter(problem, "synchronisation", {"none", "broadcast-reduce"}) == "none"
             ? Synchronisation::none
             : Synchronisation::broadcast_reduce;
}

class Overdecomposed : public OffloadingVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {
        "overdecomposed",
        "message-driven pencils, several a rank and state, no barrier between states; transposed: left in x-pencils",
        "lee2018"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    std::vector<Parameter> list{
        {.name = "decomposition",
         .summary = "pencils of a state, D1xD2 as 10x10, or auto",
         .fallback = "auto",
         .samples = {"2x3", "5x2", "4x4"}},
        {.name = "pencils",
         .summary = "pencils of a rank and state, in place of a decomposition",
         .fallback = "4, or as many as fit",
         .samples = {"1", "2", "6"}},
        {"x-state", "what the state with whole x-lines is cut in", "pencils", {"pencils", "slabs"}},
        {.name = "dealing",
         .summary = "which ranks get which pencils: a box of them on a grid of ranks (grid), or by their linear "
                    "numbers: blocks, round-robin, or file:PATH with the rank of each in a line of its own",
         .fallback = "grid",
         .samples = {"blocks", "round-robin"},
         .takes_map = true},
        {"local-messages", "between two pencils of one rank a message, not one copy", "no", {"no", "yes"}},
        {"synchronisation",
         "rank 0 tells all to begin, and is told that all are through",
         "none",
         {"none", "broadcast-reduce"}}};
    std::ranges::move(offload_parameters(), std::back_inserter(list));
    return {.exchange = "none", .parameters = std::move(list)};
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& problem, int /*ranks*/) const override {
    return deals_linear_numbers(problem) ? 1 : 2;
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    (void)synchronisation_of(problem);
    if (auto reason = device_in_the_way(problem)) return reason;
    if (choose_pencils(problem, ranks)) return std::nullopt;
    return reason_against_pencils(problem, ranks);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Problem& problem = context.problem;
    const int ranks = mpi::size_of(context.comm);
    const PencilChoice choice = require_choice(problem, ranks);
    MessageDrivenOptions options;
    options.synchronisation = synchronisation_of(problem);
    options.grid =
        choice.grid ? std::vector<int>{choice.grid->extents[0], choice.grid->extents[1]} : std::vector<int>{ranks};
    auto states = pencil_states(problem, choice);
    options.table_bytes = table_bytes_of_a_rank(choice, states.size());
    const auto offload = offloads(problem);
    if (!offload) return std::make_unique<MessageDrivenPlan>(context, std::move(states), std::move(options));
    const auto bytes = static_cast<std::size_t>(bytes_on_device(problem, ranks, mpi::rank_in(context.comm)));
    const OffloadedContext offloaded(context, device_request(problem), bytes);
    options.on_device = true;
    options.device_bytes = bytes;
    return std::make_unique<MessageDrivenPlan>(offloaded.context(), std::move(states), std::move(options),
                                               *offload == "rank" ? &offloaded.library() : nullptr);
  }

  /// On a grid the bytes are as for `pencil` (czechowski2012, equation 3, less what stays). A rank's D1 D2 / P pencils
  /// of the Z state send to D2 pencils each, of which 1/P2 are its own; those of the Y state to D1, or to the slabs
  /// that they meet, of which 1/P1 are. The way back to natural order doubles all, but on P x 1 and 1 x P: there it
  /// leaves out the Y state (arranged()), and what is sent goes from X to all of Z that meets it. Pencils dealt by
  /// their numbers are counted one by one, and the mean is of the ranks that have some.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const PencilChoice choice = require_choice(problem, ranks);
    return choice.grid ? cost_on_grid(problem, choice) : counted_cost(problem, choice);
  }
  /// Between ranks; the messages of one pair are those of their pencils.
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    const auto list = pencil_states(problem, require_choice(problem, ranks));
    std::vector<RedistributionGroup> groups;
    for (std::size_t s = 0; s + 1 < list.size(); ++s)
      groups.push_back(redistribution_group(list[s].layout, list[s + 1].layout, rank));
    return groups;
  }

 private:
  [[nodiscard]] std::vector<Launch> launches() const override {
    return {{"pencil", "those of one pencil a launch"}, {"rank", "those of all pencils of a rank and state"}};
  }
  [[nodiscard]] double bytes_on_device(const Problem& problem, int ranks, int rank) const override {
    const bool whole_rank = offloads(problem) == "rank";
    Index most = 0;
    for (const PencilState& state : pencil_states(problem, require_choice(problem, ranks)))
      if (state.axis) most = std::max(most, whole_rank ? state.layout.volume(rank) : largest_span(state, rank));
    return static_cast<double>(most) * static_cast<double>(problem.element_bytes());
  }
  [[nodiscard]] std::size_t work_area_bytes(Device& device, const Problem& problem, int ranks,
                                            int rank) const override {
    const bool whole_rank = offloads(problem) == "rank";
    std::vector<std::size_t> area(1);
    std::set<std::array<Extents, 2>> known;  // extents and strides
    for (const PencilState& state : pencil_states(problem, require_choice(problem, ranks))) {
      if (!state.axis) continue;
      known.clear();
      for (const Box& held : state.layout.boxes(rank)) {
        const Extents strides = state.layout.strides_within(held);
        if (whole_rank) known.insert({held.extents(), strides});
        if (whole_rank) continue;
        for (const Overlap& pencil : state.pencils.overlaps(held)) known.insert({pencil.box.extents(), strides});
      }
      for (const auto& [extents, strides] : known)
        widen_work_areas(device, local_fft_spec(problem, {*state.axis}, extents, strides), 1, area);
    }
    return area.front();
  }
  /// Elements from the first to the last of a pencil, as it lies in the rank's memory and on the device.
  [[nodiscard]] static Index largest_span(const PencilState& state, int rank) {
    Index most = 0;
    for (const Box& held : state.layout.boxes(rank)) {
      const Extents strides = state.layout.strides_within(held);
      for (const Overlap& pencil : state.pencils.overlaps(held)) {
        const Extents extents = pencil.box.extents();
        Index span = 1;
        for (std::size_t a = 0; a < 3; ++a) span += (extents[a] - 1) * strides[a];
        if (pencil.box.volume() > 0) most = std::max(most, span);
      }
    }
    return most;
  }
  [[nodiscard]] PencilChoice require_choice(const Problem& problem, int ranks) const {
    const auto choice = choose_pencils(problem, ranks);
    if (!choice) throw InputError(supports(problem, ranks).value_or("no decomposition fits"));
    return *choice;
  }

  /// The bytes of the rank with most pencils, each of which knows D1 or D2 others on either side of a redistribution.
  [[nodiscard]] static double table_bytes_of_a_rank(const PencilChoice& choice, std::size_t states) {
    const auto d1 = static_cast<double>(choice.cuts[0]);
    const auto d2 = static_cast<double>(choice.cuts[1]);
    const double own = std::ceil(d1 * d2 / choice.ranks);
    return table_bytes(own * static_cast<double>(states), 2 * own * std::max(d1, d2) * static_cast<double>(states - 1));
  }

  [[nodiscard]] static Cost counted_cost(const Problem& problem, const PencilChoice& choice) {
    const auto list = pencil_states(problem, choice);
    const auto busy = static_cast<double>(std::min<Index>(choice.ranks, choice.cuts[0] * choice.cuts[1]));
    Cost cost{problem.credited_flops(), 0, 0};
    for (std::size_t s = 0; s + 1 < list.size(); ++s) {
      const PencilPairs pairs = pairs_between(list[s], list[s + 1], problem.element_bytes());
      cost.messages_per_rank += pairs.apart / busy;
      cost.bytes_per_rank += pairs.bytes_apart / busy;
    }
    return cost;
  }

  [[nodiscard]] static Cost cost_on_grid(const Problem& problem, const PencilChoice& choice) {
    const Grid& grid = *choice.grid;
    const Cuts& cuts = choice.cuts;
    const auto [p1, p2, one] = grid.extents;
    const Index slab_count = slabs_of(problem, choice);
    const double own = static_cast<double>(cuts[0] * cuts[1]) / choice.ranks;
    const double receivers =
        choice.x_in_slabs ? parts_met(problem.shape[2], cuts[1], slab_count) : static_cast<double>(cuts[0]);
    const auto leaving = [](int places) { return static_cast<double>(places - 1) / places; };
    const double messages = own * (static_cast<double>(cuts[1]) * leaving(p2) + receivers * leaving(p1));
    const double receivers_of_x = choice.x_in_slabs
                                      ? static_cast<double>(slab_count)
                                      : static_cast<double>(cuts[0]) * parts_met(problem.shape[1], cuts[0], cuts[1]);
    Cost cost = pencil_cost(problem, choice.ranks, grid);
    cost.messages_per_rank = messages;
    if (problem.contract.layout == LayoutContract::natural)
      cost.messages_per_rank += p1 > 1 && p2 > 1 ? messages : own * receivers_of_x * leaving(p1 * p2 * one);
    return cost;
  }

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
};

FOURSCORE_REGISTER_VARIANT(Overdecomposed);

}  // namespace

}  // namespace fourscore
