// Binary exchange (gupta1993, section 3.1): rank r holds the contiguous block of the indices whose leading bits are r.
// The first log2 p iterations of the Cooley-Tukey algorithm (Figure 1) combine whole blocks of ranks that differ in one
// bit; all others, on n/p elements of one rank, are one transform of the local library, or as many passes of radix 2.
// With two extents (appendix C), it goes along the rows of a grid of ranks, then along its columns. See
// docs/algorithms/one-dimensional.md.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "variants/binary_exchange/axis_transform.hpp"

namespace fourscore {

namespace {

constexpr const char* variant_name = "binary-exchange";
const std::vector<std::string> radix_choices{"2", "4", "8", "16"};
const std::vector<std::string> stage_choices{"direct", "pairwise"};
const std::vector<std::string> local_choices{"library", "radix-2"};
const std::vector<std::string> twiddle_choices{"on-the-fly", "precomputed"};

/// Throws InputError for a parameter that cannot be used, or that another one leaves nothing to do.
AxisOptions options_of(const Problem& problem, int ranks) {
  AxisOptions options;
  options.radix = std::stoi(choice_parameter(problem, "radix", radix_choices));
  options.pairwise = choice_parameter(problem, "stages", stage_choices) == "pairwise";
  options.pieces = integer_parameter(problem, "pieces", 1, 1, std::max<Index>(1, problem.elements() / ranks));
  options.whole_table = choice_parameter(problem, "twiddles", twiddle_choices) == "precomputed";
  options.local_radix2 = choice_parameter(problem, "local", local_choices) == "radix-2";
  if (options.local_radix2 && !options.whole_table && problem.parameters.contains("twiddles"))
    throw InputError(
        "parameter 'twiddles' is 'on-the-fly', but with local=radix-2 all factors are precomputed; expected "
        "precomputed, or none given");
  return options;
}

// ---- process grids

/// Nothing, or why `ranks` cannot hold this axis together.
Reason axis_limits(const Problem& problem, std::size_t axis, int ranks, bool local_radix2) {
  const Index n = problem.shape[axis];
  if (local_radix2 && !std::has_single_bit(static_cast<std::uint64_t>(n)))
    return fmt::format("{} elements are no power of two, which local=radix-2 wants", n);
  if (n % ranks != 0) return fmt::format("{} elements do not divide among {} ranks", n, ranks);
  if (problem.contract.layout == LayoutContract::natural && n / ranks % ranks != 0)
    return fmt::format("natural order on {} ranks wants a multiple of {} elements, its square; there are {}", ranks,
                       Index{ranks} * ranks, n);
  return std::nullopt;
}

Reason grid_limits(const Problem& problem, const std::vector<int>& grid, bool local_radix2) {
  for (std::size_t axis = 0; axis < problem.shape.size(); ++axis)
    if (const auto reason = axis_limits(problem, axis, grid[axis], local_radix2))
      return problem.shape.size() == 1 ? *reason
                                       : fmt::format("{} along axis {} of shape {} on grid {}", *reason, "xy"[axis],
                                                     shape_text(problem.shape), grid_text(grid));
  return std::nullopt;
}

/// The problem's grid; else the most square one that fits, and where none does the most square one.
std::vector<int> grid_of(const Problem& problem, int ranks, bool local_radix2) {
  if (!problem.grid.empty()) return problem.grid;
  auto grids = all_grids(ranks, problem.shape.size());
  const std::vector<int> square = most_square(grids);
  std::erase_if(grids, [&](const auto& grid) { return grid_limits(problem, grid, local_radix2).has_value(); });
  return grids.empty() ? square : most_square(grids);
}

// ---- layouts

/// Part r of `ranks` holds the indices that all bits of its coordinates, reversed, make.
DigitOrder all_bits_reversed(Index n, int ranks) {
  DigitOrder order;
  for (Index weight = 1; weight < n; weight *= 2) {
    order.storage.push_back(order.digits.size());
    order.digits.push_back({2, weight, weight < ranks ? 2 : 1});
  }
  return order;
}

/// Along an axis cut in P rank r holds the outputs k1 + P k2, k1 being r reversed: k2 ascending, or reversed too.
Decomposition permuted_layout(const Problem& problem, const std::vector<int>& grid, bool local_radix2) {
  std::array<AxisCut, 3> cuts;
  bool permutes = false;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    const Index n = problem.shape[axis];
    cuts[axis].levels = {{axis}};
    if (n == 1 || (grid[axis] == 1 && !local_radix2)) continue;
    permutes = true;
    cuts[axis].order = local_radix2 ? all_bits_reversed(n, grid[axis]) : bit_reversed_parts(n, grid[axis]);
  }
  const char* name = !permutes ? "whole" : local_radix2 ? "bits reversed" : "rank bits reversed";
  return {problem.extents(), grid, std::move(cuts), name};
}

Decomposition blocks_layout(const Problem& problem, const std::vector<int>& grid) {
  Grid blocks;
  std::ranges::copy(grid, blocks.extents.begin());
  return decompose(problem.extents(), blocks);
}

// ---- the plan

template <class Real>
class BinaryExchangePlan : public Plan {
 public:
  BinaryExchangePlan(const PlanContext& context, std::vector<int> grid, const AxisOptions& options);

