#include <gmock/gmock.h>

#include <map>

#include "hwcounters/counter.hpp"
#include "hwcounters/perf_event.hpp"
#include "hwcounters/sysfs_pmu.hpp"
#include "support/message_of.hpp"
#include "support/recorded_tree.hpp"

namespace fourscore {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Error>
std::string error_of(const std::string& code, const SysfsPmus& pmus, int cpu = 0) {
  return test::message_of<Error>([&] { return resolve_perf_event(code, pmus, cpu); });
}

TEST(SysfsPmus, ListsOfProcessors) {
  EXPECT_THAT(parse_cpu_list("0-3,8\n"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list(""), ElementsAre());
  EXPECT_THROW((void)parse_cpu_list("3-1"), std::invalid_argument);
  EXPECT_THROW((void)parse_cpu_list("a"), std::invalid_argument);
}

TEST(SysfsPmus, BoxesOfAUnitAreThoseWithANumber) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  std::vector<std::string> names;
  for (const PmuUnit& unit : SysfsPmus(machine.root()).find("uncore_imc")) names.push_back(unit.name);
  EXPECT_THAT(names, ElementsAre("uncore_imc_0", "uncore_imc_1", "uncore_imc_2", "uncore_imc_3", "uncore_imc_4",
                                 "uncore_imc_5"));
  EXPECT_EQ(SysfsPmus(machine.root()).find("uncore_imc_3").size(), 1U);
}

TEST(PerfEvent, AMemoryControllersEventIsOpenedInEveryChannelOfOurSocket) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  const SysfsPmus pmus(machine.root());
  for (const auto& [cpu, place] : {std::pair{1, 0}, std::pair{3, 2}}) {
    const PerfEvent event = resolve_perf_event("uncore_imc/event=0x04,umask=0x0c/", pmus, cpu);
    EXPECT_TRUE(event.uncore);
    ASSERT_EQ(event.counters.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(event.counters[i].encoding.type, 19U + i);
      EXPECT_EQ(event.counters[i].encoding.config[0], 0x0c04U);
      EXPECT_EQ(event.counters[i].cpu, place);
      EXPECT_THAT(event.counters[i].encoding.scale, DoubleEq(1.0)) << "raw events are counts";
    }
  }
}

TEST(PerfEvent, NamedEventsHaveTheKernelsScaleInBytes) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  const PerfEvent event = resolve_perf_event("uncore_imc/cas_count_read/", SysfsPmus(machine.root()), 0);
  ASSERT_EQ(event.counters.size(), 6U);
  EXPECT_EQ(event.counters[0].encoding.config[0], 0x0304U);
  EXPECT_THAT(event.counters[0].encoding.scale, DoubleEq(64.0)) << "6.1e-5 MiB is a line of 64 bytes";
  const PerfEvent energy = resolve_perf_event("power/energy-pkg/", SysfsPmus(machine.root()), 0);
  EXPECT_THAT(energy.counters.at(0).encoding.scale, DoubleEq(2.3283064365386962890625e-10)) << "Joules stay";
}

TEST(PerfEvent, BitsOfATermGoWhereTheFormatSays) {
  const RecordedTree machine("sysfs/zen4.txt");
  const PerfEvent event = resolve_perf_event("amd_df/event=0x1c7,umask=0x738/", SysfsPmus(machine.root()), 5);
  ASSERT_EQ(event.counters.size(), 1U);
  EXPECT_EQ(event.counters[0].encoding.config[0], 0x1'0700'38c7ULL);
  EXPECT_EQ(event.counters[0].cpu, 4);
}

