// Charm-NodeFFT (lee2018, chapter 3): coarse pencils, one for each state and node, and threads within the node for all
// that is done with them. Fewer and larger messages than with pencils dealt to the cores.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "chain/limits_and_cost.hpp"
#include "chain/offloading_variant.hpp"
#include "core/parameters.hpp"
#include "mpi/handles.hpp"
#include "variants/node/node_plan.hpp"

namespace fourscore {

namespace {

constexpr Index max_segments = 4096;
constexpr Index default_segment_bytes = Index{64} << 10;

/// As Charm-NodeFFT was: one message is one segment, each thread packs and sends its own messages, and any thread takes
/// what comes in. Throws InputError for parameters that say otherwise.
bool as_charm(const Problem& problem) {
  const bool charm = choice_parameter(problem, "style", {"segments", "charm"}) == "charm";
  const auto exclude = [&](const std::string& name) {
    if (problem.parameters.contains(name))
      throw InputError(fmt::format("parameters 'style=charm' and '{}' exclude each other; expected one of them", name));
  };
  if (charm) {
    exclude("segments");
    exclude("segment-bytes");
    if (choice_parameter(problem, "mpi", {"funneled", "multiple"}) == "funneled" && problem.parameters.contains("mpi"))
      throw InputError("parameters 'style=charm' and 'mpi=funneled' exclude each other; expected mpi=multiple");
  }
  return charm;
}

/// Whether one thread alone packs and sends after the Z state (lee2018, section 3.3.2: "omitted optimization").
bool one_packs_z(const Problem& problem) {
  const bool one = choice_parameter(problem, "z-to-y", {"threads", "one-thread"}) == "one-thread";
  if (one && !as_charm(problem))
    throw InputError("parameter 'z-to-y' is 'one-thread', which is for style=charm alone; expected threads");
  return one;
}

MpiCallers callers_of(const Problem& problem) {
  if (as_charm(problem)) return MpiCallers::any;
  return choice_parameter(problem, "mpi", {"funneled", "multiple"}) == "multiple" ? MpiCallers::own : MpiCallers::one;
}

/// By default as many as there are threads, so that all have their share of every message.
Index segments_of(const Problem& problem) {
  if (as_charm(problem)) return 1;
  return integer_parameter(problem, "segments", std::min<Index>(problem.threads, max_segments), 1, max_segments);
}

Index segment_bytes_of(const Problem& problem) {
  return integer_parameter(problem, "segment-bytes", default_segment_bytes, 1, Index{1} << 40);
}

/// The problem's grid, else as `pencil` chooses; in the style of Charm the most square, as lee2018 had (Table 3.1:
/// 2x2, 2x4 and 4x4 pencils on 4, 8 and 16 nodes).
std::optional<Grid> grid_of(const Problem& problem, int ranks) {
  if (!as_charm(problem) || !problem.grid.empty()) return pencil_grid(problem, ranks);
  for (const Grid& grid : two_dimensional_grids(ranks))
    if (fits_pencils(problem, grid)) return grid;
  return std::nullopt;
}

class Node : public OffloadingVariant {
 public:
  [[nodiscard]] Card card() const override {
    return {
        "node",
        "one pencil a state and rank, OpenMP threads for FFT, packing, messages and unpacking; transposed: x-pencils",
        "lee2018"};
  }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_OPENMP
    return {};
#else
    return "built without OpenMP (the compiler has no -fopenmp that works)";
#endif
  }
  /// Its threads share out the transforms; each of those has one.
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override {
    return {OffloadingVariant::local_fft(problem).own, 1};
  }
  [[nodiscard]] VariantFacts facts() const override {
    std::vector<Parameter> list{
        {"style",
         "messages in segments, or as in Charm-NodeFFT: whole, and any thread takes what comes in",
         "segments",
         {"segments", "charm"}},
        {"mpi", "one thread of a rank calls MPI, or all do", "funneled", {"funneled", "multiple"}},
        {"z-to-y", "who packs and sends after the Z state, with style=charm", "threads", {"threads", "one-thread"}},
        {.name = "segments",
         .summary = fmt::format("segments of a message, at most: 1 to {}", max_segments),
         .fallback = "one a thread",
         .samples = {"1", "2", "5"}},
        {.name = "segment-bytes",
         .summary = "minimum bytes of a segment",
         .fallback = std::to_string(default_segment_bytes),
         .samples = {"1", "1000"}}};
    std::ranges::move(offload_parameters(), std::back_inserter(list));
    return {{Kind::c2c, Kind::r2c}, "none", std::move(list)};
  }

