#include "harness/active_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/registry.hpp"
#include "harness/named_phases.hpp"
#include "harness/round_trip.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

// Round numbers for a rank of today's clusters: they choose a number of ranks, and predict no time.
constexpr double flops_per_s = 2e9;
constexpr double seconds_per_message = 2e-6;
constexpr double bytes_per_s = 1e9;

Dealing spread(int active, int ranks) { return {Dealing::Rule::spread, active, ranks}; }

Problem on_all_ranks(const Problem& problem) {
  Problem all = problem;
  all.active_ranks = all_ranks;
  return all;
}

/// What an active rank gives to others on the way back, which is as much as it gets on the way there.
Cost cost_of_redistributions(const Problem& problem, int active, int ranks) {
  double bytes = static_cast<double>(problem.element_bytes()) / active;
  for (const Index extent : problem.complex_extents()) bytes *= static_cast<double>(extent);
  return {0, bytes * (1 - static_cast<double>(active) / ranks), static_cast<double>(ranks) / active - 1};
}

double seconds_on(const Variant& variant, const Problem& problem, int active, int ranks) {
  if (variant.supports(problem, active)) return std::numeric_limits<double>::infinity();
  Cost cost = variant.cost(problem, active);
  const Cost moved = cost_of_redistributions(problem, active, ranks);
  cost.bytes_per_rank += 2 * moved.bytes_per_rank;
  cost.messages_per_rank += 2 * moved.messages_per_rank;
  return cost.flops / active / flops_per_s + cost.messages_per_rank * seconds_per_message +
         cost.bytes_per_rank / bytes_per_s;
}

/// The layouts of plans on all ranks.
struct Layouts {
  Decomposition input;
  Decomposition output;
};

Layouts slabs(const Problem& problem, int ranks) {
  const Decomposition layout = decompose(problem.extents(), Grid{{ranks, 1, 1}});
  return {layout, layout};
}

Layouts layouts_on_all(const Variant& variant, const Problem& problem, const PlanContext& context) {
  Problem planned = problem;
  planned.grid.clear();
  planned.contract.effort = Effort::estimate;
  const int ranks = mpi::size_of(context.comm);
  if (variant.supports(planned, ranks)) return slabs(problem, ranks);
  const auto plan = variant.make_plan({planned, context.comm, context.exchange, context.local_fft});
  return {plan->input_layout(), plan->output_layout()};
}

bool can_be_dealt(const Decomposition& layout) {
  for (int rank = 0; rank < layout.ranks(); ++rank)
    if (layout.boxes(rank).size() > 1) return false;
  return !layout.permutes();
}

/// A layout of the active ranks, as rank 0 knows it, which is always one of them: over all ranks, of which others hold
/// nothing. Collective.
Decomposition dealt_to_all(MPI_Comm comm, const Decomposition* mine, const Extents& shape, int active) {
  const int ranks = mpi::size_of(comm);
  const bool tells = mpi::rank_in(comm) == 0;
  constexpr std::size_t numbers_of_a_box = 6;
  std::vector<Index> numbers(3 + numbers_of_a_box * static_cast<std::size_t>(active));
  if (tells && can_be_dealt(*mine)) {
    std::ranges::copy(mine->order, numbers.begin());
    for (int rank = 0; rank < active; ++rank) {
      const Box box = mine->box(rank);
      const auto at = numbers.begin() + 3 + static_cast<std::ptrdiff_t>(numbers_of_a_box) * rank;
      std::ranges::copy(box.low, at);
      std::ranges::copy(box.high, at + 3);
    }
  }
  FOURSCORE_MPI(MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, 0, comm));
  if (numbers[0] == numbers[1])
    throw InputError("active_ranks: this variant leaves several boxes on a rank, or indices in an order of its own");
  std::vector<Box> boxes(static_cast<std::size_t>(active));
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const auto at = numbers.begin() + 3 + static_cast<std::ptrdiff_t>(numbers_of_a_box * rank);
    std::copy_n(at, 3, boxes[rank].low.begin());
    std::copy_n(at + 3, 3, boxes[rank].high.begin());
  }
  Decomposition pieces = Decomposition::of_boxes(shape, std::move(boxes));
  std::copy_n(numbers.begin(), 3, pieces.order.begin());
  return Decomposition::dealt(pieces, spread(active, ranks), fmt::format("{} of {} ranks", active, ranks));
}

class ActiveRanksPlan : public Plan {
 public:
  ActiveRanksPlan(const Variant& variant, int active, const PlanContext& context)
      : comm_(context.comm), me_(mpi::rank_in(context.comm)), element_bytes_(context.problem.element_bytes()) {
    const Problem problem = on_all_ranks(context.problem);
    Layouts all = layouts_on_all(variant, problem, context);
    declared().input_layout = std::move(all.input);
    declared().output_layout = std::move(all.output);
    active_ = mpi::split(comm_, is_active(me_, active, mpi::size_of(comm_)) ? 0 : MPI_UNDEFINED, me_);
    if (active_.get() != MPI_COMM_NULL)
      plan_ = variant.make_plan({problem, active_.get(), context.exchange, context.local_fft});
    const auto dealt = [&](const Decomposition* layout) {
      return dealt_to_all(comm_, layout, problem.extents(), active);
    };
    enters_ = dealt(plan_ ? &plan_->input_layout() : nullptr);
    leaves_ = dealt(plan_ ? &plan_->output_layout() : nullptr);
    plan_exchanges(context, output_buffer(problem));
    declare_work();
  }

