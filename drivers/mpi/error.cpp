#include "mpi/error.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace fourscore::mpi {

namespace {

std::string describe(int code, const char* call) {
  const std::string text(call);
  std::string message = text.substr(0, text.find('('));
  // Open MPI ends the process that asks for a text then.
  if (!is_running()) return message + " failed outside MPI_Init and MPI_Finalize: error code " + std::to_string(code);
  int rank = 0;
  int length = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  MPI_Get_processor_name(host.data(), &length);
  message += " failed on rank " + std::to_string(rank) + " on host " + std::string(host.data());
  std::array<char, MPI_MAX_ERROR_STRING> buffer{};
  if (MPI_Error_string(code, buffer.data(), &length) == MPI_SUCCESS)
    message += ": " + std::string(buffer.data(), static_cast<std::size_t>(length));
  else
    message += ": error code " + std::to_string(code);
  return message;
}

std::atomic<bool> aborting{false};

}  // namespace

bool is_running() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

bool may_call_collectives() noexcept { return std::uncaught_exceptions() == 0 && !aborting && is_running(); }

void abort_job(const std::string& program, const std::string& message, int code) {
  aborting = true;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s: rank %d: %s\n", program.c_str(), rank, message.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);  // MPI does not return from it, but may
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw MpiError(describe(code, call));
}

void check_nothrow(int code, const char* call) noexcept {
  if (code == MPI_SUCCESS) return;
  try {
    std::fprintf(stderr, "fourscore: %s\n", describe(code, call).c_str());
  } catch (const std::exception&) {
    std::fprintf(stderr, "fourscore: %s failed\n", call);
  }
}

}  // namespace fourscore::mpi
