// A variant of another project: rank 0 holds and transforms everything, the other ranks hold nothing.

#include "interfaces/variant.hpp"

#include <memory>

namespace {

using namespace fourscore;

class OnOneRankPlan : public Plan {
 public:
  explicit OnOneRankPlan(const PlanContext& context) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(context.comm, &rank);
    MPI_Comm_size(context.comm, &ranks);
    AxisCut first{{{0}}};
    first.pieces = 1;  // one block for all ranks: the first has it
    const Decomposition layout(context.problem.extents(), {ranks}, {first, AxisCut{}, AxisCut{}}, "all on rank 0");
    declare_layouts(context.problem, layout, layout);
    allocate(context, static_cast<std::size_t>(context.problem.elements()) * context.problem.element_bytes(), false);
    LocalFftSpec spec = local_fft_spec(context.problem);
    const Extents strides = layout.strides(0);
    for (std::size_t axis = 0; axis < context.problem.shape.size(); ++axis)
      spec.axes.push_back({rank == 0 ? layout.shape[axis] : 0, strides[axis], strides[axis]});
    fft_ = context.local_fft.make(spec, input(), output());
  }

  void execute(PhaseClock& clock) override { fft_->run(clock); }

 private:
  std::unique_ptr<LocalFft> fft_;
};

class OnOneRank : public Variant {
 public:
  Card card() const override { return {"on-one-rank", "everything on rank 0", "an example"}; }
  VariantFacts facts() const override { return {.exchange = "none"}; }
  Reason supports(const Problem& problem, int) const override {
    if (problem.precision != Precision::double_precision) return "on-one-rank is double only";
    if (problem.contract.buffers != Buffers::in_place) return "on-one-rank is in place only";
    return std::nullopt;
  }
  std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    return std::make_unique<OnOneRankPlan>(context);
  }
  Cost cost(const Problem& problem, int) const override { return {problem.credited_flops(), 0, 0}; }
};

FOURSCORE_REGISTER_VARIANT(OnOneRank);

}  // namespace
