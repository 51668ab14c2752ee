#include "offload/neighbour_reads.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "mpi/handles.hpp"

namespace fourscore {

namespace {

/// Straight to their place in the destination.
std::vector<BoxCopy> copies_of(const std::vector<SourceBlock>& sources, const ExchangeSpec& spec) {
  const Extents strides = spec.to.strides(mpi::rank_in(spec.comm));
  std::vector<BoxCopy> copies;
  for (const SourceBlock& source : sources) {
    const CopyPlan plan(source.box.extents(), source.strides, strides, spec.element_bytes, Stores::ordinary);
    if (plan.bytes() == 0) continue;
    Index first = 0;
    for (std::size_t a = 0; a < 3; ++a) first += source.box.low[a] * strides[a];
    auto* const to = static_cast<std::byte*>(spec.spare.data()) + first * static_cast<Index>(spec.element_bytes);
    copies.push_back({source.data, to, plan.run_bytes(), plan.loops()});
  }
  return copies;
}

class NeighbourReads : public Exchange {
 public:
  NeighbourReads(std::shared_ptr<Device> device, std::unique_ptr<Exchange> inner, const ExchangeSpec& spec)
      : device_(std::move(device)), queue_(device_->make_queue()), inner_(std::move(inner)) {
    if (!inner_->lands_in_source()) {
      const auto sources = inner_->readable_sources();
      if (!sources) throw std::logic_error("an exchange reads memory that this process has not opened");
      inner_->leave_copies_to_caller();
      if (const auto copies = copies_of(*sources, spec); !copies.empty()) reads_ = device_->make_copies(copies);
    }
    declared() = inner_->facts();
  }

  /// What neighbours hold was computed before they met; what they may overwrite then was read.
  void start() override {
    inner_->start();
    if (!reads_) return;
    reads_->enqueue(*queue_);
    queue_->synchronise();
  }
  void finish() override { inner_->finish(); }

 private:
  std::shared_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Exchange> inner_;
  std::unique_ptr<DeviceCopies> reads_;  ///< null: there is nothing to copy
};

}  // namespace

std::unique_ptr<Exchange> neighbour_reads(std::shared_ptr<Device> device, std::unique_ptr<Exchange> inner,
                                          const ExchangeSpec& spec) {
  return std::make_unique<NeighbourReads>(std::move(device), std::move(inner), spec);
}

}  // namespace fourscore
