// heFFTe (Ayala et al., ICCS 2020), a library for any boxes, as a reference: z-pencils in, x-pencils out.

#ifdef FOURSCORE_HEFFTE
#include <heffte.h>
#endif
#include <fmt/format.h>

#include <complex>
#include <limits>
#include <sstream>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

/// heFFTe's own defaults stand first.
struct Options {
  explicit Options(const Problem& problem)
      : algorithm(choice_parameter(problem, "algorithm", {"alltoallv", "alltoall", "p2p_plined", "p2p"})),
        reorders(choice_parameter(problem, "reorder", {"yes", "no"}) == "yes"),
        pencils(choice_parameter(problem, "decomposition", {"pencils", "slabs"}) == "pencils") {}

  std::string algorithm;
  bool reorders;  ///< local transposition before each 1-D transform, which then runs along contiguous data
  bool pencils;   ///< else through slabs where it can
};

/// Where heFFTe is asked to take the data and to leave it. Transposed, the order of storage is that in which it has
/// the data at the last 1-D transform, so that no copy follows.
struct Ends {
  Decomposition input;
  Decomposition output;
};

Ends ends_of(const Problem& problem, const Grid& grid, const Options& options) {
  const int rows = grid.extents[0];
  const int columns = grid.extents[1];
  Ends ends;
  ends.input = decompose(problem.extents(), Grid{{rows, columns, 1}});
  ends.output = problem.contract.layout == LayoutContract::natural
                    ? ends.input
                    : decompose(problem.extents(), Grid{{1, rows, columns}});
  if (problem.contract.layout == LayoutContract::transposed && options.reorders) {
    ends.output.order = {1, 2, 0};
    ends.output.name += ", x stored fastest";
  }
  return ends;
}

#ifdef FOURSCORE_HEFFTE

using Backend = heffte::backend::fftw;
using Transform = heffte::fft3d<Backend, long long>;
using HeffteBox = heffte::box3d<long long>;
using Route = heffte::logic_plan3d<long long>;

/// heFFTe counts axes from the fastest of the natural order, and its boxes end with their last index.
HeffteBox to_heffte(const Box& box, const std::array<int, 3>& order) {
  return {{box.low[2], box.low[1], box.low[0]},
          {box.high[2] - 1, box.high[1] - 1, box.high[0] - 1},
          {2 - order[2], 2 - order[1], 2 - order[0]}};
}

Decomposition from_heffte(const std::vector<HeffteBox>& boxes, const Extents& shape) {
  std::vector<Box> ours;
  for (const HeffteBox& box : boxes)
    ours.push_back({{box.low[2], box.low[1], box.low[0]}, {box.high[2] + 1, box.high[1] + 1, box.high[0] + 1}});
  Decomposition layout = Decomposition::of_boxes(shape, std::move(ours), "a layout of heFFTe's");
  const auto& order = boxes.front().order;
  layout.order = {2 - order[2], 2 - order[1], 2 - order[0]};
  return layout;
}

heffte::plan_options to_heffte(const Options& options) {
  using heffte::reshape_algorithm;
  heffte::plan_options result = heffte::default_options<Backend>();
  result.algorithm = options.algorithm == "alltoallv"    ? reshape_algorithm::alltoallv
                     : options.algorithm == "alltoall"   ? reshape_algorithm::alltoall
                     : options.algorithm == "p2p_plined" ? reshape_algorithm::p2p_plined
                                                         : reshape_algorithm::p2p;
  result.use_reorder = options.reorders;
  result.use_pencils = options.pencils;
  return result;
}

/// heFFTe's own choice of what lies between; no MPI.
Route route_of(const Ends& ends, const Options& options, int me) {
  heffte::ioboxes<long long> boxes;
  for (int rank = 0; rank < ends.input.ranks(); ++rank) {
    boxes.in.push_back(to_heffte(ends.input.box(rank), ends.input.order));
    boxes.out.push_back(to_heffte(ends.output.box(rank), ends.output.order));
  }
  return heffte::plan_operations(boxes, -1, to_heffte(options), me);
}