  void execute(PhaseClock& clock) override {
    for (const auto& axis : axes_) axis->run(clock);
  }
  [[nodiscard]] std::vector<Component> components() override {
    std::vector<Component> list;
    for (const auto& axis : axes_) axis->add_components(list);
    return list;
  }

 private:
  void add_axis(const PlanContext& context, std::size_t axis, const AxisOptions& options);

  std::vector<int> grid_;
  std::vector<std::unique_ptr<AxisTransform<Real>>> axes_;  ///< one after the other
};

/// Rows come first, as in the paper; a backward transform from the permuted layout does all from its end.
template <class Real>
BinaryExchangePlan<Real>::BinaryExchangePlan(const PlanContext& context, std::vector<int> grid,
                                             const AxisOptions& options)
    : grid_(std::move(grid)) {
  const Problem& problem = context.problem;
  const bool ordered = problem.contract.layout == LayoutContract::natural;
  const bool from_end = !ordered && problem.direction == Direction::backward;
  const Decomposition blocks = blocks_layout(problem, grid_);
  const Decomposition permuted = ordered ? blocks : permuted_layout(problem, grid_, options.local_radix2);
  declare_layouts(problem, from_end ? permuted : blocks, from_end ? blocks : permuted);

  const int ranks = mpi::size_of(context.comm);
  const bool needs_spare = ranks > 1 || (options.local_radix2 && ordered);
  const auto bytes = static_cast<std::size_t>(problem.elements() / ranks) * problem.element_bytes();
  allocate(context, bytes, needs_spare);
  std::vector<std::size_t> order{0};
  if (grid_.size() == 2) order = from_end ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1, 0};
  for (const std::size_t axis : order) add_axis(context, axis, options);

  PlanFacts& facts = declared();
  facts.grid = grid_;
  for (const auto& axis : axes_) {
    facts.message_volume += axis->message_volume();
    facts.workspace_bytes += axis->workspace_bytes();
    facts.local_ffts.push_back(axis->describe());
  }
}

template <class Real>
void BinaryExchangePlan<Real>::add_axis(const PlanContext& context, std::size_t axis, const AxisOptions& options) {
  const int me = mpi::rank_in(context.comm);
  const Index rows = context.problem.shape.front() / grid_.front();
  AxisView view{1, rows, 1};
  mpi::Communicator line;
  if (grid_.size() == 1) {
    line = mpi::duplicate(context.comm);
  } else {
    const Index columns = context.problem.shape[1] / grid_[1];
    view = axis == 0 ? AxisView{1, rows, columns} : AxisView{rows, columns, 1};
    const std::array<int, 2> place{me / grid_[1], me % grid_[1]};
    line = mpi::split(context.comm, place[1 - axis], place[axis]);
  }
  const std::size_t ends_in = output_buffer(context.problem);
  axes_.push_back(std::make_unique<AxisTransform<Real>>(
      context, std::move(line), view, options,
      AxisBuffers{{data(0), data(buffers() - 1)}, axes_.empty() ? 0 : ends_in, ends_in}));
}

