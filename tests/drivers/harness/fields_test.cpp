// Several fields of one problem: each right on data of its own, in every order, in as many messages as the order has.

#include "harness/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "harness/verifier.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;

const Variant& variant(const std::string& name) { return *VariantRegistry::instance().find(name); }
const ExchangeMethod& exchange(const std::string& name) { return ExchangeRegistry::instance().get(name, "exchange"); }

PlanContext context_of(const Problem& problem, const ExchangeMethod* exchange) {
  return {problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")};
}

Problem problem_of(int fields, FieldOrder order, std::vector<Index> shape = {7, 9, 10}) {
  Problem problem;
  problem.shape = std::move(shape);
  problem.fields = fields;
  problem.field_order = order;
  problem.contract.effort = Effort::estimate;
  return problem;
}

constexpr std::array<FieldOrder, 3> orders{FieldOrder::together, FieldOrder::in_turn, FieldOrder::pipelined};

Problem opposite_of(Problem problem) {
  problem.direction = problem.direction == Direction::forward ? Direction::backward : Direction::forward;
  return problem;
}

/// Every check before, and those after two runs.
std::vector<Check> checks_of(Plan& plan, const Problem& problem, const Verifier::MakeInverse& make_inverse) {
  Verifier verifier(problem, MPI_COMM_WORLD, plan, 7);
  std::vector<Check> checks = verifier.check_before(plan, make_inverse);
  PhaseClock clock(false);
  for (int run = 0; run < 2; ++run) {
    verifier.fill(plan, run);
    plan.execute(clock);
  }
  for (Check& check : verifier.check_after(plan)) checks.push_back(std::move(check));
  return checks;
}

std::string failures(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks)
    if (!check.ok) text += check.name + ": " + check.finding + "\n";
  return text;
}