std::vector<Decomposition> layouts_of(const Ends& ends, const Options& options) {
  const Route route = route_of(ends, options, 0);
  std::vector<Decomposition> layouts{ends.input};
  for (std::size_t i = 0; i < 3; ++i) layouts.push_back(from_heffte(route.out_shape[i], ends.input.shape));
  layouts.push_back(ends.output);
  return layouts;
}

template <class Real>
class HefftePlan : public ReferencePlan {
 public:
  HefftePlan(const PlanContext& context, const Grid& grid, const Options& options, const Ends& ends)
      : ReferencePlan(context, layouts_of(ends, options), grid),
        comm_(mpi::duplicate(context.comm)),
        forward_(context.problem.direction == Direction::forward),
        options_(to_heffte(options)),
        transform_(box_in(ends.input), box_in(ends.output), comm_.get(), options_),
        workspace_(ordinary_buffer(transform_.size_workspace() * sizeof(std::complex<Real>))) {
    run();  // heFFTe plans when it first executes
  }

  void execute(PhaseClock& /*clock*/) override { run(); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_->bytes(); }
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override {
    std::ostringstream text;
    text << "heFFTe " << Heffte_VERSION_MAJOR << '.' << Heffte_VERSION_MINOR << '.' << Heffte_VERSION_PATCH
         << ", FFTW planned by estimate, " << options_;
    return {text.str()};
  }

 private:
  [[nodiscard]] HeffteBox box_in(const Decomposition& layout) const {
    return to_heffte(layout.box(mpi::rank_in(comm_.get())), layout.order);
  }
  void run() {
    using Complex = std::complex<Real>;
    auto* const in = static_cast<Complex*>(input());
    auto* const out = static_cast<Complex*>(output());
    auto* const work = static_cast<Complex*>(workspace_->data());
    if (forward_)
      transform_.forward(in, out, work);
    else
      transform_.backward(in, out, work);
  }

  mpi::Communicator comm_;
  bool forward_;
  heffte::plan_options options_;
  Transform transform_;
  std::unique_ptr<Buffer> workspace_;
};

#endif

class Heffte : public PencilReference {
 public:
  Heffte() : PencilReference("heFFTe", 2) {}

  [[nodiscard]] Card card() const override {
    return {"heffte", "heFFTe: z-pencils in; transposed: x-pencils out; FFTW planned by estimate only",
            "https://github.com/icl-utk-edu/heffte"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{"algorithm",
             "how heFFTe moves data between ranks",
             "alltoallv",
             {"alltoallv", "alltoall", "p2p_plined", "p2p"}},
            {"reorder", "heFFTe's own option: transforms run along contiguous data", "yes", {"yes", "no"}},
            {"decomposition", "of the states between input and output", "pencils", {"pencils", "slabs"}}};
  }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_HEFFTE
    return {};
#else
    return FOURSCORE_HEFFTE_MISSING;
#endif
  }

 private:
  [[nodiscard]] std::optional<std::string> limit(const Problem& problem, [[maybe_unused]] int ranks,
                                                 const Grid& grid) const override {
    const Options options(problem);
    if (problem.contract.effort != Effort::estimate)
      return fmt::format("planner {}; heFFTe lets FFTW plan by estimate only", to_string(problem.contract.effort));
    const Ends ends = ends_of(problem, grid, options);
    if (std::max(ends.input.max_volume(), ends.output.max_volume()) > std::numeric_limits<int>::max())
      return "a rank's share has more elements than heFFTe's counts hold (2^31 - 1)";
#ifdef FOURSCORE_HEFFTE
    try {
      static_cast<void>(route_of(ends, options, 0));
    } catch (const std::runtime_error& error) {
      return fmt::format("heFFTe cannot deal shape {} to {} ranks: {}", shape_text(problem.shape), ranks, error.what());
    }
#endif
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan_on([[maybe_unused]] const PlanContext& context,
                                              [[maybe_unused]] const Grid& grid) const override {
#ifdef FOURSCORE_HEFFTE
    const Options options(context.problem);
    const Ends ends = ends_of(context.problem, grid, options);
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<HefftePlan<double>>(context, grid, options, ends);
    return std::make_unique<HefftePlan<float>>(context, grid, options, ends);
#else
    return nullptr;
#endif
  }
};

FOURSCORE_REGISTER_VARIANT(Heffte);

}  // namespace

}  // namespace fourscore
