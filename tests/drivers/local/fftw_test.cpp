// Wisdom as FFTW has it: its own text of plans, in sections. What holds for every library: local_fft_test.cpp.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interfaces/local_fft.hpp"
#include "support/message_of.hpp"

namespace fourscore {
namespace {

const LocalFftLibrary& fftw() { return LocalFftRegistry::instance().get("fftw", "local FFT library"); }

TEST(FftwWisdom, HasASectionForEachPrecision) {
  EXPECT_THAT(fftw().export_wisdom(), testing::AllOf(testing::HasSubstr("[decisions]"), testing::HasSubstr("[double]"),
                                                     testing::HasSubstr("[single]")));
}

TEST(FftwWisdom, UnreadableWisdomIsAnInputErrorThatNamesItsOrigin) {
  for (const char* content : {"", "something else\n", "plans of fftw\nstray\n", "plans of fftw\n[double]\n(broken\n",
                              "plans of fftw\n[decisions]\nno sign\n"})
    EXPECT_THAT(test::message_of([&] { return fftw().import_wisdom(content, "wisdom file w"); }),
                testing::StartsWith("wisdom file w cannot be used: "))
        << content;
}

}  // namespace
}  // namespace fourscore
