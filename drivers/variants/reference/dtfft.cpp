// dtFFT (Shatrov), a library for pencils that tunes itself, as a reference: z-pencils in, x-pencils out, by its C
// interface.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#ifdef FOURSCORE_DTFFT
#include "variants/reference/dtfft_engine.hpp"
#endif
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

#ifdef FOURSCORE_DTFFT
using namespace dtfft_variants;
#endif

/// dtFFT's own default stands first.
const std::vector<std::string> efforts{"estimate", "measure", "patient"};

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
