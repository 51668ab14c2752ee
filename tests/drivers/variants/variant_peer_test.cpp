// Each variant's whole output beside that of FFTW's own distributed transform, an implementation that shares none of
// our geometry, exchanges and chains: at sizes where the transform by its definition would take too long.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using Wide = std::complex<double>;

/// The plan's output of all ranks, in natural order on rank 0 (empty elsewhere). Elements that two ranks hold come out
/// as their sum, those that none holds as zero. Collective.
std::vector<Wide> gathered_output(const Plan& plan, Precision precision) {
  const Decomposition& layout = plan.output_layout();
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  std::vector<Wide> whole(static_cast<std::size_t>(layout.shape[0] * layout.shape[1] * layout.shape[2]));
  Index i = 0;
  for (const std::size_t at : test::positions(layout, me))
    whole[at] = static_cast<Wide>(test::element(plan.output(), precision, i++));
  const auto count = static_cast<int>(whole.size());
  MPI_Reduce(me == 0 ? MPI_IN_PLACE : whole.data(), whole.data(), count, MPI_C_DOUBLE_COMPLEX, MPI_SUM, 0,
             MPI_COMM_WORLD);
  if (me != 0) whole.clear();
  return whole;
}

/// Largest difference relative to the largest element of the reference; infinite where there is a NaN.
double difference(const std::vector<Wide>& result, const std::vector<Wide>& reference) {
  double worst = 0;  // squares, as norm() has them
  double largest = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double distance = std::norm(result[i] - reference[i]);
    if (!std::isfinite(distance)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, distance);
    largest = std::max(largest, std::norm(reference[i]));
  }
  return std::sqrt(worst / largest);
}

class BesideFftwMpi : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!peer().unavailable().empty()) GTEST_SKIP() << "nothing to compare with: " << peer().unavailable();
  }
  [[nodiscard]] static const Variant& peer() { return *VariantRegistry::instance().find("fftw-mpi"); }
};

TEST_P(BesideFftwMpi, GivesTheSameWholeOutput) {
  const Variant& variant = *VariantRegistry::instance().find(GetParam());
  if (!variant.unavailable().empty()) GTEST_SKIP() << GetParam() << ": " << variant.unavailable();
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const bool is_root = mpi::rank_in(MPI_COMM_WORLD) == 0;
  PhaseClock clock(false);
  const auto exchanges = test::exchanges_of(variant);
  // Where plans and runs take their time: each exchange with one of both layouts, the other at the next shape.
  const bool in_turn = ranks > 1 && exchanges.size() > 1;
  std::size_t compared = 0;
  const std::vector<std::vector<Index>> shapes{{48, 40, 36}, {30, 31, 32}};
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (const auto precision : {Precision::double_precision, Precision::single_precision})
      for (const auto direction : {Direction::forward, Direction::backward}) {
        Problem problem = test::problem_of(shapes[s], {}, LayoutContract::natural);
        problem.precision = precision;
        problem.direction = direction;
        if (const auto reason = variant.supports(problem, ranks)) GTEST_SKIP() << *reason;
        const auto reference_plan = test::make_plan(peer(), problem, nullptr);
        test::run_on_random_field(*reference_plan, problem, clock);
        const auto reference = gathered_output(*reference_plan, precision);
        for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
          for (std::size_t e = 0; e < exchanges.size(); ++e) {
            const auto turn = s + e + static_cast<std::size_t>(precision) + static_cast<std::size_t>(direction);
            if (in_turn && turn % 2 != static_cast<std::size_t>(layout)) continue;
            const ExchangeMethod* const exchange = exchanges[e];
            problem.contract.layout = layout;
            problem.contract.buffers = layout == LayoutContract::natural ? Buffers::in_place : Buffers::out_of_place;
            const auto plan = test::make_plan(variant, problem, exchange);
            test::run_on_random_field(*plan, problem, clock);
            const auto result = gathered_output(*plan, precision);
            ++compared;
            if (!is_root) continue;
            ASSERT_EQ(result.size(), static_cast<std::size_t>(problem.elements()));
            EXPECT_LT(difference(result, reference), 20 * static_cast<double>(test::epsilon_of(precision)))
                << test::text_of(problem, exchange);
          }
      }
  EXPECT_EQ(compared, 2 * 2 * 2 * (in_turn ? 1 : 2) * exchanges.size());
}

INSTANTIATE_TEST_SUITE_P(Registered, BesideFftwMpi, testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

}  // namespace
}  // namespace fourscore
