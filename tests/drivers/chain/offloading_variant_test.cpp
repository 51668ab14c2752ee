// Variants on the processors that offload their transforms: right with every kind of host memory and launch, and what
// they queue on the device is what they declare. FOURSCORE_TEST_DEVICE=cuda runs the same on a GPU.

#include "chain/offloading_variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/on_device.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;
using Parameters = std::map<std::string, std::string>;

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

struct Case {
  std::string variant;
  Parameters parameters;
  int threads = 1;
  std::size_t number = 0;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.variant; }

std::vector<Case> numbered(std::vector<Case> list) {
  for (std::size_t i = 0; i < list.size(); ++i) list[i].number = i;
  return list;
}

/// Each launch, way to deal pencils and kind of host memory; a decomposition that divides nothing.
std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* launch : {"pencil", "rank"})
    for (const Parameters& more : std::vector<Parameters>{{},
                                                          {{"dealing", "blocks"}},
                                                          {{"dealing", "round-robin"}, {"local-messages", "yes"}},
                                                          {{"x-state", "slabs"}, {"host-memory", "pageable"}},
                                                          {{"host-memory", "managed"}}}) {
      Parameters parameters = more;
      parameters["offload"] = launch;
      parameters["decomposition"] = "5x4";
      list.push_back({"overdecomposed", parameters});
    }
  if (!variant("node").unavailable().empty()) return numbered(list);
  for (const char* memory : {"pinned", "pageable", "managed"})
    list.push_back({"node", {{"offload", "pencil"}, {"host-memory", memory}}, memory[1] == 'i' ? 1 : 3});
  return numbered(list);
}

class Offloads : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] Problem of(Problem problem) const {
    problem.parameters = test::on_device(GetParam().parameters);
    problem.threads = GetParam().threads;
    return problem;
  }
  /// A quarter of the contracts, another one for the next case, where FOURSCORE_TEST_ONE_IN asks for fewer.
  [[nodiscard]] static std::vector<Problem> contracts(const std::vector<Index>& shape) {
    std::vector<Problem> list = test::contracts(shape);
    if (test::one_in() > 1)
      std::erase_if(list, [](const Problem& one) { return test::quarter_of(one) != GetParam().number % 4; });
    return list;
  }
  const Variant& variant_ = variant(GetParam().variant);
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(Offloads, AreTheTransformByItsDefinition) {
  for (const Problem& contract : contracts({15, 14, 13})) {
    const Problem problem = of(contract);
    ASSERT_EQ(variant_.supports(problem, ranks_).value_or(""), "");
    SCOPED_TRACE(test::text_of(problem, nullptr));
    const auto plan = test::make_plan(variant_, problem, nullptr);
    PhaseClock clock;
    clock.start();
    for (int run = 0; run < 2; ++run) {
      test::run_on_random_field(*plan, problem, clock);
      EXPECT_LT(test::error_of_result(*plan, problem), 20);
    }
    clock.stop();
    if (plan->facts().device_work.ffts == 0) continue;  // a rank that holds no pencils
    for (const Phase phase : {Phase::h2d, Phase::fft, Phase::d2h}) EXPECT_GT(clock.seconds(phase), 0);
  }
}

TEST_P(Offloads, TransformRealDataWhereTheVariantDoes) {
  if (GetParam().variant != "node") {
    EXPECT_EQ(std::ranges::count(variant_.facts().kinds, Kind::r2c), 0) << "then this test is for it too";
    return;
  }
  for (const Problem& contract : contracts({9, 10, 7})) {
    Problem problem = of(contract);
    problem.kind = Kind::r2c;
    SCOPED_TRACE(test::text_of(problem, nullptr));
    const auto plan = test::make_plan(variant_, problem, nullptr);
    EXPECT_LT(test::error_of_real_run(*plan, problem), 20);
  }
}

/// The states that are transformed: `node` on one row or column of ranks has two or one, of several axes.
std::size_t transformed_states(Plan& plan) {
  const auto components = plan.components();
  return static_cast<std::size_t>(
      std::ranges::count_if(components, [](const Component& one) { return one.phase == Phase::fft; }));
}

