// How local FFT library `tiled` plans transforms over several axes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "interfaces/local_fft.hpp"
#include "local/tiled/kernels.hpp"
#include "local/tiled/passes.hpp"

namespace fourscore::local::tiled {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A cube's transform in the words of the library.
std::string planned(const std::string& library, Index side, const LocalFftSpec& asked) {
  LocalFftSpec spec = asked;
  spec.axes = {{side, 1, 1}, {side, side, side}};
  (spec.batch.empty() ? spec.axes : spec.batch).push_back({side, side * side, side * side});
  std::vector<std::complex<double>> data(static_cast<std::size_t>(side * side * side));
  return LocalFftRegistry::instance()
      .get(library, "local FFT library")
      .make(spec, data.data(), data.data())
      ->describe();
}

std::string tiles() { return "tiled " + instruction_set(); }

TEST(TiledLibrary, HasPassesWhereOneSinglePlanIsAsked) {
  LocalFftSpec spec;
  spec.effort = Effort::estimate;
  spec.single_plan = true;
  EXPECT_THAT(planned("tiled", 12, spec), HasSubstr(tiles()));
  EXPECT_THAT(planned("fftw", 12, spec), Not(HasSubstr("tiled")));
}

// FFTW's own planes are the better guess for FFTW's passes alone: 12 rows of 192 bytes do not crowd a cache.
TEST(TiledLibrary, TakesTilesForPlanesWhereNothingIsTimed) {
  LocalFftSpec spec;
  spec.effort = Effort::estimate;
  spec.batch = {{1, 1, 1}};
  EXPECT_THAT(planned("tiled", 12, spec), HasSubstr("12 times [" + tiles()));
  EXPECT_THAT(planned("tiled", 11, spec), Not(HasSubstr(tiles())));
  EXPECT_THAT(planned("fftw", 12, spec), Not(HasSubstr("12 times [")));
}

TEST(TiledLibrary, TakesTilesWithThreadsWhereNothingIsTimed) {
  LocalFftSpec spec;
  spec.effort = Effort::estimate;
  spec.threads = 2;
  if (!has_threads()) {
    EXPECT_THROW((void)planned("tiled", 24, spec), InputError);
    return;
  }
  EXPECT_THAT(planned("tiled", 24, spec), HasSubstr(tiles()));
  EXPECT_THAT(planned("tiled", 24, spec), HasSubstr("2 threads"));
}

}  // namespace
}  // namespace fourscore::local::tiled
