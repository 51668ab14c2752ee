// heFFTe with its cuFFT backend, as a reference on GPUs: z-pencils in, x-pencils out, data on the device.

#include <fmt/format.h>

#include <complex>
#include <limits>
#include <sstream>

#include "chain/limits_and_cost.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/device_reference.hpp"
#include "variants/reference/heffte_layouts.hpp"

namespace fourscore {

namespace {

using namespace heffte_variants;

bool messages_from_device(const Problem& problem) {
  return choice_parameter(problem, "messages", {"host", "device"}) == "device";
}

#ifdef FOURSCORE_HEFFTE_CUFFT

using Backend = heffte::backend::cufft;
using Transform = heffte::fft3d<Backend, long long>;

heffte::plan_options plan_options_of(const Problem& problem) {
  heffte::plan_options options = to_heffte<Backend>(Options(problem));
  options.use_gpu_aware = messages_from_device(problem);
  return options;
}

template <class Real>
class HeffteCufftPlan : public DeviceReferencePlan {
 public:
  HeffteCufftPlan(const PlanContext& context, const Grid& grid, const Ends& ends)
      : DeviceReferencePlan(cuda_device(context), context, layouts_of(ends, plan_options_of(context.problem)), grid),
        comm_(mpi::duplicate(context.comm)),
        forward_(context.problem.direction == Direction::forward),
        options_(plan_options_of(context.problem)),
        transform_(box_in(ends.input), box_in(ends.output), comm_.get(), options_),
        elements_(static_cast<std::size_t>(
            std::max(ends.input.volume(mpi::rank_in(comm_.get())), ends.output.volume(mpi::rank_in(comm_.get()))))),
        source_(device().allocate(elements_ * sizeof(std::complex<Real>))),
        workspace_(device().allocate(transform_.size_workspace() * sizeof(std::complex<Real>))) {
    if (input() != output()) result_ = device().allocate(source_->bytes());
    run_first(source_->data(), source_->bytes(), result().data(), source_->bytes());
    std::ostringstream text;
    text << "heFFTe " << version_text() << ", cuFFT, " << options_;
    declare_library(text.str(), source_->bytes() + (result_ ? result_->bytes() : 0) + workspace_->bytes());
  }

 private:
  [[nodiscard]] HeffteBox box_in(const Decomposition& layout) const {
    return to_heffte(layout.box(mpi::rank_in(comm_.get())), layout.order);
  }
  [[nodiscard]] Buffer& result() const { return result_ ? *result_ : *source_; }
  void run() override {
    using Complex = std::complex<Real>;
    auto* const in = static_cast<Complex*>(source_->data());
    auto* const out = static_cast<Complex*>(result().data());
    auto* const work = static_cast<Complex*>(workspace_->data());
    if (forward_)
      transform_.forward(in, out, work);
    else
      transform_.backward(in, out, work);
    heffte::gpu::synchronize_default_stream();
  }

  mpi::Communicator comm_;
  bool forward_;
  heffte::plan_options options_;
  Transform transform_;
  std::size_t elements_;  ///< elements of the larger end
  std::unique_ptr<Buffer> source_;
  std::unique_ptr<Buffer> result_;  ///< null: in place
  std::unique_ptr<Buffer> workspace_;
};

#endif

class HeffteCufft : public DeviceReference<PencilReference> {
 public:
  HeffteCufft() : DeviceReference("heFFTe", FOURSCORE_HEFFTE_CUFFT_MISSING, 2) {}

  [[nodiscard]] Card card() const override {
    return {"heffte-cufft", "heFFTe on GPUs by its cuFFT backend, data on the device: z-pencils in, x-pencils out",
            "https://github.com/icl-utk-edu/heffte"};
  }
  [[nodiscard]] VariantFacts facts() const override {
    std::vector<Parameter> list = option_parameters();
    list.push_back({"messages", "by way of the host, or from the device's memory", "host", {"host", "device"}});
    list.push_back(share_device_parameter());
    return {.exchange = "none", .parameters = std::move(list)};
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, [[maybe_unused]] int ranks, const Grid& grid) const override {
    const Ends ends = ends_of(problem, grid, Options(problem));
    if (std::max(ends.input.max_volume(), ends.output.max_volume()) > std::numeric_limits<int>::max())
      return "a rank's share has more elements than heFFTe's counts hold (2^31 - 1)";
    if (messages_from_device(problem) && !request(problem).backend->mpi_takes_its_memory())
      return "messages=device takes an MPI that says that it takes the device's memory; this one does not";
#ifdef FOURSCORE_HEFFTE_CUFFT
    try {
      static_cast<void>(route_of(ends, plan_options_of(problem)));
    } catch (const std::runtime_error& error) {
      return fmt::format("heFFTe cannot deal shape {} to {} ranks: {}", shape_text(problem.shape), ranks, error.what());
    }
#endif
    return std::nullopt;
  }

#ifdef FOURSCORE_HEFFTE_CUFFT
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    const Ends ends = ends_of(context.problem, grid, Options(context.problem));
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<HeffteCufftPlan<double>>(context, grid, ends);
    return std::make_unique<HeffteCufftPlan<float>>(context, grid, ends);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(HeffteCufft);

}  // namespace

}  // namespace fourscore
