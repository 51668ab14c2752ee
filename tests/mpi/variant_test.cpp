// Every variant that can run here, with every exchange it takes, on shapes that do not divide first: against the
// transform by its definition, element by element.

#include "core/variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <map>
#include <random>

#include "mpi/handles.hpp"
#include "unit/naive_dft.hpp"

namespace fourscore {
namespace {

using test::Wide;

std::size_t position(const Extents& shape, const Extents& index) {
  return static_cast<std::size_t>((index[0] * shape[1] + index[1]) * shape[2] + index[2]);
}

/// The same random values on all ranks.
const std::vector<Wide>& random_field(const Extents& shape) {
  static std::map<Extents, std::vector<Wide>> fields;
  auto& field = fields[shape];
  if (field.empty()) {
    std::mt19937 random(static_cast<unsigned>(shape[0] * 1000 + shape[1] * 100 + shape[2]));
    std::uniform_real_distribution<float> values(-1, 1);  // exact in both precisions
    for (Index i = 0; i < shape[0] * shape[1] * shape[2]; ++i) field.emplace_back(values(random), values(random));
  }
  return field;
}

const std::vector<Wide>& transformed_field(const Extents& shape, Direction direction) {
  static std::map<std::pair<Extents, Direction>, std::vector<Wide>> fields;
  auto& field = fields[{shape, direction}];
  if (field.empty()) {
    field = random_field(shape);
    test::naive_dft(field, shape, direction == Direction::forward ? -1 : 1);
  }
  return field;
}

void write(const std::vector<Wide>& field, const Decomposition& layout, int me, Precision precision, void* data) {
  for (Index i = 0; i < layout.boxes[static_cast<std::size_t>(me)].volume(); ++i) {
    const Wide value = field[position(layout.shape, layout.global_index(me, i))];
    if (precision == Precision::double_precision)
      static_cast<std::complex<double>*>(data)[i] = std::complex<double>(value);
    else
      static_cast<std::complex<float>*>(data)[i] = std::complex<float>(value);
  }
}

Wide element(const void* data, Precision precision, Index i) {
  if (precision == Precision::double_precision) return Wide(static_cast<const std::complex<double>*>(data)[i]);
  return Wide(static_cast<const std::complex<float>*>(data)[i]);
}

/// Largest error on this rank relative to the largest expected value, in units of the precision's epsilon.
double error_of(const std::vector<Wide>& expected, long double factor, const Decomposition& layout, int me,
                Precision precision, const void* data) {
  long double largest = 0;
  for (const Wide& value : expected) largest = std::max(largest, std::abs(value * factor));
  long double error = 0;
  for (Index i = 0; i < layout.boxes[static_cast<std::size_t>(me)].volume(); ++i) {
    const Wide value = expected[position(layout.shape, layout.global_index(me, i))] * factor;
    error = std::max(error, std::abs(value - element(data, precision, i)));
  }
  const long double epsilon = precision == Precision::double_precision ? std::numeric_limits<double>::epsilon()
                                                                       : std::numeric_limits<float>::epsilon();
  return static_cast<double>(error / largest / epsilon);
}

/// Each global index lies on exactly one rank.
bool covers_once(const Decomposition& layout) {
  std::vector<int> seen(static_cast<std::size_t>(layout.shape[0] * layout.shape[1] * layout.shape[2]), 0);
  for (int rank = 0; rank < layout.ranks(); ++rank)
    for (Index i = 0; i < layout.boxes[static_cast<std::size_t>(rank)].volume(); ++i)
      ++seen[position(layout.shape, layout.global_index(rank, i))];
  return std::ranges::all_of(seen, [](int times) { return times == 1; });
}

class EveryVariant : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << GetParam() << ": " << variant().unavailable();
  }
  [[nodiscard]] const Variant& variant() const { return *VariantRegistry::instance().find(GetParam()); }

