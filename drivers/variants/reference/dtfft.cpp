// dtFFT (Shatrov), a library for pencils that tunes itself, as a reference: z-pencils in, x-pencils out, by its C
// interface.

#ifdef FOURSCORE_DTFFT
#include <dtfft.h>
#include <mpi.h>  // first: dtfft.h includes it within extern "C"
#endif
#include <fmt/format.h>

#include <array>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

/// dtFFT's own default stands first.
const std::vector<std::string> efforts{"estimate", "measure", "patient"};

#ifdef FOURSCORE_DTFFT

void must(dtfft_error_t error, const char* what) {
  if (error != DTFFT_SUCCESS)
    throw std::runtime_error(fmt::format("dtFFT, {}: {}", what, dtfft_get_error_string(error)));
}

dtfft_effort_t effort_of(const std::string& name) {
  return name == "patient" ? DTFFT_PATIENT : name == "measure" ? DTFFT_MEASURE : DTFFT_ESTIMATE;
}

/// The ranks in the order of Fortran's axes (ours in reverse), of which the first is whole: the library takes this
/// grid. Where it is to choose one itself, the ranks as they are.
mpi::Communicator ranks_for(const PlanContext& context, const std::string& effort, const Grid& grid) {
  if (effort != "estimate" && context.problem.grid.empty()) return mpi::duplicate(context.comm);
  const std::array<int, 3> extents{1, grid.extents[1], grid.extents[0]};
  const std::array<int, 3> periods{0, 0, 0};
  MPI_Comm made = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Cart_create(context.comm, 3, extents.data(), periods.data(), 0, &made));
  return mpi::Communicator(made);
}

/// One plan of the library.
class Engine {
 public:
  Engine(const PlanContext& context, const std::string& effort, const Grid& grid)
      : comm_(ranks_for(context, effort, grid)) {
    const Problem& problem = context.problem;
    const Extents n = problem.extents();
    const std::array<std::int32_t, 3> extents{static_cast<std::int32_t>(n[2]), static_cast<std::int32_t>(n[1]),
                                              static_cast<std::int32_t>(n[0])};
    must(dtfft_create_plan_c2c(3, extents.data(), comm_.get(),
                               problem.precision == Precision::double_precision ? DTFFT_DOUBLE : DTFFT_SINGLE,
                               effort_of(effort), DTFFT_EXECUTOR_FFTW3, &plan_),
         "making a plan");
  }
  ~Engine() {
    if (mpi::may_call_collectives()) dtfft_destroy(&plan_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// `order`: our axes as the layout stores them, slowest first; the library names the fastest first.
  [[nodiscard]] Box box(dtfft_layout_t layout, const std::array<int, 3>& order) const {
    dtfft_pencil_t pencil{};
    must(dtfft_get_pencil(plan_, layout, &pencil), "describing a layout");
    Box box;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto axis = static_cast<std::size_t>(order[2 - i]);
      box.low[axis] = pencil.starts[i];
      box.high[axis] = box.low[axis] + pencil.counts[i];
    }
    return box;
  }
  [[nodiscard]] Grid grid() const {
    std::int8_t axes = 0;
    const std::int32_t* extents = nullptr;
    must(dtfft_get_grid_dims(plan_, &axes, &extents), "describing the grid");
    return Grid{{extents[2], extents[1], 1}};
  }
  [[nodiscard]] std::size_t buffer_bytes() const {
    std::size_t bytes = 0;
    must(dtfft_get_alloc_bytes(plan_, &bytes), "asking for the size of buffers");
    return bytes;
  }
  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    must(dtfft_get_aux_bytes(plan_, &bytes), "asking for the size of the workspace");
    return bytes;
  }
  [[nodiscard]] std::string backend() const {
    dtfft_backend_t backend{};
    must(dtfft_get_backend(plan_, &backend), "asking for the exchange");
    return dtfft_get_backend_string(backend);
  }
  void execute(void* in, void* out, Direction direction, void* workspace) const {
    must(dtfft_execute(plan_, in, out, direction == Direction::forward ? DTFFT_EXECUTE_FORWARD : DTFFT_EXECUTE_BACKWARD,
                       workspace),
         "transforming");
  }

