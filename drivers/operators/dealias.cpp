// The two-thirds rule (orszag1971): a product of two fields in space mixes modes k and l into k + l, which n elements
// do not tell from k + l - n. Where both fields have only |k| < n/3 along an axis, all of that falls on modes that are
// dropped here: only |k| < n/3 stay, in each axis.

#include "interfaces/pointwise_operator.hpp"

namespace fourscore {

namespace {

bool stays(Index k, Index n) { return 3 * (k < 0 ? -k : k) < n; }

class DealiasFactors final : public RowFactors {
 public:
  explicit DealiasFactors(const ModeRows& rows) {
    const double scale = 1 / static_cast<double>(rows.shape[0] * rows.shape[1] * rows.shape[2]);
    for (std::size_t position = 0; position < 3; ++position)
      for (const Index k : rows.k[position])
        masks_[position].push_back(stays(k, rows.shape[rows.axis[position]]) ? (position == 2 ? scale : 1) : 0);
  }
  void row(std::size_t i, std::size_t j, std::span<double> factors) const override {
    const double others = masks_[0][i] * masks_[1][j];
    const double* const masks = masks_[2].data();
    for (std::size_t m = 0; m < factors.size(); ++m) factors[m] = others * masks[m];
  }

 private:
  std::array<std::vector<double>, 3> masks_;
};

class Dealias : public PointwiseOperator {
 public:
  [[nodiscard]] Card card() const override {
    return {"dealias-2/3", "1/N, and 0 where |k| is n/3 or more in any axis", "orszag1971"};
  }
  [[nodiscard]] bool dealiases() const override { return true; }
  [[nodiscard]] std::complex<double> factor(const Problem& problem, const Extents& k, int /*field*/) const override {
    const Extents n = problem.extents();
    const bool all = stays(k[0], n[0]) && stays(k[1], n[1]) && stays(k[2], n[2]);
    return all ? 1 / static_cast<double>(problem.elements()) : 0;
  }
  [[nodiscard]] double largest_factor(const Problem& problem, int /*field*/) const override {
    return 1 / static_cast<double>(problem.elements());
  }
  [[nodiscard]] std::unique_ptr<RowFactors> factors(const ModeRows& rows, int /*field*/) const override {
    return std::make_unique<DealiasFactors>(rows);
  }
};

FOURSCORE_REGISTER_OPERATOR(Dealias);

}  // namespace

}  // namespace fourscore
