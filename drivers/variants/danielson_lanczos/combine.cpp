#include "variants/danielson_lanczos/combine.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace fourscore {

namespace {

/// Elements of a row that share one table of factors. Along the fastest axis a factor is that of the row's piece times
/// that of the place in the piece: a table as long as the axis would be as much memory traffic again in one dimension.
constexpr Index piece_elements = 512;

/// exp(-+ 2 pi i k / period)
std::complex<double> root(Index k, Index period, Direction direction) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k % period) / static_cast<long double>(period);
  const auto sine = static_cast<double>(std::sin(angle));
  return {static_cast<double>(std::cos(angle)), direction == Direction::forward ? -sine : sine};
}

/// One element, real and imaginary part apart: std::complex's product looks for NaNs, which keeps it from vectors.
template <class Real, Combination combination>
inline void combine_element(Real* a, const Real* b, Real re, Real im) {
  const Real a_re = a[0];
  const Real a_im = a[1];
  const Real b_re = b[0];
  const Real b_im = b[1];
  if constexpr (combination == Combination::even) {
    a[0] = a_re + (re * b_re - im * b_im);
    a[1] = a_im + (re * b_im + im * b_re);
  } else if constexpr (combination == Combination::odd) {
    a[0] = b_re - (re * a_re - im * a_im);
    a[1] = b_im - (re * a_im + im * a_re);
  } else if constexpr (combination == Combination::sum) {
    a[0] = a_re + b_re;
    a[1] = a_im + b_im;
  } else {
    const Real d_re = b_re - a_re;
    const Real d_im = b_im - a_im;
    a[0] = re * d_re - im * d_im;
    a[1] = re * d_im + im * d_re;
  }
}

/// All with one factor.
template <class Real, Combination combination>
void combine_run(Real* a, const Real* b, Index count, Real re, Real im) {
  for (Index i = 0; i < count; ++i) combine_element<Real, combination>(a + 2 * i, b + 2 * i, re, im);
}

/// Element i with the factor (re, im) * fine[i].
template <class Real, Combination combination>
void combine_piece(Real* a, const Real* b, const Real* fine, Index count, Real re, Real im) {
  for (Index i = 0; i < count; ++i) {
    const Real fine_re = fine[2 * i];
    const Real fine_im = fine[2 * i + 1];
    combine_element<Real, combination>(a + 2 * i, b + 2 * i, re * fine_re - im * fine_im, re * fine_im + im * fine_re);
  }
}

template <class Real, Combination combination>
class Step : public CombineStep {
 public:
  explicit Step(const CombineSpec& spec) : along_(spec.extents[spec.axis]) {
    for (std::size_t a = 0; a < 3; ++a) (a < spec.axis ? outer_ : inner_) *= a == spec.axis ? 1 : spec.extents[a];
    if constexpr (combination == Combination::sum) return;
    const Index each = inner_ == 1 ? piece_elements : 1;
    for (Index m = 0; m < along_; m += each) coarse_.push_back(root(spec.first + m, spec.period, spec.direction));
    for (Index m = 0; inner_ == 1 && m < std::min(each, along_); ++m) {
      const std::complex<double> factor = root(m, spec.period, spec.direction);
      fine_.push_back(static_cast<Real>(factor.real()));
      fine_.push_back(static_cast<Real>(factor.imag()));
    }
  }

  void run(void* own, const void* partner) const override {
    auto* a = static_cast<Real*>(own);
    const auto* b = static_cast<const Real*>(partner);
    if constexpr (combination == Combination::sum) {
      combine_run<Real, combination>(a, b, outer_ * along_ * inner_, 1, 0);
    } else if (inner_ == 1) {
      for (Index row = 0; row < outer_; ++row) run_row(a + 2 * row * along_, b + 2 * row * along_);
    } else {
      for (Index row = 0; row < outer_; ++row)
        for (const std::complex<double>& factor : coarse_) {
          combine_run<Real, combination>(a, b, inner_, static_cast<Real>(factor.real()),
                                         static_cast<Real>(factor.imag()));
          a += 2 * inner_;
          b += 2 * inner_;
        }
    }
  }

  [[nodiscard]] std::size_t table_bytes() const override {
    return coarse_.size() * sizeof(coarse_[0]) + fine_.size() * sizeof(Real);
  }

 private:
  void run_row(Real* a, const Real* b) const {
    Index done = 0;
    for (const std::complex<double>& factor : coarse_) {
      combine_piece<Real, combination>(a + 2 * done, b + 2 * done, fine_.data(),
                                       std::min(piece_elements, along_ - done), static_cast<Real>(factor.real()),
                                       static_cast<Real>(factor.imag()));
      done += piece_elements;
    }
  }

  Index outer_ = 1;  ///< product of the extents before the axis
  Index along_;
  Index inner_ = 1;                           ///< and behind it
  std::vector<std::complex<double>> coarse_;  ///< for each index along the axis, or for each piece of a row
  std::vector<Real> fine_;                    ///< for each place in a piece, parts interleaved
};

template <class Real>
std::unique_ptr<CombineStep> make_for(const CombineSpec& spec) {
  switch (spec.combination) {
    case Combination::even:
      return std::make_unique<Step<Real, Combination::even>>(spec);
    case Combination::odd:
      return std::make_unique<Step<Real, Combination::odd>>(spec);
    case Combination::sum:
      return std::make_unique<Step<Real, Combination::sum>>(spec);
    case Combination::difference:
      return std::make_unique<Step<Real, Combination::difference>>(spec);
  }
  throw std::logic_error("a combination without a kernel");
}

}  // namespace

std::unique_ptr<CombineStep> make_combine_step(const CombineSpec& spec) {
  return spec.precision == Precision::double_precision ? make_for<double>(spec) : make_for<float>(spec);
}

}  // namespace fourscore
