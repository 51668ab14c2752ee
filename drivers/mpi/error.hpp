#pragma once
// Every return of MPI is checked: FOURSCORE_MPI(MPI_Barrier(comm)) throws, FOURSCORE_MPI_NOTHROW is for destructors.

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace fourscore {

/// A call of MPI failed. The message has the call, this process's rank in MPI_COMM_WORLD, its host and MPI's own text;
/// outside MPI_Init and MPI_Finalize it says so and has MPI's code.
struct MpiError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace mpi {

/// Throws MpiError unless code is MPI_SUCCESS. `call` is the source text of the call; its arguments are left out of
/// the message.
void check(int code, const char* call);

/// The twin for destructors: says the same on stderr and goes on.
void check_nothrow(int code, const char* call) noexcept;

/// Between MPI_Init and MPI_Finalize: handles can be freed.
[[nodiscard]] bool is_running() noexcept;

/// Whether a destructor may call a collective function of MPI (MPI_Win_free, MPI_Comm_free ...). Not while an exception
/// unwinds the stack, nor after abort_job() began: the other ranks may never make the call, and this one would wait for
/// them and not tell its error. What is not freed then ends with the process.
[[nodiscard]] bool may_call_collectives() noexcept;

/// Prints "program: rank R: message" on stderr and ends the processes of all ranks with the code.
[[noreturn]] void abort_job(const std::string& program, const std::string& message, int code);

}  // namespace mpi
}  // namespace fourscore

#define FOURSCORE_MPI(call) ::fourscore::mpi::check((call), #call)
#define FOURSCORE_MPI_NOTHROW(call) ::fourscore::mpi::check_nothrow((call), #call)
