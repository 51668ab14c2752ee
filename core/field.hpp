#pragma once
// Inputs whose transform is known without computing one, evaluated row by row on any rank's part of any
// Decomposition. No MPI, no FFT library: what checks a transform must not depend on one.

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "core/decomposition.hpp"
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

/// The exact unnormalised DFT: each wave becomes a spike, each spike a wave. There and back: the field times its size.
[[nodiscard]] SparseField transform(const SparseField& field, Direction direction);

/// Pseudo-random field with the given numbers of waves (amplitudes of modulus 1) and spikes (of modulus
/// spike_amplitude); a function of seed alone, so every rank draws the same. With a symmetry each wave (real) or spike
/// (hermitian) is joined by its mirror image, and the amplitudes of the others are real.
[[nodiscard]] SparseField random_field(const Extents& shape, int waves, int spikes, double spike_amplitude,
                                       std::uint64_t seed, Symmetry symmetry = Symmetry::none);

/// What tells the modes of a spectrum apart, where an operator multiplies each by another factor: a wave whose k are at
/// most 2 from zero, one of any k, and a constant.
[[nodiscard]] SparseField random_modes(const Extents& shape, std::uint64_t seed, Symmetry symmetry = Symmetry::none);

/// How large an element of the field can be where its terms do not cancel: the largest norm (root of the sum of
/// squares) of the terms of an element. Rounding errors of the field and of its transform are relative to it, and not
/// to the sum of the terms, which may be as small as can be.
[[nodiscard]] double largest_norm_of_terms(const SparseField& field);

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

/// The local array of one rank as rows along its longest contiguous axis. Positions 0, 1, 2 run from slowest to fastest
/// in memory; axes of one local element come first, so that a row is never shorter than it needs to be. `shape` is that
/// of the whole grid, of which the layout may hold half (r2c). Where the rank holds several boxes
/// (Decomposition::boxes) all is said of the one selected, at first number 0.
class LocalRows {
 public:
  LocalRows(const Decomposition& layout, int rank, const Extents& shape);
  LocalRows(const Decomposition& layout, int rank) : LocalRows(layout, rank, layout.shape) {}

  [[nodiscard]] std::size_t boxes() const { return boxes_.size(); }  ///< at least one, which may be empty
  void select(std::size_t box);
  [[nodiscard]] Index longest_row() const { return longest_row_; }  ///< over all boxes
  [[nodiscard]] Index count(std::size_t position) const { return count_[position]; }
  [[nodiscard]] std::size_t axis(std::size_t position) const { return axis_[position]; }
  [[nodiscard]] const Extents& shape() const { return shape_; }
  /// Global indices along axis(position) of the local coordinates from `first` on.
  void indices(std::size_t position, Index first, std::span<Index> out) const;
  /// Step of the row-major global linear index per global index along axis(position).
  [[nodiscard]] Index linear_step(std::size_t position) const { return stride_[position]; }
  [[nodiscard]] Index mirrored_index(std::size_t position, Index global) const {
    return global == 0 ? 0 : shape_[axis_[position]] - global;
  }
  /// Where local element (i, j, k) lies in memory, in elements; those of a row lie one after another.
  [[nodiscard]] Index offset(Index i, Index j, Index k) const {
    return begin_ + i * memory_stride_[0] + j * memory_stride_[1] + k;
  }
  /// Local (i, j, k) of a global index, or false when it is not in the selected box.
  [[nodiscard]] bool find(const Extents& global, Extents& local) const;
  /// The same in whichever box holds it, which is selected; false when another rank holds it.
  [[nodiscard]] bool find_in_all(const Extents& global, Extents& local);

 private:
  Decomposition layout_;
  int rank_;
  std::vector<Box> boxes_;
  std::vector<Index> begins_;  // where each box begins in memory
  Index longest_row_ = 0;
  Box box_;
  Index begin_ = 0;
  Extents shape_;
  std::array<std::size_t, 3> axis_{};
  Extents count_{};          // by position, as all that follow
  Extents stride_{};         // in the global linear index
  Extents memory_stride_{};  // in the local array
};

