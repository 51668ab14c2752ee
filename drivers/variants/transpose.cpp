// The transpose method (gupta1993, sections 3.2 and 5.1): n elements seen as an m-dimensional array over an
// (m-1)-dimensional grid of ranks. Axis by axis is made whole, transformed and multiplied by the twiddle factors that
// connect it to the next one. m = 2 is the four-step algorithm (Bailey 1990). See docs/algorithms/one-dimensional.md.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "variants/transpose/transpose_steps.hpp"
#include "variants/transpose/transpose_view.hpp"

namespace fourscore {

namespace {

constexpr const char* input_parameter = "input";
constexpr const char* blocks = "blocks";

bool is_natural(const Problem& problem) { return problem.contract.layout == LayoutContract::natural; }

int dimensions_of(const Problem& problem, int ranks) {
  const Index most = std::max(2, static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))));
  return static_cast<int>(integer_parameter(problem, "dimensions", 2, 2, most));
}

/// Whether the input of a forward transform lies in contiguous blocks; natural order knows nothing else.
bool has_blocks(const Problem& problem) {
  const std::vector<std::string> choices =
      is_natural(problem) ? std::vector<std::string>{blocks} : std::vector<std::string>{"columns", blocks};
  return choice_parameter(problem, input_parameter, choices) == blocks;
}

ViewRequest request_of(const Problem& problem, int ranks) {
  ViewRequest request;
  request.elements = problem.shape[0];
  request.ranks = ranks;
  request.dimensions = dimensions_of(problem, ranks);
  request.grid = problem.grid;
  if (has_blocks(problem)) request.min_first = ranks;
  if (is_natural(problem)) request.min_common = ranks;
  return request;
}

bool runs_backwards(const Problem& problem) { return !is_natural(problem) && problem.direction == Direction::backward; }

/// The units of the contiguous blocks.
Index units_of(const TransposeView& view, bool natural) {
  return natural ? std::gcd(view.extents.front(), view.extents.back()) : view.extents.front();
}

/// An exchange among the ranks of one dimension of the grid, from one whole axis to the next.
RedistributionGroup along(const TransposeView& view, const std::vector<ViewLayout>& layouts, std::size_t axis,
                          int rank) {
  return {folded(view, layouts[axis], axis, rank), folded(view, layouts[axis + 1], axis, rank),
          view.first_along(rank, axis), view.coordinate(rank, axis)};
}

class TransposePlan : public Plan {
 public:
  TransposePlan(const PlanContext& context, TransposeView view);

  void execute(PhaseClock& clock) override {
    for (const auto& step : steps_) step->run(clock);
  }
  [[nodiscard]] std::vector<Component> components() override;

 private:
  /// Makes a step that reads buffer `source`; `leaves`: a transform that leaves its result in the other one.
  using Maker = std::function<std::unique_ptr<TransposeStep>(std::size_t source, bool leaves)>;

  void list_makers(const PlanContext& context);
  void add_from_blocks(const PlanContext& context);
  void add_to_blocks(const PlanContext& context);
  void add_redistribution(const PlanContext& context, RedistributionGroup group);
  void add_permutation(const PlanContext& context, const ViewLayout& layout, const std::vector<Index>& weights,
                       bool from_natural);
  void add_twiddled_fft(const PlanContext& context, std::size_t axis);
  void add_last_fft(const PlanContext& context);
  void allocate_buffers(const PlanContext& context);
  void declare_work();
  void make_steps(std::size_t first, std::size_t leaving);

  TransposeView view_;
  int me_;
  bool natural_;
  bool from_blocks_;     ///< at the beginning of a forward transform
  bool runs_backwards_;  ///< from the last axis to the first
  Index units_;          ///< units of contiguous blocks
  std::vector<ViewLayout> layouts_;
  std::vector<std::unique_ptr<RedistributionSpec>> redistributions_;
  std::unique_ptr<Buffer> staging_;  ///< for all of them; null where there are none
  std::vector<Maker> makers_;
  std::vector<std::unique_ptr<TransposeStep>> steps_;
  std::vector<std::size_t> sources_;  ///< the buffer that each step reads
  std::size_t place_ = 0;             ///< the buffer in which the last step leaves the result
};

