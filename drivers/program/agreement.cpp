#include "program/agreement.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include "core/problem.hpp"
#include "mpi/error.hpp"
#include "results/record_file.hpp"

namespace fourscore::bench {
namespace {

/// 0 and nothing, or the exit code and the message of what work threw.
int outcome_of(const std::function<void()>& work, std::string& message) {
  try {
    work();
    return 0;
  } catch (const InputError& error) {
    message = error.what();
    return 2;
  } catch (const std::exception& error) {
    message = error.what();
    return 3;
  }
}

/// Polls, so that a rank that failed does not wait for ranks that cannot come.
bool completes_within(MPI_Request& request, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() < end) {
    FOURSCORE_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

}  // namespace

void Agreement::settle(int code, const std::string& message, double patience_s) {
  // The lowest failing rank speaks; its message is the one that is shown.
  const int rank = mpi::rank_in(comm_.get());
  const int speaker = code == 0 ? mpi::size_of(comm_.get()) : rank;
  int lowest = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  FOURSCORE_MPI(MPI_Iallreduce(&speaker, &lowest, 1, MPI_INT, MPI_MIN, comm_.get(), &request));
  if (code == 0) {
    FOURSCORE_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else if (!completes_within(request, patience_s)) {
    mpi::abort_job(program_, message, code);
  }
  if (lowest == mpi::size_of(comm_.get())) return;
  std::array<int, 2> header{code, static_cast<int>(message.size())};
  FOURSCORE_MPI(MPI_Bcast(header.data(), 2, MPI_INT, lowest, comm_.get()));
  std::string text = message;
  text.resize(static_cast<std::size_t>(header[1]));
  FOURSCORE_MPI(MPI_Bcast(text.data(), header[1], MPI_CHAR, lowest, comm_.get()));
  throw LeaveTogether{header[0], text};
}

void Agreement::run(const std::function<void()>& work, double patience_s) {
  std::string message;
  const int code = outcome_of(work, message);
  settle(code, message, patience_s);
}

void Agreement::run_on_root(const std::function<void()>& work) {
  std::string message;
  const int code = mpi::rank_in(comm_.get()) == 0 ? outcome_of(work, message) : 0;
  settle(code, message, 5);
}

}  // namespace fourscore::bench
