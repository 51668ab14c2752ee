#include "mpi/error.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

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

/// Bytes written to standard error that its reader has not taken yet; 0 where it is neither a pipe nor a socket.
int unread_on_standard_error() {
  struct stat kind {};
  int bytes = 0;
  if (fstat(STDERR_FILENO, &kind) != 0) return 0;
  if (S_ISFIFO(kind.st_mode) && ioctl(STDERR_FILENO, FIONREAD, &bytes) == 0) return bytes;
  if (S_ISSOCK(kind.st_mode) && ioctl(STDERR_FILENO, TIOCOUTQ, &bytes) == 0) return bytes;
  return 0;
}

/// At most a second. A launcher that ends a job drops what it has not read: MPICH's lost one message in sixty.
void wait_until_launcher_has_read() {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + std::chrono::seconds(1);
  while (unread_on_standard_error() > 0 && steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

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
  wait_until_launcher_has_read();
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
