#include "variants/reference/plugin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "interfaces/variant.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/guarded_buffer.hpp"
#include "variants/reference/plugin_library.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore {
namespace {

using Library = std::shared_ptr<const PluginLibrary>;

fourscore_problem_t problem_of(const Problem& problem) {
  fourscore_problem_t asked{};
  const Extents shape = problem.extents();
  std::ranges::copy(shape, std::begin(asked.shape));
  asked.axes = static_cast<std::int32_t>(problem.shape.size());
  asked.kind = problem.kind == Kind::c2c ? FOURSCORE_C2C : FOURSCORE_R2C;
  asked.precision = problem.precision == Precision::double_precision ? FOURSCORE_DOUBLE : FOURSCORE_SINGLE;
  asked.direction = problem.direction == Direction::backward ? FOURSCORE_BACKWARD : FOURSCORE_FORWARD;
  asked.layout = problem.contract.layout == LayoutContract::natural ? FOURSCORE_NATURAL : FOURSCORE_TRANSPOSED;
  asked.in_place = problem.contract.buffers == Buffers::in_place ? 1 : 0;
  asked.effort = problem.contract.effort == Effort::estimate  ? FOURSCORE_ESTIMATE
                 : problem.contract.effort == Effort::measure ? FOURSCORE_MEASURE
                                                              : FOURSCORE_PATIENT;
  asked.threads = problem.threads;
  for (std::size_t i = 0; i < problem.grid.size() && i < 3; ++i) asked.grid[i] = problem.grid[i];
  return asked;
}

/// What begin() and end() of a plugin's phases write to.
struct PluginClock {
  PhaseClock* clock = nullptr;
  /// A plugin has no phases of the harness, which lie between the last of its own and other.
  static void begin(void* to, std::int32_t phase) {
    static_assert(static_cast<int>(Phase::d2h) == FOURSCORE_D2H && FOURSCORE_D2H + 1 == FOURSCORE_OTHER);
    const bool is_known = phase >= 0 && phase < FOURSCORE_OTHER;
    static_cast<PluginClock*>(to)->clock->enter({is_known ? static_cast<Phase>(phase) : Phase::other});
  }
  static void end(void* to) { static_cast<PluginClock*>(to)->clock->enter({}); }
};

/// The boxes that all ranks hold on one side.
Decomposition layout_of(const PluginLibrary& library, MPI_Comm comm, const Extents& shape, const fourscore_box_t& mine,
                        const std::string& side) {
  Box box;
  std::array<int, 3> order{}, sorted{};
  std::copy(std::begin(mine.low), std::end(mine.low), box.low.begin());
  std::copy(std::begin(mine.high), std::end(mine.high), box.high.begin());
  std::copy(std::begin(mine.order), std::end(mine.order), order.begin());
  const auto text = [](const Box& one) {
    return fmt::format("{},{},{} to {},{},{}", one.low[0], one.low[1], one.low[2], one.high[0], one.high[1],
                       one.high[2]);
  };
  const auto refuse = [&](const std::string& what) { throw InputError(library.about("fourscore_boxes", what)); };
  sorted = order;
  std::ranges::sort(sorted);
  if (sorted != std::array{0, 1, 2})
    refuse(fmt::format("gives order {},{},{} {}; expected the axes 0, 1 and 2, the slowest first", order[0], order[1],
                       order[2], side));
  if (box.empty()) box = {};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (box.low[axis] < 0 || box.high[axis] > shape[axis])
      refuse(fmt::format("gives {} {} on rank {}; expected a box of shape {}x{}x{}", text(box), side,
                         mpi::rank_in(comm), shape[0], shape[1], shape[2]));
  Decomposition layout = gathered_layout(comm, shape, box, order, "the plugin's boxes " + side);
  const int me = mpi::rank_in(comm);
  Index held = 0;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    held += layout.volume(rank);
    if (rank != me && !intersect(box, layout.box(rank)).empty())
      refuse(fmt::format("gives {} {} on rank {}, and {} on rank {}, which overlap", text(box), side, me,
                         text(layout.box(rank)), rank));
  }
  if (const Index all = shape[0] * shape[1] * shape[2]; held < all)
    refuse(fmt::format("leaves out {} of {} elements {}", all - held, all, side));
  return layout;
}