TransposePlan::TransposePlan(const PlanContext& context, TransposeView view)
    : view_(std::move(view)),
      me_(mpi::rank_in(context.comm)),
      natural_(is_natural(context.problem)),
      from_blocks_(has_blocks(context.problem)),
      runs_backwards_(runs_backwards(context.problem)),
      units_(units_of(view_, natural_)),
      layouts_(stage_layouts(view_, natural_)) {
  Decomposition input =
      from_blocks_ ? block_layout(view_, units_) : whole_layout(view_, layouts_.front(), view_.input_weights());
  Decomposition output =
      natural_ ? block_layout(view_, units_) : whole_layout(view_, layouts_.back(), view_.output_weights());
  if (runs_backwards_) std::swap(input, output);
  declare_layouts(context.problem, std::move(input), std::move(output));
  list_makers(context);
  if (runs_backwards_) std::ranges::reverse(makers_);
  allocate_buffers(context);
  make_steps(0, makers_.size());
  if (place_ != output_buffer(context.problem)) {
    // The last transform that can leaves its result in the other buffer; the first one always can.
    std::size_t leaving = steps_.size() - 1;
    while (steps_[leaving]->sort() != TransposeStep::Sort::fft || !steps_[leaving]->lands_in_source()) --leaving;
    make_steps(leaving, leaving);
  }
  makers_.clear();
  declare_work();
}

/// As for a forward transform; one that runs backwards takes them from the end, their two sides exchanged.
void TransposePlan::list_makers(const PlanContext& context) {
  if (from_blocks_ && view_.ranks() > 1) add_from_blocks(context);
  for (std::size_t axis = 0; axis + 1 < view_.dimensions(); ++axis) {
    add_twiddled_fft(context, axis);
    if (view_.grid[axis] == 1) continue;
    add_redistribution(context, along(view_, layouts_, axis, me_));
  }
  if (natural_ && view_.ranks() == 1) {
    makers_.emplace_back([this, &context](std::size_t source, bool) {
      return fft_into_columns(context, view_.extents.front(), view_.extents.back(), buffer(source), buffer(1 - source));
    });
    return;
  }
  add_last_fft(context);
  if (natural_) add_to_blocks(context);
}

void TransposePlan::add_from_blocks(const PlanContext& context) {
  const ViewLayout& first = layouts_.front();
  if (view_.dimensions() > 2) add_permutation(context, first, view_.input_weights(), true);
  add_redistribution(context, {folded_blocks(view_, first, units_), folded_whole(view_, first), 0, me_});
}

void TransposePlan::add_to_blocks(const PlanContext& context) {
  const ViewLayout& last = layouts_.back();
  add_redistribution(context, {folded_whole(view_, last), folded_blocks(view_, last, units_), 0, me_});
  if (view_.dimensions() > 2) add_permutation(context, last, view_.output_weights(), false);
}

void TransposePlan::add_redistribution(const PlanContext& context, RedistributionGroup group) {
  if (runs_backwards_) std::swap(group.from, group.to);
  const RedistributionSpec& spec = *redistributions_.emplace_back(std::make_unique<RedistributionSpec>(
      RedistributionSpec{mpi::split(context.comm, group.first, me_), std::move(group.from), std::move(group.to)}));
  makers_.emplace_back([this, &context, &spec](std::size_t source, bool) {
    return redistribution(context, spec.exchange(context, buffer(source), buffer(1 - source), staging_.get()));
  });
}

