// log2 P pairwise combinations in place of an all-to-all (haynes2000): each rank transforms a strided subset of the
// grid as a whole, then exchanges its array with one partner after another, of an even and an odd subset each, and
// forms "own + phase factor * partner's" or "-" of it, which leaves a contiguous block of the result on every rank. The
// arrays go by messages that both sides match, or are put into the partner's window.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/one_sided.hpp"
#include "redistribution/packet_window.hpp"
#include "variants/danielson_lanczos/combine.hpp"
#include "variants/danielson_lanczos/strided_subsets.hpp"

namespace fourscore {

namespace {

constexpr const char* variant_name = "danielson-lanczos";
constexpr std::array<char, 3> axis_letters{'x', 'y', 'z'};
constexpr int message_tag = 0;
const std::vector<std::string> message_names{"two-sided", "one-sided"};

/// Section 5: "use of lower-level vendor-specific libraries on the Origin would reduce the latency". It names none;
/// here MPI's windows are that layer.
bool is_one_sided(const Problem& problem) {
  return choice_parameter(problem, "messages", message_names) == "one-sided";
}

// ---- how the splits are shared over the axes

/// A grid with the splits, or why there is none.
struct Splits {
  Grid grid;
  std::string refusal;
};

/// "auto", and every choice of axes that the shape has.
std::vector<std::string> split_choices(std::size_t axes) {
  std::vector<std::string> choices{"auto"};
  for (const char* name : {"x", "y", "xy", "z", "xz", "yz", "xyz"})
    if (std::string_view(name).back() <= axis_letters[axes - 1]) choices.emplace_back(name);
  return choices;
}

std::string halving_text(const Problem& problem) {
  std::string text;
  for (std::size_t a = 0; a < problem.shape.size(); ++a)
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", axis_letters[a],
                        std::countr_zero(static_cast<std::uint64_t>(problem.shape[a])));
  return text;
}

Splits given_splits(const Problem& problem, const std::string& split) {
  Splits result;
  for (std::size_t a = 0; a < problem.grid.size(); ++a) {
    const int parts = problem.grid[a];
    if (parts > 1 && split != "auto" && split.find(axis_letters[a]) == std::string::npos)
      throw InputError(
          fmt::format("grid {} splits axis {}, but parameter 'split' is '{}'; expected auto, or all axes "
                      "that the grid splits",
                      grid_text(problem.grid), axis_letters[a], split));
    if (problem.shape[a] % parts != 0)
      result.refusal = fmt::format("grid {} does not divide shape {} along axis {}", grid_text(problem.grid),
                                   shape_text(problem.shape), axis_letters[a]);
    result.grid.extents[a] = parts;
  }
  return result;
}

/// "auto": the first axis is halved as often as it can be, then the next, so that one phase factor serves the longest
/// runs in memory. Named axes take turns.
Splits shared_splits(const Problem& problem, int ranks, const std::string& split) {
  Splits result;
  const auto can_halve = [&](std::size_t a) {
    return a < problem.shape.size() && problem.shape[a] % (2 * Index{result.grid.extents[a]}) == 0 &&
           (split == "auto" || split.find(axis_letters[a]) != std::string::npos);
  };
  std::size_t axis = 0;
  while (result.grid.ranks() < ranks) {
    int looked_at = 0;
    for (; looked_at < 3 && !can_halve(axis); ++looked_at) axis = (axis + 1) % 3;
    if (looked_at == 3) {
      result.refusal =
          fmt::format("{} ranks need {} even/odd splits along {}; the extents of shape {} allow: {}", ranks,
                      std::countr_zero(static_cast<unsigned>(ranks)), split == "auto" ? "any axes" : split,
                      shape_text(problem.shape), halving_text(problem));
      break;
    }
    result.grid.extents[axis] *= 2;
    if (split != "auto") axis = (axis + 1) % 3;
  }
  return result;
}

Splits splits_of(const Problem& problem, int ranks) {
  require_grid(problem, ranks, problem.shape.size());
  const std::string split = choice_parameter(problem, "split", split_choices(problem.shape.size()));
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    return {{}, fmt::format("{} ranks are no power of two, as {} needs", ranks, variant_name)};
  return problem.grid.empty() ? shared_splits(problem, ranks, split) : given_splits(problem, split);
}

// ---- the plan

class DanielsonLanczosPlan : public Plan {
 public:
  DanielsonLanczosPlan(const PlanContext& context, const Grid& grid);

