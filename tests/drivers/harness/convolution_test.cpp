// Forward, product, backward as one plan: right with every variant, exchange and operator, and wrong operators found.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>

#include "harness/energy_check.hpp"
#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "harness/verifier.hpp"
#include "interfaces/truncation.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

/// Wrong in one way: its tables are not as its definition says.
enum class Fault { sign, upper_half, axes, constant_mode, rest_of_the_modes };

class FaultyFactors final : public RowFactors {
 public:
  FaultyFactors(std::unique_ptr<RowFactors> right, Fault fault, const ModeRows& rows)
      : right_(std::move(right)), fault_(fault), rows_(rows) {}
  void row(std::size_t i, std::size_t j, std::span<double> factors) const override {
    right_->row(i, j, factors);
    for (std::size_t m = 0; m < factors.size(); ++m) {
      const bool is_constant = rows_.k[0][i] == 0 && rows_.k[1][j] == 0 && rows_.k[2][m] == 0;
      if (fault_ == Fault::sign) factors[m] = -factors[m];
      if (fault_ == Fault::constant_mode && is_constant) factors[m] += 1e-3;
      if (fault_ == Fault::rest_of_the_modes && rows_.k[0][i] == 1 && rows_.k[1][j] == 1) factors[m] *= 1.1;
    }
  }

 private:
  std::unique_ptr<RowFactors> right_;
  Fault fault_;
  ModeRows rows_;
};

class FaultyOperator : public PointwiseOperator {
 public:
  FaultyOperator(std::string name, std::string of, Fault fault)
      : name_(std::move(name)), of_(std::move(of)), fault_(fault) {}
  [[nodiscard]] Card card() const override { return {name_, "wrong", "tests"}; }
  [[nodiscard]] int fields(const Problem& problem) const override { return of().fields(problem); }
  [[nodiscard]] bool is_imaginary() const override { return of().is_imaginary(); }
  [[nodiscard]] std::complex<double> factor(const Problem& problem, const Extents& k, int field) const override {
    return of().factor(problem, k, field);
  }
  [[nodiscard]] double largest_factor(const Problem& problem, int field) const override {
    return of().largest_factor(problem, field);
  }
  [[nodiscard]] std::unique_ptr<RowFactors> factors(const ModeRows& given, int field) const override {
    ModeRows rows = given;
    if (fault_ == Fault::upper_half)
      for (std::size_t position = 0; position < 3; ++position)
        for (Index& k : rows.k[position])
          if (k < 0) k += rows.shape[rows.axis[position]];
    if (fault_ == Fault::axes)
      for (std::size_t position = 0; position < 3; ++position) {
        const Index n = given.shape[given.axis[position]];
        rows.axis[position] = (given.axis[position] + 1) % 3;
        for (Index& k : rows.k[position]) k = wave_number((k + n) % n, given.shape[rows.axis[position]]);
      }
    return std::make_unique<FaultyFactors>(of().factors(rows, field), fault_, given);
  }

 private:
  [[nodiscard]] const PointwiseOperator& of() const { return OperatorRegistry::instance().get(of_, "operator"); }
  std::string name_;
  std::string of_;
  Fault fault_;
};

const bool registered = [] {
  for (const auto& of : OperatorRegistry::instance().names())
    for (const auto& [fault, name] : {std::pair(Fault::sign, "sign"),
                                      {Fault::upper_half, "upper-half"},
                                      {Fault::axes, "axes"},
                                      {Fault::constant_mode, "constant-mode"},
                                      {Fault::rest_of_the_modes, "rest"}})
      OperatorRegistry::instance().add(
          std::make_unique<FaultyOperator>("faulty " + of + " " + std::string(name), of, fault));
  return true;
}();

const std::vector<std::string> operators{"scale", "poisson", "dealias-2/3", "gradient"};

std::string first_finding(const std::vector<Check>& checks) {
  const auto found = std::ranges::find(checks, false, &Check::ok);
  return found == checks.end() ? "" : found->name + ": " + found->finding;
}

