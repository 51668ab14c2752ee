#pragma once
// What a plan of the transpose method is put together from. Each step reads one of the plan's two buffers and leaves
// its result in one of them; all plan and allocate in their constructors.

#include <memory>
#include <string>
#include <vector>

#include "interfaces/plan.hpp"
#include "kernels/roots.hpp"
#include "mpi/handles.hpp"
#include "variants/transpose/transpose_view.hpp"

namespace fourscore {

class TransposeStep {
 public:
  enum class Sort { fft, exchange, permutation };
  virtual ~TransposeStep() = default;
  virtual void run(PhaseClock& clock) = 0;
  /// The components of step number `number`, counted from 1 among steps of its sort.
  virtual void add_components(std::vector<Component>& list, int number) = 0;
  [[nodiscard]] virtual Sort sort() const = 0;
  [[nodiscard]] virtual bool lands_in_source() const = 0;
  [[nodiscard]] virtual MessageVolume message_volume() const { return {}; }
  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }
  [[nodiscard]] virtual std::string describe() const { return {}; }
};

/// Transforms along the middle one of three axes of a local array, and the factors that connect them to the next axis:
/// element (a, k, c) of before x length x columns is multiplied by root^(k exponents[c]), after the transforms or
/// before them. Blocks of columns are gathered into a scratch that the cache holds and transformed there. The product
/// is formed while the block is written back, or fetched: that copy is phase twiddle, the other one fft.
struct TwiddledSpec {
  Index before = 1;
  Index length = 1;
  Index columns = 1;
  std::vector<Index> exponents;
  Index order = 1;  ///< order of the root
  bool twiddle_first = false;
};
[[nodiscard]] std::unique_ptr<TransposeStep> twiddled_fft(const PlanContext& context, const TwiddledSpec& spec,
                                                          const Buffer& from, const Buffer& to);

/// Transforms along the middle one of three axes.
[[nodiscard]] std::unique_ptr<TransposeStep> plain_fft(const PlanContext& context, Index before, Index length,
                                                       Index columns, const Buffer& from, const Buffer& to);

/// Transforms the rows of rows x length, and leaves them as the columns of length x rows in the other buffer: blocks of
/// rows are transformed in a scratch that the cache holds (phase fft) and written from there (phase unpack).
[[nodiscard]] std::unique_ptr<TransposeStep> fft_into_columns(const PlanContext& context, Index rows, Index length,
                                                              const Buffer& from, const Buffer& to);

/// Copies from one buffer into the other: from natural order into the boxes' dealt order (phase pack), or back
/// (unpack).
[[nodiscard]] std::unique_ptr<TransposeStep> permutation(const std::vector<DealtBox>& boxes, bool from_natural,
                                                         std::size_t element_bytes, const Buffer& from,
                                                         const Buffer& to);

/// A redistribution among the ranks of comm. from and to: of these ranks, in their order.
struct RedistributionSpec {
  mpi::Communicator comm;
  Decomposition from;
  Decomposition to;

  [[nodiscard]] ExchangeSpec exchange(const PlanContext& context, Buffer& source, Buffer& spare, Buffer* staging) const;
};
/// Collective over the plan's ranks.
[[nodiscard]] std::unique_ptr<TransposeStep> redistribution(const PlanContext& context, const ExchangeSpec& spec);

}  // namespace fourscore