  void execute(PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;

 private:
  /// One pairwise phase.
  struct Step {
    int partner;
    std::unique_ptr<CombineStep> combine;
    const void* received = nullptr;  ///< the partner's array
  };

  void plan_local_fft(const PlanContext& context, void* from, void* to);
  void plan_steps(const Problem& problem, const Grid& grid);
  void open_window();
  void swap(std::size_t number);
  void put_and_wait(std::size_t number);
  void combine(const Step& step) const { step.combine->run(own_, step.received); }
  void declare_work();

  mpi::Communicator comm_;
  MPI_Datatype type_;
  std::size_t element_bytes_;
  int me_;
  Index bytes_;                              ///< bytes of this rank's elements
  int count_;                                ///< what a partner gets
  std::unique_ptr<BlocksToSubsets> gather_;  ///< natural order only
  std::unique_ptr<LocalFft> fft_;
  bool combines_first_;  ///< the steps backwards: from blocks to subsets
  std::vector<Step> steps_;
  void* own_ = nullptr;                   ///< what the steps combine ...
  void* partners_ = nullptr;              ///< ... with what comes in here, by messages of two sides
  std::unique_ptr<PacketWindow> window_;  ///< one-sided messages only; target and sender number i are those of step i
};

/// Transposed: a forward transform goes from subsets to blocks, a backward one the same steps backwards. Natural: from
/// blocks to blocks, by way of the subsets, in either direction.
DanielsonLanczosPlan::DanielsonLanczosPlan(const PlanContext& context, const Grid& grid)
    : comm_(mpi::duplicate(context.comm)),
      type_(mpi::element_type(context.problem.element_bytes())),
      element_bytes_(context.problem.element_bytes()),
      me_(mpi::rank_in(context.comm)) {
  const Problem& problem = context.problem;
  const bool natural = problem.contract.layout == LayoutContract::natural;
  const bool alone = grid.ranks() == 1;
  combines_first_ = !natural && problem.direction == Direction::backward;
  const Decomposition blocks = decompose(problem.extents(), grid);
  const Decomposition subsets = alone ? blocks : strided_subsets(problem.extents(), grid);
  declare_layouts(problem, natural || combines_first_ ? blocks : subsets,
                  natural || !combines_first_ ? blocks : subsets);
  declared().grid.assign(grid.extents.begin(),
                         grid.extents.begin() + static_cast<std::ptrdiff_t>(problem.shape.size()));
  const Index volume = blocks.box(me_).volume();
  if (!alone) require_int_count(volume, "a message", variant_name);
  count_ = alone ? 0 : static_cast<int>(volume);
  bytes_ = volume * static_cast<Index>(element_bytes_);

  const bool one_sided = is_one_sided(problem) && !alone;
  allocate(context, static_cast<std::size_t>(bytes_), count_ > 0 && (natural || !one_sided));
  Buffer& spare = buffer(buffers() - 1);
  void* subset = input();
  if (natural && !alone) {
    gather_ =
        std::make_unique<BlocksToSubsets>(problem.extents(), grid, context.comm, element_bytes_, buffer(0), spare);
    if (!gather_->lands_in_source()) subset = spare.data();
  }
  plan_local_fft(context, subset, output());
  const std::size_t own = combines_first_ ? 0 : output_buffer(problem);
  own_ = data(own);
  partners_ = data(own == 0 ? buffers() - 1 : 0);
  plan_steps(problem, grid);
  if (one_sided) open_window();
  declare_work();
}

void DanielsonLanczosPlan::plan_local_fft(const PlanContext& context, void* from, void* to) {
  const Problem& problem = context.problem;
  const Extents extents = input_layout().box(me_).extents();
  const Extents strides = input_layout().strides(me_);
  LocalFftSpec spec = local_fft_spec(problem);
  for (std::size_t a = 0; a < problem.shape.size(); ++a) spec.axes.push_back({extents[a], strides[a], strides[a]});
  fft_ = context.local_fft.make(spec, from, to);
}

/// Along an axis cut in P, local extent M: step s joins transforms of length 2^s M to those of twice the length. The
/// lowest s bits of the block's number say which M of them this rank has, bit s whether of the even or the odd subset,
/// or, once joined, of the first or the second half.
void DanielsonLanczosPlan::plan_steps(const Problem& problem, const Grid& grid) {
  const Extents extents = input_layout().box(me_).extents();
  const auto coordinates = grid.coordinates(me_);
  for (std::size_t a = 0; a < 3; ++a)
    for (int joined = 1; joined < grid.extents[a]; joined *= 2) {
      const bool upper = (coordinates[a] & joined) != 0;
      auto partner = coordinates;
      partner[a] ^= joined;
      CombineSpec spec;
      if (combines_first_)
        spec.combination = upper ? Combination::difference : Combination::sum;
      else
        spec.combination = upper ? Combination::odd : Combination::even;
      spec.extents = extents;
      spec.axis = a;
      spec.first = Index{coordinates[a] % joined} * extents[a];
      spec.period = 2 * Index{joined} * extents[a];
      spec.direction = problem.direction;
      spec.precision = problem.precision;
      steps_.push_back({grid.rank_of(partner), make_combine_step(spec), partners_});
    }
  if (combines_first_) std::ranges::reverse(steps_);
}

/// A place for two arrays of each partner, which take turns.
void DanielsonLanczosPlan::open_window() {
  std::vector<PacketWindow::Partner> partners;
  for (const Step& step : steps_) partners.push_back({step.partner, slot_rule(1, bytes_, 2)});
  window_ = std::make_unique<PacketWindow>(comm_.get(), comm_.get(), partners, partners);
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].received = window_->packet(i, 0);
}

void DanielsonLanczosPlan::swap(std::size_t number) {
  if (window_) return put_and_wait(number);
  const int partner = steps_[number].partner;
  FOURSCORE_MPI(MPI_Sendrecv(own_, count_, type_, partner, message_tag, partners_, count_, type_, partner, message_tag,
                             comm_.get(), MPI_STATUS_IGNORE));
}

/// No rank asks whether the partner's place is free: it is the one of the run before the last. The partner put its
/// array of the last run only when it had combined that one, and that array has come.
void DanielsonLanczosPlan::put_and_wait(std::size_t number) {
  window_->poll();
  window_->put(number, static_cast<const std::byte*>(own_), count_, type_);
  window_->flush();
  window_->flag(number);
  window_->flush();
  for (window_->poll(); !window_->has_come(number, 1); window_->poll()) window_->give_way();
  steps_[number].received = window_->packet(number, 0);
  window_->take(number, 1);
}

void DanielsonLanczosPlan::execute(PhaseClock& clock) {
  if (gather_) {
    {
      const Region region(clock, Phase::pack);
      gather_->pack();
    }
    {
      const Region region(clock, Phase::exchange);
      gather_->exchange();
    }
    if (gather_->unpacks()) {
      const Region region(clock, Phase::unpack);
      gather_->unpack();
    }
  }
  const auto transform = [&] {
    const Region region(clock, Phase::fft);
    fft_->execute();
  };
  if (!combines_first_) transform();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    {
      const Region region(clock, Phase::exchange);
      swap(i);
    }
    const Region region(clock, Phase::combine);
    combine(steps_[i]);
  }
  if (combines_first_) transform();
}

