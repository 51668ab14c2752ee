// Instances fill each other's waiting: with messages that take longer than all work, several at once take hardly longer
// than one.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "harness/instances.hpp"
#include "harness/verifier.hpp"
#include "mpi/handles.hpp"
#include "support/delayed_messages.hpp"
#include "support/problem_of.hpp"

namespace fourscore {
namespace {

using namespace std::chrono_literals;

struct Method {
  std::string name;
  std::string variant;
  std::string exchange;  ///< empty where the variant takes none
  std::map<std::string, std::string> parameters{};
};
void PrintTo(const Method& method, std::ostream* out) { *out << method.name; }

class Overlap : public testing::TestWithParam<Method> {
 protected:
  void TearDown() override { test::message_delay = 0ms; }

  [[nodiscard]] static Problem problem_of(int instances) {
    Problem problem = test::problem_of({16, 16, 16}, GetParam().parameters);
    problem.instances = instances;
    if (GetParam().variant == "node") problem.threads = 2;
    return problem;
  }

  [[nodiscard]] static std::unique_ptr<Instances> make(const Problem& problem) {
    const Method& method = GetParam();
    const ExchangeMethod* exchange =
        method.exchange.empty() ? nullptr : &ExchangeRegistry::instance().get(method.exchange, "exchange");
    return std::make_unique<Instances>(
        VariantRegistry::instance().get(method.variant, "variant"),
        PlanContext{problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")});
  }

  /// The slowest rank's seconds for one run of all.
  [[nodiscard]] static double seconds_of(Instances& instances) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    PhaseClock clock;
    clock.start();
    instances.execute(clock, [](std::size_t) {});
    clock.stop();
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
  }
};

/// In a row the messages of two take twice the time of those of one.
TEST_P(Overlap, TakesUnderThreeQuartersOfTheTimeOfTwoInARow) {
  if (mpi::size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank waits for nothing";
  const Variant& variant = VariantRegistry::instance().get(GetParam().variant, "variant");
  if (!variant.unavailable().empty()) GTEST_SKIP() << variant.unavailable();
  const Problem both = problem_of(2);
  const auto one = make(one_instance(both));
  const auto two = make(both);
  std::vector<std::unique_ptr<Verifier>> verifiers;
  for (const auto& instance : two->here())
    verifiers.push_back(std::make_unique<Verifier>(one_instance(both), two->comm(), *instance.plan,
                                                   static_cast<std::uint64_t>(instance.number)));
  test::message_delay = 200ms;
  const double in_a_row = seconds_of(*one) + seconds_of(*one);
  for (std::size_t i = 0; i < verifiers.size(); ++i) verifiers[i]->fill(*two->here()[i].plan, 0);
  const double at_once = seconds_of(*two);
  test::message_delay = 0ms;
  for (std::size_t i = 0; i < verifiers.size(); ++i)
    EXPECT_TRUE(std::ranges::all_of(verifiers[i]->check_after(*two->here()[i].plan), &Check::ok));
  EXPECT_GE(in_a_row, 0.4) << "the messages were not delayed";
  EXPECT_LT(at_once, 0.75 * in_a_row);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Overlap,
    testing::Values(Method{"pencils_by_messages", "overdecomposed", "", {{"decomposition", "4x4"}}},
                    Method{"pencils_dealt_by_number",
                           "overdecomposed",
                           "",
                           {{"decomposition", "4x4"}, {"dealing", "round-robin"}, {"local-messages", "yes"}}},
                    Method{"synchronised_pencils",
                           "overdecomposed",
                           "",
                           {{"decomposition", "4x4"}, {"synchronisation", "broadcast-reduce"}}},
                    Method{"threads_of_a_node", "node", ""}, Method{"p2p", "pencil", "p2p"},
                    Method{"ialltoallv", "pencil", "ialltoallv"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace fourscore
