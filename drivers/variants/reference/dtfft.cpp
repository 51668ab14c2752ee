// dtFFT (Shatrov), a library for pencils that tunes itself, as a reference: z-pencils in, x-pencils out, by its C
// interface.

#include "chain/limits_and_cost.hpp"
#include "variants/reference/dtfft_engine.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

using namespace dtfft_variants;

#ifdef FOURSCORE_DTFFT

class DtfftPlan : public ReferencePlan {
 public:
  DtfftPlan(const PlanContext& context, const std::string& effort, const Grid& grid)
      : DtfftPlan(context, effort, std::make_unique<Engine>(context, effort, grid, DTFFT_EXECUTOR_FFTW3)) {}

  void execute(PhaseClock& /*clock*/) override { run(); }

 private:
  DtfftPlan(const PlanContext& context, const std::string& effort, std::unique_ptr<Engine> engine)
      : ReferencePlan(context, route_of(*engine, context), engine->grid(), engine->buffer_bytes()),
        direction_(context.problem.direction),
        engine_(std::move(engine)),
        workspace_(ordinary_buffer(engine_->workspace_bytes())) {
    run();  // what it makes at the first execution is not timed
    declare_library(engine_->describe(effort) + ", FFTW planned by measurement", workspace_->bytes());
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
  [[nodiscard]] VariantFacts facts() const override { return {.exchange = "none", .parameters = {effort_parameter()}}; }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks, const Grid& /*grid*/) const override {
    if (auto reason = limit_of(problem, ranks)) return reason;
    if (problem.contract.effort != Effort::measure)
      return fmt::format("planner {}; dtFFT lets FFTW plan by measurement only", to_string(problem.contract.effort));
    return std::nullopt;
  }

#ifdef FOURSCORE_DTFFT
  [[nodiscard]] std::unique_ptr<Plan> plan_on(const PlanContext& context, const Grid& grid) const override {
    return std::make_unique<DtfftPlan>(context, effort_asked(context.problem), grid);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(Dtfft);

}  // namespace

}  // namespace fourscore
