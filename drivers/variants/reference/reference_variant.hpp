#pragma once
// Other people's distributed transforms as variants: a library's file says what it does not take, and makes its plan.

#include <memory>
#include <string>

#include "interfaces/variant.hpp"

namespace fourscore {

/// A library with an exchange and a local FFT of its own.
class ReferenceVariant : public Variant {
 public:
  /// `library`: its name in messages. `missing`: why this build is without it, as CMake said; empty: it has it.
  ReferenceVariant(std::string library, std::string missing)
      : library_(std::move(library)), missing_(std::move(missing)) {}

  [[nodiscard]] std::string unavailable() const override { return missing_; }
  [[nodiscard]] VariantFacts facts() const override { return {.exchange = "none"}; }
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override { return {"fftw", problem.threads}; }
  /// It takes them together only where its file says so.
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override;
  /// Throws InputError where the library is missing, or does not take the problem.
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const final;

 protected:
  [[nodiscard]] const std::string& library() const { return library_; }

 private:
  /// A plan of a problem that the library takes; called only where the library is there. Collective.
  [[nodiscard]] virtual std::unique_ptr<Plan> plan_of(const PlanContext& /*context*/) const { return nullptr; }

  std::string library_, missing_;
};

/// One for pencils, on a grid of two entries (reference_grid), with one thread.
class PencilReference : public ReferenceVariant {
 public:
  PencilReference(std::string library, std::string missing, int least_axes = 3)
      : ReferenceVariant(std::move(library), std::move(missing)), least_axes_(least_axes) {}

  [[nodiscard]] std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const final { return 2; }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const final;
  /// On the grid that is given, or that `pencil` has; a library may choose another. Throws InputError without a grid.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const final;

 private:
  /// The reason why the library cannot transform the problem on this grid, or nothing.
  [[nodiscard]] virtual Reason limit(const Problem& problem, int ranks, const Grid& grid) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Plan> plan_on(const PlanContext& /*context*/, const Grid& /*grid*/) const {
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Plan> plan_of(const PlanContext& context) const final;

  int least_axes_;
};

/// One for slabs, without a grid. Where there are more ranks than planes some hold nothing.
class SlabReference : public ReferenceVariant {
 public:
  using ReferenceVariant::ReferenceVariant;

  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const final;
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const final;

 private:
  /// The reason why the library cannot transform the problem on so many ranks, or nothing.
  [[nodiscard]] virtual Reason limit(const Problem& problem, int ranks) const = 0;
};

}  // namespace fourscore