// ---- the variant

class BinaryExchange : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {variant_name,
            "1-D, and 2-D along the rows and the columns of a grid: log2 P pairwise exchanges with butterflies, or "
            "fewer stages of a higher radix; transposed: left rank-bit-reversed",
            "gupta1993"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    return {.exchange = "none",
            .parameters = {
                {.name = "pieces",
                 .summary = "pieces that an exchange of a rank's elements is cut in",
                 .fallback = "1",
                 .samples = {"1", "2", "5"}},
                {"twiddles", "factors computed as they are needed, or a table of them all", twiddle_choices.front(),
                 twiddle_choices},
                {"radix", "ranks that combine in a stage", radix_choices.front(), radix_choices},
                {"stages", "of a stage, direct: radix - 1 partners at once; pairwise: log2 radix in turn",
                 stage_choices.front(), stage_choices},
                {"local", "a rank's own elements by one call of the library, or by log2 of them passes of radix 2",
                 local_choices.front(), local_choices}}};
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& problem, int /*ranks*/) const override {
    return problem.shape.size() == 2 ? 2 : 1;
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    require_grid(problem, ranks, grid_entries(problem, ranks));
    if (auto reason = chain_limits(problem, 1, 2)) return reason;
    if (!std::has_single_bit(static_cast<unsigned>(ranks)))
      return fmt::format("{} ranks are no power of two, which binary-exchange wants", ranks);
    const AxisOptions options = options_of(problem, ranks);
    const std::vector<int> grid = grid_of(problem, ranks, options.local_radix2);
    if (auto reason = grid_limits(problem, grid, options.local_radix2)) return reason;
    if (options.radix > std::max(2, std::ranges::max(grid)))
      return fmt::format("radix {} wants as many ranks along an axis; grid {} has {}", options.radix, grid_text(grid),
                         std::ranges::max(grid));
    if (options.local_radix2 && problem.threads > 1)
      return fmt::format("local=radix-2 runs on one thread a rank; {} are asked for", problem.threads);
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const int ranks = mpi::size_of(context.comm);
    const AxisOptions options = options_of(context.problem, ranks);
    std::vector<int> grid = grid_of(context.problem, ranks, options.local_radix2);
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<BinaryExchangePlan<double>>(context, std::move(grid), options);
    return std::make_unique<BinaryExchangePlan<float>>(context, std::move(grid), options);
  }

  /// Equation 4 for one rank: log2 p messages, here in pieces, of n/p words together in each step. With stages of radix
  /// q it is q - 1 such messages log_q p times, or, in pairwise stages, log2 p as with radix 2. With two extents p = P1
  /// P2, so that radix 2 sends as much (appendix C). Natural order adds log2 p steps of half as many words: within the
  /// 2 log2 p + 1 of appendix C.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const AxisOptions options = options_of(problem, ranks);
    const double share_bytes =
        static_cast<double>(problem.elements()) / ranks * static_cast<double>(problem.element_bytes());
    double arrays = 0;
    for (const int of_axis : grid_of(problem, ranks, options.local_radix2))
      for (const int radix : stage_radices(of_axis, options.radix))
        arrays += options.pairwise ? log2_of(radix) : radix - 1;
    Cost cost{problem.credited_flops(), arrays * share_bytes, arrays * static_cast<double>(options.pieces)};
    if (problem.contract.layout == LayoutContract::natural) {
      cost.bytes_per_rank += log2_of(ranks) * share_bytes / 2;
      cost.messages_per_rank += log2_of(ranks);
    }
    return cost;
  }
};

FOURSCORE_REGISTER_VARIANT(BinaryExchange);

}  // namespace

}  // namespace fourscore
