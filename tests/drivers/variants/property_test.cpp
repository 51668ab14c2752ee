// Random problems against the transform by its definition: every variant x exchange in turn, all else drawn from the
// seed of the case. The environment says how long and from where:
//   FOURSCORE_PROPERTY_SECONDS   how long to go on (default 3)
//   FOURSCORE_PROPERTY_ROUNDS    instead: how often each variant x exchange has its turn
//   FOURSCORE_PROPERTY_START     the first seed (default: a random one)
//   FOURSCORE_PROPERTY_SEED      this case alone; what a failure prints

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "harness/instances.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "mpi/thread_level.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<std::uint64_t> environment_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text, &end, 10);
  if (*text == '\0' || *end != '\0') {
    std::fprintf(stderr, "%s is '%s'; expected a whole number\n", name, text);
    std::exit(1);
  }
  return number;
}

struct Pair {
  const Variant* variant;
  const ExchangeMethod* exchange;  ///< null where the variant takes none
};

/// What can run here, in the order of the names.
std::vector<Pair> pairs() {
  std::vector<Pair> list;
  for (const auto& name : VariantRegistry::instance().names()) {
    const Variant* variant = VariantRegistry::instance().find(name);
    if (!variant->unavailable().empty()) continue;
    for (const ExchangeMethod* exchange : test::exchanges_of(*variant)) list.push_back({variant, exchange});
  }
  return list;
}

