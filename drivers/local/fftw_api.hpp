#pragma once
// FFTW's functions by precision, for the two files that call it: the local transforms and the wrapper of its own
// distributed one.

#include <fftw3.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/problem.hpp"

namespace fourscore::local {

#ifdef FOURSCORE_FFTW_THREADS
inline constexpr bool fftw_has_threads = true;
#else
inline constexpr bool fftw_has_threads = false;
#endif

template <class Real>
struct FftwApi;

// FFTW names its functions by pasting a prefix; so does this, that both precisions have one list.
#define FOURSCORE_FFTW_API(real, prefix)                                       \
  template <>                                                                  \
  struct FftwApi<real> {                                                       \
    using Complex = prefix##_complex;                                          \
    using Handle = prefix##_plan;                                              \
    static constexpr auto plan = &prefix##_plan_guru64_dft;                    \
    static constexpr auto plan_r2c = &prefix##_plan_guru64_dft_r2c;            \
    static constexpr auto plan_c2r = &prefix##_plan_guru64_dft_c2r;            \
    static constexpr auto execute = &prefix##_execute_dft;                     \
    static constexpr auto execute_r2c = &prefix##_execute_dft_r2c;             \
    static constexpr auto execute_c2r = &prefix##_execute_dft_c2r;             \
    static constexpr auto destroy = &prefix##_destroy_plan;                    \
    static constexpr auto print = &prefix##_sprint_plan;                       \
    static constexpr auto alignment = &prefix##_alignment_of;                  \
    static constexpr auto limit_time = &prefix##_set_timelimit;                \
    static constexpr auto import_wisdom = &prefix##_import_wisdom_from_string; \
    static constexpr auto export_wisdom = &prefix##_export_wisdom_to_string;   \
    static constexpr auto forget_wisdom = &prefix##_forget_wisdom;             \
  }

FOURSCORE_FFTW_API(double, fftw);
FOURSCORE_FFTW_API(float, fftwf);
#undef FOURSCORE_FFTW_API

/// FFTW wants this before its first planning, and before fftw_mpi_init. Throws std::runtime_error.
inline void start_fftw_threads() {
#ifdef FOURSCORE_FFTW_THREADS
  static const bool ready = fftw_init_threads() != 0 && fftwf_init_threads() != 0;
  if (!ready) throw std::runtime_error("FFTW could not start its threads");
#endif
}

/// Sets the threads of the plans made next.
template <class Real>
void use_fftw_threads([[maybe_unused]] int threads) {
#ifdef FOURSCORE_FFTW_THREADS
  if constexpr (std::is_same_v<Real, double>)
    fftw_plan_with_nthreads(threads);
  else
    fftwf_plan_with_nthreads(threads);
#endif
}

inline unsigned fftw_flag(Effort effort) {
  switch (effort) {
    case Effort::estimate:
      return FFTW_ESTIMATE;
    case Effort::measure:
      return FFTW_MEASURE;
    case Effort::patient:
      return FFTW_PATIENT;
  }
  throw std::logic_error("an effort without a flag of FFTW");
}

/// Text that FFTW allocated.
struct FreeFftwText {
  void operator()(char* text) const { std::free(text); }
};
using FftwText = std::unique_ptr<char, FreeFftwText>;

/// Owns one plan.
template <class Real>
class FftwHandle {
 public:
  FftwHandle() = default;
  explicit FftwHandle(typename FftwApi<Real>::Handle handle) : handle_(handle) {}
  [[nodiscard]] typename FftwApi<Real>::Handle get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }
  /// FFTW's own words for the plan.
  [[nodiscard]] std::string describe() const {
    const FftwText text(FftwApi<Real>::print(handle_.get()));
    return text ? text.get() : "";
  }

 private:
  struct Destroy {
    void operator()(typename FftwApi<Real>::Handle handle) const { FftwApi<Real>::destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<typename FftwApi<Real>::Handle>, Destroy> handle_;
};

}  // namespace fourscore::local
