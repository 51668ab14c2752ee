// What a point asks of a device: what cannot be, what does not go together, and what is in the way on these ranks.

#include "chain/device_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/problem_of.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

TEST(DeviceRequests, NameWhatCannotBe) {
  const auto asked = [](std::map<std::string, std::string> parameters) {
    Problem problem = test::problem_of({8, 8, 8}, std::move(parameters));
    return test::message_of([&] { return device_request(problem); });
  };
  EXPECT_EQ(asked({{"staging", "resident"}}), "no error");
  EXPECT_THAT(asked({{"staging", "nowhere"}}), testing::AllOf(HasSubstr("staging"), HasSubstr("streamed")));
  EXPECT_THAT(asked({{"host-memory", "rom"}}), testing::AllOf(HasSubstr("host-memory"), HasSubstr("managed")));
  EXPECT_THAT(asked({{"device", "abacus"}}), testing::AllOf(HasSubstr("device"), HasSubstr("cuda")));
  EXPECT_THAT(asked({{"pieces", "0"}, {"staging", "streamed"}}), HasSubstr("pieces"));
}

TEST(DeviceRequests, OfTwoParametersThatDoNotGoTogetherAreNotSupported) {
  const auto reason = [](std::map<std::string, std::string> parameters) {
    Problem problem = test::problem_of({8, 8, 8}, std::move(parameters));
    problem.parameters["device"] = "host";
    return variant("slab-gpu").supports(problem, 1).value_or("supported");
  };
  EXPECT_THAT(reason({{"messages", "device"}}), HasSubstr("staging=resident"));
  EXPECT_EQ(reason({{"messages", "device"}, {"staging", "resident"}}), "supported");
  EXPECT_THAT(reason({{"pieces", "3"}}), HasSubstr("staging=streamed"));
  EXPECT_EQ(reason({{"pieces", "1"}}), "supported");
}

TEST(DeviceRequests, RefuseExchangesThatDoNotGoWithThem) {
  const auto reason = [](const char* exchange, std::map<std::string, std::string> parameters) {
    Problem problem = test::problem_of({8, 8, 8}, std::move(parameters));
    const ExchangeMethod& method = ExchangeRegistry::instance().get(exchange, "exchange");
    return variant("slab-gpu").refuses(method, problem).value_or("taken");
  };
  EXPECT_THAT(reason("alltoallw", {{"staging", "streamed"}}), HasSubstr("several pieces"));
  EXPECT_EQ(reason("p2p", {{"staging", "streamed"}}), "taken");
  EXPECT_THAT(reason("shared", {{"host-memory", "managed"}}), HasSubstr("host-memory=managed"));
  EXPECT_EQ(reason("shared", {{"host-memory", "pinned"}}), "taken");
}

TEST(LocalLibrariesOnADevice, RefuseThreadsOfTheProcessor) {
  const LocalFftLibrary& cufft = *LocalFftRegistry::instance().find("cufft");
  EXPECT_THAT(cufft.refuses(Kind::c2c, 2).value_or(""), HasSubstr("2 threads"));
  for (const Kind kind : {Kind::c2c, Kind::r2c}) EXPECT_FALSE(cufft.refuses(kind, 1));
}

/// What is in the way of a point, with the stand-in lacking something.
std::string obstacle(const char* faults, std::map<std::string, std::string> parameters) {
  setenv("FOURSCORE_STAND_IN", faults, 1);
  Problem problem = test::problem_of({16, 16, 16}, std::move(parameters));
  problem.parameters["device"] = "host";
  const auto reason = variant("slab-gpu").device_use(problem)->obstacle(problem, MPI_COMM_WORLD, 2);
  unsetenv("FOURSCORE_STAND_IN");
  return reason.value_or("");
}

TEST(DeviceLimits, AreReportedBeforeAnythingIsAllocated) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  EXPECT_EQ(obstacle("", {}), "");
  EXPECT_THAT(obstacle("devices=0", {}), HasSubstr("no device 'host' is on this node"));
  if (ranks > 1) {
    EXPECT_THAT(obstacle("devices=1", {}), testing::AllOf(HasSubstr(std::to_string(ranks) + " ranks"),
                                                          HasSubstr("1 device"), HasSubstr("share-device=yes")));
  }
  EXPECT_EQ(obstacle("devices=1", {{"share-device", "yes"}}), "");
  EXPECT_THAT(obstacle("managed=no", {{"host-memory", "managed"}}), HasSubstr("no managed memory"));
  EXPECT_EQ(obstacle("managed=no", {}), "");
  // Two plans of 16^3 elements of 16 bytes, one array on the device.
  EXPECT_THAT(obstacle("memory=1000,devices=1", {{"share-device", "yes"}}),
              testing::AllOf(HasSubstr("not enough memory"), HasSubstr("2 plans")));
  EXPECT_EQ(obstacle("memory=200000,devices=1", {{"share-device", "yes"}}), "");
  EXPECT_THAT(obstacle("memory=200000,devices=1", {{"share-device", "yes"}, {"host-memory", "managed"}}),
              testing::AllOf(HasSubstr("not enough memory"), HasSubstr("managed memory")));
  EXPECT_EQ(obstacle("memory=500000,devices=1", {{"share-device", "yes"}, {"host-memory", "managed"}}), "");
  EXPECT_THAT(obstacle("memory=200000,devices=1", {{"share-device", "yes"}, {"staging", "resident"}}),
              ranks > 1 ? HasSubstr("not enough memory") : HasSubstr(""));
}

TEST(DeviceLimits, RefuseAnEnvironmentThatSaysNothing) {
  setenv("FOURSCORE_STAND_IN", "colour=red", 1);
  EXPECT_THROW((void)DeviceRegistry::instance().get("host", "device").count(), InputError);
  unsetenv("FOURSCORE_STAND_IN");
}

DeviceChoice choice_with(const char* stand_in) {
  setenv("FOURSCORE_STAND_IN", stand_in, 1);
  const DeviceChoice choice = choose_device(DeviceRegistry::instance().get("host", "device"), MPI_COMM_WORLD);
  unsetenv("FOURSCORE_STAND_IN");
  return choice;
}

TEST(DeviceChoices, GoByTheRankOnTheNode) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const DeviceChoice choice = choice_with("devices=2");
  EXPECT_EQ(choice.number, me % 2);
  EXPECT_EQ(choice.ranks, ranks);
  EXPECT_EQ(choice.sharing, (ranks - me % 2 + 1) / 2);
}

TEST(DeviceChoices, ShareNothingWhereEachProcessSeesDevicesOfItsOwn) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  for (const int devices : {1, 2}) {
    const DeviceChoice choice = choice_with(devices == 1 ? "devices=1,seen=alone" : "devices=2,seen=alone");
    EXPECT_EQ(choice.number, me % devices);
    EXPECT_EQ(choice.sharing, 1);
  }
  EXPECT_EQ(obstacle("devices=1,seen=alone", {}), "");
  EXPECT_EQ(obstacle("devices=1,seen=alone", {{"messages", "nccl"}, {"staging", "resident"}}), "");
  if (mpi::size_of(MPI_COMM_WORLD) > 1) {
    EXPECT_THAT(obstacle("devices=1", {{"messages", "nccl"}, {"staging", "resident"}, {"share-device", "yes"}}),
                HasSubstr("ranks use the same device"));
  }
}

}  // namespace
}  // namespace fourscore
