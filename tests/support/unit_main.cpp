// main() of every test that uses no MPI.

#include <gtest/gtest.h>

#include "support/skips.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new fourscore::testing_support::SkipRecorder);
  return RUN_ALL_TESTS();
}
