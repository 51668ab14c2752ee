// What an exchange declares is what it hands to MPI, as every launch counts it too (harness/sent_messages.hpp).

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "harness/instances.hpp"
#include "harness/sent_messages.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/boxes_of.hpp"
#include "support/exchange_fixture.hpp"
#include "support/problem_of.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {
namespace {

class TrafficOf : public ::testing::Test {
 protected:
  [[nodiscard]] const ExchangeMethod& method() const { return ExchangeRegistry::instance().get(name_, "exchange"); }

  /// Declared equals counted, and no element is forgotten: what is sent, kept and read add up to the whole.
  void check(const test::Movement& movement, std::size_t element_bytes, const test::ExchangeBuffers& buffers,
             const Problem& problem = {}) {
    SentMessages sent;
    const auto count = [&](const std::function<void()>& run) { sent = count_messages(run); };
    const MessageVolume declared = test::run_and_check(method(), movement, element_bytes, buffers, count, problem);
    EXPECT_EQ(declared.bytes_sent, sent.bytes) << name_ << ", " << movement.name;
    EXPECT_EQ(declared.messages_sent, sent.messages) << name_ << ", " << movement.name;
    EXPECT_EQ(declared.control_messages_sent, sent.control_messages) << name_ << ", " << movement.name;

    long long sums[5] = {declared.bytes_sent, declared.bytes_self, declared.bytes_read_shared, declared.bytes_relayed,
                         declared.messages_sent};
    MPI_Allreduce(MPI_IN_PLACE, sums, 5, MPI_LONG_LONG, MPI_SUM, movement.comm);
    Index elements = 0;
    for (const Box& box : test::boxes_of(movement.from)) elements += box.volume();
    EXPECT_EQ(sums[0] + sums[1] + sums[2] - sums[3], elements * static_cast<Index>(element_bytes))
        << name_ << ", " << movement.name;
    sent_in_all_ += sums[0];
    read_in_all_ += sums[2];
    relayed_in_all_ += sums[3];
    messages_ = sums[4];
  }

  std::string name_;
  Index sent_in_all_ = 0;
  Index read_in_all_ = 0;
  Index relayed_in_all_ = 0;
  Index messages_ = 0;  ///< over all ranks, in the last movement
};

class TrafficOfEach : public TrafficOf, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { name_ = GetParam(); }
};

TEST_P(TrafficOfEach, IsWhatGoesThroughMpi) {
  const auto buffers = test::allocate(method());
  for (const auto& movement : test::movements()) check(movement, 16, buffers);
  const int size = mpi::size_of(MPI_COMM_WORLD);
  EXPECT_EQ(sent_in_all_ + read_in_all_ > 0, size > 1);
}

TEST_P(TrafficOfEach, IsWhatGoesThroughMpiBetweenNodesToo) {
  const auto buffers = test::allocate_on_two_nodes();
  const auto& all = test::movements();
  for (std::size_t i = 0; i < all.size(); i += 2) check(all[i], 8, buffers);
  // What hierarchical does within a node does not depend on where the buffers are.
  EXPECT_EQ((GetParam() == "hierarchical" ? read_in_all_ : sent_in_all_) > 0, mpi::size_of(MPI_COMM_WORLD) > 1);
}