class PluginPlan : public Plan {
 public:
  PluginPlan(Library library, int index, const PlanContext& context)
      : library_(std::move(library)), functions_(library_->functions()), comm_(mpi::duplicate(context.comm)) {
    const Problem& problem = context.problem;
    const fourscore_problem_t asked = problem_of(problem);
    library_->require(functions_.create(index, &asked, MPI_Comm_c2f(comm_.get()), &plan_), "fourscore_create");
    try {
      take_boxes(problem);
      take_buffers(context);
      const fourscore_phases_t phases{&clock_, &PluginClock::begin, &PluginClock::end};
      if (functions_.set_phases != nullptr)
        library_->require(functions_.set_phases(plan_, &phases), "fourscore_set_phases");
    } catch (...) {
      functions_.destroy(plan_);
      throw;
    }
    declared().grid = problem.grid;
    declared().message_volume_is_exact = false;  // what it sends is counted, not declared
  }
  ~PluginPlan() override { functions_.destroy(plan_); }
  PluginPlan(const PluginPlan&) = delete;
  PluginPlan& operator=(const PluginPlan&) = delete;

  void execute(PhaseClock& clock) override {
    clock_.clock = &clock;
    if (const int returned = functions_.execute(plan_, input(), output()); returned != 0)
      library_->require(returned, "fourscore_execute");
  }
  void check_memory() const override {
    for (std::size_t i = 0; i < buffers(); ++i)
      if (!dynamic_cast<const GuardedBuffer&>(buffer(i)).is_intact())
        throw InputError(library_->about("fourscore_execute",
                                         fmt::format("wrote beyond the {} bytes of an array", buffer(i).bytes())));
  }

 private:
  void take_boxes(const Problem& problem) {
    fourscore_box_t before{}, after{};
    library_->require(functions_.boxes(plan_, &before, &after), "fourscore_boxes");
    declared().input_layout = layout_of_side(problem, before, "before", problem.real_input());
    declared().output_layout = layout_of_side(problem, after, "after", problem.real_output());
  }
  /// Real data in place lies in rows that have room for their half spectra.
  [[nodiscard]] Decomposition layout_of_side(const Problem& problem, fourscore_box_t box, const std::string& side,
                                             bool is_real) const {
    const bool padded = is_real && problem.contract.buffers == Buffers::in_place;
    const std::size_t axis = problem.last_axis();
    const Index n = problem.shape.back();
    if (padded) {
      if (box.order[2] != static_cast<std::int32_t>(axis) ||
          (box.low[axis] < box.high[axis] && box.high[axis] - box.low[axis] != n))
        throw InputError(
            library_->about("fourscore_boxes", fmt::format("cuts the last axis of real data {}, or does not store it "
                                                           "fastest, which a transform in place cannot have",
                                                           side)));
      box.high[axis] = std::min<Index>(box.high[axis], n / 2 + 1);
    }
    const Extents shape = is_real && !padded ? problem.extents() : problem.complex_extents();
    const Decomposition layout = layout_of(*library_, comm_.get(), shape, box, side);
    return padded ? real_in_place_of(layout, axis, n) : layout;
  }
  void take_buffers(const PlanContext& context) {
    const Problem& problem = context.problem;
    const int me = mpi::rank_in(comm_.get());
    const auto bytes_of = [me](const Decomposition& layout, std::size_t element_bytes) {
      return static_cast<std::size_t>(layout.memory_volume(me)) * element_bytes;
    };
    const fourscore_buffers_t least{nullptr, nullptr, bytes_of(input_layout(), problem.input_element_bytes()),
                                    bytes_of(output_layout(), problem.output_element_bytes())};
    fourscore_buffers_t asked = least;
    library_->require(functions_.buffers(plan_, &asked), "fourscore_buffers");
    const bool in_place = problem.contract.buffers == Buffers::in_place;
    asked.before_bytes = std::max(asked.before_bytes, least.before_bytes);
    asked.after_bytes = std::max(asked.after_bytes, least.after_bytes);
    if ((asked.before == nullptr) != (asked.after == nullptr))
      throw InputError(library_->about("fourscore_buffers",
                                       "gives one array of its own and one not; expected both, or "
                                       "NULL twice"));
    const std::size_t bytes = std::max(asked.before_bytes, asked.after_bytes);
    if (asked.before == nullptr)
      return allocate(context, bytes, false, [bytes] { return std::make_unique<GuardedBuffer>(bytes); });
    if ((asked.before == asked.after) != in_place)
      throw InputError(library_->about("fourscore_buffers",
                                       in_place ? "gives two arrays; expected one, in which the transform is in place"
                                                : "gives one array; expected two, for a transform out of place"));
    declared().input = asked.before;
    declared().output = asked.after;
    declared().buffer_bytes = in_place ? bytes : asked.before_bytes + asked.after_bytes;
  }

