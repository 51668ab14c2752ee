#include "harness/load_generator.hpp"

#include <gtest/gtest.h>

#include "core/phase.hpp"

namespace fourscore {
namespace {

class LoadGeneratorTest : public testing::Test {
 protected:
  static LoadGenerator generator(WorkPlace place) { return {MPI_COMM_WORLD, {100'000, WorkLoad::compute, place}}; }

  /// One run of a plan that is asked `idles` times while it waits, and `parts` times when it is not complete.
  static int parts_of_run(LoadGenerator& work, int idles, int parts) {
    PhaseClock clock;
    clock.start();
    work.begin_run();
    for (int i = 0; i < parts; ++i) (void)work.after_part(clock, Advance::worked);
    for (int i = 0; i < idles; ++i) (void)work.after_part(clock, Advance::idle);
    EXPECT_FALSE(work.after_part(clock, Advance::complete));
    work.after_transform(clock);
    work.end_run(clock);
    clock.stop();
    EXPECT_GT(clock.seconds(Phase::work), 0);
    return work.parts();
  }
};

TEST_F(LoadGeneratorTest, PlansThatWaitGetSlicesUntilTheWorkIsDone) {
  LoadGenerator work = generator(WorkPlace::during);
  EXPECT_EQ(parts_of_run(work, 3, 5), 3);  // slices of a tenth of so little work
  EXPECT_EQ(parts_of_run(work, 100, 5), 10);
}

TEST_F(LoadGeneratorTest, PlansThatNeverWaitGetEqualPartsFromTheSecondRunOn) {
  LoadGenerator work = generator(WorkPlace::during);
  EXPECT_EQ(parts_of_run(work, 0, 4), 0);
  EXPECT_EQ(parts_of_run(work, 0, 4), 4);
  EXPECT_EQ(parts_of_run(work, 0, 6), 4);
}

TEST_F(LoadGeneratorTest, BetweenTransformsPlansGetNothingWhileTheyRun) {
  LoadGenerator work = generator(WorkPlace::between);
  EXPECT_EQ(parts_of_run(work, 5, 5), 0);
  EXPECT_EQ(parts_of_run(work, 5, 5), 1);
}

TEST_F(LoadGeneratorTest, WorkOfTheMemoryStreamsOverMoreThanTheCaches) {
  const LoadGenerator work(MPI_COMM_WORLD, {100'000, WorkLoad::memory, WorkPlace::between});
  EXPECT_GE(work.array_bytes(), std::size_t{4} << 20);
  EXPECT_EQ(work.unit(), "bytes");
  EXPECT_GT(work.units(), 1e3);
}

}  // namespace
}  // namespace fourscore