void TransposePlan::add_permutation(const PlanContext& context, const ViewLayout& layout,
                                    const std::vector<Index>& weights, bool from_natural) {
  std::vector<DealtBox> boxes = dealt_boxes(view_, layout, units_, weights, me_);
  if (runs_backwards_) from_natural = !from_natural;
  const std::size_t bytes = context.problem.element_bytes();
  makers_.emplace_back([this, boxes = std::move(boxes), bytes, from_natural](std::size_t source, bool) {
    return permutation(boxes, from_natural, bytes, buffer(source), buffer(1 - source));
  });
}

/// Element (a, i, c) of the axes before `axis`, of it, and behind it: the latter are those still to be transformed,
/// then perhaps some that are done, for which the factor is the same.
void TransposePlan::add_twiddled_fft(const PlanContext& context, std::size_t axis) {
  const ViewLayout& layout = layouts_[axis];
  const std::vector<Index> weights = view_.input_weights();
  TwiddledSpec spec;
  spec.length = view_.extents[axis];
  spec.order = weights[axis] * spec.length;
  spec.exponents = {0};
  const auto place = std::ranges::find(layout.order, axis);
  for (auto before = layout.order.begin(); before != place; ++before)
    spec.before *= range_of(view_, layout, *before, me_).size();
  for (auto behind = place + 1; behind != layout.order.end(); ++behind) {
    const Range range = range_of(view_, layout, *behind, me_);
    const Index weight = *behind > axis ? weights[*behind] : 0;
    std::vector<Index> exponents;
    for (const Index exponent : spec.exponents)
      for (Index i = range.low; i < range.high; ++i) exponents.push_back(exponent + i * weight);
    spec.exponents = std::move(exponents);
  }
  spec.columns = static_cast<Index>(spec.exponents.size());
  spec.twiddle_first = runs_backwards_;
  makers_.emplace_back([this, &context, spec = std::move(spec)](std::size_t source, bool leaves) {
    return twiddled_fft(context, spec, buffer(source), buffer(leaves ? 1 - source : source));
  });
}

void TransposePlan::add_last_fft(const PlanContext& context) {
  const ViewLayout& layout = layouts_.back();
  Index before = 1;
  Index behind = 1;
  bool found = false;
  for (const std::size_t axis : layout.order) {
    if (axis == layout.whole) found = true;
    if (axis != layout.whole) (found ? behind : before) *= range_of(view_, layout, axis, me_).size();
  }
  makers_.emplace_back(
      [this, &context, before, behind, length = view_.extents.back()](std::size_t source, bool leaves) {
        return plain_fft(context, before, length, behind, buffer(source), buffer(leaves ? 1 - source : source));
      });
}

void TransposePlan::allocate_buffers(const PlanContext& context) {
  Index volume = std::max(input_layout().box(me_).volume(), output_layout().box(me_).volume());
  for (const ViewLayout& layout : layouts_) volume = std::max(volume, local_volume(view_, layout, me_));
  const auto bytes = static_cast<std::size_t>(volume) * context.problem.element_bytes();
  allocate(context, bytes, view_.ranks() > 1 || natural_,
           [&] { return context.exchange->allocate(context.comm, bytes, BufferUse::array); });
  if (redistributions_.empty()) return;
  // They run one after another, so that the one which needs most says how much there is.
  std::size_t staged = 0;
  for (const auto& spec : redistributions_)
    staged = std::max(staged, context.exchange->staging_bytes(spec->exchange(context, buffer(0), buffer(1), nullptr)));
  staging_ = context.exchange->allocate(context.comm, staged, BufferUse::staging);
}

void TransposePlan::make_steps(std::size_t first, std::size_t leaving) {
  if (first < steps_.size()) place_ = sources_[first];
  steps_.resize(first);
  sources_.resize(first);
  for (std::size_t i = first; i < makers_.size(); ++i) {
    sources_.push_back(place_);
    steps_.push_back(makers_[i](place_, i == leaving));
    if (!steps_.back()->lands_in_source()) place_ = 1 - place_;
  }
}

