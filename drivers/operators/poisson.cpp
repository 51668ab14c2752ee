// The field whose Laplacian is the input, with period 2 pi along each axis: -1/|k|^2 (hockney1988: the
// potential of charges on a mesh; eleftheriou2005 transforms for P3ME, which is such a convolution). The mean of the
// result, of which the Laplacian says nothing, is zero.

#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

namespace {

class PoissonFactors final : public RowFactors {
 public:
  explicit PoissonFactors(const ModeRows& rows)
      : size_(static_cast<double>(rows.shape[0] * rows.shape[1] * rows.shape[2])) {
    for (std::size_t position = 0; position < 3; ++position)
      for (const Index k : rows.k[position])
        squares_[position].push_back(static_cast<double>(k) * static_cast<double>(k));
  }
  void row(std::size_t i, std::size_t j, std::span<double> factors) const override {
    const double others = squares_[0][i] + squares_[1][j];
    const double* const squares = squares_[2].data();
    for (std::size_t m = 0; m < factors.size(); ++m) {
      const double square = others + squares[m];
      factors[m] = square == 0 ? 0 : -1 / (size_ * square);
    }
  }

 private:
  double size_;
  std::array<std::vector<double>, 3> squares_;
};

class Poisson : public PointwiseOperator {
 public:
  [[nodiscard]] Card card() const override {
    return {"poisson", "the field whose Laplacian is the input: -1/|k|^2, and 0 for k = 0", "hockney1988"};
  }
  [[nodiscard]] std::complex<double> factor(const Problem& problem, const Extents& k, int /*field*/) const override {
    const Index square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    return square == 0 ? 0 : -1 / (static_cast<double>(square) * static_cast<double>(problem.elements()));
  }
  [[nodiscard]] double largest_factor(const Problem& problem, int /*field*/) const override {
    return 1 / static_cast<double>(problem.elements());
  }
  [[nodiscard]] std::unique_ptr<RowFactors> factors(const ModeRows& rows, int /*field*/) const override {
    return std::make_unique<PoissonFactors>(rows);
  }
};

FOURSCORE_REGISTER_OPERATOR(Poisson);

}  // namespace

}  // namespace fourscore
