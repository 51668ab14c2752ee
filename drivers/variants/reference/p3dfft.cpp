// P3DFFT++ (Pekurovsky, SIAM J. Sci. Comput. 34, 2012; version 3), as a reference: z-pencils in, x-pencils out, or
// natural.

#ifdef FOURSCORE_P3DFFT
#define HAVE_CONFIG_H  // its header then takes the library's own configuration
#include <p3dfft.h>
#endif
#include <fmt/format.h>

#include <array>
#include <complex>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

#ifdef FOURSCORE_P3DFFT

#ifdef FFTW_FLAG_MEASURE
constexpr Effort built_effort = Effort::measure;
#elif defined(FFTW_FLAG_PATIENT)
constexpr Effort built_effort = Effort::patient;
#else
constexpr Effort built_effort = Effort::estimate;
#endif

/// The library's tables of transforms, once in a process.
void set_up() {
  static const bool done = (p3dfft::setup(), true);
  static_cast<void>(done);
}

/// The library's objects of one transform.
template <class Element>
class Engine {
 public:
  Engine(const PlanContext& context, const Grid& grid) {
    set_up();
    const Problem& problem = context.problem;
    const Extents n = problem.extents();
    // Its axes are ours in reverse: the first is stored fastest, and whole at first.
    std::array<int, 3> extents{static_cast<int>(n[2]), static_cast<int>(n[1]), static_cast<int>(n[0])};
    std::array<int, 3> ranks{1, grid.extents[1], grid.extents[0]};
    processors_ = std::make_unique<p3dfft::ProcGrid>(ranks.data(), context.comm);
    const auto pencils = [&](std::array<int, 3> cut_by, std::array<int, 3> place) {
      return std::make_unique<p3dfft::DataGrid>(extents.data(), -1, processors_.get(), cut_by.data(), place.data());
    };
    z_pencils_ = pencils({0, 1, 2}, {0, 1, 2});
    y_pencils_ = pencils({1, 0, 2}, {0, 1, 2});
    x_pencils_ = pencils({1, 2, 0}, {1, 2, 0});
    const bool forward = problem.direction == Direction::forward;
    constexpr bool is_double = std::is_same_v<Element, std::complex<double>>;
    const int kind = forward ? (is_double ? p3dfft::CFFT_FORWARD_D : p3dfft::CFFT_FORWARD_S)
                             : (is_double ? p3dfft::CFFT_BACKWARD_D : p3dfft::CFFT_BACKWARD_S);
    std::array<int, 3> kinds{kind, kind, kind};
    type_ = std::make_unique<p3dfft::trans_type3D>(kinds.data());
    const p3dfft::DataGrid& waves = problem.contract.layout == LayoutContract::natural ? *z_pencils_ : *x_pencils_;
    transform_ = std::make_unique<p3dfft::transform3D<Element, Element>>(forward ? *z_pencils_ : waves,
                                                                         forward ? waves : *z_pencils_, type_.get());
  }
  ~Engine() {
    transform_.reset();
    if (!mpi::may_call_collectives()) static_cast<void>(processors_.release());  // whose destructor frees communicators
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] std::vector<Decomposition> route(const PlanContext& context, const Grid& grid) const {
    const Problem& problem = context.problem;
    const auto layout = [&](const p3dfft::DataGrid& data, const char* name, const std::array<int, 3>& order) {
      Box box;
      for (std::size_t i = 0; i < 3; ++i) {
        box.low[2 - i] = data.GlobStart[i];
        box.high[2 - i] = box.low[2 - i] + data.Ldims[i];
      }
      return gathered_layout(context.comm, problem.extents(), box, order,
                             fmt::format("{}-pencils {}x{}", name, grid.extents[0], grid.extents[1]));
    };
    std::vector<Decomposition> layouts{layout(*z_pencils_, "z", {0, 1, 2}), layout(*y_pencils_, "y", {0, 1, 2}),
                                       layout(*x_pencils_, "x", {1, 2, 0})};
    if (problem.contract.layout == LayoutContract::natural) {
      layouts.push_back(layouts[1]);
      layouts.push_back(layouts[0]);
    }
    return layouts;
  }
  void execute(Element* in, Element* out) const { transform_->exec(in, out, true); }

 private:
  std::unique_ptr<p3dfft::ProcGrid> processors_;
  std::unique_ptr<p3dfft::DataGrid> z_pencils_;
  std::unique_ptr<p3dfft::DataGrid> y_pencils_;  ///< the library says no more of them than how they are cut
  std::unique_ptr<p3dfft::DataGrid> x_pencils_;
  std::unique_ptr<p3dfft::trans_type3D> type_;
  std::unique_ptr<p3dfft::transform3D<Element, Element>> transform_;
};

template <class Element>
class P3dfftPlan : public ReferencePlan {
 public:
  P3dfftPlan(const PlanContext& context, const Grid& grid)
      : P3dfftPlan(context, grid, std::make_unique<Engine<Element>>(context, grid)) {}

  void execute(PhaseClock& /*clock*/) override { run(); }

 private:
  P3dfftPlan(const PlanContext& context, const Grid& grid, std::unique_ptr<Engine<Element>> engine)
      : ReferencePlan(context, engine->route(context, grid), grid), engine_(std::move(engine)) {
    run();  // what it makes at the first execution is not timed
    declare_library(fmt::format("P3DFFT++ {}, FFTW planned by {}", PACKAGE_VERSION, to_string(built_effort)));
  }
  void run() { engine_->execute(static_cast<Element*>(input()), static_cast<Element*>(output())); }

  std::unique_ptr<Engine<Element>> engine_;
};

#endif

class P3dfft : public PencilReference {
 public:
  P3dfft() : PencilReference("P3DFFT++", FOURSCORE_P3DFFT_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"p3dfft", "P3DFFT++: z-pencils in, x-pencils out; natural: led back by its own transpositions",
            "https://github.com/sdsc/p3dfft.3"};
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& /*grid*/) const override {
#ifdef FOURSCORE_P3DFFT
    if (problem.contract.effort != built_effort)
      return fmt::format("planner {}; P3DFFT++ was built to let FFTW plan by {}", to_string(problem.contract.effort),
                         to_string(built_effort));
#endif
    if (problem.elements() / ranks * static_cast<Index>(problem.element_bytes()) > std::numeric_limits<int>::max() / 2)
      return "a rank's share has more bytes than P3DFFT++'s int holds";
    return std::nullopt;
  }

#ifdef FOURSCORE_P3DFFT
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<P3dfftPlan<std::complex<double>>>(context, grid);
    return std::make_unique<P3dfftPlan<std::complex<float>>>(context, grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(P3dfft);

}  // namespace

}  // namespace fourscore
