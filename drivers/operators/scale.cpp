// 1/N: the input comes back. A convolution without a kernel, against which others are measured.

#include <algorithm>

#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

namespace {

class ScaleFactors final : public RowFactors {
 public:
  explicit ScaleFactors(const ModeRows& rows)
      : factor_(1 / static_cast<double>(rows.shape[0] * rows.shape[1] * rows.shape[2])) {}
  void row(std::size_t /*i*/, std::size_t /*j*/, std::span<double> factors) const override {
    std::ranges::fill(factors, factor_);
  }

 private:
  double factor_;
};

class Scale : public PointwiseOperator {
 public:
  [[nodiscard]] Card card() const override {
    return {"scale", "1/N, so that the input comes back", "https://www.fftw.org"};
  }
  [[nodiscard]] std::complex<double> factor(const Problem& problem, const Extents& /*k*/,
                                            int /*field*/) const override {
    return 1 / static_cast<double>(problem.elements());
  }
  [[nodiscard]] double largest_factor(const Problem& problem, int /*field*/) const override {
    return 1 / static_cast<double>(problem.elements());
  }
  [[nodiscard]] std::unique_ptr<RowFactors> factors(const ModeRows& rows, int /*field*/) const override {
    return std::make_unique<ScaleFactors>(rows);
  }
};

FOURSCORE_REGISTER_OPERATOR(Scale);

}  // namespace

}  // namespace fourscore