  Library library_;
  const PluginLibrary::Functions& functions_;
  mpi::Communicator comm_;
  void* plan_ = nullptr;
  PluginClock clock_;
};

class PluginVariant : public Variant {
 public:
  PluginVariant(Library library, int index)
      : library_(std::move(library)),
        index_(index),
        transform_(library_->transforms()[static_cast<std::size_t>(index)]) {}

  [[nodiscard]] Card card() const override {
    std::string summary = transform_.summary;
    if (*transform_.version != 0) summary += fmt::format(" ({})", transform_.version);
    return {transform_.name, summary, transform_.citation};
  }
  [[nodiscard]] VariantFacts facts() const override {
    std::vector<Kind> kinds;
    if ((transform_.kinds & FOURSCORE_C2C) != 0) kinds.push_back(Kind::c2c);
    if ((transform_.kinds & FOURSCORE_R2C) != 0) kinds.push_back(Kind::r2c);
    return {.kinds = kinds, .exchange = "none"};
  }
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override { return {"fftw", problem.threads}; }
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override { return whole_fields(problem, *this); }
  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const override {
    return std::max<std::size_t>(1, static_cast<std::size_t>(transform_.grid_extents));
  }
  [[nodiscard]] ThreadLevel thread_level(const Problem& /*problem*/) const override {
    return static_cast<ThreadLevel>(transform_.thread_level);
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override {
    const fourscore_problem_t asked = problem_of(problem);
    if ((transform_.precisions & asked.precision) == 0)
      return fmt::format("variant '{}' has no {} precision", transform_.name, to_string(problem.precision));
    if (const auto grid = static_cast<int>(problem.grid.size()); grid != 0 && grid != transform_.grid_extents)
      throw GridError(fmt::format("grid {} has {} entries; variant '{}' takes {}", grid_text(problem.grid), grid,
                                  transform_.name, transform_.grid_extents));
    if (library_->functions().supports(index_, &asked, ranks) == 0) return std::nullopt;
    return library_->last_error();
  }
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    return std::make_unique<PluginPlan>(library_, index_, context);
  }
  /// Without a formula of the plugin's own, the flops that transforms are credited with.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    if (library_->functions().cost == nullptr) return {.flops = problem.credited_flops()};
    const fourscore_problem_t asked = problem_of(problem);
    fourscore_cost_t cost{};
    library_->require(library_->functions().cost(index_, &asked, ranks, &cost), "fourscore_cost");
    for (const double value : {cost.flops, cost.bytes_per_rank, cost.messages_per_rank})
      if (!std::isfinite(value) || value < 0)
        throw InputError(library_->about("fourscore_cost", fmt::format("gives {}; expected 0 or more", value)));
    return {cost.flops, cost.bytes_per_rank, cost.messages_per_rank};
  }

 private:
  Library library_;
  int index_;
  fourscore_transform_t transform_;
};

}  // namespace

std::vector<std::string> register_plugin(const std::filesystem::path& file) {
  const auto library = std::make_shared<const PluginLibrary>(file);
  std::vector<std::string> names;
  for (std::size_t index = 0; index < library->transforms().size(); ++index) {
    names.emplace_back(library->transforms()[index].name);
    if (VariantRegistry::instance().find(names.back()) != nullptr)
      throw InputError(
          library->about("fourscore_describe",
                         fmt::format("names transform {} '{}', as another variant is named", index, names.back())));
    VariantRegistry::instance().add(std::make_unique<PluginVariant>(library, static_cast<int>(index)));
  }
  return names;
}

}  // namespace fourscore
