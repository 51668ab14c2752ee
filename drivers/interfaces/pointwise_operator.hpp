#pragma once
// The interface to what a spectrum is multiplied by between a transform forward and the one backward: the product of a
// convolution. No MPI here.

#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/refusal.hpp"
#include "core/registry.hpp"

namespace fourscore {

/// The wave number of the mode at `index` of an axis of n elements, over a period of 2 pi: the one nearest to zero that
/// has this index. The mode n/2 of even n has two; n/2 is given.
[[nodiscard]] constexpr Index wave_number(Index index, Index n) { return 2 * index > n ? index - n : index; }

/// The wave numbers of the rows of a box of a spectrum. Positions 0, 1, 2 run from slowest to fastest in memory.
struct ModeRows {
  std::array<std::size_t, 3> axis{};      ///< at each position
  std::array<std::vector<Index>, 3> k{};  ///< wave number of each coordinate
  Extents shape{};                        ///< extents of the whole grid in space, by axis
  [[nodiscard]] std::size_t position_of(std::size_t of_axis) const {
    return axis[0] == of_axis ? 0 : axis[1] == of_axis ? 1 : 2;
  }
};

/// The factors of the modes of one box. Its tables are made once; row() allocates nothing, and several threads may call
/// it.
class RowFactors {
 public:
  virtual ~RowFactors() = default;
  /// Writes the factor of each mode of the row of coordinates i and j: where the operator is imaginary, over i.
  virtual void row(std::size_t i, std::size_t j, std::span<double> factors) const = 0;
};

/// A product in the spectrum, mode by mode. Its factors are real, or all imaginary; factor(-k) is conj factor(k), so
/// that a real field stays real. 1/N is among them, because no transform has it: with factor 1/N the input comes back.
class PointwiseOperator {
 public:
  virtual ~PointwiseOperator() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  /// Nothing, or why a problem cannot have it, which is then skipped.
  [[nodiscard]] virtual Reason supports(const Problem& /*problem*/) const { return std::nullopt; }
  /// How many fields go back, each of a product of its own with the same spectrum.
  [[nodiscard]] virtual int fields(const Problem& /*problem*/) const { return 1; }
  [[nodiscard]] virtual bool is_imaginary() const { return false; }
  /// Whether it drops what the two-thirds rule drops, and nothing else (interfaces/truncation.hpp).
  [[nodiscard]] virtual bool dealiases() const { return false; }
  /// The definition, by which results are checked: what field `field` has for the mode of these wave numbers.
  [[nodiscard]] virtual std::complex<double> factor(const Problem& problem, const Extents& k, int field) const = 0;
  /// The largest modulus of factor().
  [[nodiscard]] virtual double largest_factor(const Problem& problem, int field) const = 0;
  /// The same factors, by tables.
  [[nodiscard]] virtual std::unique_ptr<RowFactors> factors(const ModeRows& rows, int field) const = 0;
};

using OperatorRegistry = Registry<PointwiseOperator>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_OPERATOR(Type) \
  static const bool registered_##Type = ::fourscore::OperatorRegistry::instance().add(std::make_unique<Type>())
