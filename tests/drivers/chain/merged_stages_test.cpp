// Stages that lie in the same layout: one plan for all, one for each, or as many as can be streamed. On the stand-in,
// and on the device that FOURSCORE_TEST_DEVICE names.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "mpi/handles.hpp"
#include "support/on_device.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::on_device;
using testing::HasSubstr;

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

/// The transforms of a plan on one rank, each copied there and back with staging=copy.
std::size_t ffts_of(const std::string& name, std::map<std::string, std::string> parameters,
                    const std::vector<Index>& shape = {8, 6, 8}) {
  Problem problem = test::problem_of(shape, on_device(std::move(parameters)));
  const auto plan = test::make_plan(variant(name), problem, nullptr);
  EXPECT_EQ(plan->facts().device_work.ffts, plan->facts().device_work.copies_in);
  return static_cast<std::size_t>(plan->facts().device_work.ffts);
}

/// Planes and the lines across them, also where they overlap an exchange. Streams are counted on the pretended CUDA,
/// which knows them.
TEST(StreamedStages, AreCutOnceAndTakeTurnsOnThreeStreams) {
  const auto streams = reinterpret_cast<std::size_t (*)()>(dlsym(RTLD_DEFAULT, "pretended_cuda_streams"));
  for (const char* name : {"slab-gpu", "pencil-gpu"})
    for (const int pieces : {1, 2, 4}) {
      Problem problem =
          test::problem_of({16, 16, 16}, on_device({{"staging", "streamed"}, {"pieces", std::to_string(pieces)}}));
      const std::size_t before = streams == nullptr ? 0 : streams();
      const auto plan = test::make_plan(variant(name), problem, &ExchangeRegistry::instance().get("p2p", "exchange"));
      EXPECT_EQ(plan->facts().device_work.ffts, 2 * pieces) << name;
      EXPECT_EQ(streams == nullptr ? 3 : streams() - before, 3) << name;
    }
}

TEST(MergedStages, AreOnePlanUnlessThatLeavesNothingToStream) {
  if (mpi::size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "for one rank, where all stages lie in the same layout";
  EXPECT_EQ(ffts_of("slab-gpu", {}), 1);
  EXPECT_EQ(ffts_of("slab-gpu", {{"merge-stages", "no"}}), 2);
  EXPECT_EQ(ffts_of("pencil-gpu", {}), 1);
  EXPECT_EQ(ffts_of("pencil-gpu", {{"merge-stages", "no"}}), 3);
  const auto streamed = [](const char* merge, const char* pieces) {
    return std::map<std::string, std::string>{{"staging", "streamed"}, {"merge-stages", merge}, {"pieces", pieces}};
  };
  EXPECT_EQ(ffts_of("slab-gpu", streamed("yes", "2")), 1) << "nothing to cut";
  EXPECT_EQ(ffts_of("slab-gpu", streamed("auto", "2")), 2 * 2);
  EXPECT_EQ(ffts_of("slab-gpu", streamed("auto", "2"), {8, 6}), 2 * 2);
  EXPECT_EQ(ffts_of("slab-gpu", streamed("no", "2")), 2 * 2);
  EXPECT_EQ(ffts_of("pencil-gpu", streamed("auto", "2")), 2 * 2) << "planes, and lines across them";
  EXPECT_EQ(ffts_of("pencil-gpu", streamed("no", "2")), 3 * 2);
}

TEST(MergedStages, AreAskedForWhereThereAreSome) {
  const auto reason = [](const char* name, const char* merge, int ranks) {
    Problem problem = test::problem_of({8, 8, 8}, {{"device", "host"}, {"merge-stages", merge}});
    return variant(name).supports(problem, ranks).value_or("supported");
  };
  EXPECT_EQ(reason("slab-gpu", "no", 1), "supported");
  EXPECT_EQ(reason("slab-gpu", "auto", 2), "supported");
  EXPECT_THAT(reason("slab-gpu", "no", 2), HasSubstr("same layout"));
  EXPECT_EQ(reason("pencil-gpu", "yes", 2), "supported") << "on a grid of 2x1, z- and y-pencils";
  for (const Parameter& one : variant("serial-gpu").facts().parameters) EXPECT_NE(one.name, "merge-stages");
}

}  // namespace
}  // namespace fourscore
