// The gradient, with period 2 pi along each axis: i k for each axis, so that as many fields go back as there are axes
// (as of the potential in particle-mesh methods, or of the velocity in turbulence). The mode n/2 of even n has a cosine
// alone, whose derivative is zero at all elements: its factor is zero.

#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

namespace {

double derivative(Index k, Index n) { return 2 * k == n ? 0 : static_cast<double>(k); }

class GradientFactors final : public RowFactors {
 public:
  GradientFactors(const ModeRows& rows, std::size_t axis) : position_(rows.position_of(axis)) {
    const double scale = 1 / static_cast<double>(rows.shape[0] * rows.shape[1] * rows.shape[2]);
    for (const Index k : rows.k[position_]) factors_.push_back(scale * derivative(k, rows.shape[axis]));
  }
  void row(std::size_t i, std::size_t j, std::span<double> factors) const override {
    for (std::size_t m = 0; m < factors.size(); ++m) factors[m] = factors_[position_ == 0 ? i : position_ == 1 ? j : m];
  }

 private:
  std::size_t position_;
  std::vector<double> factors_;
};

class Gradient : public PointwiseOperator {
 public:
  [[nodiscard]] Card card() const override {
    return {"gradient", "i k along each axis, each a field that goes back; 0 for the mode n/2 of even n",
            "hockney1988"};
  }
  [[nodiscard]] int fields(const Problem& problem) const override { return static_cast<int>(problem.shape.size()); }
  [[nodiscard]] bool is_imaginary() const override { return true; }
  [[nodiscard]] std::complex<double> factor(const Problem& problem, const Extents& k, int field) const override {
    const auto axis = static_cast<std::size_t>(field);
    return {0, derivative(k[axis], problem.extents()[axis]) / static_cast<double>(problem.elements())};
  }
  [[nodiscard]] double largest_factor(const Problem& problem, int field) const override {
    const Index highest = (problem.extents()[static_cast<std::size_t>(field)] - 1) / 2;
    return static_cast<double>(highest) / static_cast<double>(problem.elements());
  }
  [[nodiscard]] std::unique_ptr<RowFactors> factors(const ModeRows& rows, int field) const override {
    return std::make_unique<GradientFactors>(rows, static_cast<std::size_t>(field));
  }
};

FOURSCORE_REGISTER_OPERATOR(Gradient);

}  // namespace

}  // namespace fourscore