/// A part of the rows that is worked on at once, with the global index of each of its coordinates: what an evaluation
/// keeps along an axis is bounded by it, however long the axis.
class RowTile {
 public:
  static constexpr Index max_extent = 8192;  ///< along each position

  explicit RowTile(LocalRows& rows);
  /// Calls visit() with the tile at each of its places, which cover all rows of all boxes: it selects them.
  template <class Visit>
  void for_each_place(const Visit& visit) {
    for (std::size_t box = 0; box < rows_->boxes(); ++box) {
      rows_->select(box);
      for (low_[0] = 0; low_[0] < rows_->count(0); low_[0] += max_extent)
        for (low_[1] = 0; low_[1] < rows_->count(1); low_[1] += max_extent)
          for (low_[2] = 0; low_[2] < rows_->count(2); low_[2] += max_extent) {
            fill_indices({max_extent, max_extent, max_extent});
            visit();
          }
    }
  }

  /// One row of the selected box, or as much of it as a tile holds.
  void place_at(Index i, Index j);

  [[nodiscard]] const LocalRows& rows() const { return *rows_; }
  [[nodiscard]] Index low(std::size_t position) const { return low_[position]; }
  [[nodiscard]] Index count(std::size_t position) const { return static_cast<Index>(index_[position].size()); }
  /// Global index along rows().axis(position) of each coordinate of the tile.
  [[nodiscard]] std::span<const Index> index(std::size_t position) const { return index_[position]; }
  /// Row-major global linear index of global index 0 in row (i, j) of the tile, and of the row of opposite indices.
  [[nodiscard]] Index linear(Index i, Index j) const;
  [[nodiscard]] Index mirrored_linear(Index i, Index j) const;
  /// Global index of element (i, j, k) of the tile.
  [[nodiscard]] Extents global(Index i, Index j, Index k) const;
  /// Where the first element of row (i, j) lies in memory.
  [[nodiscard]] Index offset(Index i, Index j) const { return rows_->offset(low_[0] + i, low_[1] + j, low_[2]); }

 private:
  void fill_indices(const Extents& most);
  LocalRows* rows_;
  Extents low_{};
  std::array<std::vector<Index>, 3> index_;
};

/// Values along the rows of a tile.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Moves row() to this place of the tile.
  virtual void enter(const RowTile& /*tile*/) {}
  /// out[k] = the value at element (i, j, k) of the tile.
  virtual void row(Index i, Index j, std::span<std::complex<double>> out) const = 0;
};

/// exp(2 pi i k c / n) at any c from 0 to n - 1, within three rounding errors, from tables of n^(1/2) entries, beyond
/// 2^28 of n^(1/3).
class UnitRoots {
 public:
  void assign(Index n, Index k);
  void at(std::span<const Index> indices, std::span<std::complex<double>> factors) const;

 private:
  unsigned shift_ = 0;
  std::vector<std::vector<std::complex<double>>> tables_;  // for digits of `shift_` bits, from the lowest on
};

/// Evaluates a SparseField. assign() and enter() allocate only when a field has more terms than any before.
class FieldRows : public RowSource {
 public:
  void assign(const SparseField& field);
  void enter(const RowTile& tile) override;
  void row(Index i, Index j, std::span<std::complex<double>> out) const override;

 private:
  struct LocalSpike {
    std::complex<double> amplitude;
    Extents at{};  // in the tile
  };
  SparseField field_;
  std::array<std::vector<UnitRoots>, 3> roots_;                           // [axis][wave]
  std::array<std::vector<std::vector<std::complex<double>>>, 3> factor_;  // [position][wave][coordinate]
  std::vector<LocalSpike> spikes_;
};

/// The whole transform of the noise field (of this symmetry) by definition, separably, in extended precision; row-major
/// over shape. Costs N * (n0 + n1 + n2) complex products.
[[nodiscard]] std::vector<std::complex<double>> naive_noise_dft(const Extents& shape, Direction direction,
                                                                std::uint64_t seed, Symmetry symmetry = Symmetry::none);

}  // namespace fourscore
