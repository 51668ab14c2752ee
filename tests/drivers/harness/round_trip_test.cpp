// Forward and then backward as one plan: right with every variant and exchange, in the memory of one plan.

#include "harness/round_trip.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "harness/verifier.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

class RoundTripTest : public testing::Test {
 protected:
  [[nodiscard]] PlanContext context(const Problem& problem, const ExchangeMethod* exchange) const {
    return {problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")};
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

/// Round trips of each kind and precision, in every layout and placement.
std::vector<Problem> round_trips(const Variant& variant) {
  std::vector<Problem> problems;
  for (const std::vector<Index>& shape : {std::vector<Index>{16, 8, 8}, std::vector<Index>{7, 9, 10}})
    for (Problem problem : test::contracts(test::shape_for(variant, shape)))
      for (const Kind kind : variant.facts().kinds) {
        if (problem.direction == Direction::backward) continue;
        problem.direction = Direction::roundtrip;
        problem.kind = kind;
        problems.push_back(problem);
      }
  return problems;
}

/// Null where the variant takes none. Parameters may leave some out.
const ExchangeMethod* first_that_goes_with(const Variant& variant, const Problem& problem) {
  for (const ExchangeMethod* exchange : test::exchanges_of(variant))
    if (exchange == nullptr || !variant.refuses(*exchange, problem)) return exchange;
  return nullptr;
}

Problem round_trip_of(std::vector<Index> shape) {
  Problem problem;
  problem.shape = std::move(shape);
  problem.direction = Direction::roundtrip;
  problem.contract.effort = Effort::estimate;
  return problem;
}

TEST_F(RoundTripTest, IsRightWithEveryVariantAndExchange) {
  int tried = 0;
  test::Turns turns;
  for (const auto& name : VariantRegistry::instance().names()) {
    const Variant& variant = *VariantRegistry::instance().find(name);
    if (!variant.unavailable().empty()) continue;
    const auto exchanges = test::exchanges_of(variant);
    const auto problems = round_trips(variant);
    // The first exchange on all problems; each of the others, which share their memory in the same ways, on a few.
    for (std::size_t e = 0; e < exchanges.size(); ++e)
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const ExchangeMethod* exchange = exchanges[e];
        const Problem& problem = problems[p];
        if ((e > 0 && p % 5 != e % 5) || supports_directions(variant, problem, ranks_)) continue;
        if (!turns.is_next()) continue;
        SCOPED_TRACE(name + " " + test::text_of(problem, exchange));
        RoundTrip plan(variant, context(problem, exchange));
        Verifier whole(problem, MPI_COMM_WORLD, plan, 7);
        EXPECT_TRUE(all_ok(whole.check_before(plan, nullptr)));
        Verifier half(in_direction(problem, Direction::forward), MPI_COMM_WORLD, plan.forward(), 7);
        EXPECT_TRUE(all_ok(half.check_before(plan.forward(), nullptr)));
        ++tried;
      }
  }
  EXPECT_GT(tried, 0);
}

/// Whatever a parameter makes of the layouts in which the halves meet.
TEST_F(RoundTripTest, IsRightWithEveryParameterOfAVariant) {
  int tried = 0;
  test::Turns turns;
  for (const auto& name : VariantRegistry::instance().names()) {
    const Variant& variant = *VariantRegistry::instance().find(name);
    if (!variant.unavailable().empty()) continue;
    for (const Parameter& parameter : variant.facts().parameters)
      for (const std::string& value : tried_values(parameter))
        for (Problem problem : test::contracts(test::shape_for(variant, {8, 8, 8}))) {
          if (problem.direction == Direction::backward || problem.precision == Precision::single_precision) continue;
          problem.direction = Direction::roundtrip;
          problem.parameters.emplace(parameter.name, value);
          const ExchangeMethod* exchange = nullptr;
          try {
            exchange = first_that_goes_with(variant, problem);
            if (variant.takes_exchange() && exchange == nullptr) continue;
            if (supports_directions(variant, problem, ranks_)) continue;
          } catch (const InputError&) {
            continue;  // this value does not fit the shape
          }
          if (!turns.is_next()) continue;
          SCOPED_TRACE(name + " " + parameter.name + "=" + value + " " + test::text_of(problem, exchange));
          RoundTrip plan(variant, context(problem, exchange));
          Verifier whole(problem, MPI_COMM_WORLD, plan, 7);
          EXPECT_TRUE(all_ok(whole.check_before(plan, nullptr)));
          ++tried;
        }
  }
  EXPECT_GT(tried, 0);
}

TEST_F(RoundTripTest, TakesNoMoreMemoryThanOnePlan) {
  const Variant& slab = VariantRegistry::instance().get("slab", "variant");
  const Problem problem = round_trip_of({12, 12, 12});
  const ExchangeMethod& exchange = ExchangeRegistry::instance().get("alltoallv", "exchange");
  const RoundTrip both(slab, context(problem, &exchange));
  const Problem there = in_direction(problem, Direction::forward);
  const auto one = slab.make_plan(context(there, &exchange));
  EXPECT_EQ(both.facts().buffer_bytes, one->facts().buffer_bytes);
  EXPECT_EQ(both.input(), both.output());
  EXPECT_EQ(both.message_volume().bytes_sent, 2 * one->message_volume().bytes_sent);
  EXPECT_EQ(cost_of_directions(slab, problem, ranks_).flops, 2 * slab.cost(there, ranks_).flops);
}

TEST_F(RoundTripTest, TellsWhenItTurns) {
  const Variant& pencil = VariantRegistry::instance().get("pencil", "variant");
  const Problem problem = round_trip_of({8, 8, 8});
  RoundTrip plan(pencil, context(problem, &ExchangeRegistry::instance().get("alltoallv", "exchange")));
  int turns = 0;
  const std::function<void()> turned = [&] { ++turns; };
  plan.when_turned(&turned);
  PhaseClock clock;
  plan.execute(clock);
  EXPECT_EQ(turns, 1);
  plan.begin(clock);
  std::vector<int> turns_after_part;
  for (Advance result = Advance::worked; result != Advance::complete; turns_after_part.push_back(turns))
    result = plan.advance(clock);
  for (std::size_t part = 0; part < turns_after_part.size(); ++part)
    EXPECT_EQ(turns_after_part[part], part < turns_after_part.size() / 2 - 1 ? 1 : 2);
  plan.when_turned(nullptr);
  plan.execute(clock);
  EXPECT_EQ(turns, 2);
}

TEST_F(RoundTripTest, AdvancesByPartsWhereItsHalvesDo) {
  const Variant& variant = VariantRegistry::instance().get("overdecomposed", "variant");
  const Problem problem = round_trip_of({8, 9, 10});
  RoundTrip plan(variant, context(problem, nullptr));
  Verifier verifier(problem, MPI_COMM_WORLD, plan, 7);
  PhaseClock clock;
  for (int run = 0; run < 3; ++run) {
    verifier.fill(plan, run);
    plan.begin(clock);
    int parts = 1;
    while (plan.advance(clock) != Advance::complete) ++parts;
    EXPECT_GT(parts, 2);
  }
  EXPECT_TRUE(all_ok(verifier.check_after(plan)));
}

/// As a plan of another project may: it computes in memory of its own.
class Stubborn : public Variant {
 public:
  explicit Stubborn(const Variant& other) : other_(other) {}
  [[nodiscard]] Card card() const override { return {"stubborn", "", ""}; }
  [[nodiscard]] Reason supports(const Problem&, int) const override { return std::nullopt; }
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    return other_.make_plan({context.problem, context.comm, context.exchange, context.local_fft});
  }
  [[nodiscard]] Cost cost(const Problem&, int) const override { return {}; }

 private:
  const Variant& other_;
};

TEST_F(RoundTripTest, WithMemoryOfItsOwnIsRefused) {
  const Stubborn variant(VariantRegistry::instance().get("slab", "variant"));
  const Problem problem = round_trip_of({8, 8, 8});
  EXPECT_THROW(RoundTrip(variant, context(problem, &ExchangeRegistry::instance().get("alltoallv", "exchange"))),
               InputError);
}

}  // namespace
}  // namespace fourscore
