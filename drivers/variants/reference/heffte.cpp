// heFFTe (Ayala et al., ICCS 2020), a library for any boxes, as a reference: z-pencils in, x-pencils out.

#include <fmt/format.h>

#include <complex>
#include <limits>
#include <sstream>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/heffte_layouts.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

using namespace heffte_variants;

#ifdef FOURSCORE_HEFFTE

using Backend = heffte::backend::fftw;
using Transform = heffte::fft3d<Backend, long long>;

template <class Real>
class HefftePlan : public ReferencePlan {
 public:
  HefftePlan(const PlanContext& context, const Grid& grid, const Options& options, const Ends& ends)
      : ReferencePlan(context, layouts_of(ends, to_heffte<Backend>(options)), grid),
        comm_(mpi::duplicate(context.comm)),
        forward_(context.problem.direction == Direction::forward),
        options_(to_heffte<Backend>(options)),
        transform_(box_in(ends.input), box_in(ends.output), comm_.get(), options_),
        workspace_(ordinary_buffer(transform_.size_workspace() * sizeof(std::complex<Real>))) {
    run();  // heFFTe plans when it first executes
    std::ostringstream text;
    text << "heFFTe " << version_text() << ", FFTW planned by estimate, " << options_;
    declare_library(text.str(), workspace_->bytes());
  }

  void execute(PhaseClock& /*clock*/) override { run(); }

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
  Heffte() : PencilReference("heFFTe", FOURSCORE_HEFFTE_MISSING, 2) {}

  [[nodiscard]] Card card() const override {
    return {"heffte", "heFFTe: z-pencils in; transposed: x-pencils out; FFTW planned by estimate only",
            "https://github.com/icl-utk-edu/heffte"};
  }
  [[nodiscard]] VariantFacts facts() const override { return {.exchange = "none", .parameters = option_parameters()}; }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, [[maybe_unused]] int ranks, const Grid& grid) const override {
    const Options options(problem);
    if (problem.contract.effort != Effort::estimate)
      return fmt::format("planner {}; heFFTe lets FFTW plan by estimate only", to_string(problem.contract.effort));
    const Ends ends = ends_of(problem, grid, options);
    if (std::max(ends.input.max_volume(), ends.output.max_volume()) > std::numeric_limits<int>::max())
      return "a rank's share has more elements than heFFTe's counts hold (2^31 - 1)";
#ifdef FOURSCORE_HEFFTE
    try {
      static_cast<void>(route_of(ends, to_heffte<Backend>(options)));
    } catch (const std::runtime_error& error) {
      return fmt::format("heFFTe cannot deal shape {} to {} ranks: {}", shape_text(problem.shape), ranks, error.what());
    }
#endif
    return std::nullopt;
  }

#ifdef FOURSCORE_HEFFTE
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    const Options options(context.problem);
    const Ends ends = ends_of(context.problem, grid, options);
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<HefftePlan<double>>(context, grid, options, ends);
    return std::make_unique<HefftePlan<float>>(context, grid, options, ends);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(Heffte);

}  // namespace

}  // namespace fourscore