/// Draws from a seed. The distributions of the standard library differ between libraries, so that a seed would not mean
/// the same everywhere; the remainder's tiny bias does not matter here.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  Index between(Index least, Index most) {
    return least + static_cast<Index>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<Index>(list.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// Small enough for the definition in long double.
constexpr Index max_elements = 3000;

/// Any extents; powers of two; multiples of the ranks; or one long extent and short ones.
std::vector<Index> draw_shape(Draw& draw, int ranks) {
  const auto dimensions = static_cast<std::size_t>(draw.one_in(3) ? draw.between(1, 2) : 3);
  const Index manner = draw.between(0, 3);
  const Index longest = std::array<Index, 4>{0, 512, 48, 17}[dimensions];
  std::vector<Index> shape(dimensions);
  for (Index& extent : shape) {
    if (manner == 0) extent = draw.between(1, longest);
    if (manner == 1) extent = Index{1} << draw.between(0, dimensions == 1 ? 9 : 4);
    if (manner == 2) extent = ranks * draw.between(1, 4);
    if (manner == 3) extent = draw.between(1, 4);
  }
  if (manner == 3)
    shape[static_cast<std::size_t>(draw.between(0, static_cast<Index>(dimensions) - 1))] = draw.between(5, 130);
  return shape;
}

std::vector<int> draw_grid(Draw& draw, int ranks) {
  if (draw.one_in(2)) return {};
  std::vector<int> grid(static_cast<std::size_t>(draw.between(1, 3)), 1);
  for (int left = ranks, factor = 2; left > 1; ++factor)
    for (; left % factor == 0; left /= factor)
      grid[static_cast<std::size_t>(draw.between(0, static_cast<Index>(grid.size()) - 1))] *= factor;
  return grid;
}

void draw_parameters(Draw& draw, const std::vector<Parameter>& parameters, Problem& problem) {
  for (const Parameter& parameter : parameters)
    if (!draw.one_in(3)) problem.parameters[parameter.name] = draw.of(tried_values(parameter));
}

Problem draw_problem(Draw& draw, const Pair& pair, int ranks) {
  Problem problem = test::problem_of(draw_shape(draw, ranks));
  problem.grid = draw_grid(draw, ranks);
  problem.kind = draw.of(pair.variant->facts().kinds);
  problem.precision = draw.one_in(2) ? Precision::single_precision : Precision::double_precision;
  problem.direction = draw.one_in(2) ? Direction::backward : Direction::forward;
  problem.contract.layout = draw.one_in(2) ? LayoutContract::natural : LayoutContract::transposed;
  problem.contract.buffers = draw.one_in(2) ? Buffers::out_of_place : Buffers::in_place;
  problem.contract.effort = draw.one_in(16) ? Effort::measure : Effort::estimate;
  problem.threads = draw.one_in(8) ? 2 : 1;
  if (draw.one_in(4)) {
    problem.instances = static_cast<int>(draw.between(2, 3));
    if (draw.one_in(2)) problem.placement = Placement::subset;
  }
  draw_parameters(draw, pair.variant->facts().parameters, problem);
  if (pair.exchange != nullptr) draw_parameters(draw, pair.exchange->parameters(), problem);
  return problem;
}

/// Whether variant, exchange and MPI can do it.
bool is_supported(const Pair& pair, const Problem& problem, int ranks) {
  if (pair.exchange != nullptr && pair.exchange->supports(problem)) return false;
  if (pair.exchange != nullptr && pair.variant->refuses(*pair.exchange, problem)) return false;
  if (supports_instances(*pair.variant, problem, ranks)) return false;
  if (pair.variant->cannot_run_on(problem, MPI_COMM_WORLD)) return false;
  return pair.variant->thread_level(problem) <= mpi::provided_thread_level();
}

/// What variant and exchange take, of what the seed draws. Values that it refuses as unusable count as not taken: a
/// grid of three entries is drawn for slabs too.
std::optional<Problem> draw_supported(Draw& draw, const Pair& pair, int ranks) {
  constexpr int most_tries = 300;
  for (int i = 0; i < most_tries; ++i) {
    const Problem problem = draw_problem(draw, pair, ranks);
    if (problem.elements() > max_elements) continue;
    try {
      if (is_supported(pair, problem, ranks)) return problem;
    } catch (const InputError&) {
    }
  }
  return std::nullopt;
}

std::string repeats_text(const Problem& problem) {
  std::string text = problem.threads == 1 ? "" : " threads " + std::to_string(problem.threads);
  if (problem.instances > 1)
    text += " instances " + std::to_string(problem.instances) + " on " + to_string(problem.placement);
  return text;
}

/// A case that waits for ever, or crashes, cannot say so itself.
std::uint64_t seed_under_way = 0;
extern "C" void tell_the_seed(int signal) {
  std::array<char, 160> text{};
  // snprintf is not promised to be safe here; this process is lost anyway, and the seed is worth the try.
  const int length = std::snprintf(text.data(), text.size(), "%s; replay it with FOURSCORE_PROPERTY_SEED=%llu\n",
                                   signal == SIGALRM ? "a case did not come back" : "a case crashed",
                                   static_cast<unsigned long long>(seed_under_way));
  if (::write(STDOUT_FILENO, text.data(), static_cast<std::size_t>(length)) < 0) ::_exit(4);
  ::_exit(3);
}

class Properties : public testing::Test {
 protected:
  void check(const Pair& pair, const Problem& problem) const;
  void check_layouts(const Plan& plan, const Problem& problem) const;
  /// Instance number `number` has the known field times number + 1, so that none is taken for another.
  static void fill(const Instances::Instance& instance, const Problem& problem, int me);
  /// In units of epsilon, of the largest value expected.
  [[nodiscard]] static double error_of(const Instances::Instance& instance, const Problem& problem, int me);
  /// False where no problem of this seed suits its pair.
  [[nodiscard]] bool run_case(std::uint64_t seed) const;

  const std::vector<Pair> pairs_ = pairs();
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

void Properties::check_layouts(const Plan& plan, const Problem& problem) const {
  EXPECT_EQ(plan.input_layout().shape, problem.input_extents());
  EXPECT_EQ(plan.output_layout().shape, problem.output_extents());
  EXPECT_TRUE(test::covers_once(plan.input_layout()));
  EXPECT_TRUE(test::covers_once(plan.output_layout()));
  EXPECT_EQ(plan.input() == plan.output(), problem.contract.buffers == Buffers::in_place);
  if (problem.contract.layout == LayoutContract::natural && problem.kind == Kind::c2c) {
    EXPECT_TRUE(plan.input_layout().same_boxes(plan.output_layout()));
  }
}

void Properties::check(const Pair& pair, const Problem& problem) const {
  Instances instances(*pair.variant,
                      {problem, MPI_COMM_WORLD, pair.exchange, LocalFftRegistry::instance().get("fftw", "local FFT")});
  const int me = mpi::rank_in(instances.comm());
  const Problem one = one_instance(problem);
  for (const auto& instance : instances.here()) check_layouts(*instance.plan, one);
  PhaseClock clock;
  for (int run = 0; run < 2; ++run) {
    for (const auto& instance : instances.here()) fill(instance, one, me);
    std::size_t done = 0;
    clock.start();
    instances.execute(clock, [&](std::size_t) { ++done; });
    clock.stop();
    EXPECT_EQ(done, instances.several() ? instances.here().size() : 0);
    // MKL is less exact for some lengths on processors with AVX-512: 31 for 3x116, 70 for 4x106x3.
    const double bound = pair.variant->card().name == "mkl-cdft" ? 120 : 20;
    for (const auto& instance : instances.here())
      EXPECT_LT(error_of(instance, one, me), bound) << "run " << run << ", instance " << instance.number;
  }
}

void Properties::fill(const Instances::Instance& instance, const Problem& problem, int me) {
  Plan& plan = *instance.plan;
  const int scale = instance.number + 1;
  if (problem.kind == Kind::r2c) return test::fill_real(plan, problem, me, scale);
  const auto elements = static_cast<std::size_t>(plan.output_layout().volume(me));
  std::memset(plan.output(), 0xff, elements * problem.element_bytes());
  test::Field scaled = test::random_field(problem.extents());
  for (auto& value : scaled.values) value *= scale;
  test::write(scaled, plan.input_layout(), me, problem.precision, plan.input());
}

double Properties::error_of(const Instances::Instance& instance, const Problem& problem, int me) {
  Plan& plan = *instance.plan;
  const int scale = instance.number + 1;
  if (problem.kind == Kind::r2c) return test::error_of_real(plan, problem, me, scale);
  const auto& expected = test::transformed_field(problem.extents(), problem.direction);
  return test::error_of(expected, scale, plan.output_layout(), me, problem.precision, plan.output());
}

bool Properties::run_case(std::uint64_t seed) const {
  const Pair& pair = pairs_[seed % pairs_.size()];
  Draw draw(seed);
  const auto problem = draw_supported(draw, pair, ranks_);
  if (!problem) return false;
  const std::string text = "FOURSCORE_PROPERTY_SEED=" + std::to_string(seed) + " on " + std::to_string(ranks_) +
                           " ranks: " + pair.variant->card().name + " " + to_string(problem->kind) + " " +
                           test::text_of(*problem, pair.exchange) + " " + to_string(problem->contract.effort) +
                           repeats_text(*problem);
  SCOPED_TRACE(text);
  constexpr unsigned most_seconds = 200;
  seed_under_way = seed;
  ::alarm(most_seconds);
  try {
    check(pair, *problem);
  } catch (const std::exception& error) {
    std::printf("[rank %d] %s: %s\n", me_, text.c_str(), error.what());
    std::fflush(stdout);
    throw;
  }
  ::alarm(0);
  return true;
}

std::uint64_t from_rank_0(std::uint64_t value) {
  MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return value;
}

TEST_F(Properties, HoldForRandomProblems) {
  ASSERT_FALSE(pairs_.empty());
  for (const int signal : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, tell_the_seed);
  if (const auto seed = environment_number("FOURSCORE_PROPERTY_SEED")) {
    EXPECT_TRUE(run_case(*seed)) << "no problem of this seed suits its variant on " << ranks_ << " ranks";
    return;
  }
  const auto rounds = environment_number("FOURSCORE_PROPERTY_ROUNDS");
  const auto seconds = environment_number("FOURSCORE_PROPERTY_SECONDS").value_or(3);
  constexpr std::uint64_t most_random = 999'999'999;
  const std::uint64_t start =
      environment_number("FOURSCORE_PROPERTY_START").value_or(from_rank_0(std::random_device{}() % most_random));
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  std::uint64_t seed = start;
  std::uint64_t cases = 0;
  // All ranks end together: when rank 0's time is over, or when one has found something.
  const auto goes_on = [&] {
    const bool is_over = rounds ? seed - start >= *rounds * pairs_.size() : me_ == 0 && Clock::now() >= end;
    int ends = is_over || HasFailure() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &ends, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return ends == 0;
  };
  std::map<std::string, int> by_variant;
  for (; goes_on(); ++seed)
    if (run_case(seed)) {
      ++cases;
      ++by_variant[pairs_[seed % pairs_.size()].variant->card().name];
    }
  if (me_ == 0) {
    std::printf("%llu random problems on %d ranks, seeds from %llu:", static_cast<unsigned long long>(cases), ranks_,
                static_cast<unsigned long long>(start));
    for (const auto& [name, count] : by_variant) std::printf(" %s %d", name.c_str(), count);
    std::printf("\n");
  }
  EXPECT_GT(cases, 0U);
}

}  // namespace
}  // namespace fourscore