  void execute(PhaseClock& clock) override {
    there_->run(clock);
    if (plan_) {
      copy(clock, Phase::unpack, plan_->input(), data(there_->lands_in_source() ? 0 : 1), enters_);
      plan_->execute(clock);
      copy(clock, Phase::pack, data(back_from_), plan_->output(), leaves_);
    }
    back_->run(clock);
  }

  /// Collective. Idle ranks have those of the active ones, which do nothing there.
  [[nodiscard]] std::vector<Component> components() override {
    std::vector<Component> mine = plan_ ? plan_->components() : std::vector<Component>{};
    std::vector<Component> list;
    add_exchange(list, *there_, "to-active", enters_);
    const auto named = read_named_phases(mpi::broadcast_text(comm_, 0, text_of(mine)));
    if (named.empty()) return {};  // it is not told apart
    for (const NamedPhase& entry : named) {
      const auto found = std::ranges::find(mine, entry.name, &Component::name);
      list.push_back(found != mine.end() ? std::move(*found) : Component{entry.name, entry.phase, [] {}, 0});
    }
    add_exchange(list, *back_, "from-active", leaves_);
    return list;
  }
  void check_memory() const override {
    if (plan_) plan_->check_memory();
  }

 private:
  void plan_exchanges(const PlanContext& context, std::size_t output) {
    const ExchangeMethod& method =
        context.exchange != nullptr ? *context.exchange : ExchangeRegistry::instance().get("alltoallv", "exchange");
    Index most = 0;
    for (const Decomposition* layout :
         std::array<const Decomposition*, 4>{&input_layout(), &output_layout(), &enters_, &leaves_})
      most = std::max(most, layout->memory_volume(me_));
    const std::size_t bytes = static_cast<std::size_t>(most) * element_bytes_;
    allocate(context, bytes, true, [&] { return method.allocate(comm_, bytes, BufferUse::array); });
    const auto make = [&](const Decomposition& from, const Decomposition& to, std::size_t source) {
      return method.make(
          {from, to, comm_, element_bytes_, buffer(source), buffer(1 - source), MPI_COMM_NULL, &context.problem});
    };
    there_ = make(input_layout(), enters_, 0);
    // The result lands in the buffer in which the contract wants it.
    back_from_ = output;
    back_ = make(leaves_, output_layout(), back_from_);
    if (back_->lands_in_source()) return;
    back_from_ = 1 - output;
    back_.reset();
    back_ = make(leaves_, output_layout(), back_from_);
    if (back_->lands_in_source()) throw std::logic_error("an exchange lands elsewhere when its buffers are swapped");
  }

  void declare_work() {
    PlanFacts& facts = declared();
    facts.message_volume = there_->message_volume();
    facts.message_volume += back_->message_volume();
    facts.workspace_bytes = there_->facts().workspace_bytes + back_->facts().workspace_bytes;
    std::array<int, 5> shared{};  // what idle ranks are told: exactness, and the grid with its entries
    if (plan_) {
      const PlanFacts& own = plan_->facts();
      facts.message_volume += own.message_volume;
      facts.device_work = own.device_work;
      facts.buffer_bytes += own.buffer_bytes;
      facts.workspace_bytes += own.workspace_bytes;
      facts.local_ffts = own.local_ffts;
      shared[0] = own.message_volume_is_exact ? 1 : 0;
      shared[1] = static_cast<int>(own.grid.size());
      std::ranges::copy(own.grid, shared.begin() + 2);
    }
    FOURSCORE_MPI(MPI_Bcast(shared.data(), static_cast<int>(shared.size()), MPI_INT, 0, comm_));
    facts.message_volume_is_exact = shared[0] != 0;
    if (!facts.message_volume_is_exact) facts.message_volume = {};  // nobody knows all of it: it is counted
    facts.grid.assign(shared.begin() + 2, shared.begin() + 2 + shared[1]);
  }

  [[nodiscard]] std::size_t bytes_in(const Decomposition& layout) const {
    return static_cast<std::size_t>(layout.volume(me_)) * element_bytes_;
  }
  void copy(PhaseClock& clock, Phase phase, void* to, const void* from, const Decomposition& layout) const {
    const Region region(clock, phase);
    if (const std::size_t bytes = bytes_in(layout); bytes > 0) std::memcpy(to, from, bytes);
  }
  void add_exchange(std::vector<Component>& list, Exchange& exchange, const std::string& name,
                    const Decomposition& active) const {
    const ExchangeFacts& facts = exchange.facts();
    const auto copied = 2 * static_cast<Index>(bytes_in(active));
    const bool enters = &active == &enters_;
    list.push_back({"pack-" + name, Phase::pack, [&exchange] { exchange.pack(); },
                    2 * facts.bytes_packed + (enters ? 0 : copied)});
    const Decomposition& after = enters ? enters_ : output_layout();
    list.push_back({"exchange-" + name, Phase::exchange,
                    [&exchange] {
                      exchange.start();
                      exchange.finish();
                    },
                    min_bytes_of_exchange(facts.volume, static_cast<Index>(bytes_in(after)))});
    list.push_back({"unpack-" + name, Phase::unpack, [&exchange] { exchange.unpack(); },
                    2 * facts.bytes_unpacked + (enters ? copied : 0)});
  }