INSTANTIATE_TEST_SUITE_P(Registered, TrafficOfEach, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

/// Parameters that change what is sent, and machines of more than one node, pretended.
struct Option {
  std::string exchange;
  std::string parameter;
  std::string value;
  int ranks_per_node = 0;  ///< 0: as it is
};
const std::vector<Option> options{{"rma", "epoch", "fence"},
                                  {"rma", "epoch", "lock"},
                                  {"active", "packet-bytes", "16"},
                                  {"active", "packet-bytes", "200"},
                                  {"active", "packet-bytes", "1000000"},
                                  {"active", "packets-in-flight", "1"},
                                  {"active", "packets-in-flight", "5"},
                                  {"p2p-pipelined", "pieces", "1"},
                                  {"p2p-pipelined", "pieces", "3"},
                                  {"ialltoallv-pipelined", "pieces", "7"},
                                  {"hierarchical", "leaders", "1", 1},
                                  {"hierarchical", "leaders", "1", 2},
                                  {"hierarchical", "leaders", "2", 2},
                                  {"hierarchical", "leaders", "1", 3},
                                  {"hierarchical", "leaders", "3", 3},
                                  {"shared", "", "", 2}};

class TrafficOfOptions : public TrafficOf {};

TEST_F(TrafficOfOptions, IsWhatGoesThroughMpi) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  for (const Option& option : options) {
    SCOPED_TRACE(option.exchange + " " + option.parameter + " " + option.value);
    name_ = option.exchange;
    if (option.ranks_per_node > 0) setenv("FOURSCORE_RANKS_PER_NODE", std::to_string(option.ranks_per_node).c_str(), 1);
    Problem problem;
    if (!option.parameter.empty()) problem.parameters[option.parameter] = option.value;
    const auto buffers = test::allocate(method());
    const auto& all = test::movements();
    const std::size_t step = size > test::most_ranks_with_every_movement ? 1 : 5;
    for (std::size_t i = 0; i < all.size(); i += step) check(all[i], 16, buffers, problem);
    // The first movement: every rank has something for every other.
    check(all.front(), 8, buffers, problem);
    if (option.exchange == "hierarchical") {
      const int nodes = (size + option.ranks_per_node - 1) / option.ranks_per_node;
      EXPECT_EQ(messages_, nodes * (nodes - 1));
    }
    unsetenv("FOURSCORE_RANKS_PER_NODE");
  }
}

/// Within a node `shared` hands nothing to MPI: each rank reads every block of its neighbours where they have it.
TEST_F(TrafficOfOptions, OfSharedWithinANodeIsReadFromTheNeighboursMemory) {
  const mpi::Communicator node = mpi::split_by_node(MPI_COMM_WORLD);
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  if (mpi::size_of(node.get()) != ranks) GTEST_SKIP() << "the ranks are not on one node";
  name_ = "shared";
  const auto buffers = test::allocate(method());
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  for (int rank = 0; rank < ranks; ++rank) ASSERT_NE(buffers.source->peer(rank), nullptr) << "rank " << rank;
  // What a neighbour writes into its buffer stands in what this rank sees of it.
  *static_cast<int*>(buffers.source->data()) = 1000 + me;
  buffers.source->sync();
  MPI_Barrier(MPI_COMM_WORLD);
  buffers.source->sync();
  for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(*static_cast<const int*>(buffers.source->peer(rank)), 1000 + rank);
  MPI_Barrier(MPI_COMM_WORLD);

  const test::Movement& movement = test::movements().front();
  check(movement, 16, buffers);
  EXPECT_EQ(messages_, 0);
  EXPECT_EQ(sent_in_all_, 0);
  Index from_others = 0;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to) from_others += intersect(movement.from.box(from), movement.to.box(to)).volume();
  EXPECT_EQ(from_others > 0, ranks > 1);
  EXPECT_EQ(read_in_all_, from_others * 16);
}

TEST_F(TrafficOfOptions, OfBruckIsALogarithmOfTheRanks) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  name_ = "bruck";
  const auto buffers = test::allocate(method());
  check(test::movements().front(), 16, buffers);
  int rounds = 0;
  while ((1 << rounds) < size) ++rounds;
  EXPECT_EQ(messages_, size * rounds);
  EXPECT_EQ(relayed_in_all_ > 0, size > 3);  // a distance of 3 is the first that takes two rounds
}

/// The exchanges that the variant takes; null alone where it sends on its own.
std::vector<const ExchangeMethod*> exchanges_of(const Variant& variant) {
  if (!variant.takes_exchange()) return {nullptr};
  std::vector<const ExchangeMethod*> methods;
  for (const auto& name : ExchangeRegistry::instance().names())
    if (const auto& method = ExchangeRegistry::instance().get(name, "exchange"); !variant.refuses(method, {}))
      methods.push_back(&method);
  return methods;
}