 private:
  mpi::Communicator comm_;
  dtfft_plan_t plan_ = nullptr;
};

std::vector<Decomposition> route_of(const Engine& engine, const PlanContext& context) {
  const Grid grid = engine.grid();
  const auto pencils = [&](dtfft_layout_t layout, const char* axis, const std::array<int, 3>& order) {
    return gathered_layout(context.comm, context.problem.extents(), engine.box(layout, order), order,
                           fmt::format("{}-pencils {}x{}", axis, grid.extents[0], grid.extents[1]));
  };
  // Its x is our last axis. The axis of the pencils is stored fastest.
  return {pencils(DTFFT_LAYOUT_X_PENCILS, "z", {0, 1, 2}), pencils(DTFFT_LAYOUT_Y_PENCILS, "y", {2, 0, 1}),
          pencils(DTFFT_LAYOUT_Z_PENCILS, "x", {1, 2, 0})};
}

class DtfftPlan : public ReferencePlan {
 public:
  DtfftPlan(const PlanContext& context, const std::string& effort, const Grid& grid)
      : DtfftPlan(context, effort, std::make_unique<Engine>(context, effort, grid)) {}

  void execute(PhaseClock& /*clock*/) override { run(); }

 private:
  DtfftPlan(const PlanContext& context, const std::string& effort, std::unique_ptr<Engine> engine)
      : ReferencePlan(context, route_of(*engine, context), engine->grid(), engine->buffer_bytes()),
        direction_(context.problem.direction),
        engine_(std::move(engine)),
        workspace_(ordinary_buffer(engine_->workspace_bytes())) {
    run();  // what it makes at the first execution is not timed
    declare_library(
        fmt::format("dtFFT {}.{}.{} with effort {}, exchange {}, FFTW planned by measurement", DTFFT_VERSION_MAJOR,
                    DTFFT_VERSION_MINOR, DTFFT_VERSION_PATCH, effort, engine_->backend()),
        workspace_->bytes());
  }
  void run() { engine_->execute(input(), output(), direction_, workspace_->data()); }

  Direction direction_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Buffer> workspace_;
};

#endif

class Dtfft : public PencilReference {
 public:
  Dtfft() : PencilReference("dtFFT", FOURSCORE_DTFFT_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"dtfft", "dtFFT: z-pencils in, x-pencils out; tunes its grid and exchange itself where asked to",
            "https://github.com/ShatrovOA/dtFFT"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    return {.exchange = "none",
            .parameters = {{"effort",
                            "dtFFT's own: measure also chooses the grid where none is given, patient the exchange too",
                            efforts.front(), efforts}}};
  }

 private:
  [[nodiscard]] std::optional<std::string> limit(const Problem& problem, int ranks,
                                                 const Grid& /*grid*/) const override {
    static_cast<void>(choice_parameter(problem, "effort", efforts));
    if (problem.contract.layout == LayoutContract::natural)
      return "layout natural; dtFFT leaves its result in x-pencils";
    if (problem.contract.effort != Effort::measure)
      return fmt::format("planner {}; dtFFT lets FFTW plan by measurement only", to_string(problem.contract.effort));
    if (std::ranges::find(problem.shape, Index{1}) != problem.shape.end())
      return "an extent of 1, with which dtFFT 3.2 gives wrong results";
    if (problem.elements() / ranks > std::numeric_limits<std::int32_t>::max() / 2)
      return "a rank's share has more elements than dtFFT's integers hold";
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan_on([[maybe_unused]] const PlanContext& context,
                                              [[maybe_unused]] const Grid& grid) const override {
#ifdef FOURSCORE_DTFFT
    return std::make_unique<DtfftPlan>(context, choice_parameter(context.problem, "effort", efforts), grid);
#else
    return nullptr;
#endif
  }
};

FOURSCORE_REGISTER_VARIANT(Dtfft);

}  // namespace

}  // namespace fourscore
