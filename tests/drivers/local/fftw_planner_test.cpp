// What FFTW is told when it plans. This program defines FFTW's planning functions itself, looks at the flags, and
// passes on to the library.

#include <dlfcn.h>
#include <fftw3.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "interfaces/local_fft.hpp"

namespace {

std::vector<unsigned> flags_seen;

/// FFTW's flags that say how hard the planner tries. FFTW_MEASURE is none of them.
constexpr unsigned effort_flags = FFTW_ESTIMATE | FFTW_PATIENT | FFTW_EXHAUSTIVE;

/// The same plan, made by estimate.
unsigned seen(unsigned flags) {
  flags_seen.push_back(flags);
  return (flags & ~effort_flags) | FFTW_ESTIMATE;
}

template <class Function>
Function next(const char* name) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  if (found == nullptr) throw std::runtime_error(std::string(name) + " is in no library");
  return reinterpret_cast<Function>(found);
}

}  // namespace

// The planners by kind of data, for each precision. Plans are made by estimate whatever is asked for: nothing here is
// about how long they take.
#define FOURSCORE_WATCH(prefix)                                                                                        \
  prefix##_plan prefix##_plan_guru64_dft(int rank, const fftw_iodim64* dims, int loops, const fftw_iodim64* loop_dims, \
                                         prefix##_complex* in, prefix##_complex* out, int sign, unsigned flags) {      \
    return next<decltype(&prefix##_plan_guru64_dft)>(__func__)(rank, dims, loops, loop_dims, in, out, sign,            \
                                                               seen(flags));                                           \
  }

extern "C" {
FOURSCORE_WATCH(fftw)
FOURSCORE_WATCH(fftwf)
fftw_plan fftw_plan_guru64_dft_r2c(int rank, const fftw_iodim64* dims, int loops, const fftw_iodim64* loop_dims,
                                   double* in, fftw_complex* out, unsigned flags) {
  return next<decltype(&fftw_plan_guru64_dft_r2c)>(__func__)(rank, dims, loops, loop_dims, in, out, seen(flags));
}
fftw_plan fftw_plan_guru64_dft_c2r(int rank, const fftw_iodim64* dims, int loops, const fftw_iodim64* loop_dims,
                                   fftw_complex* in, double* out, unsigned flags) {
  return next<decltype(&fftw_plan_guru64_dft_c2r)>(__func__)(rank, dims, loops, loop_dims, in, out, seen(flags));
}
}

namespace fourscore {
namespace {

std::set<unsigned> efforts_of_plans(Effort effort, Precision precision, Index real_length, Direction direction) {
  std::vector<std::complex<double>> data(17 * 4);
  LocalFftSpec spec;
  spec.axes = {{real_length > 0 ? real_length / 2 + 1 : 16, 1, 1}};
  spec.batch = {{4, 17, 17}};
  spec.real_length = real_length;
  spec.precision = precision;
  spec.direction = direction;
  spec.effort = effort;
  flags_seen.clear();
  (void)LocalFftRegistry::instance().get("fftw", "local FFT").make(spec, data.data(), data.data());
  std::set<unsigned> efforts;
  for (const unsigned flags : flags_seen) efforts.insert(flags & effort_flags);
  return efforts;
}

TEST(FftwPlanner, IsToldTheEffortThatTheContractNames) {
  const std::vector<std::pair<Effort, unsigned>> expected{
      {Effort::estimate, FFTW_ESTIMATE}, {Effort::measure, FFTW_MEASURE}, {Effort::patient, FFTW_PATIENT}};
  for (const auto& [effort, flag] : expected) {
    SCOPED_TRACE(to_string(effort));
    for (const auto precision : {Precision::double_precision, Precision::single_precision})
      EXPECT_THAT(efforts_of_plans(effort, precision, 0, Direction::forward), testing::ElementsAre(flag));
    for (const auto direction : {Direction::forward, Direction::backward})
      EXPECT_THAT(efforts_of_plans(effort, Precision::double_precision, 30, direction), testing::ElementsAre(flag));
  }
}

}  // namespace
}  // namespace fourscore
