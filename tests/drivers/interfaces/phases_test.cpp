// The phases that a run passes through are those that its plan promises in its components, by name and in order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/exchange_fixture.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::IsSubsetOf;

/// One letter a phase, so that a run is a word.
char letter(Phase phase) {
  switch (phase) {
    case Phase::fft:
      return 'f';
    case Phase::pack:
      return 'p';
    case Phase::exchange:
      return 'x';
    case Phase::unpack:
      return 'u';
    case Phase::twiddle:
      return 't';
    case Phase::combine:
      return 'c';
    case Phase::h2d:
      return 'h';
    case Phase::d2h:
      return 'd';
    case Phase::product:
      return 'm';
    case Phase::work:
      return 'w';
    case Phase::other:
      return 'o';
  }
  return '?';
}

/// Writes down each phase that begins; `other` is what lies between Regions.
class Recorder : public PhaseObserver {
 public:
  void switched_to(Phase phase) noexcept override {
    if (phase != Phase::other) word_ += letter(phase);
  }
  [[nodiscard]] const std::string& word() const { return word_; }

 private:
  std::string word_;
};

template <class Work>
std::string phases_of(const Work& work) {
  Recorder recorder;
  PhaseClock clock(recorder);
  clock.start();
  work(clock);
  clock.stop();
  return recorder.word();
}

bool is_local(char c) { return c != letter(Phase::exchange); }

/// Without repetitions of one phase, and of two where these are work on this rank's own data: the two take turns there,
/// block by block, while a block lies in the caches.
std::string in_short(const std::string& word) {
  std::string kept;
  for (const char c : word) {
    if (!kept.empty() && kept.back() == c) continue;
    kept.push_back(c);
    if (const std::size_t n = kept.size(); n >= 4 && is_local(kept[n - 1]) && is_local(kept[n - 2]) &&
                                           kept[n - 1] == kept[n - 3] && kept[n - 2] == kept[n - 4])
      kept.resize(n - 2);
  }
  return kept;
}

TEST(PhasesOfAWord, AreTakenTogetherOnlyWhereTheyAreOneStep) {
  EXPECT_EQ(in_short("ffpxxuuf"), "fpxuf");
  EXPECT_EQ(in_short("ftftftxctct"), "ftxct");
  EXPECT_EQ(in_short("ftfufufu"), "ftfu");
  EXPECT_EQ(in_short("xcxct"), "xcxct");
  EXPECT_EQ(in_short("pxupxu"), "pxupxu");
  EXPECT_EQ(in_short(""), "");
}

/// An exchange whose parts write down in which phase they run.
class FourParts : public Exchange {
 public:
  explicit FourParts(bool packs) { declared().packs = declared().unpacks = packs; }
  void pack() override { note("pack"); }
  void start() override { note("start"); }
  void finish() override { note("finish"); }
  void unpack() override { note("unpack"); }

  [[nodiscard]] std::vector<std::string> parts_in_phases(bool in_halves) {
    parts_.clear();
    clock_.start();
    if (in_halves) {
      begin(clock_);
      end(clock_);
    } else {
      run(clock_);
    }
    clock_.stop();
    return parts_;
  }

 private:
  void note(const std::string& part) {
    parts_.push_back(part + " in " + std::string(phase_names[static_cast<std::size_t>(clock_.place().phase)]));
  }
  PhaseClock clock_;
  std::vector<std::string> parts_;
};

TEST(PartsOfAnExchange, RunEachInItsPhase) {
  for (const bool in_halves : {false, true}) {
    EXPECT_THAT(FourParts(true).parts_in_phases(in_halves),
                ElementsAre("pack in pack", "start in exchange", "finish in exchange", "unpack in unpack"));
    EXPECT_THAT(FourParts(false).parts_in_phases(in_halves), ElementsAre("start in exchange", "finish in exchange"));
  }
}

class PhasesOfExchange : public ::testing::TestWithParam<std::string> {};

