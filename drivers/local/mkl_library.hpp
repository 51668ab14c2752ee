#pragma once
// The shared libraries of Intel oneMKL, for the two files that call it: the local transforms and the wrapper of its
// own distributed one.
//
// They are opened at first use and never linked. A program that does not use MKL does not load its 130 MB, and starts
// where MKL was taken away. And MKL has functions by the names of FFTW's own: linked, the order on a command line would
// decide who serves FFTW's callers; opened later, MKL never does.

#include <map>
#include <string>

namespace fourscore::local {

/// Nothing, or why MKL cannot be used: as the configure run found, or as the loader says now.
[[nodiscard]] std::string mkl_unavailable();

/// Whether MKL runs its threads by the OpenMP that this program has; otherwise it has one thread.
[[nodiscard]] bool mkl_has_threads();

/// Opens a further library of MKL's, as "mkl_blacs_openmpi_lp64". Throws std::runtime_error that says why it cannot.
void open_mkl_library(const std::string& name);

/// The address of one of MKL's functions. Throws std::runtime_error.
[[nodiscard]] void* mkl_symbol(const char* name);

template <class Function>
[[nodiscard]] Function* mkl_function(const char* name) {
  return reinterpret_cast<Function*>(mkl_symbol(name));
}

/// MKL's own words for its version, and for the processor whose code it runs.
[[nodiscard]] std::string mkl_version();

/// For each of MKL's libraries that this program may open: its file's name, and what tells one build from another.
/// Empty where there is no MKL.
[[nodiscard]] std::map<std::string, std::string> mkl_library_builds();

}  // namespace fourscore::local
