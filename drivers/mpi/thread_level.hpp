#pragma once
// How the threads of a process may call MPI (MPI 3.1, section 12.4.3).

#include <string>

#include "core/refusal.hpp"

namespace fourscore {

/// In ascending order: each allows what those before it allow. funneled: only the thread that initialised MPI calls it.
/// multiple: any thread at any time.
enum class ThreadLevel { single, funneled, serialized, multiple };

/// "single", "funneled" ...
[[nodiscard]] std::string to_string(ThreadLevel level);

namespace mpi {

/// The constant of MPI, and back.
[[nodiscard]] int code_of(ThreadLevel level);
[[nodiscard]] ThreadLevel thread_level_of(int code);

/// What this process's MPI was initialised with.
[[nodiscard]] ThreadLevel provided_thread_level();

/// Nothing, or that `who` needs more than is provided, with both names. Needs a running MPI.
[[nodiscard]] Reason missing_thread_level(ThreadLevel needed, const std::string& who);

}  // namespace mpi
}  // namespace fourscore
