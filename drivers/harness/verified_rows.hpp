#pragma once
// What the Verifier writes into rows and compares rows with.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/field.hpp"
#include "core/problem.hpp"
#include "harness/wrong_elements.hpp"

namespace fourscore {

/// White noise, or with a symmetry, of the whole grid.
class NoiseRows : public RowSource {
 public:
  NoiseRows(std::uint64_t seed, Symmetry symmetry) : seed_(seed), symmetry_(symmetry) {}
  void enter(const RowTile& tile) override { tile_ = &tile; }
  void row(Index i, Index j, std::span<std::complex<double>> out) const override {
    const LocalRows& rows = tile_->rows();
    const Index base = tile_->linear(i, j);
    const Index mirror = tile_->mirrored_linear(i, j);
    const Index step = rows.linear_step(2);
    const auto index = tile_->index(2);
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = noise(seed_, base + index[k] * step, mirror + rows.mirrored_index(2, index[k]) * step, symmetry_);
  }

 private:
  std::uint64_t seed_;
  Symmetry symmetry_;
  const RowTile* tile_ = nullptr;
};

/// A whole array of the grid.
class ArrayRows : public RowSource {
 public:
  explicit ArrayRows(std::vector<std::complex<double>> values) : values_(std::move(values)) {}
  [[nodiscard]] double largest() const {
    double square = 0;
    for (const std::complex<double>& value : values_) square = std::max(square, std::norm(value));
    return std::sqrt(square);
  }
  void enter(const RowTile& tile) override { tile_ = &tile; }
  void row(Index i, Index j, std::span<std::complex<double>> out) const override {
    const Index base = tile_->linear(i, j);
    const Index step = tile_->rows().linear_step(2);
    const auto index = tile_->index(2);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = values_[static_cast<std::size_t>(base + index[k] * step)];
  }

 private:
  std::vector<std::complex<double>> values_;
  const RowTile* tile_ = nullptr;
};

/// The elements of a row of one of several fields: not always one after another (Interleaving).
template <class Element>
class Strided {
 public:
  Strided(Element* first, Index step) : first_(first), step_(step) {}
  [[nodiscard]] Element& operator[](std::size_t k) const { return first_[static_cast<Index>(k) * step_]; }
  [[nodiscard]] Strided from(std::size_t k) const { return {&(*this)[k], step_}; }

 private:
  Element* first_;
  Index step_;
};

template <class Real>
void write_row(std::span<const std::complex<double>> row, const Strided<Real>& out) {
  for (std::size_t k = 0; k < row.size(); ++k) out[k] = static_cast<Real>(row[k].real());
}

template <class Real>
void write_row(std::span<const std::complex<double>> row, const Strided<std::complex<Real>>& out) {
  for (std::size_t k = 0; k < row.size(); ++k)
    out[k] = {static_cast<Real>(row[k].real()), static_cast<Real>(row[k].imag())};
}

template <class Real>
double real_part(Real value) {
  return static_cast<double>(value);
}
template <class Real>
double real_part(std::complex<Real> value) {
  return static_cast<double>(value.real());
}
template <class Real>
double imaginary_part(Real /*value*/) {
  return 0;
}
template <class Real>
double imaginary_part(std::complex<Real> value) {
  return static_cast<double>(value.imag());
}

/// The square of the largest |computed * scale - expected|; infinite where a NaN is met.
template <class Element>
double compare_row(std::span<const std::complex<double>> expected, const Strided<Element>& computed, double scale) {
  bool nan = false;
  double row_worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double re = real_part(computed[k]) * scale - expected[k].real();
    const double im = imaginary_part(computed[k]) * scale - expected[k].imag();
    const double difference = re * re + im * im;
    nan |= difference != difference;
    row_worst = difference > row_worst ? difference : row_worst;
  }
  return nan ? std::numeric_limits<double>::infinity() : row_worst;
}

/// The largest error of a row, relative to `size`; each element beyond the tolerance is added to `wrong`, with the
/// index that index_of gives it.
template <class Element, class IndexOf>
double judge_row(std::span<const std::complex<double>> expected, const Strided<Element>& computed, double scale,
                 double size, double tolerance, const IndexOf& index_of, const Extents& extents, WrongElements& wrong) {
  const auto error_of = [&](std::size_t first, std::size_t count) {
    return std::sqrt(compare_row(expected.subspan(first, count), computed.from(first), scale)) / size;
  };
  wrong.look_at(static_cast<Index>(expected.size()));
  const double error = error_of(0, expected.size());
  for (std::size_t k = 0; error > tolerance && k < expected.size(); ++k)
    if (error_of(k, 1) > tolerance)
      wrong.add(index_of(static_cast<Index>(k)), extents,
                {real_part(computed[k]) * scale, imaginary_part(computed[k]) * scale}, expected[k]);
  return error;
}

/// Calls use with the place of element `offset` as a pointer to its type.
template <class Use>
void at_element(Precision precision, bool real, void* buffer, Index offset, const Use& use) {
  if (precision == Precision::double_precision)
    real ? use(static_cast<double*>(buffer) + offset) : use(static_cast<std::complex<double>*>(buffer) + offset);
  else
    real ? use(static_cast<float*>(buffer) + offset) : use(static_cast<std::complex<float>*>(buffer) + offset);
}

/// sum a[k] b[k]. Short stretches in double, their sum in long double: over 10^9 elements the rounding of a plain sum
/// would exceed the error of the FFT that it is to judge.
inline std::complex<long double> inner_product(std::span<const std::complex<double>> a,
                                               std::span<const std::complex<double>> b) {
  constexpr std::size_t stretch = 64;
  std::complex<long double> sum;
  for (std::size_t begin = 0; begin < a.size(); begin += stretch) {
    double re = 0;
    double im = 0;
    for (std::size_t k = begin; k < std::min(begin + stretch, a.size()); ++k) {
      re += a[k].real() * b[k].real() - a[k].imag() * b[k].imag();
      im += a[k].real() * b[k].imag() + a[k].imag() * b[k].real();
    }
    sum += std::complex<long double>(re, im);
  }
  return sum;
}

}  // namespace fourscore
