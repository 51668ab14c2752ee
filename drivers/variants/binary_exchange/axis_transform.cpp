#include "variants/binary_exchange/axis_transform.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/digit_order.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

/// As "fft-2", the second of its phase.
void add(std::vector<Component>& list, Phase phase, std::function<void()> run, Index min_bytes) {
  const auto before = std::ranges::count(list, phase, &Component::phase);
  list.push_back({fmt::format("{}-{}", phase_names[static_cast<std::size_t>(phase)], before + 1), phase, std::move(run),
                  min_bytes});
}

}  // namespace

template <class Real>
AxisTransform<Real>::AxisTransform(const PlanContext& context, mpi::Communicator line, const AxisView& view,
                                   const AxisOptions& options, const AxisBuffers& buffers)
    : line_(std::move(line)),
      view_(view),
      buffers_(buffers),
      from_end_(context.problem.contract.layout == LayoutContract::transposed &&
                context.problem.direction == Direction::backward),
      bytes_(view.elements() * static_cast<Index>(sizeof(Value))) {
  const Problem& problem = context.problem;
  const int ranks = mpi::size_of(line_.get());
  const int me = mpi::rank_in(line_.get());
  const bool ordered = problem.contract.layout == LayoutContract::natural;
  if (ordered && ranks > 1) {
    require_int_count(view.elements() / 2, "a message", "binary-exchange");
    swap_.emplace(line_.get(), view, data(1 - buffers.to), data(buffers.to));
  }
  const Index k1 = reversed_bits(me, log2_of(ranks));
  if (options.local_radix2) {
    reorders_ = ordered && view.length > 1;
    passes_.emplace(view, ranks, k1, problem.direction, from_end_);
  } else {
    plan_fft(context);
    if (ranks > 1) factors_.emplace(view, Roots(ranks * view.length, problem.direction), k1, options.whole_table);
  }
  if (ranks > 1) plan_network(problem, options);
}

template <class Real>
void AxisTransform<Real>::plan_network(const Problem& problem, const AxisOptions& options) {
  const std::size_t works_in = from_end_ ? buffers_.to : buffers_.from;
  network_.emplace(line_.get(), view_.elements(),
                   NetworkOptions{options.radix, options.pairwise, options.pieces, problem.direction, from_end_},
                   data(works_in), data(1 - works_in), factors_ ? &*factors_ : nullptr);
}

template <class Real>
void AxisTransform<Real>::plan_fft(const PlanContext& context) {
  const Problem& problem = context.problem;
  LocalFftSpec spec = local_fft_spec(problem);
  spec.axes = {{view_.length, view_.inner, view_.inner}};
  const Index line = view_.length * view_.inner;
  if (view_.outer > 1) spec.batch.push_back({view_.outer, line, line});
  if (view_.inner > 1) spec.batch.push_back({view_.inner, 1, 1});
  spec.single_plan = problem.shape.size() == 1;
  fft_ = context.local_fft.make(spec, data(buffers_.from), data(transformed_in()));
}

template <class Real>
void AxisTransform<Real>::run(PhaseClock& clock) {
  if (network_ && !from_end_) network_->run(clock);
  transform_locally(clock);
  if (network_ && from_end_) network_->run(clock);
  put_in_order(clock);
}

template <class Real>
void AxisTransform<Real>::transform_locally(PhaseClock& clock) {
  const Region region(clock, Phase::fft);
  if (passes_)
    passes_->run(data(buffers_.from), data(passes_end_in()));
  else
    fft_->execute();
}

template <class Real>
void AxisTransform<Real>::put_in_order(PhaseClock& clock) {
  if (reorders_) {
    const Region region(clock, Phase::unpack);
    passes_->put_in_order(data(passes_end_in()), data(transformed_in()));
  }
  if (!swap_) return;
  {
    const Region region(clock, Phase::exchange);
    for (std::size_t step = 0; step < swap_->steps(); ++step) swap_->exchange(step);
  }
  const Region region(clock, Phase::unpack);
  swap_->unpack();
}

template <class Real>
void AxisTransform<Real>::add_components(std::vector<Component>& list) {
  if (!from_end_) add_network(list);
  add_local(list);
  if (from_end_) add_network(list);
  if (reorders_)
    add(
        list, Phase::unpack, [this] { passes_->put_in_order(data(passes_end_in()), data(transformed_in())); },
        2 * bytes_);
  if (!swap_) return;
  for (std::size_t step = 0; step < swap_->steps(); ++step)
    // Half of the slots go, as many come.
    add(
        list, Phase::exchange, [this, step] { swap_->exchange(step); }, bytes_);
  add(
      list, Phase::unpack, [this] { swap_->unpack(); }, 2 * bytes_);
}

template <class Real>
void AxisTransform<Real>::add_network(std::vector<Component>& list) {
  if (!network_) return;
  const std::size_t works_in = from_end_ ? buffers_.to : buffers_.from;
  const auto add_factors = [&] {
    if (factors_)
      add(
          list, Phase::twiddle,
          [this, works_in] {
            if (!factors_->is_one()) factors_->multiply(data(works_in), {0, view_.elements()});
          },
          factors_->is_one() ? 0 : 2 * bytes_);
  };
  if (from_end_) add_factors();
  for (std::size_t stage = 0; stage < network_->stages(); ++stage) {
    const Index arrays = network_->arrays_received(stage);
    // Reads its own array for each partner, writes one of each.
    add(
        list, Phase::exchange, [this, stage] { network_->exchange(stage); }, 2 * arrays * bytes_);
    // Reads its own and the partners', writes its own.
    add(
        list, Phase::combine, [this, stage] { network_->combine(stage); }, (2 + arrays) * bytes_);
  }
  if (!from_end_) add_factors();
}

template <class Real>
void AxisTransform<Real>::add_local(std::vector<Component>& list) {
  if (!passes_)
    return add(
        list, Phase::fft, [this] { fft_->execute(); }, 2 * bytes_);
  if (passes_->passes() == 0)
    add(
        list, Phase::fft, [this] { passes_->run(data(buffers_.from), data(passes_end_in())); },
        buffers_.from == passes_end_in() ? 0 : 2 * bytes_);
  for (int number = 0; number < passes_->passes(); ++number)
    add(
        list, Phase::fft, [this, number] { passes_->run_pass(number, data(buffers_.from), data(passes_end_in())); },
        2 * bytes_);
}

template <class Real>
MessageVolume AxisTransform<Real>::message_volume() const {
  MessageVolume total = network_ ? network_->message_volume() : MessageVolume{};
  if (swap_) total += swap_->message_volume();
  return total;
}

template <class Real>
std::size_t AxisTransform<Real>::workspace_bytes() const {
  return (factors_ ? factors_->bytes() : 0) + (passes_ ? passes_->bytes() : 0) +
         (network_ ? network_->workspace_bytes() : 0);
}

template <class Real>
std::string AxisTransform<Real>::describe() const {
  if (fft_) return fft_->describe();
  return fmt::format("{} radix-2 passes over {} x {} x {}", passes_->passes(), view_.outer, view_.length, view_.inner);
}

template class AxisTransform<double>;
template class AxisTransform<float>;

}  // namespace fourscore