TEST(PerfEvent, MemoryControllersOfAnotherSocketAreLeftOut) {
  const RecordedTree machine("sysfs/zen4.txt");
  const PerfEvent event = resolve_perf_event("amd_umc/event=0x0a,rdwrmask=0x2/", SysfsPmus(machine.root()), 7);
  ASSERT_EQ(event.counters.size(), 2U);
  EXPECT_EQ(event.counters[0].unit, "amd_umc_2");
  EXPECT_EQ(event.counters[0].encoding.type, 14U);
  EXPECT_EQ(event.counters[0].encoding.config[0], 0x20aU);
  EXPECT_EQ(event.counters[1].cpu, 4);
}

TEST(PerfEvent, ACachesEventIsOpenedInEveryCacheOfTheSocket) {
  const RecordedTree machine("sysfs/zen4.txt");
  const PerfEvent event = resolve_perf_event("amd_l3/event=0x04,umask=0x01/", SysfsPmus(machine.root()), 1);
  ASSERT_EQ(event.counters.size(), 2U);
  EXPECT_EQ(event.counters[1].cpu, 2);
}

TEST(PerfEvent, OfANameIsTheKernelsOwn) {
  // The numbers of linux/perf_event.h, which are part of the kernel's interface: type, then config.
  const std::map<std::string, std::pair<unsigned, unsigned>> numbers{
      {"cycles", {0, 0}},         {"cpu-cycles", {0, 0}},   {"instructions", {0, 1}},  {"cache-references", {0, 2}},
      {"cache-misses", {0, 3}},   {"branches", {0, 4}},     {"branch-misses", {0, 5}}, {"ref-cycles", {0, 9}},
      {"cpu-clock", {1, 0}},      {"task-clock", {1, 1}},   {"page-faults", {1, 2}},   {"context-switches", {1, 3}},
      {"cpu-migrations", {1, 4}}, {"minor-faults", {1, 5}}, {"major-faults", {1, 6}}};
  const RecordedTree machine("sysfs/virtual.txt");
  const SysfsPmus pmus(machine.root());
  for (const auto& [name, number] : numbers) {
    const PerfEvent event = resolve_perf_event(name, pmus, 0);
    ASSERT_EQ(event.counters.size(), 1U) << name;
    EXPECT_EQ(event.counters[0].encoding.type, number.first) << name;
    EXPECT_EQ(event.counters[0].encoding.config[0], number.second) << name;
    EXPECT_EQ(event.software, number.first == 1) << name;
  }
}

TEST(PerfEvent, OfAProcessorBelongToTheProcess) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  const SysfsPmus pmus(machine.root());
  const PerfEvent raw = resolve_perf_event("cpu/event=0xc7,umask=0x18/u", pmus, 0);
  EXPECT_FALSE(raw.uncore);
  EXPECT_TRUE(raw.user_only);
  ASSERT_EQ(raw.counters.size(), 1U);
  EXPECT_EQ(raw.counters[0].encoding.type, 4U);
  EXPECT_EQ(raw.counters[0].encoding.config[0], 0x18c7U);
  EXPECT_EQ(raw.counters[0].cpu, -1);
  EXPECT_EQ(resolve_perf_event("cpu/event=0xc0,edge,cmask=2/", pmus, 0).counters[0].encoding.config[0], 0x20400c0U);
  EXPECT_EQ(resolve_perf_event("cpu/event=0xb7,offcore_rsp=0x10/", pmus, 0).counters[0].encoding.config[1], 0x10U);
  EXPECT_EQ(resolve_perf_event("cpu/config=0x1b7/", pmus, 0).counters[0].encoding.config[0], 0x1b7U);
  EXPECT_EQ(resolve_perf_event("r80c1:u", pmus, 0).counters[0].encoding.config[0], 0x80c1U);
  EXPECT_EQ(resolve_perf_event("r80c1:u", pmus, 0).counters[0].encoding.type, 4U);
}