  MPI_Comm comm_;
  int me_;
  std::size_t element_bytes_;
  mpi::Communicator active_;    ///< null on idle ranks
  std::unique_ptr<Plan> plan_;  ///< null on idle ranks
  Decomposition enters_;        ///< the plan's input, over all ranks
  Decomposition leaves_;        ///< its output
  std::unique_ptr<Exchange> there_;
  std::unique_ptr<Exchange> back_;
  std::size_t back_from_ = 0;  ///< the buffer that back_ begins with
};

/// Asks the variant for everything, on fewer ranks where these matter.
class OnActiveRanks : public Variant {
 public:
  explicit OnActiveRanks(const Variant& variant) : variant_(variant) {}
  [[nodiscard]] Card card() const override { return variant_.card(); }
  [[nodiscard]] std::string unavailable() const override { return variant_.unavailable(); }
  [[nodiscard]] VariantFacts facts() const override { return variant_.facts(); }
  [[nodiscard]] Reason refuses(const ExchangeMethod& exchange, const Problem& problem) const override {
    return variant_.refuses(exchange, problem);
  }
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override { return whole_fields(problem, *this); }
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override { return variant_.local_fft(problem); }
  [[nodiscard]] std::size_t grid_entries(const Problem& problem, int ranks) const override {
    return variant_.grid_entries(problem, active(problem, ranks));
  }
  void register_solvers() const override { variant_.register_solvers(); }
  [[nodiscard]] ThreadLevel thread_level(const Problem& problem) const override {
    return variant_.thread_level(problem);
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    if (problem.kind != Kind::c2c) return "active ranks take complex data alone; expected kind c2c";
    return variant_.supports(problem, active(problem, ranks));
  }
  [[nodiscard]] Reason cannot_run_on(const Problem& problem, MPI_Comm comm) const override {
    return variant_.cannot_run_on(problem, comm);
  }
  [[nodiscard]] const DeviceUse* device_use(const Problem& problem) const override {
    return variant_.device_use(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    const int ranks = mpi::size_of(context.comm);
    const int count = active(context.problem, ranks);
    if (count == ranks) return variant_.make_plan(context);
    return std::make_unique<ActiveRanksPlan>(variant_, count, context);
  }
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const int count = active(problem, ranks);
    Cost cost = variant_.cost(problem, count);
    if (count == ranks) return cost;
    const Cost moved = cost_of_redistributions(problem, count, ranks);
    cost.bytes_per_rank += moved.bytes_per_rank;
    cost.messages_per_rank += moved.messages_per_rank;
    return cost;
  }
  /// The redistributions of the variant between the active ranks; before and after them all ranks are one group.
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    const int count = active(problem, ranks);
    if (count == ranks) return variant_.redistributions(problem, ranks, rank);
    const auto layout = decompose(problem.extents(), Grid{{ranks, 1, 1}});
    std::vector<RedistributionGroup> groups{{layout, layout, 0, rank}};
    if (!is_active(rank, count, ranks)) return groups;
    const auto number = static_cast<int>(spread(count, ranks).piece(rank, 0));
    for (RedistributionGroup& group : variant_.redistributions(problem, count, number))
      groups.push_back(std::move(group));
    groups.push_back(groups.front());
    return groups;
  }

 private:
  [[nodiscard]] int active(const Problem& problem, int ranks) const {
    return active_ranks_of(variant_, problem, ranks);
  }
  const Variant& variant_;
};

}  // namespace

int active_ranks_of(const Variant& variant, const Problem& problem, int ranks) {
  if (problem.active_ranks == all_ranks || problem.active_ranks >= ranks) return ranks;
  if (problem.active_ranks != auto_ranks) return problem.active_ranks;
  if (!problem.grid.empty()) {
    Index places = 1;
    for (const int extent : problem.grid) places *= extent;
    return static_cast<int>(std::min<Index>(places, ranks));
  }
  const Problem forward = in_direction(on_all_ranks(problem), Direction::forward);
  int best = ranks;
  double least = std::numeric_limits<double>::infinity();
  for (int count = ranks; count > 0; count /= 2)
    if (const double seconds = seconds_on(variant, forward, count, ranks); seconds < least) {
      best = count;
      least = seconds;
    }
  return best;
}

bool is_active(int rank, int active, int ranks) { return spread(active, ranks).count(rank) > 0; }

std::unique_ptr<Variant> on_active_ranks(const Variant& variant) { return std::make_unique<OnActiveRanks>(variant); }

}  // namespace fourscore
