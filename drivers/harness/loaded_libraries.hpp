#pragma once
// Which shared libraries this program runs with: one that was rebuilt is other code, though the program's own file is
// the same.

#include <map>
#include <string>

namespace fourscore {

/// For each shared library that was loaded with the program, by the name it was asked for: its file's own name, which
/// often holds the version, and what tells one build from another, the linker's build id or else the SHA-256 of the
/// file:
/// {"libfftw3.so.3", "libfftw3.so.3.6.9 build-id:3c0f…"}. What is loaded later (plugins of MPI, counters), the kernel's
/// page of code and what Valgrind preloads are not among them, so that the answer is the same before MPI_Init and
/// after, and under a simulator.
[[nodiscard]] const std::map<std::string, std::string>& libraries_loaded_at_start();
/// The same of all that is loaded by now.
[[nodiscard]] std::map<std::string, std::string> libraries_loaded_now();

}  // namespace fourscore