TEST(PerfEvent, TheKernelsOwnEventsNeedNoUnit) {
  const RecordedTree machine("sysfs/virtual.txt");
  const PerfEvent event = resolve_perf_event("page-faults:u", SysfsPmus(machine.root()), 0);
  EXPECT_TRUE(event.software);
  EXPECT_TRUE(event.user_only);
  EXPECT_EQ(event.counters[0].encoding.type, 1U);
  EXPECT_EQ(event.counters[0].encoding.config[0], 2U);
  EXPECT_FALSE(SysfsPmus(machine.root()).has_core_counters());
}

TEST(PerfEvent, AWrongNameIsReportedWithTheNearest) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  const SysfsPmus pmus(machine.root());
  const auto request = [&](const std::string& code) { return error_of<CounterRequestError>(code, pmus); };
  EXPECT_THAT(request("instructons"), HasSubstr("did you mean 'instructions'?"));
  EXPECT_THAT(request("uncore_imc/cas_count_raed/"),
              AllOf(HasSubstr("uncore_imc_0"), HasSubstr("did you mean 'cas_count_read'?")));
  EXPECT_THAT(request("uncore_imc/event=0x04,umsk=3/"), HasSubstr("did you mean 'umask'?"));
  EXPECT_THAT(request("uncore_imc/event=0x104/"), AllOf(HasSubstr("has 8 bits"), HasSubstr("0x104")));
  EXPECT_THAT(request("uncore_imc/event=four/"), HasSubstr("must be a number"));
  EXPECT_THAT(request("uncore_imc/event=0x04/u"), HasSubstr("cannot tell user mode apart"));
  EXPECT_THAT(request("uncore_imc//"), HasSubstr("must have the form"));
  EXPECT_THAT(request("cpu/event=0xc0/k"), HasSubstr("must have the form"));
  EXPECT_THAT(request("rxyz"), HasSubstr("is unknown"));
  EXPECT_THAT(request(""), HasSubstr("is unknown"));
}

TEST(PerfEvent, AUnitThatIsNotHereIsReportedWithThoseThatAre) {
  const RecordedTree machine("sysfs/skylake-sp.txt");
  const RecordedTree virtual_machine("sysfs/virtual.txt");
  EXPECT_THAT(error_of<CounterError>("uncore_imcs/event=4/", SysfsPmus(machine.root())),
              HasSubstr("did you mean 'uncore_imc_0'?"));
  EXPECT_THAT(error_of<CounterError>("amd_umc/event=0x0a/", SysfsPmus(virtual_machine.root())),
              AllOf(HasSubstr("no unit 'amd_umc'"), HasSubstr("breakpoint, msr, software"), HasSubstr("virtual")));
  const RecordedTree empty;
  EXPECT_THAT(error_of<CounterError>("amd_df/event=7/", SysfsPmus(empty.root())), HasSubstr("it shows: none"));
}

TEST(PerfEvent, FilesThatAreNotUnderstoodAreNamed) {
  RecordedTree machine("sysfs/skylake-sp.txt");
  machine.write("bus/event_source/devices/uncore_imc_0/type", "many");
  EXPECT_THAT(error_of<CounterError>("uncore_imc/event=4/", SysfsPmus(machine.root())),
              AllOf(HasSubstr("uncore_imc_0/type"), HasSubstr("'many'")));
  machine.write("bus/event_source/devices/uncore_imc_0/type", "19");
  machine.write("bus/event_source/devices/uncore_imc_0/cpumask", "x");
  EXPECT_THAT(error_of<CounterError>("uncore_imc/event=4/", SysfsPmus(machine.root())), HasSubstr("cpumask"));
}

TEST(PerfEvent, ASocketWithoutTheUnitIsReported) {
  RecordedTree machine("sysfs/zen4.txt");
  machine.write("devices/system/cpu/cpu9/topology/physical_package_id", "2");
  EXPECT_THAT(error_of<CounterError>("amd_df/event=7/", SysfsPmus(machine.root()), 9),
              HasSubstr("no unit 'amd_df' counts for the socket of processor 9"));
}

}  // namespace
}  // namespace fourscore
