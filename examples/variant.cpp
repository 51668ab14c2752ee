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
    layout_ = Decomposition(context.problem.extents(), {ranks}, {first, AxisCut{}, AxisCut{}}, "all on rank 0");
    const auto elements = static_cast<std::size_t>(context.problem.elements());
    data_ = context.buffer(elements * context.problem.element_bytes());
    LocalFftSpec spec;
    const Extents strides = layout_.strides(0);
    for (std::size_t axis = 0; axis < context.problem.shape.size(); ++axis)
      spec.axes.push_back({rank == 0 ? layout_.shape[axis] : 0, strides[axis], strides[axis]});
    spec.direction = context.problem.direction;
    spec.effort = context.problem.contract.effort;
    fft_ = context.local_fft.make(spec, data_->data(), data_->data());
  }

  const Decomposition& input_layout() const override { return layout_; }
  const Decomposition& output_layout() const override { return layout_; }
  void* input() const override { return data_->data(); }
  void* output() const override { return data_->data(); }
  void execute(PhaseClock& clock) override {
    const Region region(clock, Phase::fft);
    fft_->execute();
  }
  MessageVolume message_volume() const override { return {}; }
  std::size_t buffer_bytes() const override { return data_->bytes(); }

 private:
  Decomposition layout_;
  std::shared_ptr<Buffer> data_;
  std::unique_ptr<LocalFft> fft_;
};

class OnOneRank : public Variant {
 public:
  Card card() const override { return {"on-one-rank", "everything on rank 0", "an example"}; }
  bool takes_exchange() const override { return false; }
  std::optional<std::string> supports(const Problem& problem, int) const override {
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
