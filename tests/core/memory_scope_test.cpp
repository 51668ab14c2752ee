// Made-up /proc and /sys: which memory this process is said to have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/memory.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string unlimited_1 = "9223372036854771712";

/// A machine with 8000 KiB to be had.
class Memory : public testing::Test {
 protected:
  void SetUp() override { tree_.write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable: 8000 kB"); }
  void mount_2(const std::string& top = "/") {
    tree_.write("proc/self/mountinfo", "24 1 0:5 / /proc rw - proc proc rw\n31 23 0:28 " + top +
                                           " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate");
  }
  void group_2(const std::string& path, const std::string& limit, const std::string& usage,
               const std::string& statistics = "anon 5") {
    const std::string folder = "sys/fs/cgroup" + path;
    tree_.write(folder + "/memory.max", limit);
    tree_.write(folder + "/memory.current", usage);
    tree_.write(folder + "/memory.stat", statistics);
  }
  void mount_1(const std::string& top = "/") {
    tree_.write("proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 " + top +
                                           " /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory");
  }
  void group_1(const std::string& path, const std::string& limit, const std::string& usage,
               const std::string& statistics = "total_rss 5") {
    const std::string folder = "sys/fs/cgroup/memory" + path;
    tree_.write(folder + "/memory.limit_in_bytes", limit);
    tree_.write(folder + "/memory.usage_in_bytes", usage);
    tree_.write(folder + "/memory.stat", statistics);
  }
  [[nodiscard]] std::vector<MemoryScope> scopes() const { return memory_scopes(tree_.root()); }

  RecordedTree tree_;
  const MemoryScope machine_{"the machine", 8000 * 1024.0};
};

TEST_F(Memory, WithoutControlGroupsIsThatOfTheMachine) { EXPECT_THAT(scopes(), ElementsAre(machine_)); }

TEST_F(Memory, OfAMachineThatSaysNothingIsUnknown) {
  tree_.remove("proc/meminfo");
  EXPECT_THAT(scopes(), IsEmpty());
}

TEST_F(Memory, IsThatOfEachGroupFromItsOwnUpToTheRoot) {
  mount_2();
  tree_.write("proc/self/cgroup", "0::/slurm/job_7/step_0");
  group_2("", "max", "1");
  group_2("/slurm", "1000", "400");
  group_2("/slurm/job_7", "max", "300");
  group_2("/slurm/job_7/step_0", "500", "300");
  group_2("/slurm/job_8", "10", "9");  // not ours
  EXPECT_THAT(scopes(),
              ElementsAre(machine_, MemoryScope{"cgroup /slurm/job_7/step_0", 200}, MemoryScope{"cgroup /slurm", 600}));
}

TEST_F(Memory, OfAGroupCountsNoFileCacheAsHeld) {
  mount_2();
  tree_.write("proc/self/cgroup", "0::/job");
  group_2("/job", "1000", "900", "anon 100\ninactive_file 300\nactive_file 250\nslab 3");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /job", 650}));
}

TEST_F(Memory, BeyondAGroupsLimitIsNoneAndNotLess) {
  mount_2();
  tree_.write("proc/self/cgroup", "0::/job");
  group_2("/job", "1000", "1200");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /job", 0}));
}

TEST_F(Memory, OfVersionOneIsFoundBesideOtherControllers) {
  mount_1();
  tree_.write("proc/self/cgroup", "9:name=systemd:/a\n4:cpu,memory:/batch/job\n3:cpuset:/b\n0::/c");
  group_1("", unlimited_1, "70000");
  group_1("/batch", "3000", "1000", "inactive_file 1\ntotal_inactive_file 100\ntotal_active_file 200");
  group_1("/batch/job", unlimited_1, "500");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /batch", 2300}));
}

TEST_F(Memory, OfBothVersionsAtOnceIsThatWhichLimitsMemory) {
  tree_.write("proc/self/mountinfo",
              "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw");
  tree_.write("proc/self/cgroup", "4:memory:/job\n0::/job");
  group_1("/job", "1000", "100");
  tree_.write("sys/fs/cgroup/unified/job/cgroup.procs", "1");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /job", 900}));
}

TEST_F(Memory, OfAContainerIsFoundWhereItsOwnGroupIsMounted) {
  mount_1("/docker/c1");
  tree_.write("proc/self/cgroup", "4:memory:/docker/c1/inner");
  group_1("", "2000", "500");
  group_1("/inner", "800", "100");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /docker/c1/inner", 700},
                                    MemoryScope{"cgroup /docker/c1", 1500}));
}

TEST_F(Memory, OfAGroupThatCannotBeSeenIsThatOfTheOneThatIsMounted) {
  mount_2();
  tree_.write("proc/self/cgroup", "0::/../../elsewhere");
  group_2("", "2000", "500");
  EXPECT_THAT(scopes(), ElementsAre(machine_, MemoryScope{"cgroup /", 1500}));
}

TEST(MemoryOfThisMachine, IsSomethingFirstOfAllItsOwn) {
  const auto scopes = memory_scopes();
  ASSERT_FALSE(scopes.empty());
  EXPECT_EQ(scopes.front().name, "the machine");
  EXPECT_GT(scopes.front().available_bytes, 1e6);
}

}  // namespace
}  // namespace fourscore