/// All exchanges with complex data, and the first with what else the variant can do.
std::vector<std::pair<const ExchangeMethod*, Kind>> cases_of(const Variant& variant) {
  std::vector<std::pair<const ExchangeMethod*, Kind>> cases;
  for (const ExchangeMethod* exchange : exchanges_of(variant)) cases.emplace_back(exchange, Kind::c2c);
  for (const Kind kind : variant.facts().kinds)
    if (kind != Kind::c2c) cases.emplace_back(cases.front().first, kind);
  return cases;
}

class TrafficOfVariants : public ::testing::TestWithParam<std::string> {};

/// A transform sends what it declares, and nothing else.
TEST_P(TrafficOfVariants, IsWhatGoesThroughMpi) {
  const Variant& variant = *VariantRegistry::instance().find(GetParam());
  if (!variant.unavailable().empty()) GTEST_SKIP() << variant.unavailable();
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  Index moved_in_all = 0;
  int cases = 0;
  for (const auto& shape : std::vector<std::vector<Index>>{{15, 14, 13}, {16, 8, 32}, {24, 16}, {4096}})
    for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
      for (const auto& [exchange, kind] : cases_of(variant)) {
        Problem problem = test::problem_of(shape, {}, layout);
        problem.kind = kind;
        if (variant.supports(problem, ranks)) continue;
        const auto plan = variant.make_plan(
            {problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")});
        PhaseClock clock(false);
        const SentMessages sent = count_messages([&] { plan->execute(clock); });
        const auto text =
            shape_text(shape) + " " + to_string(kind) + " " + (exchange == nullptr ? "" : exchange->card().name);
        EXPECT_EQ(plan->message_volume().bytes_sent, sent.bytes) << text;
        EXPECT_EQ(plan->message_volume().messages_sent, sent.messages) << text;
        EXPECT_EQ(plan->message_volume().control_messages_sent, sent.control_messages) << text;
        moved_in_all += sent.bytes + plan->message_volume().bytes_read_shared;
        ++cases;
      }
  if (cases == 0) GTEST_SKIP() << "no shape of the list on " << ranks << " ranks";
  EXPECT_EQ(moved_in_all > 0, ranks > 1);
}

/// Ours; those of other libraries declare what their documentation says and send as they like.
std::vector<std::string> our_variants() {
  auto names = VariantRegistry::instance().names();
  std::erase_if(names, [](const std::string& name) {
    return dynamic_cast<const ReferenceVariant*>(VariantRegistry::instance().find(name)) != nullptr;
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registered, TrafficOfVariants, ::testing::ValuesIn(our_variants()), [](const auto& instance) {
  auto name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(TrafficOfInstances, IsThatOfAllThatAreHere) {
  const Variant& slab = VariantRegistry::instance().get("slab", "variant");
  for (const auto& exchange : ExchangeRegistry::instance().names())
    for (const auto placement : {Placement::all, Placement::subset}) {
      const ExchangeMethod& method = *ExchangeRegistry::instance().find(exchange);
      Problem problem = test::problem_of({15, 14, 13});
      problem.instances = std::min(3, mpi::size_of(MPI_COMM_WORLD));
      problem.placement = placement;
      if (!method.unavailable().empty() || slab.refuses(method, {}) || method.supports(problem)) continue;
      Instances instances(slab,
                          {problem, MPI_COMM_WORLD, &method, LocalFftRegistry::instance().get("fftw", "local FFT")});
      PhaseClock clock(false);
      const SentMessages sent = count_messages([&] { instances.execute(clock, [](std::size_t) {}); });
      EXPECT_EQ(instances.total(&PlanFacts::message_volume).bytes_sent, sent.bytes)
          << exchange << " " << to_string(placement);
      EXPECT_EQ(instances.total(&PlanFacts::message_volume).messages_sent, sent.messages)
          << exchange << " " << to_string(placement);
      EXPECT_EQ(instances.total(&PlanFacts::message_volume).control_messages_sent, sent.control_messages)
          << exchange << " " << to_string(placement);
    }
}

/// gupta1993, section 3.1 and appendix C: log2 P steps, and to natural order at most 2 log2 P + 1, each one message to
/// one partner; twice the pieces are twice the messages of the first log2 P.
TEST(TrafficOfBinaryExchange, TakesAsManyStepsAsThePaperSays) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  if ((ranks & (ranks - 1)) != 0) GTEST_SKIP() << ranks << " ranks are no power of two";
  int bits = 0;
  while ((1 << bits) < ranks) ++bits;
  const Variant& variant = VariantRegistry::instance().get("binary-exchange", "variant");
  for (const int pieces : {1, 2})
    for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
      for (const auto direction : {Direction::forward, Direction::backward}) {
        Problem problem = test::problem_of({192}, {{"pieces", std::to_string(pieces)}}, layout);
        problem.direction = direction;
        const auto plan = variant.make_plan(
            {problem, MPI_COMM_WORLD, nullptr, LocalFftRegistry::instance().get("fftw", "local FFT")});
        PhaseClock clock(false);
        const SentMessages sent = count_messages([&] { plan->execute(clock); });
        EXPECT_EQ(sent.messages, bits * (pieces + (layout == LayoutContract::natural ? 1 : 0)));
        EXPECT_EQ(sent.bytes, 192 / ranks * 16 * bits * (layout == LayoutContract::natural ? 3 : 2) / 2);
        EXPECT_EQ(plan->message_volume().messages_sent, sent.messages);
        EXPECT_EQ(plan->message_volume().bytes_sent, sent.bytes);
        if (pieces == 1) {
          EXPECT_LE(sent.messages, 2 * bits + 1);
        }
      }
}

/// gupta1993, section 6 and appendix C: with radix q each of log_q P stages has q - 1 partners; over the rows and the
/// columns of a grid radix 2 sends as much as over one line.
TEST(TrafficOfBinaryExchange, IsThatOfTheFormulaWithAHigherRadixAndOnGrids) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  if (ranks != 2 && ranks != 4 && ranks != 8) GTEST_SKIP() << ranks << " ranks are no power of two, or are one";
  const Variant& variant = VariantRegistry::instance().get("binary-exchange", "variant");
  struct Case {
    std::vector<Index> shape;
    std::vector<int> grid;
    const char* radix;
    std::array<int, 9> messages;  ///< on so many ranks; 0: not there
  };
  for (const Case& expected :
       {Case{{4096}, {}, "4", {0, 0, 0, 0, 3, 0, 0, 0, 3 + 1}}, Case{{4096}, {}, "8", {0, 0, 0, 0, 0, 0, 0, 0, 7}},
        Case{{64, 64}, {}, "2", {0, 0, 1, 0, 2, 0, 0, 0, 3}},
        Case{{64, 64}, {1, ranks}, "4", {0, 0, 0, 0, 3, 0, 0, 0, 3 + 1}},
        Case{{64, 64}, {ranks, 1}, "2", {0, 0, 1, 0, 2, 0, 0, 0, 3}}})
    for (const char* local : {"library", "radix-2"})
      for (const auto direction : {Direction::forward, Direction::backward}) {
        Problem problem = test::problem_of(expected.shape, {{"radix", expected.radix}, {"local", local}});
        problem.grid = expected.grid;
        problem.direction = direction;
        const int messages = expected.messages[static_cast<std::size_t>(ranks)];
        ASSERT_EQ(variant.supports(problem, ranks).has_value(), messages == 0);
        if (messages == 0) continue;
        const auto plan = variant.make_plan(
            {problem, MPI_COMM_WORLD, nullptr, LocalFftRegistry::instance().get("fftw", "local FFT")});
        PhaseClock clock(false);
        const SentMessages sent = count_messages([&] { plan->execute(clock); });
        EXPECT_EQ(sent.messages, messages) << "radix " << expected.radix;
        EXPECT_EQ(sent.bytes, 4096 / ranks * 16 * messages);
        EXPECT_EQ(plan->message_volume().messages_sent, sent.messages);
        EXPECT_EQ(plan->message_volume().bytes_sent, sent.bytes);
      }
}

}  // namespace
}  // namespace fourscore