/// lee2018, Table 4.1: each state there and back once, whoever has how much of it.
TEST_P(Offloads, CopyEachStateThereAndBackOnce) {
  const Problem problem = of(test::problem_of({15, 14, 13}));
  const auto plan = test::make_plan(variant_, problem, nullptr);
  const DeviceWork mine = plan->facts().device_work;
  DeviceWork all;
  MPI_Allreduce(&mine.bytes_in, &all.bytes_in, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&mine.bytes_out, &all.bytes_out, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const auto states = static_cast<Index>(transformed_states(*plan));
  if (GetParam().variant != "node") {
    EXPECT_EQ(states, 3);
  }
  EXPECT_EQ(all.bytes_in, states * 15 * 14 * 13 * 16);
  EXPECT_EQ(all.bytes_out, all.bytes_in);
  if (GetParam().variant == "node" || GetParam().parameters.at("offload") == "rank") {
    EXPECT_LE(mine.copies_in, states);
    EXPECT_EQ(mine.copies_out, mine.copies_in);
    if (!GetParam().parameters.contains("dealing") && GetParam().variant != "node") {
      EXPECT_EQ(mine.ffts, 3);
    }
  }
}

TEST_P(Offloads, RunCopiesAndTransformsAlone) {
  const Problem problem = of(test::problem_of({15, 14, 13}));
  const auto plan = test::make_plan(variant_, problem, nullptr);
  Index h2d = 0;
  Index d2h = 0;
  std::set<std::string> names;
  for (const Component& component : plan->components()) {
    names.insert(component.name);
    if (component.phase == Phase::h2d) h2d += component.min_bytes.value();
    if (component.phase == Phase::d2h) d2h += component.min_bytes.value();
    component.run();
  }
  for (std::size_t number = 1; number <= transformed_states(*plan); ++number)
    for (const char* part : {"h2d-", "fft-", "d2h-"})
      EXPECT_TRUE(names.contains(part + std::to_string(number))) << part << number;
  EXPECT_EQ(h2d, plan->facts().device_work.bytes_in);
  EXPECT_EQ(d2h, plan->facts().device_work.bytes_out);
}

/// The stand-in fails at the operation after the last that is declared, and not before.
TEST_P(Offloads, QueueWhatTheyDeclare) {
  const bool alone = ranks_ == 1 && std::getenv("FOURSCORE_TEST_DEVICE") == nullptr;
  if (!alone) GTEST_SKIP() << "for one rank and the stand-in";
  const Problem problem = of(test::problem_of({15, 14, 13}));
  const DeviceWork work = test::make_plan(variant_, problem, nullptr)->facts().device_work;
  const Index operations = work.copies_in + work.ffts + work.copies_out;
  ASSERT_GT(operations, 0);
  setenv("FOURSCORE_STAND_IN", ("fail-at=" + std::to_string(operations + 1)).c_str(), 1);
  const auto plan = test::make_plan(variant_, problem, nullptr);
  unsetenv("FOURSCORE_STAND_IN");
  PhaseClock clock(false);
  EXPECT_NO_THROW(plan->execute(clock));
  EXPECT_THROW(plan->execute(clock), std::runtime_error);
}

/// Within 2 % of the host's clock, at least in the quietest of several runs.
TEST_P(Offloads, HavePhasesThatAddUpToTheHostsClock) {
  if (GetParam().number % static_cast<std::size_t>(test::one_in()) != 0) return;
  const Problem problem = of(test::problem_of({60, 50, 40}));
  const auto plan = test::make_plan(variant_, problem, nullptr);
  PhaseClock warm_up(false);
  test::run_on_random_field(*plan, problem, warm_up);
  EXPECT_LT(test::smallest_gap(*plan), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Cases, Offloads, testing::ValuesIn(cases()), [](const auto& instance) {
  std::string name = instance.param.variant;
  for (const auto& [key, value] : instance.param.parameters) name += "_" + value;
  return test::as_test_name(name);
});

/// What is in the way, with the stand-in lacking something.
std::string obstacle(const char* faults, const std::string& name, Parameters parameters, int plans = 1) {
  setenv("FOURSCORE_STAND_IN", faults, 1);
  Problem problem = test::problem_of({16, 16, 16});
  parameters["device"] = "host";
  problem.parameters = std::move(parameters);
  const DeviceUse* const use = variant(name).device_use(problem);
  const auto reason = use == nullptr ? std::nullopt : use->obstacle(problem, MPI_COMM_WORLD, plans);
  unsetenv("FOURSCORE_STAND_IN");
  return reason.value_or("");
}

TEST(OffloadLimits, AreReportedBeforeAnythingIsAllocated) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  for (const char* name : {"overdecomposed", "node"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(obstacle("devices=0", name, {}), "") << "nothing is offloaded";
    EXPECT_THAT(obstacle("devices=0", name, {{"offload", "pencil"}}), HasSubstr("no device 'host'"));
    EXPECT_THAT(obstacle("managed=no", name, {{"offload", "pencil"}, {"host-memory", "managed"}}),
                HasSubstr("no managed memory"));
    EXPECT_THAT(obstacle("memory=1000", name, {{"offload", "pencil"}}), HasSubstr("not enough memory"));
    if (ranks > 1) {
      EXPECT_THAT(obstacle("devices=1", name, {{"offload", "pencil"}}), HasSubstr("share-device=yes"));
    }
    EXPECT_EQ(obstacle("devices=1", name, {{"offload", "pencil"}, {"share-device", "yes"}}), "");
  }
  if (ranks > 1) return;
  // All pencils of a rank take more than one of them: 16^3 elements of 16 bytes are 65,536 bytes.
  const Parameters rank{{"offload", "rank"}, {"dealing", "blocks"}, {"decomposition", "4x4"}};
  Parameters pencil = rank;
  pencil["offload"] = "pencil";
  EXPECT_EQ(obstacle("memory=65536", "overdecomposed", rank), "");
  EXPECT_THAT(obstacle("memory=65535", "overdecomposed", rank), HasSubstr("65536 bytes"));
  EXPECT_THAT(obstacle("memory=65536", "overdecomposed", rank, 2), HasSubstr("131072 bytes"));
  EXPECT_EQ(obstacle("memory=4096", "overdecomposed", pencil), "");
  EXPECT_THAT(obstacle("memory=4095", "overdecomposed", pencil), HasSubstr("4096 bytes"));
}

/// What is said to be enough is enough.
TEST(OffloadLimits, AreWhatAPlanTakes) {
  if (mpi::size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "for one rank";
  for (const char* name : {"overdecomposed", "node"})
    for (const char* launch : {"pencil", "rank"}) {
      if (std::string(name) == "node" && (std::string(launch) == "rank" || !variant(name).unavailable().empty()))
        continue;
      Index enough = 0;
      for (Index bytes = 65536; bytes >= 64; bytes /= 2)
        if (obstacle(("memory=" + std::to_string(bytes)).c_str(), name, {{"offload", launch}}).empty()) enough = bytes;
      ASSERT_GT(enough, 0);
      setenv("FOURSCORE_STAND_IN", ("memory=" + std::to_string(enough)).c_str(), 1);
      Problem problem = test::problem_of({16, 16, 16});
      problem.parameters = {{"device", "host"}, {"offload", launch}};
      EXPECT_NO_THROW((void)test::make_plan(variant(name), problem, nullptr)) << name << " " << launch;
      unsetenv("FOURSCORE_STAND_IN");
    }
}

TEST(OffloadParameters, OfADeviceAreReadWithOffloadAlone) {
  for (const char* name : {"overdecomposed", "node"})
    for (const char* parameter : {"host-memory", "device", "share-device"}) {
      Problem problem = test::problem_of({16, 16, 16});
      problem.parameters[parameter] = std::string(parameter) == "host-memory"    ? "pinned"
                                      : std::string(parameter) == "share-device" ? "yes"
                                                                                 : "host";
      EXPECT_THAT(variant(name).supports(problem, 1).value_or(""),
                  testing::AllOf(HasSubstr(parameter), HasSubstr("offload=pencil")));
      problem.parameters["offload"] = "pencil";
      EXPECT_EQ(variant(name).supports(problem, 1).value_or(""), "");
    }
}

TEST(OffloadParameters, ThatCannotBeAreNamed) {
  const auto asked = [](const char* name, const char* launch) {
    Problem problem = test::problem_of({16, 16, 16});
    problem.parameters["offload"] = launch;
    return test::message_of([&] { return variant(name).supports(problem, 1); });
  };
  EXPECT_THAT(asked("overdecomposed", "grain"), testing::AllOf(HasSubstr("offload"), HasSubstr("rank")));
  EXPECT_THAT(asked("node", "rank"), testing::AllOf(HasSubstr("offload"), HasSubstr("pencil")));
  EXPECT_EQ(asked("overdecomposed", "rank"), "no error");
}

}  // namespace
}  // namespace fourscore