std::vector<Component> DanielsonLanczosPlan::components() {
  std::vector<Component> list;
  int exchanges = 0;
  if (gather_) {
    list.push_back({"pack-1", Phase::pack, [this] { gather_->pack(); }, 2 * gather_->bytes_packed()});
    list.push_back({fmt::format("exchange-{}", ++exchanges), Phase::exchange, [this] { gather_->exchange(); },
                    2 * gather_->message_volume().bytes_sent});
    if (gather_->unpacks())
      list.push_back({"unpack-1", Phase::unpack, [this] { gather_->unpack(); }, 2 * gather_->bytes_unpacked()});
  }
  const Component transform{"fft-1", Phase::fft, [this] { fft_->execute(); },
                            2 * static_cast<Index>(facts().grid.size()) * bytes_};
  if (!combines_first_) list.push_back(transform);
  int combinations = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    list.push_back({fmt::format("exchange-{}", ++exchanges), Phase::exchange, [this, i] { swap(i); }, 2 * bytes_});
    // Reads its own and the partner's, writes its own.
    list.push_back(
        {fmt::format("combine-{}", ++combinations), Phase::combine, [this, i] { combine(steps_[i]); }, 3 * bytes_});
  }
  if (combines_first_) list.push_back(transform);
  return list;
}