std::vector<Component> TransposePlan::components() {
  std::vector<Component> list;
  std::map<TransposeStep::Sort, int> number;
  for (const auto& step : steps_) step->add_components(list, ++number[step->sort()]);
  return list;
}

void TransposePlan::declare_work() {
  PlanFacts& facts = declared();
  facts.grid = view_.grid;
  if (staging_) facts.workspace_bytes += staging_->bytes();
  for (const auto& step : steps_) {
    facts.message_volume += step->message_volume();
    facts.workspace_bytes += step->workspace_bytes();
    if (step->sort() == TransposeStep::Sort::fft) facts.local_ffts.push_back(step->describe());
  }
}

class Transpose : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"transpose", "1-D: an m-dimensional view, axis by axis; transposed: columns in, left permuted",
            "gupta1993"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    return {.parameters = {{.name = "dimensions",
                            .summary = "m, of the view that is transformed axis by axis: 2 to log2 p + 1",
                            .fallback = "2",
                            .samples = {"2", "3", "4"}},
                           {input_parameter,
                            "how the input of a forward transform lies; natural order has blocks only",
                            "columns",
                            {"columns", blocks}}}};
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& problem, int ranks) const override {
    return static_cast<std::size_t>(dimensions_of(problem, ranks) - 1);
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    require_grid(problem, ranks, grid_entries(problem, ranks));
    if (auto reason = chain_limits(problem, 1, 1)) return reason;
    const ViewRequest request = request_of(problem, ranks);
    if (choose_view(request)) return std::nullopt;
    std::string wanted = "factors of at least 2, and at least the ranks that cut them";
    if (request.dimensions > 2) wanted += ", of which there are at least 2 in each dimension of their grid";
    if (request.min_common > 1)
      wanted += fmt::format("; natural order wants a common divisor of at least {} of the first and the last", ranks);
    else if (request.min_first > 1)
      wanted += fmt::format("; blocks want a first factor of at least {}", ranks);
    return fmt::format("{} elements have no {}-dimensional view for {} ranks: it takes {}", request.elements,
                       request.dimensions, ranks, wanted);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    return std::make_unique<TransposePlan>(context, view_of(context.problem, mpi::size_of(context.comm)));
  }

  /// Equation 11 for one rank and two dimensions: n/p words and p messages, less what stays. With more dimensions the
  /// same in each dimension of the grid, among as many ranks as it has. To and from blocks: among all ranks.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    std::vector<int> groups = view_of(problem, ranks).grid;
    if (has_blocks(problem)) groups.push_back(ranks);
    if (is_natural(problem)) groups.push_back(ranks);
    return cost_of_even_exchanges(problem, ranks, groups);
  }
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    const TransposeView view = view_of(problem, ranks);
    const bool natural = is_natural(problem);
    const Index units = units_of(view, natural);
    const auto layouts = stage_layouts(view, natural);
    std::vector<RedistributionGroup> groups;
    if (has_blocks(problem) && ranks > 1)
      groups.push_back({folded_blocks(view, layouts.front(), units), folded_whole(view, layouts.front()), 0, rank});
    for (std::size_t axis = 0; axis < view.grid.size(); ++axis)
      if (view.grid[axis] > 1) groups.push_back(along(view, layouts, axis, rank));
    if (natural && ranks > 1)
      groups.push_back({folded_whole(view, layouts.back()), folded_blocks(view, layouts.back(), units), 0, rank});
    if (!runs_backwards(problem)) return groups;
    std::ranges::reverse(groups);
    for (RedistributionGroup& group : groups) std::swap(group.from, group.to);
    return groups;
  }

 private:
  [[nodiscard]] TransposeView view_of(const Problem& problem, int ranks) const {
    auto view = choose_view(request_of(problem, ranks));
    if (!view) throw InputError(supports(problem, ranks).value_or("no view fits"));
    return *std::move(view);
  }
};

FOURSCORE_REGISTER_VARIANT(Transpose);

}  // namespace

}  // namespace fourscore