  /// Null alone for a variant that takes none.
  [[nodiscard]] std::vector<const ExchangeMethod*> exchanges() const {
    if (!variant().takes_exchange()) return {nullptr};
    std::vector<const ExchangeMethod*> methods;
    for (const auto& name : ExchangeRegistry::instance().names())
      if (const auto* method = ExchangeRegistry::instance().find(name); method->unavailable().empty())
        methods.push_back(method);
    return methods;
  }
  [[nodiscard]] std::unique_ptr<Plan> make(const Problem& problem, const ExchangeMethod* exchange) const {
    return variant().make_plan(
        {problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")});
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

const std::vector<std::vector<Index>> shapes{{15, 14, 13}, {7, 1, 9}, {2, 3, 64}, {11, 13, 17},
                                             {16, 16, 16}, {12, 10},  {9, 8, 16}, {37}};

std::vector<Problem> contracts(const std::vector<Index>& shape) {
  std::vector<Problem> problems;
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const auto direction : {Direction::forward, Direction::backward})
      for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
        for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
          Problem problem;
          problem.shape = shape;
          problem.precision = precision;
          problem.direction = direction;
          problem.contract = {layout, placement, Effort::estimate};
          problems.push_back(problem);
        }
  return problems;
}

/// With no grid, and with each grid of two factors that the variant takes.
std::vector<Problem> with_grids(const Problem& problem, const Variant& variant, int ranks) {
  std::vector<Problem> problems;
  if (!variant.supports(problem, ranks)) problems.push_back(problem);
  for (int rows = 2; rows < ranks; ++rows) {
    if (ranks % rows != 0) continue;
    Problem gridded = problem;
    gridded.grid = {rows, ranks / rows};
    try {
      if (!variant.supports(gridded, ranks)) problems.push_back(gridded);
    } catch (const InputError&) {  // the variant takes other grids
    }
  }
  return problems;
}

std::string text_of(const Problem& problem, const ExchangeMethod* exchange) {
  return shape_text(problem.shape) + " grid " + grid_text(problem.grid) + " " + to_string(problem.precision) + " " +
         to_string(problem.direction) + " " + to_string(problem.contract.layout) + " " +
         to_string(problem.contract.placement) + " " + (exchange == nullptr ? "none" : exchange->card().name);
}

/// Many ranks on few cores take their time: from five on, every third case, which reaches every exchange in turn.
class Thinning {
 public:
  explicit Thinning(int ranks) : every_(ranks > 4 ? 3 : 1) {}
  [[nodiscard]] bool skips() { return next_++ % every_ != 0; }

 private:
  int every_;
  int next_ = 0;
};

TEST_P(EveryVariant, GivesTheTransformInTheLayoutItStates) {
  int cases = 0;
  Thinning thinning(ranks_);
  for (const auto& shape : shapes)
    for (const Problem& contract : contracts(shape))
      for (const Problem& problem : with_grids(contract, variant(), ranks_))
        for (const ExchangeMethod* exchange : exchanges()) {
          if (thinning.skips()) continue;
          SCOPED_TRACE(text_of(problem, exchange));
          const auto plan = make(problem, exchange);
          const Extents extents = problem.extents();
          ASSERT_TRUE(covers_once(plan->input_layout()));
          ASSERT_TRUE(covers_once(plan->output_layout()));
          if (problem.contract.layout == LayoutContract::natural) {
            ASSERT_EQ(plan->input_layout().boxes, plan->output_layout().boxes);
          }
          ASSERT_EQ(plan->input() == plan->output(), problem.contract.placement == Placement::in_place);
          PhaseClock clock;
          for (int run = 0; run < 2; ++run) {
            write(random_field(extents), plan->input_layout(), me_, problem.precision, plan->input());
            clock.start();
            plan->execute(clock);
            clock.stop();
            EXPECT_LT(error_of(transformed_field(extents, problem.direction), 1, plan->output_layout(), me_,
                               problem.precision, plan->output()),
                      20)
                << "run " << run;
          }
          ++cases;
        }
  EXPECT_GE(cases, GetParam() != "serial" || ranks_ == 1 ? 16 : 0) << "too little was tested";
}

TEST_P(EveryVariant, InverseStartsWhereForwardEnds) {
  int cases = 0;
  Thinning thinning(ranks_);
  for (const auto& shape : std::vector<std::vector<Index>>{{15, 14, 13}, {12, 10}})
    for (const Problem& contract : contracts(shape)) {
      if (contract.direction != Direction::forward) continue;
      for (const Problem& problem : with_grids(contract, variant(), ranks_))
        for (const ExchangeMethod* exchange : exchanges()) {
          if (thinning.skips()) continue;
          SCOPED_TRACE(text_of(problem, exchange));
          Problem inverse = problem;
          inverse.direction = Direction::backward;
          const auto there = make(problem, exchange);
          const auto back = make(inverse, exchange);
          ASSERT_EQ(there->output_layout().boxes, back->input_layout().boxes);
          ASSERT_EQ(there->output_layout().order, back->input_layout().order);
          ASSERT_EQ(there->input_layout().boxes, back->output_layout().boxes);
          PhaseClock clock(false);
          write(random_field(problem.extents()), there->input_layout(), me_, problem.precision, there->input());
          there->execute(clock);
          const auto elements = there->output_layout().boxes[static_cast<std::size_t>(me_)].volume();
          std::memcpy(back->input(), there->output(), static_cast<std::size_t>(elements) * problem.element_bytes());
          back->execute(clock);
          EXPECT_LT(error_of(random_field(problem.extents()), static_cast<long double>(problem.elements()),
                             back->output_layout(), me_, problem.precision, back->output()),
                    30);
          ++cases;
        }
    }
  EXPECT_GE(cases, GetParam() != "serial" || ranks_ == 1 ? 3 : 0) << "too little was tested";
}

TEST_P(EveryVariant, IsAsRightWhenPlansAreMeasured) {
  Problem problem;
  problem.shape = {20, 18, 24};
  problem.contract = {LayoutContract::natural, Placement::out_of_place, Effort::measure};
  if (variant().supports(problem, ranks_)) return;  // serial on more ranks
  for (const ExchangeMethod* exchange : exchanges()) {
    SCOPED_TRACE(text_of(problem, exchange));
    const auto plan = make(problem, exchange);
    PhaseClock clock(false);
    write(random_field(problem.extents()), plan->input_layout(), me_, problem.precision, plan->input());
    plan->execute(clock);
    EXPECT_LT(error_of(transformed_field(problem.extents(), problem.direction), 1, plan->output_layout(), me_,
                       problem.precision, plan->output()),
              20);
  }
}

TEST_P(EveryVariant, StaysUnderThreeTimesTheLocalData) {
  for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
    Problem problem;
    problem.shape = {32, 32, 32};
    problem.contract = {LayoutContract::transposed, placement, Effort::estimate};
    if (variant().supports(problem, ranks_)) return;
    for (const ExchangeMethod* exchange : exchanges()) {
      const auto plan = make(problem, exchange);
      const Index most = std::max(plan->input_layout().max_volume(), plan->output_layout().max_volume());
      const auto local_bytes = static_cast<std::size_t>(most) * problem.element_bytes();
      EXPECT_GE(plan->buffer_bytes(), plan->input_layout().boxes[static_cast<std::size_t>(me_)].volume() *
                                          static_cast<Index>(problem.element_bytes()));
      EXPECT_LE(plan->buffer_bytes(), 2 * local_bytes + 4096) << text_of(problem, exchange);
      EXPECT_LT(plan->buffer_bytes() + plan->workspace_bytes(), 3 * local_bytes) << text_of(problem, exchange);
    }
  }
}

TEST_P(EveryVariant, HasTheSameComponentsOnEveryRankAndTheyRunAlone) {
  Thinning thinning(ranks_);
  for (const Problem& contract : contracts({11, 13, 17})) {
    for (const Problem& problem : with_grids(contract, variant(), ranks_))
      for (const ExchangeMethod* exchange : exchanges()) {
        if (thinning.skips()) continue;
        SCOPED_TRACE(text_of(problem, exchange));
        const auto plan = make(problem, exchange);
        std::string names;
        for (const Component& component : plan->components()) names += component.name + ";";
        std::array<char, 512> first{};
        std::ranges::copy(names.substr(0, first.size() - 1), first.begin());
        MPI_Bcast(first.data(), first.size(), MPI_CHAR, 0, MPI_COMM_WORLD);
        ASSERT_EQ(names, first.data());
        if (variant().takes_exchange()) {
          EXPECT_THAT(names, testing::HasSubstr("fft-1;"));
          EXPECT_EQ(names.find("exchange-1;") != std::string::npos, ranks_ > 1);
        }
        for (const Component& component : plan->components()) component.run();
        // Alone or not: the plan still computes the transform afterwards.
        PhaseClock clock(false);
        write(random_field(problem.extents()), plan->input_layout(), me_, problem.precision, plan->input());
        plan->execute(clock);
        EXPECT_LT(error_of(transformed_field(problem.extents(), problem.direction), 1, plan->output_layout(), me_,
                           problem.precision, plan->output()),
                  20);
      }
  }
}

TEST_P(EveryVariant, RefusesAGridThatDoesNotMatchTheRanksAndNamesBoth) {
  Problem problem;
  problem.shape = {64, 64, 64};
  problem.grid = GetParam() == "pencil" ? std::vector<int>{7, 13} : std::vector<int>{91};
  try {
    const auto reason = variant().supports(problem, ranks_);
    EXPECT_TRUE(GetParam() == "serial" && reason) << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("91"), testing::HasSubstr(std::to_string(ranks_))));
  }
}

