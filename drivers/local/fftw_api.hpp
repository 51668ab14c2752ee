#pragma once
// FFTW's functions by precision, for those that call it: the local transforms, and the wrapper of its own distributed
// one.

#include <fftw3.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/problem.hpp"

namespace fourscore::local {

template <class Real>
struct FftwApi;

/// `each(member, function)` for FFTW's functions; those below the line others' libraries may lack.
#define FOURSCORE_FFTW_NEEDED(each, prefix)                                                       \
  each(plan, prefix##_plan_guru64_dft) each(plan_r2c, prefix##_plan_guru64_dft_r2c)               \
      each(plan_c2r, prefix##_plan_guru64_dft_c2r) each(execute, prefix##_execute_dft)            \
          each(execute_r2c, prefix##_execute_dft_r2c) each(execute_c2r, prefix##_execute_dft_c2r) \
              each(destroy, prefix##_destroy_plan)
#define FOURSCORE_FFTW_OPTIONAL(each, prefix)                                                                       \
  each(print, prefix##_sprint_plan) each(alignment, prefix##_alignment_of) each(limit_time, prefix##_set_timelimit) \
      each(import_wisdom, prefix##_import_wisdom_from_string) each(export_wisdom, prefix##_export_wisdom_to_string) \
          each(forget_wisdom, prefix##_forget_wisdom)
#define FOURSCORE_FFTW_OF_THREADS(each, prefix) \
  each(init_threads, prefix##_init_threads) each(plan_with_threads, prefix##_plan_with_nthreads)

#define FOURSCORE_LINKED(member, function) decltype(&function) member = &function;
#define FOURSCORE_NOT_LINKED(member, function) decltype(&function) member = nullptr;
#define FOURSCORE_VISITED(member, function) visit(#function, member);
#ifdef FOURSCORE_FFTW_THREADS
#define FOURSCORE_LINKED_THREADS FOURSCORE_LINKED
#else
#define FOURSCORE_LINKED_THREADS FOURSCORE_NOT_LINKED
#endif

// FFTW names its functions by pasting a prefix; so does this, that both precisions have one list. The functions are
// those of the FFTW that this program is linked with, until they are set to another library's.
#define FOURSCORE_FFTW_API(real, prefix)                        \
  template <>                                                   \
  struct FftwApi<real> {                                        \
    using Complex = prefix##_complex;                           \
    using Handle = prefix##_plan;                               \
    FOURSCORE_FFTW_NEEDED(FOURSCORE_LINKED, prefix)             \
    FOURSCORE_FFTW_OPTIONAL(FOURSCORE_LINKED, prefix)           \
    FOURSCORE_FFTW_OF_THREADS(FOURSCORE_LINKED_THREADS, prefix) \
    template <class Visit>                                      \
    void visit_needed(Visit&& visit) {                          \
      FOURSCORE_FFTW_NEEDED(FOURSCORE_VISITED, prefix)          \
    }                                                           \
    template <class Visit>                                      \
    void visit_optional(Visit&& visit) {                        \
      FOURSCORE_FFTW_OPTIONAL(FOURSCORE_VISITED, prefix)        \
      FOURSCORE_FFTW_OF_THREADS(FOURSCORE_VISITED, prefix)      \
    }                                                           \
  }

FOURSCORE_FFTW_API(double, fftw);
FOURSCORE_FFTW_API(float, fftwf);
#undef FOURSCORE_FFTW_API
#undef FOURSCORE_FFTW_NEEDED
#undef FOURSCORE_FFTW_OPTIONAL
#undef FOURSCORE_FFTW_OF_THREADS
#undef FOURSCORE_LINKED
#undef FOURSCORE_NOT_LINKED
#undef FOURSCORE_LINKED_THREADS
#undef FOURSCORE_VISITED

/// An FFTW, or another library with its functions.
struct FftwFunctions {
  FftwApi<double> of_double{};
  FftwApi<float> of_float{};
  std::string version;

  template <class Real>
  [[nodiscard]] const FftwApi<Real>& of() const {
    if constexpr (std::is_same_v<Real, double>)
      return of_double;
    else
      return of_float;
  }
  [[nodiscard]] bool has_threads() const {
    return of_double.init_threads != nullptr && of_double.plan_with_threads != nullptr &&
           of_float.init_threads != nullptr && of_float.plan_with_threads != nullptr;
  }
  /// FFTW wants this once, before its first planning and before fftw_mpi_init. Throws std::runtime_error.
  void start_threads() const {
    if (has_threads() && (of_double.init_threads() == 0 || of_float.init_threads() == 0))
      throw std::runtime_error("FFTW could not start its threads");
  }
  /// Sets the threads of the plans made next.
  template <class Real>
  void use_threads(int threads) const {
    if (has_threads()) of<Real>().plan_with_threads(threads);
  }
};

/// The one that this program is linked with, its threads started. Throws as start_threads().
inline const FftwFunctions& linked_fftw() {
  static const FftwFunctions functions = [] {
    const FftwFunctions linked{{}, {}, fftw_version};
    linked.start_threads();
    return linked;
  }();
  return functions;
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
  /// `api` is of the library that made it, and outlives it.
  FftwHandle(typename FftwApi<Real>::Handle handle, const FftwApi<Real>& api) : handle_(handle, Destroy{&api}) {}
  [[nodiscard]] typename FftwApi<Real>::Handle get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }
  [[nodiscard]] const FftwApi<Real>& api() const { return *handle_.get_deleter().api; }
  /// FFTW's own words for the plan.
  [[nodiscard]] std::string describe() const {
    if (api().print == nullptr) return "a plan";
    const FftwText text(api().print(handle_.get()));
    return text ? text.get() : "";
  }

 private:
  struct Destroy {
    const FftwApi<Real>* api = nullptr;
    void operator()(typename FftwApi<Real>::Handle handle) const { api->destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<typename FftwApi<Real>::Handle>, Destroy> handle_;
};

}  // namespace fourscore::local