class FieldsTest : public testing::Test {
 protected:
  [[nodiscard]] bool is_right(const Variant& method, const Problem& problem, const ExchangeMethod* by) const {
    const auto plan = make_plan_of(method, context_of(problem, by));
    const Problem opposite = opposite_of(problem);
    const bool inverted = problem.direction != Direction::roundtrip && !supports_directions(method, opposite, ranks_);
    const auto checks = checks_of(*plan, problem, [&]() -> std::unique_ptr<Plan> {
      return inverted ? make_plan_of(method, context_of(opposite, by)) : nullptr;
    });
    EXPECT_EQ(failures(checks), "");
    return failures(checks).empty();
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

/// All contracts in each direction that the variant can, of each of its kinds.
std::vector<Problem> problems_of(const Variant& method, FieldOrder order, const std::vector<Index>& shape) {
  std::vector<Problem> problems;
  for (const Problem& contract : test::contracts(test::shape_for(method, shape)))
    for (const Kind kind : method.facts().kinds)
      for (const Direction direction : {contract.direction, Direction::roundtrip}) {
        if (direction == Direction::roundtrip && contract.direction == Direction::backward) continue;
        Problem problem = contract;
        problem.kind = kind;
        problem.direction = direction;
        problem.field_order = order;
        problem.fields = problem.precision == Precision::single_precision ? 2 : 3;
        problems.push_back(problem);
      }
  return problems;
}

/// The first exchange on all problems; each of the others, to which the rows of all fields are those of one, on a few.
TEST_F(FieldsTest, TogetherAreRightWithEveryExchange) {
  int tried = 0;
  test::Turns turns;
  for (const char* name : {"serial", "slab", "pencil", "pencil-overlap", "volumetric", "rods", "fftw-mpi"}) {
    const Variant& method = variant(name);
    if (!method.unavailable().empty()) continue;
    const auto exchanges = test::exchanges_of(method);
    for (const std::vector<Index>& shape : {std::vector<Index>{7, 9, 10}, std::vector<Index>{12, 10}}) {
      const auto problems = problems_of(method, FieldOrder::together, shape);
      for (std::size_t e = 0; e < exchanges.size(); ++e)
        for (std::size_t p = 0; p < problems.size(); ++p) {
          if ((e > 0 && p % 7 != e % 7) || supports_directions(method, problems[p], ranks_)) continue;
          if (!turns.is_next()) continue;
          SCOPED_TRACE(name + std::string(" ") + test::text_of(problems[p], exchanges[e]));
          ASSERT_TRUE(is_right(method, problems[p], exchanges[e]));
          ++tried;
        }
    }
  }
  EXPECT_GT(tried, 0);
}

TEST_F(FieldsTest, InTurnAndPipelinedAreRightWithEveryVariant) {
  int tried = 0;
  test::Turns turns;
  for (const auto& name : VariantRegistry::instance().names()) {
    const Variant& method = *VariantRegistry::instance().find(name);
    if (!method.unavailable().empty()) continue;
    const auto exchanges = test::exchanges_of(method);
    for (const FieldOrder order : {FieldOrder::in_turn, FieldOrder::pipelined}) {
      const auto problems = problems_of(method, order, {8, 8, 8});
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const ExchangeMethod* const by = exchanges[p % exchanges.size()];
        if (p % 3 != 0 || supports_directions(method, problems[p], ranks_)) continue;
        if (!turns.is_next()) continue;
        SCOPED_TRACE(name + " " + test::text_of(problems[p], by));
        ASSERT_TRUE(is_right(method, problems[p], by));
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 0);
}

/// Right but for two fields, which change places.
class Swapping : public Plan {
 public:
  explicit Swapping(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) { declared() = plan_->facts(); }
  void execute(PhaseClock& clock) override {
    plan_->execute(clock);
    auto* const first = static_cast<std::complex<double>*>(plan_->arrays_of(0).output);
    auto* const second = static_cast<std::complex<double>*>(plan_->arrays_of(1).output);
    const Interleaving& places = facts().output_fields;
    const Index elements = output_layout().volume(mpi::rank_in(MPI_COMM_WORLD));
    for (Index i = 0; i < elements; ++i) std::swap(first[places.place(i, 0)], second[places.place(i, 1)]);
  }

 private:
  std::unique_ptr<Plan> plan_;
};

TEST_F(FieldsTest, ThatChangePlacesFailEveryCheckOfValues) {
  for (const FieldOrder order : orders) {
    const Problem problem = problem_of(3, order);
    const auto make = [&](const Problem& one) {
      return make_plan_of(variant("slab"), context_of(one, &exchange("alltoallv")));
    };
    Swapping plan(make(problem));
    for (const Check& check : checks_of(plan, problem, [&] { return make(opposite_of(problem)); })) {
      const bool of_values = check.name != "layouts" && check.name != "message-volume";
      EXPECT_EQ(check.ok, !of_values) << to_string(order) << " " << check.name;
      EXPECT_EQ(check.finding.starts_with("field 1: "), of_values) << check.finding;
    }
  }
}

TEST_F(FieldsTest, TogetherSendAThirdOfTheMessagesOfThreeInTurnAndAsManyBytes) {
  for (const auto& name : ExchangeRegistry::instance().names()) {
    const ExchangeMethod& by = *ExchangeRegistry::instance().find(name);
    if (!by.unavailable().empty()) continue;
    const auto volume_of = [&](int fields, FieldOrder order) {
      return make_plan_of(variant("pencil"), context_of(problem_of(fields, order), &by))->message_volume();
    };
    const MessageVolume one = volume_of(1, FieldOrder::together);
    MessageVolume three = one;
    three += one;
    three += one;
    SCOPED_TRACE(name);
    EXPECT_EQ(volume_of(3, FieldOrder::in_turn), three);
    EXPECT_EQ(volume_of(3, FieldOrder::pipelined), three);
    const MessageVolume together = volume_of(3, FieldOrder::together);
    EXPECT_EQ(together.bytes_sent, three.bytes_sent);
    EXPECT_EQ(together.bytes_self, three.bytes_self);
    EXPECT_EQ(together.bytes_read_shared, three.bytes_read_shared);
    const auto parameters = names_of(by.parameters());
    if (std::ranges::count(parameters, "packet-bytes") > 0) continue;
    if (std::ranges::count(parameters, "pieces") > 0) {  // where one field has too few indices for all pieces
      EXPECT_GE(together.messages_sent, one.messages_sent);
      continue;
    }
    EXPECT_EQ(together.messages_sent, one.messages_sent);
    EXPECT_EQ(3 * together.messages_sent, three.messages_sent);
  }
}

TEST_F(FieldsTest, AddUpInCostAndMemory) {
  const Problem one = problem_of(1, FieldOrder::together);
  const Cost of_one = cost_of_directions(variant("slab"), one, ranks_);
  const auto plan_of_one = make_plan_of(variant("slab"), context_of(one, &exchange("alltoallv")));
  for (const FieldOrder order : orders) {
    const Problem three = problem_of(3, order);
    EXPECT_DOUBLE_EQ(three.credited_flops(), 3 * one.credited_flops());
    const Cost cost = cost_of_directions(variant("slab"), three, ranks_);
    EXPECT_DOUBLE_EQ(cost.flops, 3 * of_one.flops);
    EXPECT_DOUBLE_EQ(cost.bytes_per_rank, 3 * of_one.bytes_per_rank);
    EXPECT_DOUBLE_EQ(cost.messages_per_rank, (order == FieldOrder::together ? 1 : 3) * of_one.messages_per_rank);
    const auto plan = make_plan_of(variant("slab"), context_of(three, &exchange("alltoallv")));
    EXPECT_EQ(plan->fields(), 3);
    EXPECT_EQ(plan->facts().buffer_bytes, 3 * plan_of_one->facts().buffer_bytes);
    const auto components = plan->components();
    const auto single = plan_of_one->components();
    ASSERT_EQ(components.size(), single.size());
    for (std::size_t i = 0; i < single.size(); ++i) {
      EXPECT_EQ(components[i].name, single[i].name);
      EXPECT_EQ(*components[i].min_bytes, 3 * *single[i].min_bytes) << single[i].name;
      components[i].run();
    }
  }
}

TEST_F(FieldsTest, AllGoForwardBeforeOneGoesBackward) {
  for (const FieldOrder order : orders) {
    Problem problem = problem_of(3, order, {8, 8, 8});
    problem.direction = Direction::roundtrip;
    RoundTrip plan(variant("pencil"), context_of(problem, &exchange("p2p")));
    EXPECT_EQ(plan.forward().fields(), 3);
    int turns = 0;
    const std::function<void()> turned = [&] { ++turns; };
    plan.when_turned(&turned);
    PhaseClock clock;
    plan.execute(clock);
    EXPECT_EQ(turns, 1);
  }
}

TEST_F(FieldsTest, OfSeveralInstancesAreEachRight) {
  for (const FieldOrder order : orders) {
    Problem problem = problem_of(2, order);
    problem.instances = 2;
    ASSERT_FALSE(supports_instances(variant("slab"), problem, ranks_));
    Instances instances(variant("slab"), context_of(problem, &exchange("alltoallv")));
    std::vector<std::unique_ptr<Verifier>> verifiers;
    for (const auto& instance : instances.here()) {
      verifiers.push_back(std::make_unique<Verifier>(one_instance(problem), instances.comm(), *instance.plan,
                                                     static_cast<std::uint64_t>(100 + instance.number)));
      verifiers.back()->fill(*instance.plan, 0);
    }
    PhaseClock clock(false);
    instances.execute(clock, [](std::size_t) {});
    for (std::size_t i = 0; i < verifiers.size(); ++i)
      EXPECT_EQ(failures(verifiers[i]->check_after(*instances.here()[i].plan)), "");
    EXPECT_DOUBLE_EQ(cost_of_instances(variant("slab"), problem, ranks_).flops, problem.credited_flops());
  }
}

TEST_F(FieldsTest, ThatCannotBeGetTheAllowedValues) {
  for (const int fields : {0, -1, 65})
    EXPECT_THROW((void)supports_directions(variant("slab"), problem_of(fields, FieldOrder::together), 1), InputError);
  const auto reason = [](const char* name, FieldOrder order, std::vector<Index> shape = {8, 8, 8}) {
    return supports_directions(variant(name), problem_of(3, order, std::move(shape)), 1).value_or("");
  };
  for (const char* name : {"node", "overdecomposed", "transpose", "binary-exchange", "danielson-lanczos", "slab-gpu"})
    EXPECT_THAT(reason(name, FieldOrder::together), HasSubstr("expected the order in-turn")) << name;
  EXPECT_THAT(reason("serial", FieldOrder::together, {8}), HasSubstr("expected two or three extents"));
  EXPECT_EQ(reason("serial", FieldOrder::in_turn, {8}), "");
  EXPECT_THAT(reason("fftw-mpi", FieldOrder::pipelined), HasSubstr("expected the order in-turn"));
  EXPECT_THAT(reason("heffte", FieldOrder::together), HasSubstr("expected the order in-turn"));
}

}  // namespace
}  // namespace fourscore