TEST_P(EveryVariant, SkipsWhatItCannotUseWithAReason) {
  Problem problem;
  problem.shape = {2, 2, 2};
  ASSERT_TRUE(variant().supports(problem, 64));
  EXPECT_THAT(*variant().supports(problem, 64), testing::HasSubstr("64"));
  problem.shape = {64, 64, 64};
  problem.instances = 3;
  ASSERT_TRUE(variant().supports(problem, 1));
  EXPECT_THAT(*variant().supports(problem, 1), testing::HasSubstr("3 instances"));
}

TEST_P(EveryVariant, SendsWhatItsPapersFormulaSaysOnShapesThatDivide) {
  Problem problem;
  problem.shape = {16 * ranks_, 8 * ranks_, 4 * ranks_};
  problem.contract.effort = Effort::estimate;
  if (variant().supports(problem, ranks_)) return;
  const Cost cost = variant().cost(problem, ranks_);
  EXPECT_DOUBLE_EQ(cost.flops, problem.credited_flops());
  for (const ExchangeMethod* exchange : exchanges()) {
    const Traffic traffic = make(problem, exchange)->traffic();
    EXPECT_DOUBLE_EQ(static_cast<double>(traffic.bytes_sent + traffic.bytes_read_shared), cost.bytes_per_rank);
    if (traffic.bytes_read_shared == 0) {
      EXPECT_DOUBLE_EQ(static_cast<double>(traffic.messages_sent), cost.messages_per_rank);
    }
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryVariant, testing::ValuesIn(VariantRegistry::instance().names()), test_name);

TEST(Pencil, ChoosesOneExchangeWhileItCan) {
  const Variant& pencil = VariantRegistry::instance().get("pencil", "variant");
  Problem problem;
  problem.shape = {64, 4, 64};
  EXPECT_FALSE(pencil.supports(problem, 4));
  EXPECT_EQ(pencil.cost(problem, 4).messages_per_rank, 3);   // 4 x 1
  EXPECT_EQ(pencil.cost(problem, 16).messages_per_rank, 6);  // 4 x 4
  EXPECT_TRUE(pencil.supports(problem, 17));
  EXPECT_TRUE(pencil.supports(problem, 5));
}

}  // namespace
}  // namespace fourscore
