// Plans whose messages the device's own library sends (messages=nccl). On the stand-in, where MPI sends them, and on
// the device that FOURSCORE_TEST_DEVICE names.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "chain/device_plan.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/on_device.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::on_device;
using testing::HasSubstr;

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }
const ExchangeMethod& exchange(const std::string& name) { return ExchangeRegistry::instance().get(name, "exchange"); }

Problem sent_by_library(Problem problem) {
  problem.parameters = on_device({{"staging", "resident"}, {"messages", "nccl"}});
  return problem;
}

class LibraryMessages : public testing::Test {
 protected:
  void SetUp() override {
    const Problem problem = sent_by_library(test::problem_of({8, 8, 8}));
    if (const auto reason = variant("slab-gpu").supports(problem, ranks_)) GTEST_SKIP() << *reason;
    if (const auto reason = variant("slab-gpu").device_use(problem)->obstacle(problem, MPI_COMM_WORLD, 1))
      GTEST_SKIP() << *reason;
  }
  /// For each contract of shapes that divide and that do not.
  void for_each_plan(Kind kind, const std::function<void(Plan&, const Problem&)>& check) {
    int plans = 0;
    for (const char* name : {"slab-gpu", "pencil-gpu"})
      for (const std::vector<Index>& shape : {std::vector<Index>{15, 14, 13}, {8, 12, 8}})
        for (const Problem& contract : test::contracts(shape)) {
          Problem problem = sent_by_library(contract);
          problem.kind = kind;
          if (variant(name).supports(problem, ranks_)) continue;
          SCOPED_TRACE(std::string(name) + " " + test::text_of(problem, &exchange("p2p")));
          check(*test::make_plan(variant(name), problem, &exchange("p2p")), problem);
          ++plans;
        }
    EXPECT_GE(plans, 32);
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

TEST_F(LibraryMessages, GiveTheTransformByItsDefinition) {
  for_each_plan(Kind::c2c, [&](Plan& plan, const Problem& problem) {
    PhaseClock clock;
    for (int run = 0; run < 2; ++run) {
      test::run_on_random_field(plan, problem, clock);
      EXPECT_LT(test::error_of_result(plan, problem), 20) << run;
    }
  });
}

TEST_F(LibraryMessages, GiveTransformsOfRealData) {
  for_each_plan(Kind::r2c,
                [&](Plan& plan, const Problem& problem) { EXPECT_LT(test::error_of_real_run(plan, problem), 20); });
}

TEST_F(LibraryMessages, GoInTwoHalvesToo) {
  for_each_plan(Kind::c2c, [&](Plan& plan, const Problem& problem) {
    PhaseClock clock;
    test::write(test::random_field(problem.extents()), plan.input_layout(), me_, problem.precision, plan.input());
    plan.begin(clock);
    while (plan.advance(clock) != Advance::complete) continue;
    EXPECT_LT(test::error_of_result(plan, problem), 20);
  });
}

TEST_F(LibraryMessages, LeaveTheHostOut) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank sends no message";
  const auto plan =
      test::make_plan(variant("slab-gpu"), sent_by_library(test::problem_of({60, 50, 40})), &exchange("p2p"));
  const PlanFacts& facts = plan->facts();
  EXPECT_EQ(facts.device_work.copies_in + facts.device_work.copies_out, 0);
  EXPECT_GT(facts.message_volume.bytes_sent, 0);
  EXPECT_FALSE(facts.message_volume_is_exact) << "nobody counts them";
  std::set<std::string> components;
  for (Component& component : plan->components()) {
    component.run();
    components.insert(component.name);
  }
  EXPECT_THAT(components, testing::IsSupersetOf({"pack-1", "exchange-1"}));
  EXPECT_FALSE(components.contains("d2h-exchange-1"));
  EXPECT_LT(test::smallest_gap(*plan), 0.02);
}

/// On the pretended CUDA: call n of the last rank fails while all join.
TEST_F(LibraryMessages, FailOnAllRanksWhereOneCannotJoin) {
  const auto fail_at = reinterpret_cast<void (*)(long, bool)>(dlsym(RTLD_DEFAULT, "pretended_cuda_fail_at"));
  if (fail_at == nullptr) GTEST_SKIP() << "for a device that fails when it is asked to";
  const DeviceBackend& backend = *device_request(sent_by_library({})).backend;
  const auto device = backend.make_device(choose_device(backend, MPI_COMM_WORLD).number,
                                          LocalFftRegistry::instance().get(backend.local_fft(), "library"));
  const bool is_root = ranks_ == 1;  // which makes the identifier too
  for (int n = 1; n <= (is_root ? 2 : 1); ++n) {
    if (me_ == ranks_ - 1) fail_at(n, false);
    EXPECT_THAT(test::message_of<std::runtime_error>([&] { return device->make_messages(MPI_COMM_WORLD); }),
                testing::AllOf(HasSubstr("nccl"),
                               testing::AnyOf(HasSubstr("unhandled cuda error"), HasSubstr("remote process"))));
    fail_at(0, false);
  }
  EXPECT_NO_THROW((void)device->make_messages(MPI_COMM_WORLD));
}

TEST(LibraryMessageRequests, AreRefusedWhereTheyWouldChangeNothing) {
  const auto reason = [](const char* name, const char* staging) {
    Problem problem = test::problem_of({8, 8, 8}, {{"device", "host"}, {"staging", staging}, {"messages", "nccl"}});
    if (const auto unsupported = variant("slab-gpu").supports(problem, 2)) return *unsupported;
    return variant("slab-gpu").refuses(exchange(name), problem).value_or("taken");
  };
  EXPECT_EQ(reason("p2p", "resident"), "taken");
  EXPECT_THAT(reason("p2p", "copy"), HasSubstr("messages=nccl takes staging=resident"));
  for (const char* name : {"alltoallv", "shared", "alltoallw", "p2p-pipelined"})
    EXPECT_THAT(reason(name, "resident"), HasSubstr("whose messages go one by one: p2p")) << name;
  EXPECT_THAT(DeviceRegistry::instance().find("opencl")->messages_unavailable(),
              HasSubstr("has no library of messages"));
}

TEST(LibraryMessageRequests, TakeADeviceForEachRank) {
  if (mpi::size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "for several ranks";
  Problem problem = test::problem_of(
      {8, 8, 8}, {{"device", "host"}, {"staging", "resident"}, {"messages", "nccl"}, {"share-device", "yes"}});
  setenv("FOURSCORE_STAND_IN", "devices=1", 1);
  const auto reason = variant("slab-gpu").device_use(problem)->obstacle(problem, MPI_COMM_WORLD, 1);
  unsetenv("FOURSCORE_STAND_IN");
  EXPECT_THAT(reason.value_or(""), HasSubstr("ranks use the same device"));
}

}  // namespace
}  // namespace fourscore
