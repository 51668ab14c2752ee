// Plans whose ranks read the memory of their neighbours' devices (messages=ipc), and memory that neighbours read. On
// the stand-in, and on the device that FOURSCORE_TEST_DEVICE names.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "chain/device_plan.hpp"
#include "mpi/handles.hpp"
#include "support/message_of.hpp"
#include "support/on_device.hpp"
#include "support/pretended_nodes.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::on_device;
using testing::HasSubstr;

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }
const ExchangeMethod& exchange(const std::string& name) { return ExchangeRegistry::instance().get(name, "exchange"); }

Problem reading(std::map<std::string, std::string> more = {}) {
  Problem problem = test::problem_of({15, 14, 13}, on_device({{"staging", "resident"}, {"messages", "ipc"}}));
  for (const auto& [key, value] : more) problem.parameters[key] = value;
  return problem;
}

class NeighbourDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_request(reading()).backend->shares_memory())
      GTEST_SKIP() << "no other process can open this device's memory";
  }
  [[nodiscard]] std::unique_ptr<Device> device() const {
    const DeviceBackend& backend = *device_request(reading()).backend;
    return backend.make_device(choose_device(backend, MPI_COMM_WORLD).number,
                               LocalFftRegistry::instance().get(backend.local_fft(), "library"));
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

TEST_F(NeighbourDevices, AreReadWithoutMessagesOrCopiesToTheHost) {
  if (ranks_ == 1) GTEST_SKIP() << "for several ranks";
  for (const char* name : {"slab-gpu", "pencil-gpu"}) {
    const auto plan = test::make_plan(variant(name), reading(), &exchange("shared"));
    const PlanFacts& facts = plan->facts();
    EXPECT_EQ(facts.message_volume.messages_sent, 0) << name;
    EXPECT_GT(facts.message_volume.bytes_read_shared, 0) << name;
    EXPECT_EQ(facts.device_work.copies_in + facts.device_work.copies_out, 0) << name;
    std::set<std::string> components;
    for (const Component& component : plan->components()) components.insert(component.name);
    EXPECT_TRUE(components.contains("exchange-1")) << name;
    for (const char* none : {"d2h-exchange-1", "pack-1", "unpack-1"}) EXPECT_FALSE(components.contains(none)) << none;
  }
}

/// Each rank is late in turn: it writes what others read, and reads what others write.
TEST_F(NeighbourDevices, WaitForOneAnother) {
  const auto device = this->device();
  const auto mine = device->allocate_among(MPI_COMM_WORLD, 4096);
  const auto queue = device->make_queue();
  const int next = (me_ + 1) % ranks_;
  const auto* const theirs = static_cast<const std::byte*>(mine->peer(next));
  ASSERT_NE(theirs, nullptr);
  const auto copy_of_theirs = device->allocate(4096);
  const auto read = device->make_copies({{theirs, static_cast<std::byte*>(copy_of_theirs->data()), 4096, {}}});
  for (int round = 0; round < 20; ++round) {
    std::vector<int> sent(1024, 1000 * round + me_);
    std::vector<int> received(1024, -1);
    const auto move = [&](std::byte* to, const void* from, CopyWay way) {
      queue->copy({to, static_cast<const std::byte*>(from), 4096, 1, 4096, 4096}, way);
    };
    move(static_cast<std::byte*>(mine->data()), sent.data(), CopyWay::to_device);
    queue->synchronise();
    MPI_Barrier(MPI_COMM_WORLD);
    read->enqueue(*queue);
    move(reinterpret_cast<std::byte*>(received.data()), copy_of_theirs->data(), CopyWay::to_host);
    queue->synchronise();
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(received, std::vector<int>(1024, 1000 * round + next));
  }
}

TEST_F(NeighbourDevices, AreOnTheSameNode) {
  const test::EachRankIsANode nodes;
  const Problem problem = reading();
  const auto reason = variant("slab-gpu").device_use(problem)->obstacle(problem, MPI_COMM_WORLD, 2);
  if (ranks_ == 1)
    EXPECT_EQ(reason, std::nullopt);
  else
    EXPECT_THAT(reason.value_or(""), HasSubstr("messages=ipc opens the memory of ranks on the same node"));
}

/// On the pretended CUDA, where the last rank's call n fails and those of others do not.
TEST_F(NeighbourDevices, FailTogetherAndLeaveNothingBehind) {
  const auto fail_at = reinterpret_cast<void (*)(long, bool)>(dlsym(RTLD_DEFAULT, "pretended_cuda_fail_at"));
  const auto held = reinterpret_cast<std::size_t (*)()>(dlsym(RTLD_DEFAULT, "pretended_cuda_held"));
  if (fail_at == nullptr || held == nullptr) GTEST_SKIP() << "for a device that fails when it is asked to";
  const auto device = this->device();
  const std::size_t before = held();
  const int calls = 2 + ranks_ - 1;
  for (int n = 1; n <= calls; ++n) {
    if (me_ == ranks_ - 1) fail_at(n, false);
    EXPECT_THAT(test::message_of<std::runtime_error>([&] { return device->allocate_among(MPI_COMM_WORLD, 100); }),
                HasSubstr("cudaErrorLaunchFailure"))
        << n;
    fail_at(0, false);
    EXPECT_EQ(held(), before) << n;
  }
  EXPECT_NO_THROW((void)device->allocate_among(MPI_COMM_WORLD, 100));
  EXPECT_EQ(held(), before);
}

TEST(NeighbourDeviceRequests, AreRefusedWhereTheyWouldChangeNothing) {
  const auto reason = [](const char* name, std::map<std::string, std::string> parameters) {
    parameters["device"] = "host";
    Problem problem = test::problem_of({8, 8, 8}, std::move(parameters));
    if (const auto unsupported = variant("slab-gpu").supports(problem, 2)) return *unsupported;
    return variant("slab-gpu").refuses(exchange(name), problem).value_or("taken");
  };
  const std::map<std::string, std::string> ipc{{"staging", "resident"}, {"messages", "ipc"}};
  const std::map<std::string, std::string> device{{"staging", "resident"}, {"messages", "device"}};
  const auto with = [](std::map<std::string, std::string> all, const char* key, const char* value) {
    all[key] = value;
    return all;
  };
  EXPECT_EQ(reason("shared", ipc), "taken");
  EXPECT_EQ(reason("shared", with(ipc, "reads", "separate")), "taken");
  EXPECT_EQ(reason("shared", with(ipc, "host-memory", "managed")), "taken") << "its arrays are ordinary memory";
  EXPECT_THAT(reason("shared", with(ipc, "reads", "fused")), HasSubstr("reads=fused"));
  EXPECT_THAT(reason("shared", with(ipc, "staging", "copy")), HasSubstr("messages=ipc takes staging=resident"));
  EXPECT_THAT(reason("p2p", ipc), HasSubstr("shared"));
  EXPECT_EQ(reason("p2p", device), "taken");
  EXPECT_EQ(reason("alltoallv", device), "taken");
  EXPECT_THAT(reason("alltoallw", device), HasSubstr("does not pack apart from its messages"));
  EXPECT_THAT(reason("shared", device), HasSubstr("does not pack apart from its messages"));
  EXPECT_FALSE(DeviceRegistry::instance().find("opencl")->shares_memory());
}

}  // namespace
}  // namespace fourscore
