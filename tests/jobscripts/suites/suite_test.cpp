#include "jobscripts/suites/suite.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "jobscripts/suites/suite_words.hpp"

namespace fourscore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Two variants, of which `b` has a grid of two entries and the default exchange `y`, and two exchanges.
class TwoVariants : public SuiteWords {
 public:
  std::vector<std::string> names(const std::string& key) override {
    return key == "variant" ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"x", "y"};
  }
  std::string default_exchange(const std::string& variant) override { return variant == "b" ? "y" : "x"; }
  std::vector<GridRoom> grids(const std::vector<Point>& points) override {
    std::vector<GridRoom> rooms;
    for (const auto& point : points) rooms.push_back({point.variant == "b" ? 2U : 1U, point.ranks});
    return rooms;
  }
};

Suite parsed_text(const std::string& text, MachineSize machine = 4) {
  TwoVariants words;
  return parse_suite(text, "s.toml", machine, words);
}

Suite parsed(const std::string& sweep, MachineSize machine = 4, const std::string& head = "") {
  return parsed_text("name = \"s\"\n" + head + "\n[[sweep]]\n" + sweep, machine);
}

/// The message of a suite that is refused; test_suite_errors.py has more of them.
std::string refusal(const std::string& sweep) {
  try {
    (void)parsed(sweep);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// One key of all points.
std::vector<std::string> column(const Suite& suite, const std::string& key) {
  std::vector<std::string> values;
  for (const auto& point : suite.points) values.push_back(point_value(point, key));
  return values;
}

TEST(Suite, ListsAreAProductInWhichTheKeyWrittenFirstIsSlowest) {
  const Suite suite = parsed("variant = [\"b\", \"a\"]\nshape = [\"4\", \"8x2\"]\nranks = 1\n");
  EXPECT_THAT(column(suite, "variant"), ElementsAre("b", "b", "a", "a"));
  EXPECT_THAT(column(suite, "shape"), ElementsAre("4", "8x2", "4", "8x2"));
}

TEST(Suite, ZippedKeysStandWhereTheFirstOfThemIsWritten) {
  const std::string zip = "zip = [[\"ranks\", \"shape\"]]\n";
  const Suite last = parsed("variant = [\"b\", \"a\"]\nshape = [\"4\", \"8\"]\nranks = [1, 2]\n" + zip);
  EXPECT_THAT(column(last, "variant"), ElementsAre("b", "b", "a", "a"));
  EXPECT_THAT(column(last, "ranks"), ElementsAre("1", "2", "1", "2"));
  const Suite around = parsed("shape = [\"4\", \"8\"]\nvariant = [\"b\", \"a\"]\nranks = [1, 2]\n" + zip);
  EXPECT_THAT(column(around, "variant"), ElementsAre("b", "a", "b", "a"));
  EXPECT_THAT(column(around, "shape"), ElementsAre("4", "4", "8", "8"));
}

Suite sized(const std::string& size, const std::string& more = "") {
  TwoVariants words;
  return parse_suite("name = \"s\"\nsizes = [\"here\", \"paper\"]\nlaunches = 2\nmax_oversubscription = 1.0\n" + more +
                         "[size.paper]\nlaunches = 7\nmax_oversubscription = 0.0\n"
                         "[defaults]\nvariant = \"a\"\nshape = \"4\"\n"
                         "[[sweep]]\nranks = 1\n[[sweep]]\nsize = \"paper\"\nranks = 64\n",
                     "s.toml", 4, words, size);
}

TEST(Suite, ASizeHasItsOwnTablesAndKeysAndThoseOfAll) {
  for (const std::string here : {"", "here"}) {
    const Suite suite = sized(here);
    EXPECT_EQ(suite.name, "s");
    EXPECT_EQ(suite.size, "here");
    EXPECT_EQ(suite.launches, 2);
    EXPECT_THAT(column(suite, "ranks"), ElementsAre("1"));
    EXPECT_EQ(suite.dropped_oversubscribed, 0U) << "points of another size are not dropped: they are not there";
  }
  const Suite suite = sized("paper");
  EXPECT_EQ(suite.name, "s-paper");
  EXPECT_EQ(suite.launches, 7);
  EXPECT_EQ(suite.max_oversubscription, 0.0);
  EXPECT_THAT(column(suite, "ranks"), ElementsAre("1", "64"));
  EXPECT_THAT(suite.sizes, ElementsAre("here", "paper"));
}

TEST(Suite, ItemsOfPapersAreKeptAsTheyStand) {
  EXPECT_THAT(sized("", "paper = [\"lee2018/table-2.1\", \"gupta1993/figure-2\"]\n").paper,
              ElementsAre("lee2018/table-2.1", "gupta1993/figure-2"));
  for (const std::string wrong :
       {"lee2018", "/table", "lee2018/", "lee2018/a/b", "../table", "lee2018/..", "a/-b", "A/b"})
    EXPECT_THROW((void)sized("", "paper = \"" + wrong + "\"\n"), InputError) << wrong;
}

TEST(Suite, ZippedKeysAdvanceTogether) {
  const Suite suite =
      parsed("variant = [\"a\", \"b\"]\nshape = [\"4\", \"8\"]\nranks = [1, 2]\nzip = [[\"shape\", \"ranks\"]]\n");
  std::set<std::string> pairs;
  for (const auto& point : suite.points)
    pairs.insert(point_value(point, "shape") + " on " + point_value(point, "ranks"));
  EXPECT_THAT(pairs, ElementsAre("4 on 1", "8 on 2"));
  EXPECT_EQ(suite.points.size(), 4U);
}

TEST(Suite, ExcludeDropsWhatMatchesEveryKeyAndOnlyKeepsWhatMatchesOne) {
  const std::string keys = "variant = [\"a\", \"b\"]\nshape = \"4\"\nranks = [1, 2, 4]\n";
  EXPECT_THAT(column(parsed(keys + "exclude = [{ variant = \"b\", ranks = [2, 4] }]\n"), "ranks"),
              ElementsAre("1", "2", "4", "1"));
  EXPECT_THAT(column(parsed(keys + "only = [{ variant = \"a\", ranks = 1 }, { ranks = 4 }]\n"), "ranks"),
              ElementsAre("1", "4", "4"));
}

TEST(Suite, DefaultsStandWhereASweepSaysNothing) {
  const Suite suite = parsed("variant = \"a\"\nshape = \"4\"\nprecision = [\"single\", \"double\"]\n", 4,
                             "[defaults]\nranks = 2\nprecision = \"double\"\nplanner = \"patient\"\n");
  EXPECT_THAT(column(suite, "precision"), ElementsAre("single", "double"));
  EXPECT_THAT(column(suite, "ranks"), ElementsAre("2", "2"));
  EXPECT_THAT(column(suite, "planner"), ElementsAre("patient", "patient"));
}

TEST(Suite, EqualPointsOfSeveralSweepsAreKeptOnce) {
  const Suite suite = parsed(
      "variant = \"a\"\nshape = [\"4\", \"4\"]\nranks = 1\n[[sweep]]\nvariant = \"a\"\nshape = \"4\"\nranks = 1\n");
  EXPECT_EQ(suite.points.size(), 1U);
}

TEST(Suite, RanksFollowTheMachine) {
  const std::string keys = "variant = \"a\"\nshape = \"4\"\nranks = ";
  EXPECT_THAT(column(parsed(keys + "\"1..cores\"\n", 6), "ranks"), ElementsAre("1", "2", "4", "6"));
  EXPECT_THAT(column(parsed(keys + "\"1..cores\"\n", 8), "ranks"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(column(parsed(keys + "\"1..cores\"\n", 1), "ranks"), ElementsAre("1"));
  EXPECT_THAT(column(parsed(keys + "[1, \"cores\"]\n", 1), "ranks"), ElementsAre("1"));
}

TEST(Suite, ShapesGrowWithTheRanks) {
  const Suite suite = parsed("variant = \"a\"\nshape = \"16*ranks x 8 x 2*ranks\"\nranks = [1, 3]\n");
  EXPECT_THAT(column(suite, "shape"), ElementsAre("16x8x2", "48x8x6"));
}

constexpr const char* placed = "variant = \"a\"\nshape = \"4*nodes x 8\"\n";

TEST(Suite, RanksAloneGoOnTheFewestNodesThatHaveACoreForEachThread) {
  const Suite suite = parsed(std::string(placed) + "ranks = [1, 4, 5, 16, 64]\n", {4, 8});
  EXPECT_THAT(column(suite, "nodes"), ElementsAre("1", "1", "2", "4", "8"));
  EXPECT_THAT(column(suite, "ranks_per_node"), ElementsAre("1", "4", "3", "4", "8"));
  EXPECT_THAT(column(suite, "shape"), ElementsAre("4x8", "4x8", "8x8", "16x8", "32x8"));
  EXPECT_THAT(column(parsed(std::string(placed) + "ranks = 4\nthreads = [1, 4]\n", {4, 8}), "nodes"),
              ElementsAre("1", "4"));
  EXPECT_THAT(column(parsed(std::string(placed) + "ranks = 64\n", 4), "nodes"), ElementsAre("1"));
}

TEST(Suite, TwoOfRanksNodesAndRanksPerNodeDecideTheThird) {
  const Suite grown = parsed(std::string(placed) + "nodes = \"1..nodes\"\nranks_per_node = \"cores\"\n", {4, 6});
  EXPECT_THAT(column(grown, "nodes"), ElementsAre("1", "2", "4", "6"));
  EXPECT_THAT(column(grown, "ranks"), ElementsAre("4", "8", "16", "24"));
  const Suite spread = parsed(std::string(placed) + "ranks = 6\nranks_per_node = [2, 3, 6]\n");
  EXPECT_THAT(column(spread, "nodes"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(refusal(std::string(placed) + "ranks = 6\nranks_per_node = 4\n"),
              HasSubstr("6 ranks on 2 nodes are 3 a node"));
  EXPECT_THAT(refusal(std::string(placed) + "ranks = 6\nnodes = 3\nranks_per_node = 4\n"),
              HasSubstr("6 ranks on 3 nodes are 2 a node, and ranks_per_node is 4"));
  EXPECT_THAT(refusal(std::string(placed) + "ranks = 2\nnodes = 3\n"), HasSubstr("2 ranks cannot be on 3 nodes"));
  EXPECT_THAT(refusal(std::string(placed) + "nodes = 3\n"), HasSubstr("key 'ranks' is missing"));
  EXPECT_THAT(refusal(std::string(placed) + "ranks = 2\nnodes = \"cores\"\n"), HasSubstr("\"1..nodes\""));
  const Suite excluded =
      parsed(std::string(placed) + "ranks = [2, 4]\nnodes = [1, 3]\nexclude = [{ ranks = 2, nodes = 3 }]\n");
  EXPECT_EQ(excluded.points.size(), 3U);
}

TEST(Suite, CyclicIsAPointOfItsOwnOnlyWhereItDiffersFromBlock) {
  const std::string both = "placement_of_ranks = [\"block\", \"cyclic\"]\n";
  EXPECT_THAT(column(parsed(placed + both + "ranks = 4\nnodes = [1, 2, 4]\n"), "placement_of_ranks"),
              ElementsAre("block", "block", "block", "cyclic"));
  EXPECT_THAT(refusal(std::string(placed) + "ranks = 4\nplacement_of_ranks = \"irregular\"\n"),
              HasSubstr("nobody can ask for 'irregular'"));
}

TEST(Suite, OversubscriptionIsThatOfANode) {
  const Suite suite = parsed(std::string(placed) + "ranks = 8\nnodes = [1, 2]\n", {4, 2}, "max_oversubscription = 1.0");
  EXPECT_THAT(column(suite, "nodes"), ElementsAre("2"));
}

/// A machine of a file, with 4 cores a node and 2 nodes.
MachineSize named(bool repacks = false) {
  MachineSize machine(4, 2);
  machine.is_named = true;
  machine.repacks = repacks;
  return machine;
}

TEST(Suite, NodesThatTheMachineOfAFileCannotHaveAreSaidOfThePoint) {
  const std::string pinned = std::string(placed) + "nodes = [1, 2, 4]\nranks_per_node = [1, 8]\n";
  const Suite suite = parsed(pinned, named(), "max_oversubscription = 1.0");
  EXPECT_THAT(column(suite, "nodes"), ElementsAre("1", "1", "2", "2", "4", "4"));
  EXPECT_EQ(suite.dropped_oversubscribed, 0U);
  ASSERT_THAT(suite.unplaced, SizeIs(4));
  EXPECT_THAT(suite.unplaced.at(1), HasSubstr("it needs 8 ranks of 1 thread on each node, which has 4 cores"));
  EXPECT_THAT(suite.unplaced.at(3), HasSubstr("8 ranks of 1 thread"));
  EXPECT_THAT(suite.unplaced.at(4), HasSubstr("it needs 4 nodes, and the machine has 2"));
  EXPECT_THAT(suite.unplaced.at(5), HasSubstr("it needs 4 nodes"));
  EXPECT_THAT(parsed(pinned, named()).unplaced, SizeIs(2)) << "without a limit of threads a core";
  const Suite open = parsed(std::string(placed) + "ranks = [4, 64]\n", named(), "max_oversubscription = 1.0");
  EXPECT_THAT(open.unplaced, IsEmpty()) << "the machine decides on the nodes";
  EXPECT_EQ(open.dropped_oversubscribed, 1U);
}

TEST(Suite, NodesBeyondAMachineThatNoFileSaysAreLeftToTheLauncher) {
  const Suite suite =
      parsed(std::string(placed) + "nodes = 4\nranks_per_node = 8\n", {4, 2}, "max_oversubscription = 1.0");
  EXPECT_THAT(column(suite, "nodes"), ElementsAre("4"));
  EXPECT_THAT(suite.unplaced, IsEmpty());
}

TEST(Suite, RepackingPutsWhatTheMachineCannotHaveOnTheFewestNodes) {
  const std::string pinned = std::string(placed) + "nodes = [1, 2, 4]\nranks_per_node = 1\nthreads = [1, 2]\n";
  const Suite suite = parsed(pinned, named(true), "max_oversubscription = 1.0");
  EXPECT_THAT(column(suite, "ranks"), ElementsAre("1", "1", "2", "2", "4", "4"));
  EXPECT_THAT(column(suite, "nodes"), ElementsAre("1", "1", "2", "2", "1", "2")) << "what fits stays";
  const Suite dense =
      parsed(std::string(placed) + "nodes = 1\nranks_per_node = [8, 16]\n", named(true), "max_oversubscription = 1.0");
  EXPECT_THAT(column(dense, "nodes"), ElementsAre("2", "2"));
  EXPECT_THAT(dense.unplaced, SizeIs(1)) << "16 ranks have no place at all";
  const Suite simulated = parsed(pinned + "platform = \"star\"\n", named(true));
  EXPECT_THAT(column(simulated, "nodes"), ElementsAre("1", "1", "2", "2", "4", "4"));
}

TEST(Suite, ParametersAreKeysOfTheProduct) {
  const Suite suite =
      parsed("variant = \"a\"\nshape = \"4\"\nranks = 1\nparameters = { tile = [8, 16], mode = \"x\" }\n");
  EXPECT_THAT(column(suite, "parameters.tile"), ElementsAre("8", "16"));
  EXPECT_THAT(column(suite, "parameters.mode"), ElementsAre("x", "x"));
}

TEST(Suite, OversubscribedPointsAreDroppedAndCounted) {
  const Suite suite =
      parsed("variant = \"a\"\nshape = \"4\"\nranks = [1, 2, 4]\nthreads = [1, 2]\n", 4, "max_oversubscription = 1.0");
  EXPECT_EQ(suite.points.size(), 5U);
  EXPECT_EQ(suite.dropped_oversubscribed, 1U);
  EXPECT_EQ(parsed("variant = \"a\"\nshape = \"4\"\nranks = 64\n", 1).dropped_oversubscribed, 0U);
}

TEST(Suite, SaysInWhichOrderLaunchesGo) {
  const std::string sweep = "variant = \"a\"\nshape = \"4\"\nranks = 1\n";
  EXPECT_EQ(parsed(sweep, 4, "order = \"listed\"").order, LaunchOrder::listed);
  EXPECT_EQ(parsed(sweep, 4, "order = \"random\"").order, LaunchOrder::random);
  EXPECT_EQ(parsed(sweep).order, LaunchOrder::random);
}

TEST(PointKeys, TextIsEqualExactlyForPointsOfEqualIdentity) {
  const Suite suite = parsed(
      "variant = [\"a\", \"b\"]\nshape = [\"4\", \"4x1\"]\nranks = [1, 2]\nbuffers = [\"in-place\", "
      "\"out-of-place\"]\n");
  std::set<std::string> texts, ids;
  for (const auto& point : suite.points) {
    texts.insert(point_text(point));
    ids.insert(point_id(point));
  }
  EXPECT_EQ(suite.points.size(), 16U);
  EXPECT_EQ(texts.size(), 16U);
  EXPECT_EQ(ids.size(), 16U);
}

TEST(Suite, C2rIsR2cBackwardInListsAndConditions) {
  const std::string sweep = "variant = \"a\"\nshape = \"4\"\nranks = 1\nkind = [\"c2c\", \"r2c\", \"c2r\"]\n";
  const Suite all = parsed(sweep);
  ASSERT_EQ(all.points.size(), 3U);
  EXPECT_EQ(all.points[1].problem.kind, Kind::r2c);
  EXPECT_EQ(all.points[1].problem.direction, Direction::forward);
  EXPECT_EQ(all.points[2].problem.kind, Kind::r2c);
  EXPECT_EQ(all.points[2].problem.direction, Direction::backward);
  const Suite less = parsed(sweep + "exclude = [{ kind = \"c2r\" }]\n");
  ASSERT_EQ(less.points.size(), 2U);
  EXPECT_EQ(less.points[1].problem.direction, Direction::forward);
  EXPECT_EQ(parsed(sweep + "exclude = [{ kind = \"r2c\" }]\n").points.size(), 1U);
}

TEST(Suite, ComponentsAreAProductOfProgramsRanksAndParameters) {
  const Suite suite = parsed_text(
      "name = \"s\"\n[defaults]\nranks = 3\n[[component]]\nprogram = [\"b\", \"a\"]\nranks = [1, \"cores\"]\n"
      "parameters = { x = [\"1,2\", 3] }\nexclude = [{ program = \"a\", parameters = { x = 3 } }]\n");
  EXPECT_THAT(column(suite, "program"), ElementsAre("b", "b", "b", "b", "a", "a"));
  EXPECT_THAT(column(suite, "ranks"), ElementsAre("1", "1", "4", "4", "1", "4"));
  EXPECT_THAT(column(suite, "parameters.x"), ElementsAre("1,2", "3", "1,2", "3", "1,2", "1,2"));
  EXPECT_EQ(point_json(suite.points.front()), (nlohmann::json{{"component", "b"},
                                                              {"ranks", 1},
                                                              {"nodes", 1},
                                                              {"ranks_per_node", 1},
                                                              {"placement_of_ranks", "block"},
                                                              {"parameters", {{"x", "1,2"}}}}));
  EXPECT_EQ(suite.values.size(), 1U + 2U * (1 + 2));  // the default, then each program with its own
  EXPECT_EQ(suite.values[1].line, 5U);
  EXPECT_THAT(point_options(suite.points.front()),
              ElementsAre("--ranks", "1", "--nodes", "1", "--placement-of-ranks", "block", "--parameter", "x=1,2"));
}

TEST(Suite, ComponentsStandAfterSweepsAndEqualOnesAreKeptOnce) {
  const Suite suite = parsed_text(
      "name = \"s\"\nmax_oversubscription = 1.0\n[[component]]\nprogram = \"a\"\nranks = [1, 8]\n[[component]]\n"
      "program = \"a\"\nranks = 1\n[[sweep]]\nvariant = \"v\"\nshape = \"4\"\nranks = 1\n");
  EXPECT_THAT(column(suite, "program"), ElementsAre("", "a"));
  EXPECT_EQ(suite.dropped_oversubscribed, 1U);
}

TEST(Suite, AllStandsForTheNamesOfTheProgram) {
  const Suite suite = parsed("variant = \"all\"\nexchange = [\"none\", \"all\"]\nshape = \"4\"\nranks = 1\n");
  EXPECT_THAT(column(suite, "variant"), ElementsAre("a", "a", "a", "b", "b", "b"));
  EXPECT_THAT(column(suite, "exchange"), ElementsAre("none", "x", "y", "none", "x", "y"));
  EXPECT_EQ(suite.values[1].value, "b");  // a program's refusal finds the line of the word
  EXPECT_EQ(suite.values[1].line, 4U);
}

TEST(Suite, AnExchangeThatIsNotNamedIsTheVariantsOwn) {
  const Suite suite = parsed("variant = \"all\"\nshape = \"4\"\nranks = 1\nexclude = [{ exchange = \"y\" }]\n");
  ASSERT_EQ(suite.points.size(), 1U);
  EXPECT_EQ(suite.points[0].variant, "a");
  EXPECT_EQ(suite.points[0].exchange, "");
  EXPECT_FALSE(point_json(suite.points[0]).contains("exchange"));
  for (const auto& option : point_options(suite.points[0])) EXPECT_NE(option, "--exchange");
}

TEST(Suite, GridsOfWordsAreThoseOfTheRanks) {
  const std::string keys = "variant = \"b\"\nshape = \"4\"\nranks = [4, 6]\ngrid = ";
  EXPECT_THAT(column(parsed(keys + "\"square\"\n"), "grid"), ElementsAre("2x2", "3x2"));
  EXPECT_THAT(column(parsed(keys + "[\"all\", \"square\"]\n"), "grid"),
              ElementsAre("4x1", "2x2", "1x4", "6x1", "3x2", "2x3", "1x6"));
  EXPECT_THAT(column(parsed(keys + "\"all\"\nexclude = [{ grid = [\"2x2\", \"1x6\"] }]\n"), "grid"),
              ElementsAre("4x1", "1x4", "6x1", "3x2", "2x3"));
}

TEST(Suite, AVariantWithOneGridKeepsItsOwn) {
  EXPECT_THAT(
      column(parsed("variant = [\"a\", \"b\"]\nshape = \"4\"\nranks = 2\ngrid = [\"auto\", \"all\"]\n"), "grid"),
      ElementsAre("auto", "auto", "2x1", "1x2"));
}

#ifndef FOURSCORE_SANITIZED  // a million combinations: a second, with sanitizers a minute
TEST(Suite, GridsOfWordsAreBoundedAsListsAre) {
  // 360 ranks have 24 grids: 42,000 shapes make more than 1,000,000 combinations.
  std::string shapes;
  for (int n = 1; n <= 42000; ++n) shapes.append("\"").append(std::to_string(n)).append("\",");
  const std::string keys = "variant = \"b\"\nranks = 360\ngrid = \"all\"\n";
  EXPECT_THAT(refusal(keys + "only = [{ grid = \"1x1\" }]\nshape = [" + shapes + "]\n"), HasSubstr("at most 1000000"));
  EXPECT_THAT(refusal(keys + "shape = [" + shapes + "]\n"), HasSubstr("more than 100000 points"));
}
#endif

TEST(Schedule, EveryRoundHasEveryPointOnceInAFreshOrder) {
  const auto schedule = schedule_launches(20, 5, LaunchOrder::random, 3);
  ASSERT_EQ(schedule.size(), 100U);
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 20; ++i) {
      const auto& entry = schedule[static_cast<std::size_t>(round) * 20 + i];
      EXPECT_EQ(entry.launch, round);
      order.push_back(entry.point);
    }
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 20U);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5U);
}

TEST(Schedule, APointIsNeverLaunchedTwiceInARow) {
  for (std::size_t points = 2; points < 5; ++points)
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
      const auto schedule = schedule_launches(points, 4, LaunchOrder::random, seed);
      for (std::size_t i = 1; i < schedule.size(); ++i) ASSERT_NE(schedule[i].point, schedule[i - 1].point) << seed;
    }
}

TEST(Schedule, TheSameSeedGivesTheSameOrderOnEveryMachine) {
  const auto schedule = schedule_launches(5, 1, LaunchOrder::random, 42);
  std::vector<std::size_t> order;
  for (const auto& entry : schedule) order.push_back(entry.point);
  EXPECT_EQ(schedule, schedule_launches(5, 1, LaunchOrder::random, 42));
  EXPECT_NE(schedule, schedule_launches(5, 1, LaunchOrder::random, 43));
  EXPECT_THAT(order, ElementsAre(2, 3, 4, 0, 1));
}

TEST(Schedule, ListedIsAsWrittenRoundAfterRound) {
  const auto schedule = schedule_launches(2, 2, LaunchOrder::listed, 9);
  EXPECT_THAT(schedule,
              ElementsAre(ScheduledLaunch{0, 0}, ScheduledLaunch{1, 0}, ScheduledLaunch{0, 1}, ScheduledLaunch{1, 1}));
}

}  // namespace
}  // namespace fourscore