TEST_P(PhasesOfExchange, ArePackingExchangeAndUnpackingWhereItCopies) {
  const ExchangeMethod& method = *ExchangeRegistry::instance().find(GetParam());
  if (!method.unavailable().empty()) GTEST_SKIP() << method.unavailable();
  Problem problem;
  const std::vector<std::string> parameters = names_of(method.parameters());
  if (std::ranges::find(parameters, "pieces") != parameters.end()) problem.parameters.emplace("pieces", "1");
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const auto buffers = test::allocate(method);
  for (const test::Movement& movement : test::movements()) {
    const auto exchange = method.make(
        {movement.from, movement.to, movement.comm, 16, *buffers.source, *buffers.spare, MPI_COMM_WORLD, &problem});
    const std::string word = in_short(phases_of([&](PhaseClock& clock) { exchange->run(clock); }));
    std::string promised = exchange->facts().bytes_packed > 0 ? "px" : "x";
    if (exchange->facts().bytes_unpacked > 0) promised += "u";
    const MessageVolume traffic = exchange->message_volume();
    if (word.empty()) {
      EXPECT_EQ(promised, "x") << movement.name << " on rank " << me;
      EXPECT_EQ(traffic.bytes_sent + traffic.bytes_read_shared, 0) << movement.name << " on rank " << me;
    } else {
      EXPECT_EQ(word, promised) << movement.name << " on rank " << me;
    }
    EXPECT_EQ(exchange->facts().packs, exchange->facts().bytes_packed > 0) << movement.name << " on rank " << me;
    EXPECT_EQ(exchange->facts().unpacks, exchange->facts().bytes_unpacked > 0) << movement.name << " on rank " << me;
  }
}