class ConvolutionTest : public testing::Test {
 protected:
  [[nodiscard]] PlanContext context(const Problem& problem, const ExchangeMethod* exchange) const {
    return {problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")};
  }
  [[nodiscard]] RoundTrip plan_of(const std::string& variant, const Problem& problem) const {
    return {VariantRegistry::instance().get(variant, "variant"),
            context(problem, &ExchangeRegistry::instance().get("alltoallv", "exchange"))};
  }
  /// All checks of a launch, and those of three timed runs.
  static std::vector<Check> checked(const Problem& problem, RoundTrip& plan) {
    Verifier verifier(problem, MPI_COMM_WORLD, plan, 7);
    std::vector<Check> checks = verifier.check_before(plan, nullptr);
    checks.push_back(check_energy(problem, MPI_COMM_WORLD, plan, 7, verifier.tolerance()));
    PhaseClock clock(false);
    for (int run = 0; run < 3; ++run) {
      verifier.fill(plan, run);
      plan.execute(clock);
    }
    for (Check& check : verifier.check_after(plan)) checks.push_back(std::move(check));
    return checks;
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

Problem convolution_of(std::vector<Index> shape, const std::string& name, Kind kind = Kind::c2c) {
  Problem problem = test::problem_of(std::move(shape));
  problem.kind = kind;
  problem.direction = Direction::convolution;
  problem.operator_name = name;
  return problem;
}

/// Every contract and kind of a variant, with one operator after the other, each with each kind.
std::vector<Problem> convolutions(const Variant& variant) {
  std::vector<Problem> problems;
  std::size_t next = 0;
  for (const std::vector<Index>& shape : {std::vector<Index>{7, 9, 10}, std::vector<Index>{8, 4, 8}})
    for (Problem problem : test::contracts(test::shape_for(variant, shape)))
      for (const Kind kind : variant.facts().kinds) {
        // Powers of two, which some variants want, in few contracts.
        const bool is_plain =
            problem.precision == Precision::double_precision && problem.contract.buffers == Buffers::in_place;
        if (problem.direction == Direction::backward || (shape[0] == 8 && !is_plain)) continue;
        problem.direction = Direction::convolution;
        problem.kind = kind;
        problem.operator_name = operators[(next + next / operators.size()) % operators.size()];
        problems.push_back(problem);
        ++next;
      }
  return problems;
}

TEST_F(ConvolutionTest, IsRightWithEveryVariantAndExchange) {
  std::map<std::string, int> tried;
  test::Turns turns;
  for (const auto& name : VariantRegistry::instance().names()) {
    const Variant& variant = *VariantRegistry::instance().find(name);
    if (!variant.unavailable().empty()) continue;
    const auto exchanges = test::exchanges_of(variant);
    const auto problems = convolutions(variant);
    for (std::size_t e = 0; e < exchanges.size(); ++e)
      for (std::size_t p = 0; p < problems.size(); ++p) {
        const Problem& problem = problems[p];
        if ((e > 0 && p % 16 != e % 16) || supports_directions(variant, problem, ranks_)) continue;
        if (!turns.is_next()) continue;
        SCOPED_TRACE(name + " " + problem.operator_name + " " + test::text_of(problem, exchanges[e]));
        RoundTrip plan(variant, context(problem, exchanges[e]));
        const auto checks = checked(problem, plan);
        EXPECT_TRUE(all_ok(checks)) << first_finding(checks);
        ++tried[problem.operator_name];
      }
  }
  EXPECT_EQ(tried.size(), operators.size());
}

/// Written down apart from the operators.
std::complex<double> eigenvalue(const std::string& name, const Extents& n, const Extents& index, int field) {
  Extents k{};
  double square = 0;
  bool stays = true;
  for (std::size_t a = 0; a < 3; ++a) {
    k[a] = index[a] - (2 * index[a] > n[a] ? n[a] : 0);
    square += static_cast<double>(k[a] * k[a]);
    stays = stays && 3 * std::abs(k[a]) < n[a];
  }
  if (name == "scale") return 1;
  if (name == "poisson") return square > 0 ? -1 / square : 0;
  if (name == "dealias-2/3") return stays ? 1 : 0;
  const auto axis = static_cast<std::size_t>(field);
  return {0, 2 * k[axis] == n[axis] ? 0 : static_cast<double>(k[axis])};
}

/// Each mode of a complex input alone, and nothing of the others.
TEST_F(ConvolutionTest, EachWaveComesBackTimesItsEigenvalue) {
  const Extents n{6, 5, 8};
  for (const std::string& name : operators)
    for (const LayoutContract layout : {LayoutContract::natural, LayoutContract::transposed}) {
      Problem problem = convolution_of({6, 5, 8}, name);
      problem.contract.layout = layout;
      RoundTrip plan = plan_of("slab", problem);
      LocalRows rows(plan.input_layout(), mpi::rank_in(MPI_COMM_WORLD));
      RowTile tile(rows);
      PhaseClock clock(false);
      for (Index mode = 0; mode < 240; ++mode) {
        const Extents k{mode / 40, mode / 8 % 5, mode % 8};
        FieldRows wave;
        wave.assign({n, {{1.0, k}}, {}});
        std::vector<std::complex<double>> given;
        std::vector<std::complex<double>> row;
        tile.for_each_place([&] {
          wave.enter(tile);
          row.resize(static_cast<std::size_t>(tile.count(2)));
          for (Index i = 0; i < tile.count(0); ++i)
            for (Index j = 0; j < tile.count(1); ++j) {
              wave.row(i, j, row);
              std::ranges::copy(row, static_cast<std::complex<double>*>(plan.input()) + tile.offset(i, j));
              given.insert(given.end(), row.begin(), row.end());
            }
        });
        plan.execute(clock);
        std::vector<void*> outputs{plan.output()};
        for (void* const more : plan.facts().further_outputs) outputs.push_back(more);
        ASSERT_EQ(outputs.size(), name == "gradient" ? 3U : 1U);
        for (std::size_t f = 0; f < outputs.size(); ++f) {
          const auto* const output = static_cast<std::complex<double>*>(outputs[f]);
          const auto expected = eigenvalue(name, n, k, static_cast<int>(f));
          double error = 0;
          for (std::size_t e = 0; e < given.size(); ++e)
            error = std::max(error, std::abs(output[e] - expected * given[e]));
          EXPECT_LT(error, 1e-13) << name << " field " << f << " mode " << k[0] << " " << k[1] << " " << k[2];
        }
      }
    }
}

/// Each fault, unless the operator does not know the difference.
TEST_F(ConvolutionTest, WrongOperatorsAreFound) {
  const auto shows = [](const std::string& of, const std::string& fault, Kind kind) {
    // A transform to reals takes nothing of a constant mode's imaginary part.
    if (of == "gradient" && fault == "constant-mode") return kind == Kind::c2c;
    if (of == "scale") return fault == "sign" || fault == "constant-mode" || fault == "rest";
    return true;
  };
  for (const std::string& of : operators)
    for (const std::string fault : {"sign", "upper-half", "axes", "constant-mode", "rest"})
      for (const Kind kind : {Kind::c2c, Kind::r2c}) {
        const std::string name = "faulty " + of + " " + fault;
        const Problem problem = convolution_of({9, 12, 15}, name, kind);
        RoundTrip plan = plan_of("slab", problem);
        const auto checks = checked(problem, plan);
        EXPECT_EQ(all_ok(checks), !shows(of, fault, kind)) << name << " " << to_string(kind);
      }
}

/// Every contract and kind of the variants that can, on shapes of which a third is no whole number, and is.
TEST_F(ConvolutionTest, DroppedModesAreNotExchanged) {
  int tried = 0, seen = 0;
  test::Turns turns;
  for (const std::string name : {"slab", "pencil"}) {
    const Variant& variant = VariantRegistry::instance().get(name, "variant");
    for (const ExchangeMethod* exchange : test::exchanges_of(variant))
      for (const std::vector<Index>& shape : {std::vector<Index>{16, 18, 17}, std::vector<Index>{20, 16}})
        for (Problem problem : test::contracts(shape))
          for (const Kind kind : {Kind::c2c, Kind::r2c}) {
            if (problem.direction == Direction::backward) continue;
            problem.direction = Direction::convolution;
            problem.operator_name = "dealias-2/3";
            problem.kind = kind;
            problem.parameters["truncation"] = "before-exchange";
            // The plain exchange on all, the others on one in nine.
            const bool is_plain = exchange->card().name == "alltoallv";
            if (supports_directions(variant, problem, ranks_) || (!is_plain && seen++ % 9 > 0)) continue;
            if (!turns.is_next()) continue;
            SCOPED_TRACE(name + " " + test::text_of(problem, exchange));
            RoundTrip plan(variant, context(problem, exchange));
            EXPECT_EQ(plan.forward().output_layout().shape, kept_extents(problem));
            auto checks = checked(problem, plan);
            checks.push_back(check_kept_modes(problem, MPI_COMM_WORLD, plan, 7, checks[1].tolerance));
            EXPECT_TRUE(all_ok(checks)) << first_finding(checks);
            ++tried;
          }
  }
  EXPECT_GT(tried, 0);
}

TEST_F(ConvolutionTest, TruncatedMessagesAreAsLargeAsWhatStays) {
  Problem problem = convolution_of({18, 20, 22}, "dealias-2/3");
  problem.parameters["truncation"] = "before-exchange";
  const auto all_bytes = [](const RoundTrip& plan) {
    Index bytes = plan.message_volume().bytes_sent + plan.message_volume().bytes_self;
    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return bytes;
  };
  if (ranks_ == 1) return;
  EXPECT_EQ(all_bytes(plan_of("slab", problem)), 2 * 16 * 18 * 13 * 15);
  problem.kind = Kind::r2c;
  EXPECT_EQ(all_bytes(plan_of("slab", problem)), 2 * 16 * 18 * 13 * 8);
  problem.kind = Kind::c2c;
  problem.contract.layout = LayoutContract::natural;
  EXPECT_EQ(all_bytes(plan_of("slab", problem)), 2 * 16 * (18 + 11) * 13 * 15);
}

TEST_F(ConvolutionTest, TruncationIsOfDealiasedConvolutions) {
  const Variant& slab = VariantRegistry::instance().get("slab", "variant");
  Problem problem = convolution_of({18, 20, 22}, "poisson");
  problem.parameters["truncation"] = "before-exchange";
  EXPECT_TRUE(supports_directions(slab, problem, ranks_));
  problem.operator_name = "dealias-2/3";
  EXPECT_FALSE(supports_directions(slab, problem, ranks_));
  problem.shape = {9, 9, 9};
  EXPECT_EQ(supports_directions(slab, problem, 6), "truncation=before-exchange leaves 1 of 6 ranks without modes");
  problem.direction = Direction::roundtrip;
  problem.operator_name.clear();
  EXPECT_TRUE(supports_directions(slab, problem, ranks_));
  problem.direction = Direction::forward;
  EXPECT_TRUE(supports_directions(slab, problem, ranks_));
  problem.parameters["truncation"] = "never";
  EXPECT_THROW((void)supports_directions(slab, problem, ranks_), InputError);
}

TEST_F(ConvolutionTest, TakesNoMoreMemoryThanARoundTrip) {
  Problem problem = convolution_of({12, 12, 12}, "poisson");
  const RoundTrip cycle = plan_of("slab", problem);
  problem = convolution_of({12, 12, 12}, "gradient");
  const RoundTrip gradient = plan_of("slab", problem);
  problem.direction = Direction::roundtrip;
  const RoundTrip round_trip = plan_of("slab", problem);
  EXPECT_EQ(cycle.facts().buffer_bytes, round_trip.facts().buffer_bytes);
  EXPECT_EQ(cycle.message_volume(), round_trip.message_volume());
  EXPECT_EQ(gradient.facts().buffer_bytes, 3 * round_trip.facts().buffer_bytes);
  EXPECT_EQ(gradient.message_volume().bytes_sent, 2 * round_trip.message_volume().bytes_sent);
}

TEST_F(ConvolutionTest, TellsTheProductApart) {
  RoundTrip plan = plan_of("pencil", convolution_of({8, 9, 10}, "gradient"));
  const auto components = plan.components();
  const auto product = std::ranges::find(components, "product", &Component::name);
  ASSERT_NE(product, components.end());
  EXPECT_EQ(product->phase, Phase::product);
  const Index bytes = plan.forward().output_layout().volume(mpi::rank_in(MPI_COMM_WORLD)) * 16;
  EXPECT_EQ(product->min_bytes, 3 * 2 * bytes);
  EXPECT_EQ(std::ranges::count(components, "field 3 backward fft-1", &Component::name), 1);
  product->run();
  PhaseClock clock;
  clock.start();
  plan.execute(clock);
  clock.stop();
  EXPECT_EQ(clock.seconds(Phase::product) > 0, bytes > 0);
}

TEST_F(ConvolutionTest, AdvancesByParts) {
  const Variant& variant = VariantRegistry::instance().get("overdecomposed", "variant");
  const Problem problem = convolution_of({8, 9, 10}, "gradient");
  RoundTrip plan(variant, context(problem, nullptr));
  int turns = 0;
  const std::function<void()> turned = [&] { ++turns; };
  plan.when_turned(&turned);
  Verifier verifier(problem, MPI_COMM_WORLD, plan, 7);
  PhaseClock clock;
  for (int run = 0; run < 3; ++run) {
    verifier.fill(plan, run);
    plan.begin(clock);
    while (plan.advance(clock) != Advance::complete) continue;
  }
  EXPECT_TRUE(all_ok(verifier.check_after(plan)));
  EXPECT_EQ(turns, 3);
}

TEST_F(ConvolutionTest, CostsTheTransformsOfAllFields) {
  const Variant& slab = VariantRegistry::instance().get("slab", "variant");
  const Problem forward = in_direction(convolution_of({16, 16, 16}, "gradient"), Direction::forward);
  const double once = slab.cost(forward, ranks_).flops;
  EXPECT_EQ(cost_of_directions(slab, convolution_of({16, 16, 16}, "poisson"), ranks_).flops, 2 * once);
  EXPECT_EQ(cost_of_directions(slab, convolution_of({16, 16, 16}, "gradient"), ranks_).flops, 4 * once);
}

}  // namespace
}  // namespace fourscore
