#pragma once
// Inputs whose transform is known without computing one, evaluated row by row on any rank's part of any
// Decomposition. No MPI, no FFT library: what checks a transform must not depend on one.

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "core/grid.hpp"
#include "core/problem.hpp"

namespace fourscore {

/// amplitude * exp(2 pi i sum_a k[a] j[a] / n[a]) at index j.
struct Wave {
  std::complex<double> amplitude;
  Extents k{};
};

/// amplitude at index `at`, zero elsewhere.
struct Spike {
  std::complex<double> amplitude;
  Extents at{};
};

/// real: no imaginary parts. hermitian: f(-j) = conj f(j), as the transform of a real field is, so that half of it says
/// all.
enum class Symmetry { none, real, hermitian };

/// A sum of waves and spikes over a grid of the given shape.
struct SparseField {
  Extents shape{1, 1, 1};
  std::vector<Wave> waves;
  std::vector<Spike> spikes;
};

/// The exact unnormalised DFT: each wave becomes a spike, each spike a wave.
[[nodiscard]] SparseField transform(const SparseField& field, Direction direction);

/// Pseudo-random field with the given numbers of waves (amplitudes of modulus 1) and spikes (of modulus
/// spike_amplitude); a function of seed alone, so every rank draws the same. With a symmetry each wave (real) or spike
/// (hermitian) is joined by its mirror image, and the amplitudes of the others are real.
[[nodiscard]] SparseField random_field(const Extents& shape, int waves, int spikes, double spike_amplitude,
                                       std::uint64_t seed, Symmetry symmetry = Symmetry::none);

/// SplitMix64 (Steele, Lea, Flood 2014): a well mixed function of a counter.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// White noise in the unit square around 0 at the element of global linear (row-major) index `linear`. The parts are
/// multiples of 2^-24, exact in both precisions.
[[nodiscard]] inline std::complex<double> noise(std::uint64_t seed, Index linear) {
  const std::uint64_t bits = mix(seed ^ mix(static_cast<std::uint64_t>(linear)));
  constexpr double unit = 0x1p-24;
  return {unit * static_cast<double>(bits >> 40U) - 0.5, unit * static_cast<double>((bits >> 8U) & 0xffffffU) - 0.5};
}

/// Noise with a symmetry from the plain noise at an element and at its mirror image. Exact in both precisions too.
[[nodiscard]] inline std::complex<double> noise(std::uint64_t seed, Index linear, Index mirrored, Symmetry symmetry) {
  const std::complex<double> plain = noise(seed, linear);
  if (symmetry == Symmetry::none) return plain;
  if (symmetry == Symmetry::real) return plain.real();
  return (plain + std::conj(noise(seed, mirrored))) / 2.0;
}

/// The local array of one rank as rows along its longest contiguous axis, with the global index of every coordinate.
/// Positions 0, 1, 2 run from slowest to fastest in memory; axes of one local element come first, so that a row is
/// never shorter than it needs to be. `shape` is that of the whole grid, of which the layout may hold half (r2c).
class LocalRows {
 public:
  LocalRows(const Decomposition& layout, int rank, const Extents& shape);
  LocalRows(const Decomposition& layout, int rank) : LocalRows(layout, rank, layout.shape) {}

  [[nodiscard]] Index count(std::size_t position) const { return static_cast<Index>(index_[position].size()); }
  [[nodiscard]] Index volume() const { return count(0) * count(1) * count(2); }
  [[nodiscard]] std::size_t axis(std::size_t position) const { return axis_[position]; }
  /// Global index along axis(position) of each local coordinate.
  [[nodiscard]] std::span<const Index> index(std::size_t position) const { return index_[position]; }
  [[nodiscard]] const Extents& shape() const { return shape_; }
  /// Row-major global linear index of coordinate 0 of the row (i, j), and its step per global index in a row.
  [[nodiscard]] Index linear(Index i, Index j) const;
  [[nodiscard]] Index linear_step() const { return stride_[2]; }
  /// The same for the row of opposite indices.
  [[nodiscard]] Index mirrored_linear(Index i, Index j) const;
  [[nodiscard]] Index mirrored_index(std::size_t position, Index global) const {
    return global == 0 ? 0 : shape_[axis_[position]] - global;
  }
  /// Where the row lies in memory, in elements; its own lie one after another.
  [[nodiscard]] Index offset(Index i, Index j) const { return i * memory_stride_[0] + j * memory_stride_[1]; }
  /// Local (i, j, k) of a global index, or false when another rank holds it.
  [[nodiscard]] bool find(const Extents& global, Extents& local) const;

 private:
  Extents shape_;
  std::array<std::size_t, 3> axis_{};
  std::array<std::vector<Index>, 3> index_;
  Extents stride_{};         // of the global linear index, by position
  Extents memory_stride_{};  // of the local array, by position
};

/// Evaluates a SparseField on one rank's rows. assign() allocates only when a field has more terms than any before.
class FieldRows {
 public:
  explicit FieldRows(const LocalRows& rows) : rows_(rows) {}
  void assign(const SparseField& field);
  /// out[k] = field at local element (i, j, k).
  void row(Index i, Index j, std::span<std::complex<double>> out) const;

 private:
  struct LocalSpike {
    std::complex<double> amplitude;
    Extents at{};  // local
  };
  const LocalRows& rows_;
  std::size_t waves_ = 0;
  std::vector<std::complex<double>> amplitude_;
  std::array<std::vector<std::vector<std::complex<double>>>, 3> factor_;  // [position][wave][coordinate]
  std::vector<std::complex<double>> coarse_, fine_;                       // scratch of assign()
  std::vector<LocalSpike> spikes_;
};

/// factors[c] = exp(2 pi i k indices[c] / n), within two rounding errors; coarse and fine are scratch.
void unit_roots(Index n, Index k, std::span<const Index> indices, std::span<std::complex<double>> factors,
                std::vector<std::complex<double>>& coarse, std::vector<std::complex<double>>& fine);

/// The whole transform of the noise field (of this symmetry) by definition, separably, in extended precision; row-major
/// over shape. Costs N * (n0 + n1 + n2) complex products.
[[nodiscard]] std::vector<std::complex<double>> naive_noise_dft(const Extents& shape, Direction direction,
                                                                std::uint64_t seed, Symmetry symmetry = Symmetry::none);

}  // namespace fourscore