void DanielsonLanczosPlan::declare_work() {
  PlanFacts& facts = declared();
  if (gather_) facts.message_volume = gather_->message_volume();
  const auto steps = static_cast<Index>(steps_.size());
  facts.message_volume.bytes_sent += steps * count_ * static_cast<Index>(element_bytes_);
  facts.message_volume.messages_sent += steps;
  if (window_) {
    facts.message_volume.control_messages_sent += steps;  // a flag each
    facts.workspace_bytes += window_->bytes();
  }
  for (const Step& step : steps_) facts.workspace_bytes += step.combine->table_bytes();
  facts.local_ffts = {fft_->describe()};
}

// ---- the variant

class DanielsonLanczos : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {variant_name,
            "strided subsets transformed whole, then log2 P pairwise combinations; transposed: strided subsets in, "
            "blocks out (backward: blocks in, subsets out); natural: blocks in and out, at the price of an all-to-all",
            "haynes2000"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    const auto choices = split_choices(3);
    return {.exchange = "none",
            .parameters = {{"split", "axes over which the splits are shared, in turn", choices.front(), choices},
                           {"messages", "how partners swap: both sides match a message, or each puts into a window",
                            message_names.front(), message_names}}};
  }

  [[nodiscard]] std::size_t grid_entries(const Problem& problem, int /*ranks*/) const override {
    return problem.shape.size();
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 1, 3)) return reason;
    (void)is_one_sided(problem);
    if (const Splits splits = splits_of(problem, ranks); !splits.refusal.empty()) return splits.refusal;
    return std::nullopt;
  }

  /// Instances on subsets have windows of their own, which Open MPI takes for one.
  [[nodiscard]] Reason cannot_run_on(const Problem& problem, MPI_Comm comm) const override {
    if (!is_one_sided(problem)) return {};
    if (auto reason = why_no_windows_of_subsets(problem, "messages=one-sided")) return reason;
    return why_no_window(comm, WindowMemory::allocated);
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const Splits splits = splits_of(context.problem, mpi::size_of(context.comm));
    if (!splits.refusal.empty()) throw InputError(splits.refusal);
    return std::make_unique<DanielsonLanczosPlan>(context, splits.grid);
  }

  /// Equation 5: log2 P messages of the rank's n u / P bytes, of whichever kind. The way from blocks to subsets, which
  /// the paper does without, is one all-to-all.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const double steps = std::countr_zero(static_cast<unsigned>(ranks));
    const double share_bytes =
        static_cast<double>(problem.elements()) * static_cast<double>(problem.element_bytes()) / ranks;
    Cost cost{problem.credited_flops(), steps * share_bytes, steps};
    if (problem.contract.layout == LayoutContract::natural) {
      const Cost exchange = even_exchange_cost(problem, ranks, ranks);
      cost.bytes_per_rank += exchange.bytes_per_rank;
      cost.messages_per_rank += exchange.messages_per_rank;
    }
    return cost;
  }
};

FOURSCORE_REGISTER_VARIANT(DanielsonLanczos);

}  // namespace

}  // namespace fourscore
