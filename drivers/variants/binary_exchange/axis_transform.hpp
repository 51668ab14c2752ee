#pragma once
// Binary exchange along one axis: butterflies among the ranks of a line, transforms of what each holds, and, where it
// is wanted, the way back to natural order.

#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/plan.hpp"
#include "mpi/handles.hpp"
#include "variants/binary_exchange/butterfly_network.hpp"
#include "variants/binary_exchange/digit_swap.hpp"
#include "variants/binary_exchange/line_factors.hpp"
#include "variants/binary_exchange/radix2_passes.hpp"

namespace fourscore {

/// What the variant's parameters ask for.
struct AxisOptions {
  int radix = 2;
  bool pairwise = false;
  Index pieces = 1;
  bool whole_table = false;
  bool local_radix2 = false;
};

/// Where the data of one AxisTransform lies: from one of two buffers to one of them. Both pointers are the same where
/// the plan has but one buffer.
struct AxisBuffers {
  std::array<void*, 2> data{};
  std::size_t from = 0;
  std::size_t to = 0;
};

template <class Real>
class AxisTransform {
 public:
  using Value = std::complex<Real>;
  /// Collective over `line`, the ranks that hold the axis together, in order. Each has view.length of its elements.
  AxisTransform(const PlanContext& context, mpi::Communicator line, const AxisView& view, const AxisOptions& options,
                const AxisBuffers& buffers);
  AxisTransform(const AxisTransform&) = delete;  // parts hold the addresses of others
  AxisTransform& operator=(const AxisTransform&) = delete;

  void run(PhaseClock& clock);
  /// Adds the parts of run(), numbered on within their phases.
  void add_components(std::vector<Component>& list);
  [[nodiscard]] MessageVolume message_volume() const;
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] std::string describe() const;

 private:
  [[nodiscard]] Value* data(std::size_t buffer) const { return static_cast<Value*>(buffers_.data[buffer]); }
  /// Where the local transform leaves its result.
  [[nodiscard]] std::size_t transformed_in() const { return swap_ ? 1 - buffers_.to : buffers_.to; }
  /// Where the passes end that are put in order afterwards.
  [[nodiscard]] std::size_t passes_end_in() const { return reorders_ ? 1 - transformed_in() : transformed_in(); }

  void plan_network(const Problem& problem, const AxisOptions& options);
  void plan_fft(const PlanContext& context);
  void transform_locally(PhaseClock& clock);
  void put_in_order(PhaseClock& clock);
  void add_network(std::vector<Component>& list);
  void add_local(std::vector<Component>& list);

  mpi::Communicator line_;
  AxisView view_;
  AxisBuffers buffers_;
  bool from_end_;          ///< backward from the permuted layout
  bool reorders_ = false;  ///< the result of the passes
  Index bytes_;            ///< size of the local array
  std::optional<LineFactors<Real>> factors_;
  std::optional<ButterflyNetwork<Real>> network_;
  std::unique_ptr<LocalFft> fft_;
  std::optional<Radix2Passes<Real>> passes_;  ///< in its place
  std::optional<DigitSwap<Real>> swap_;       ///< to natural order
};

extern template class AxisTransform<double>;
extern template class AxisTransform<float>;

}  // namespace fourscore
