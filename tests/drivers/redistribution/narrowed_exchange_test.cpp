// Data of double precision in messages of single precision: every exchange, in half the bytes, and what it costs in
// accuracy.

#include "redistribution/narrowed_exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness/sent_messages.hpp"
#include "harness/verifier.hpp"
#include "mpi/handles.hpp"
#include "redistribution/zfp_exchange.hpp"
#include "support/exchange_fixture.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

constexpr double single_epsilon = std::numeric_limits<float>::epsilon();

class EveryNarrowedExchange : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const ExchangeMethod& inner() const { return ExchangeRegistry::instance().get(GetParam(), "exchange"); }
  void SetUp() override {
    if (const auto reason = inner().unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

/// The values of the fixture are integers that single precision holds.
TEST_P(EveryNarrowedExchange, BringsEachElementToItsPlaceInHalfTheBytes) {
  const NarrowedMethod method(inner());
  const auto buffers = test::allocate(method);
  for (const auto& movement : test::movements()) {
    SentMessages sent;
    const auto count = [&](const std::function<void()>& run) { sent = count_messages(run); };
    const MessageVolume narrowed = test::run_and_check(method, movement, 16, buffers, count);
    EXPECT_EQ(narrowed.bytes_sent, sent.bytes) << movement.name;
    EXPECT_EQ(narrowed.messages_sent, sent.messages) << movement.name;
    const MessageVolume whole = test::run_and_check(inner(), movement, 16, buffers);
    EXPECT_EQ(2 * narrowed.bytes_sent, whole.bytes_sent) << movement.name;
    EXPECT_EQ(2 * narrowed.bytes_read_shared, whole.bytes_read_shared) << movement.name;
  }
}

TEST_P(EveryNarrowedExchange, WorksBetweenNodesToo) {
  const NarrowedMethod method(inner());
  const auto buffers = test::allocate_on_two_nodes();
  const auto& all = test::movements();
  for (std::size_t i = 0; i < all.size(); i += 2) test::run_and_check(method, all[i], 16, buffers);
}

struct Chosen {
  std::string variant;
  Kind kind;
  std::vector<Index> shape;
};

/// Every check of the Verifier holds, and shows that something was rounded wherever something was sent.
TEST_P(EveryNarrowedExchange, ServesTransformsToTheAccuracyOfItsMessages) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const std::vector<Chosen> all{{"slab", Kind::c2c, {12, 10, 9}},      {"slab", Kind::r2c, {12, 10, 9}},
                                {"pencil", Kind::c2c, {12, 10, 9}},    {"pencil", Kind::r2c, {12, 10, 9}},
                                {"volumetric", Kind::c2c, {9, 8, 16}}, {"volumetric", Kind::r2c, {9, 8, 16}},
                                {"rods", Kind::c2c, {12, 10, 9}},      {"transpose", Kind::c2c, {3600}}};
  test::Turns turns;
  for (const Chosen& chosen : all)
    for (const auto layout : {LayoutContract::natural, LayoutContract::transposed}) {
      const Variant& variant = VariantRegistry::instance().get(chosen.variant, "variant");
      Problem problem = test::problem_of(chosen.shape, {}, layout);
      problem.kind = chosen.kind;
      problem.wire = Wire::single;
      const auto kinds = variant.facts().kinds;
      if (std::ranges::find(kinds, chosen.kind) == kinds.end() || variant.supports(problem, ranks)) continue;
      if (!turns.is_next()) continue;
      SCOPED_TRACE(chosen.variant + " " + test::text_of(problem, &inner()));
      const NarrowedMethod method(inner());
      const auto plan = test::make_plan(variant, problem, &method);
      Verifier verifier(problem, MPI_COMM_WORLD, *plan, 1);
      Problem back = problem;
      back.direction = Direction::backward;
      back.grid = plan->facts().grid;
      const auto inverse = [&] { return test::make_plan(variant, back, &method); };
      double largest = 0;
      for (const Check& check : verifier.check_before(*plan, inverse)) {
        EXPECT_TRUE(check.ok) << check.name << " " << check.error << " " << check.finding;
        if (check.tolerance > 0) largest = std::max(largest, check.error);
      }
      const MessageVolume& volume = plan->facts().message_volume;
      long long moved = volume.bytes_sent + volume.bytes_read_shared;
      MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
      if (moved > 0)
        EXPECT_GT(largest, single_epsilon / 100);
      else
        EXPECT_LT(largest, single_epsilon / 100);
      const auto whole = test::make_plan(variant, problem, &inner());
      EXPECT_EQ(2 * volume.bytes_sent, whole->facts().message_volume.bytes_sent);
    }
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryNarrowedExchange, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

TEST(NarrowedExchange, RoundsOnceByAtMostHalfTheEpsilonOfSinglePrecision) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const Decomposition from = decompose({8, 8, 8}, {{ranks, 1, 1}});
  const Decomposition to = decompose({8, 8, 8}, {{1, ranks, 1}});
  const NarrowedMethod method(ExchangeRegistry::instance().get("alltoallv", "exchange"));
  const auto bytes = static_cast<std::size_t>(std::max(from.max_volume(), to.max_volume())) * 16;
  const auto source = method.allocate(MPI_COMM_WORLD, bytes, BufferUse::array);
  const auto spare = method.allocate(MPI_COMM_WORLD, bytes, BufferUse::array);
  const auto exchange = method.make({from, to, MPI_COMM_WORLD, 16, *source, *spare});
  const auto value = [](const Extents& at) { return 1.0 / (3 + static_cast<double>(64 * at[0] + 8 * at[1] + at[2])); };
  auto* const data = static_cast<std::complex<double>*>(source->data());
  for (Index i = 0; i < from.volume(me); ++i) data[i] = value(from.global_index(me, i));
  PhaseClock clock(false);
  exchange->run(clock);
  const auto* const result =
      static_cast<const std::complex<double>*>((exchange->lands_in_source() ? source : spare)->data());
  double largest = 0;
  for (Index i = 0; i < to.volume(me); ++i) {
    const double exact = value(to.global_index(me, i));
    largest = std::max(largest, std::abs(result[i].real() / exact - 1));
    EXPECT_EQ(result[i].imag(), 0);
  }
  EXPECT_LE(largest, single_epsilon / 2);
  // Without messages nothing is rounded.
  if (ranks == 1)
    EXPECT_EQ(largest, 0);
  else
    EXPECT_GT(largest, single_epsilon / 8);
  EXPECT_EQ(exchange->facts().min_bytes.has_value(), ranks > 1);
}

/// Every check of the Verifier holds, and shows that something was lost.
TEST(ZfpExchange, CompressesMessagesToItsRate) {
  if (const auto reason = zfp_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for (const char* name : {"alltoallv", "p2p"})
    for (const auto& [rate, least] : {std::pair{"16", 1e-6}, {"24", 1e-9}, {"32", 1e-11}}) {
      const ExchangeMethod& inner = ExchangeRegistry::instance().get(name, "exchange");
      const ZfpMethod method(inner);
      for (const char* variant_name : {"slab", "pencil"}) {
        Problem problem = test::problem_of({16, 16, 16}, {{"zfp-rate", rate}}, LayoutContract::natural);
        problem.wire = Wire::zfp;
        SCOPED_TRACE(std::string(variant_name) + " " + name + " at " + rate);
        const Variant& variant = VariantRegistry::instance().get(variant_name, "variant");
        if (variant.supports(problem, mpi::size_of(MPI_COMM_WORLD))) continue;
        const auto plan = test::make_plan(variant, problem, &method);
        Verifier verifier(problem, MPI_COMM_WORLD, *plan, 1);
        double largest = 0;
        for (const Check& check : verifier.check_before(*plan, nullptr)) {
          EXPECT_TRUE(check.ok) << check.name << " " << check.error << " " << check.finding;
          if (check.tolerance > 0) largest = std::max(largest, check.error);
        }
        const Index whole = test::make_plan(variant, problem, &inner)->facts().message_volume.bytes_sent;
        const Index sent = plan->facts().message_volume.bytes_sent;
        if (mpi::size_of(MPI_COMM_WORLD) == 1) {
          EXPECT_LT(largest, 1e-14);
        } else {
          EXPECT_GT(largest, least);
          const double share = std::stod(rate) / 64;
          EXPECT_GE(sent, static_cast<Index>(static_cast<double>(whole) * share));
          EXPECT_LE(sent, static_cast<Index>(static_cast<double>(whole) * share * 1.1));
        }
      }
    }
}

TEST(ZfpExchange, NamesWhatItCannotTake) {
  Problem problem;
  problem.wire = Wire::zfp;
  const auto get = [](const char* name) -> const ExchangeMethod& {
    return ExchangeRegistry::instance().get(name, "exchange");
  };
  EXPECT_EQ(ZfpMethod(get("p2p")).supports(problem), std::nullopt);
  EXPECT_EQ(ZfpMethod(get("rma")).supports(problem),
            "exchange 'rma' makes its messages itself; wire zfp takes alltoallv or p2p");
  problem.parameters["zfp-rate"] = "8";
  EXPECT_THROW((void)ZfpMethod(get("p2p")).supports(problem), InputError);
}

TEST(NarrowedExchange, RefusesElementsThatAreNotOfDoublePrecision) {
  const NarrowedMethod method(ExchangeRegistry::instance().get("alltoallv", "exchange"));
  const Decomposition layout = decompose({8, 8, 8}, {{mpi::size_of(MPI_COMM_WORLD), 1, 1}});
  const auto source = method.allocate(MPI_COMM_WORLD, 8 * 512, BufferUse::array);
  const auto spare = method.allocate(MPI_COMM_WORLD, 8 * 512, BufferUse::array);
  EXPECT_THROW((void)method.make({layout, layout, MPI_COMM_WORLD, 8, *source, *spare}), std::invalid_argument);
  EXPECT_THROW((void)method.staging_bytes({layout, layout, MPI_COMM_WORLD, 8, *source, *spare}), std::invalid_argument);
}

}  // namespace
}  // namespace fourscore
