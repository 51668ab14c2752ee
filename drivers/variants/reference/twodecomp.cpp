// 2DECOMP&FFT (Li and Laizet, CUG 2010; Rolfo et al., JOSS 8, 2023), as a reference, by way of 2decomp.f90.

#include <fmt/format.h>

#include <array>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

#ifdef FOURSCORE_2DECOMP
extern "C" {
int fourscore_2decomp_real_bytes();
void fourscore_2decomp_start(MPI_Fint comm, const int* n, int rows, int columns);
void fourscore_2decomp_stop();
void* fourscore_2decomp_make(const int* n, int forward, int from_x, int returns);
void fourscore_2decomp_box(void* handle, int axis, int* low, int* high);
void fourscore_2decomp_execute(void* handle, void* in, void* out);
void fourscore_2decomp_destroy(void* handle);
}
#endif

namespace fourscore {

namespace {

#ifdef FOURSCORE_2DECOMP

/// Fortran's order of the axes: x is our last one.
std::array<int, 3> fortran_extents(const Problem& problem) {
  const Extents n = problem.extents();
  return {static_cast<int>(n[2]), static_cast<int>(n[1]), static_cast<int>(n[0])};
}

/// The library's one processor grid, shared by all plans that are alive.
class Library {
 public:
  /// Collective. Throws std::runtime_error where plans on other ranks or another grid are alive.
  static std::shared_ptr<Library> with(const Problem& problem, MPI_Comm comm, const Grid& grid) {
    static std::weak_ptr<Library> alive;
    auto library = alive.lock();
    if (library) {
      int compared = MPI_UNEQUAL;
      FOURSCORE_MPI(MPI_Comm_compare(library->comm_.get(), comm, &compared));
      if ((compared != MPI_CONGRUENT && compared != MPI_IDENT) || library->grid_ != grid)
        throw std::runtime_error("2DECOMP&FFT has one processor grid at a time, and plans on another are alive");
      return library;
    }
    library = std::make_shared<Library>(problem, comm, grid);
    alive = library;
    return library;
  }
  Library(const Problem& problem, MPI_Comm comm, const Grid& grid) : comm_(mpi::duplicate(comm)), grid_(grid) {
    // Its rows cut x, later y; its columns cut y, later z: our P2 and P1.
    fourscore_2decomp_start(MPI_Comm_c2f(comm_.get()), fortran_extents(problem).data(), grid.extents[1],
                            grid.extents[0]);
  }
  ~Library() {
    if (mpi::may_call_collectives()) fourscore_2decomp_stop();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

 private:
  mpi::Communicator comm_;
  Grid grid_;
};

/// One engine of the library, with what it needs alive.
class Engine {
 public:
  Engine(const PlanContext& context, const Grid& grid) : library_(Library::with(context.problem, context.comm, grid)) {
    const Problem& problem = context.problem;
    const bool forward = problem.direction == Direction::forward;
    const bool natural = problem.contract.layout == LayoutContract::natural;
    handle_ = fourscore_2decomp_make(fortran_extents(problem).data(), forward, forward || natural, natural);
  }
  ~Engine() {
    if (mpi::may_call_collectives()) fourscore_2decomp_destroy(handle_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] Box box(int axis) const {
    std::array<int, 3> low{};
    std::array<int, 3> high{};
    fourscore_2decomp_box(handle_, axis, low.data(), high.data());
    return {{low[2], low[1], low[0]}, {high[2] + 1, high[1] + 1, high[0] + 1}};
  }
  void execute(void* in, void* out) const { fourscore_2decomp_execute(handle_, in, out); }

 private:
  std::shared_ptr<Library> library_;
  void* handle_ = nullptr;
};

std::vector<Decomposition> route_of(const Engine& engine, const PlanContext& context, const Grid& grid) {
  const Extents shape = context.problem.extents();
  const auto pencils = [&](int axis, const char* name) {
    return gathered_layout(context.comm, shape, engine.box(axis), {0, 1, 2},
                           fmt::format("{}-pencils {}x{}", name, grid.extents[0], grid.extents[1]));
  };
  std::vector<Decomposition> route{pencils(1, "z"), pencils(2, "y"), pencils(3, "x")};
  if (context.problem.contract.layout == LayoutContract::natural) {
    route.push_back(route[1]);
    route.push_back(route[0]);
  }
  return route;
}

std::size_t largest_pencil_bytes(const Engine& engine, const Problem& problem) {
  const Index elements = std::max({engine.box(1).volume(), engine.box(2).volume(), engine.box(3).volume()});
  return static_cast<std::size_t>(elements) * problem.element_bytes();
}

class TwoDecompPlan : public ReferencePlan {
 public:
  TwoDecompPlan(const PlanContext& context, const Grid& grid)
      : TwoDecompPlan(context, grid, std::make_unique<Engine>(context, grid)) {}

  void execute(PhaseClock& /*clock*/) override { engine_->execute(input(), output()); }

 private:
  TwoDecompPlan(const PlanContext& context, const Grid& grid, std::unique_ptr<Engine> engine)
      : ReferencePlan(context, route_of(*engine, context, grid), grid, largest_pencil_bytes(*engine, context.problem)),
        engine_(std::move(engine)) {
    declare_library("2DECOMP&FFT with the transforms it was built for, FFTW's planned by measurement");
  }

  std::unique_ptr<Engine> engine_;
};

#endif

class TwoDecomp : public PencilReference {
 public:
  TwoDecomp() : PencilReference("2DECOMP&FFT", FOURSCORE_2DECOMP_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"2decomp", "2DECOMP&FFT: z-pencils in, x-pencils out; natural: led back by its own transpositions",
            "https://github.com/2decomp-fft/2decomp-fft"};
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& /*grid*/) const override {
#ifdef FOURSCORE_2DECOMP
    if (problem.element_bytes() != 2 * static_cast<std::size_t>(fourscore_2decomp_real_bytes()))
      return fmt::format("precision {}; 2DECOMP&FFT was built for the other one", to_string(problem.precision));
#endif
    if (problem.contract.buffers == Buffers::in_place)
      return "buffers in-place; 2DECOMP&FFT writes its result elsewhere than its input";
    if (problem.contract.effort != Effort::measure)
      return fmt::format("planner {}; 2DECOMP&FFT lets FFTW plan by measurement only",
                         to_string(problem.contract.effort));
    if (problem.elements() / ranks > std::numeric_limits<int>::max() / 2)
      return "a rank's share has more elements than 2DECOMP&FFT's integers hold";
    return std::nullopt;
  }

#ifdef FOURSCORE_2DECOMP
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    return std::make_unique<TwoDecompPlan>(context, grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(TwoDecomp);

}  // namespace

}  // namespace fourscore