  [[nodiscard]] ThreadLevel thread_level(const Problem& problem) const override {
    return problem.threads > 1 && callers_of(problem) != MpiCallers::one ? ThreadLevel::multiple
                                                                         : ThreadLevel::funneled;
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override { return 2; }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 3, 3)) return reason;
    (void)callers_of(problem);
    (void)one_packs_z(problem);
    (void)segments_of(problem);
    (void)segment_bytes_of(problem);
    if (auto reason = device_in_the_way(problem)) return reason;
    if (grid_of(problem, ranks)) return std::nullopt;
    const Extents n = problem.complex_extents();
    const std::string who =
        problem.grid.empty() ? fmt::format("{} ranks", ranks) : fmt::format("a grid of {}", grid_text(problem.grid));
    return fmt::format(
        "{} have more places than node can use: it takes P1 x P2 with P1 at most {} and P2 at most {} for "
        "shape {}",
        who, std::min(n[0], n[1]), std::min(n[1], n[2]), shape_text(problem.shape));
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
#ifdef FOURSCORE_OPENMP
    const Problem& problem = context.problem;
    const int ranks = mpi::size_of(context.comm);
    const Grid grid = require_grid_of(problem, ranks);
    auto stages = arrange_stages(problem, pencil_stages(problem.complex_extents(), grid));
    NodeOptions options;
    options.callers = callers_of(problem);
    options.one_packs_z = one_packs_z(problem);
    options.segments = segments_of(problem);
    options.segment_bytes = segment_bytes_of(problem);
    options.grid = {grid.extents[0], grid.extents[1]};
    if (!offloads(problem)) return std::make_unique<NodePlan>(context, std::move(stages), options);
    options.on_device = true;
    options.device_bytes = static_cast<std::size_t>(bytes_on_device(problem, ranks, mpi::rank_in(context.comm)));
    const OffloadedContext offloaded(context, device_request(problem), options.device_bytes);
    return std::make_unique<NodePlan>(offloaded.context(), std::move(stages), options);
#else
    throw InputError(fmt::format("variant 'node' ({} ranks): {}", mpi::size_of(context.comm), unavailable()));
#endif
  }

  /// As `pencil`: czechowski2012, equation 3, for rows and for columns, less what stays. Each of a group's messages is
  /// cut into its segments. The way back to natural order doubles all.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Grid grid = require_grid_of(problem, ranks);
    const int times = problem.contract.layout == LayoutContract::natural ? 2 : 1;
    Cost total{problem.credited_flops(), 0, 0};
    for (const int group : {grid.extents[0], grid.extents[1]}) {
      const Cost exchange = even_exchange_cost(problem, ranks, group);
      total.bytes_per_rank += times * exchange.bytes_per_rank;
      if (group == 1) continue;
      const auto message_bytes = static_cast<Index>(exchange.bytes_per_rank / exchange.messages_per_rank);
      const Index cut = std::clamp<Index>(message_bytes / segment_bytes_of(problem), 1, segments_of(problem));
      total.messages_per_rank += times * exchange.messages_per_rank * static_cast<double>(cut);
    }
    return total;
  }
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    return redistributions_between(
        arrange_stages(problem, pencil_stages(problem.complex_extents(), require_grid_of(problem, ranks))), rank);
  }

 private:
  [[nodiscard]] std::vector<Launch> launches() const override {
    return {{"pencil", "those of a rank's one pencil of a state in one launch, by one thread"}};
  }
  [[nodiscard]] double bytes_on_device(const Problem& problem, int ranks, int rank) const override {
    const Grid grid = require_grid_of(problem, ranks);
    const auto stages = arrange_stages(problem, pencil_stages(problem.complex_extents(), grid));
    const Index most = largest_box(stages, rank, true);
    return static_cast<double>(most) * static_cast<double>(problem.element_bytes());
  }
  [[nodiscard]] std::size_t work_area_bytes(Device& device, const Problem& problem, int ranks,
                                            int rank) const override {
    const Grid grid = require_grid_of(problem, ranks);
    std::vector<std::size_t> area(1);
    for (const ChainStage& stage : arrange_stages(problem, pencil_stages(problem.complex_extents(), grid)))
      if (!stage.axes.empty())
        widen_work_areas(
            device, local_fft_spec(problem, stage.axes, stage.layout.box(rank).extents(), stage.layout.strides(rank)),
            1, area);
    return area.front();
  }
  [[nodiscard]] Grid require_grid_of(const Problem& problem, int ranks) const {
    const auto grid = grid_of(problem, ranks);
    if (!grid) throw InputError(supports(problem, ranks).value_or("no grid fits"));
    return *grid;
  }
};

FOURSCORE_REGISTER_VARIANT(Node);

}  // namespace

}  // namespace fourscore
