// AccFFT (Gholami et al., SIAM J. Sci. Comput. 38, 2016), as a reference: z-pencils in, x-pencils out.

#ifdef FOURSCORE_ACCFFT
#include <accfft.h>
#include <accfftf.h>
#endif
#include <fmt/format.h>

#include <array>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

#ifdef FOURSCORE_ACCFFT

template <class Real>
struct AccfftApi;

template <>
struct AccfftApi<double> {
  using Element = Complex;
  using Handle = accfft_plan;
  static constexpr auto local_size = &accfft_local_size_dft_c2c;
  static constexpr auto plan = &accfft_plan_dft_3d_c2c;
  static void execute(Handle* handle, int direction, Element* in, Element* out) {
    accfft_execute_c2c(handle, direction, in, out);
  }
};

template <>
struct AccfftApi<float> {
  using Element = Complexf;
  using Handle = accfft_planf;
  static constexpr auto local_size = &accfft_local_size_dft_c2cf;
  static constexpr auto plan = &accfft_plan_dft_3d_c2cf;
  static void execute(Handle* handle, int direction, Element* in, Element* out) {
    accfft_execute_c2cf(handle, direction, in, out);
  }
};

/// AccFFT wants a Cartesian communicator; ranks keep their places.
mpi::Communicator cartesian(MPI_Comm comm, const Grid& grid) {
  const std::array<int, 2> extents{grid.extents[0], grid.extents[1]};
  const std::array<int, 2> periods{0, 0};
  MPI_Comm made = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Cart_create(comm, 2, extents.data(), periods.data(), 0, &made));
  return mpi::Communicator(made);
}

/// The layouts as AccFFT deals them: blocks of ceil(n/P), the last of which may be smaller.
struct AccfftLayout {
  std::vector<Decomposition> route;
  std::size_t allocation_bytes = 0;  ///< what AccFFT wants on this rank
};

template <class Real>
AccfftLayout layout_of(MPI_Comm comm, const Extents& shape, const Grid& grid) {
  std::array<int, 3> n{};
  for (std::size_t i = 0; i < 3; ++i) n[i] = static_cast<int>(shape[i]);
  std::array<int, 3> in_size{};
  std::array<int, 3> in_start{};
  std::array<int, 3> out_size{};
  std::array<int, 3> out_start{};
  const int bytes =
      AccfftApi<Real>::local_size(n.data(), in_size.data(), in_start.data(), out_size.data(), out_start.data(), comm);
  const auto box = [](const std::array<int, 3>& start, const std::array<int, 3>& size) {
    return Box{{start[0], start[1], start[2]}, {start[0] + size[0], start[1] + size[1], start[2] + size[2]}};
  };
  // Between the two ends, y-pencils: cut along z as the output is, and along x as the input is.
  Box middle = box(in_start, in_size);
  middle.low = {in_start[0], 0, out_start[2]};
  middle.high = {in_start[0] + in_size[0], shape[1], out_start[2] + out_size[2]};
  const std::string on = fmt::format("{}x{} (AccFFT's blocks)", grid.extents[0], grid.extents[1]);
  const std::array<int, 3> order{0, 1, 2};
  AccfftLayout layout;
  layout.route.push_back(gathered_layout(comm, shape, box(in_start, in_size), order, "z-pencils " + on));
  layout.route.push_back(gathered_layout(comm, shape, middle, order, "y-pencils " + on));
  layout.route.push_back(gathered_layout(comm, shape, box(out_start, out_size), order, "x-pencils " + on));
  layout.allocation_bytes = static_cast<std::size_t>(bytes);
  return layout;
}

template <class Real>
class AccfftPlan : public ReferencePlan {
 public:
  AccfftPlan(const PlanContext& context, const Grid& grid) : AccfftPlan(context, grid, cartesian(context.comm, grid)) {}

  void execute(PhaseClock& /*clock*/) override {
    Api::execute(handle_.get(), direction_, static_cast<Element*>(input()), static_cast<Element*>(output()));
  }

 private:
  using Api = AccfftApi<Real>;
  using Element = typename Api::Element;
  struct Destroy {
    void operator()(typename Api::Handle* handle) const {
      if (mpi::may_call_collectives()) accfft_destroy_plan(handle);
    }
  };

  AccfftPlan(const PlanContext& context, const Grid& grid, mpi::Communicator&& comm)
      : AccfftPlan(context, grid, layout_of<Real>(comm.get(), context.problem.extents(), grid), std::move(comm)) {}
  AccfftPlan(const PlanContext& context, const Grid& grid, AccfftLayout layout, mpi::Communicator&& comm)
      : ReferencePlan(context, std::move(layout.route), grid, layout.allocation_bytes), comm_(std::move(comm)) {
    const Problem& problem = context.problem;
    const bool forward = problem.direction == Direction::forward;
    direction_ = forward ? ACCFFT_FORWARD : ACCFFT_BACKWARD;
    const bool estimate = problem.contract.effort == Effort::estimate;
    accfft_init(1);
    std::array<int, 3> n{};
    for (std::size_t i = 0; i < 3; ++i) n[i] = static_cast<int>(problem.extents()[i]);
    // One plan does both directions, from its first buffer to its second and back.
    auto* const space = static_cast<Element*>(forward ? input() : output());
    auto* const waves = static_cast<Element*>(forward ? output() : input());
    handle_.reset(Api::plan(n.data(), space, waves, comm_.get(), estimate ? ACCFFT_ESTIMATE : ACCFFT_MEASURE));
    if (!handle_) throw std::runtime_error(fmt::format("AccFFT refused to plan shape {}", shape_text(problem.shape)));
    declare_library(fmt::format("AccFFT, FFTW planned by {}, exchange {}", to_string(problem.contract.effort),
                                estimate ? "by default" : "chosen by measurement"));
  }

  mpi::Communicator comm_;
  int direction_ = 0;
  std::unique_ptr<typename Api::Handle, Destroy> handle_;
};

#endif

/// AccFFT's blocks of ceil(n/P) leave no part empty.
bool fills(Index n, int parts) { return (n + parts - 1) / parts * (parts - 1) < n; }

class Accfft : public PencilReference {
 public:
  Accfft() : PencilReference("AccFFT", FOURSCORE_ACCFFT_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"accfft", "AccFFT: z-pencils in, x-pencils out; natural order on one rank only",
            "https://github.com/amirgholami/accfft"};
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& grid) const override {
    const auto& n = problem.shape;
    const int rows = grid.extents[0];
    const int columns = grid.extents[1];
    if (!fills(n[0], rows) || !fills(n[1], rows) || !fills(n[1], columns) || !fills(n[2], columns))
      return fmt::format("AccFFT's blocks of ceil(n/P) leave ranks of grid {}x{} empty for shape {}", rows, columns,
                         shape_text(problem.shape));
    if (problem.contract.layout == LayoutContract::natural && ranks > 1) return "AccFFT leaves its output transposed";
    if (problem.contract.effort == Effort::patient) return "planner patient; AccFFT has estimate and measure";
    if (problem.elements() / ranks * static_cast<Index>(problem.element_bytes()) > std::numeric_limits<int>::max() / 2)
      return "a rank's share has more bytes than AccFFT's int holds";
    return std::nullopt;
  }

#ifdef FOURSCORE_ACCFFT
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<AccfftPlan<double>>(context, grid);
    return std::make_unique<AccfftPlan<float>>(context, grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(Accfft);

}  // namespace

}  // namespace fourscore