TEST(ExchangesWithoutPacking, HaveNoPhasePackWherePacketsDatatypesOrNeighboursReadTheSource) {
  for (const char* name : {"active", "alltoallw", "shared"}) {
    const ExchangeMethod& method = ExchangeRegistry::instance().get(name, "exchange");
    const auto buffers = test::allocate(method);
    for (const test::Movement& movement : test::movements()) {
      const auto exchange =
          method.make({movement.from, movement.to, movement.comm, 16, *buffers.source, *buffers.spare, MPI_COMM_WORLD});
      const std::string word = in_short(phases_of([&](PhaseClock& clock) { exchange->run(clock); }));
      // What stays on the rank is put in its place by a copy.
      EXPECT_THAT(word, AnyOf("x", "xu")) << name << ", " << movement.name;
      EXPECT_TRUE(word == "x" || exchange->message_volume().bytes_self > 0) << name << ", " << movement.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, PhasesOfExchange, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

/// Some components have nothing to do on this rank, as a rank whose factors are all one. Those are no phase of its run,
/// but for exchanges, which may still have to call MPI.
std::string word_of(const std::vector<Component>& components, bool with_idle_exchanges) {
  std::string word;
  for (const Component& component : components)
    if (component.min_bytes != 0 || (component.phase == Phase::exchange && with_idle_exchanges))
      word += letter(component.phase);
  return word;
}

/// Each phase once, in the order in which they begin.
std::string beginnings(const std::string& word) {
  std::string order;
  for (const char c : word)
    if (order.find(c) == std::string::npos) order += c;
  return order;
}

/// Each phase once, in the order in which they end, the last first. The last piece may have nothing for this rank, so
/// that nothing follows its exchange.
std::string endings_but_of_exchange(std::string word) {
  std::erase(word, letter(Phase::exchange));
  return beginnings(std::string(word.rbegin(), word.rend()));
}

std::set<char> letters(const std::string& word) { return {word.begin(), word.end()}; }

/// What a plan promises of the order of its phases.
enum class Order {
  exact,        ///< that of its components, one after another
  overlapping,  ///< the pieces of one component run while those of others do; phases begin and end as components do
  by_messages   ///< a part runs when its data is there
};

Order order_of(const std::string& variant) {
  return variant == "overdecomposed" || variant == "node" ? Order::by_messages : Order::exact;
}

/// An observer is told what the host's thread does, which waits while a device copies: only the clock knows of that.
std::vector<Component> without_copies(std::vector<Component> components) {
  std::erase_if(components, [](const Component& one) { return one.phase == Phase::h2d || one.phase == Phase::d2h; });
  return components;
}

void expect_as_promised(std::string run, const std::vector<Component>& all_components, Order order) {
  for (const Phase copies : {Phase::h2d, Phase::d2h}) std::erase(run, letter(copies));
  const std::vector<Component> components = without_copies(all_components);
  const std::string busy = word_of(components, false);
  const std::string all = word_of(components, true);
  if (order == Order::exact) {
    EXPECT_THAT(in_short(run), AnyOf(in_short(all), in_short(busy)));
  } else if (order == Order::overlapping) {
    EXPECT_THAT(beginnings(run), AnyOf(beginnings(all), beginnings(busy)));
    EXPECT_EQ(endings_but_of_exchange(run), endings_but_of_exchange(busy));
  } else {
    std::string listed;
    for (const Component& component : components) listed += letter(component.phase);
    EXPECT_THAT(letters(busy), IsSubsetOf(letters(run)));
    EXPECT_THAT(letters(run), IsSubsetOf(letters(listed)));
    const bool packs_first = listed.front() == 'f' && run.find('p') < run.find('f');
    EXPECT_FALSE(packs_first) << "packed before any transform: " << run;
  }
}

class PhasesOfPlan : public ::testing::TestWithParam<std::string> {
 protected:
  /// One execute(), and one in parts.
  static void check(const Variant& variant, const Problem& problem, const ExchangeMethod* exchange, Order order) {
    SCOPED_TRACE(test::text_of(problem, exchange) + " on rank " + std::to_string(mpi::rank_in(MPI_COMM_WORLD)));
    const auto plan = test::make_plan(variant, problem, exchange);
    const std::vector<std::string> local_ffts = plan->facts().local_ffts;
    const auto gathers = [](const std::string& text) { return text.find("gathered from") != std::string::npos; };
    // A transform that gathers what is exchanged does so tile by tile.
    if (order == Order::exact && std::ranges::any_of(local_ffts, gathers)) order = Order::overlapping;
    const std::vector<Component> components = plan->components();
    const std::string run = phases_of([&](PhaseClock& clock) { plan->execute(clock); });
    expect_as_promised(run, components, order);
    const std::string in_parts = phases_of([&](PhaseClock& clock) {
      plan->begin(clock);
      while (plan->advance(clock) != Advance::complete) continue;
    });
    expect_as_promised(in_parts, components, order);
  }

  static bool has_pieces(const std::vector<std::string>& parameters) {
    return std::ranges::find(parameters, "pieces") != parameters.end();
  }
};

TEST_P(PhasesOfPlan, AreThoseOfItsComponents) {
  const Variant& variant = *VariantRegistry::instance().find(GetParam());
  if (!variant.unavailable().empty()) GTEST_SKIP() << variant.unavailable();
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  int cases = 0;
  test::Turns turns;
  for (const auto& shape : {std::vector<Index>{8, 8, 8}, std::vector<Index>{6, 9, 10}})
    for (const Kind kind : variant.facts().kinds)
      for (Problem problem : test::contracts(test::shape_for(variant, shape))) {
        if (problem.precision != Precision::double_precision) continue;
        problem.kind = kind;
        for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant, problem)) {
          problem.parameters.clear();
          if (variant.supports(problem, ranks) || !turns.is_next()) continue;
          ++cases;
          const bool pieces = has_pieces(names_of(variant.facts().parameters)) ||
                              (exchange != nullptr && has_pieces(names_of(exchange->parameters())));
          const Order order = order_of(GetParam());
          if (pieces) {
            check(variant, problem, exchange, order == Order::exact ? Order::overlapping : order);
            problem.parameters.emplace("pieces", "1");
          }
          check(variant, problem, exchange, order);
        }
      }
  if (cases == 0) GTEST_SKIP() << "no shape that it takes";
}

/// Each value that the variant offers for one of its parameters, with the first exchange that it takes.
TEST_P(PhasesOfPlan, AreThoseOfItsComponentsWithEachParameterToo) {
  const Variant& variant = *VariantRegistry::instance().find(GetParam());
  if (!variant.unavailable().empty()) GTEST_SKIP() << variant.unavailable();
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const ExchangeMethod* exchange = test::exchanges_of(variant).front();
  int cases = 0;
  test::Turns turns;
  for (const Parameter& parameter : variant.facts().parameters)
    for (const std::string& value : tried_values(parameter))
      for (Problem problem : test::contracts(test::shape_for(variant, {8, 8, 8}))) {
        if (problem.precision != Precision::double_precision || problem.contract.buffers != Buffers::in_place) continue;
        problem.parameters.emplace(parameter.name, value);
        try {
          if (variant.supports(problem, ranks)) continue;
        } catch (const InputError&) {
          continue;  // this value does not fit the shape
        }
        if ((exchange != nullptr && variant.refuses(*exchange, problem)) || !turns.is_next()) continue;
        ++cases;
        const Order order = order_of(GetParam());
        check(variant, problem, exchange,
              parameter.name == "pieces" && order == Order::exact ? Order::overlapping : order);
      }
  if (cases == 0) GTEST_SKIP() << "no shape that it takes, or no parameters of its own";
}

INSTANTIATE_TEST_SUITE_P(Registered, PhasesOfPlan, ::testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

}  // namespace
}  // namespace fourscore
