#pragma once
// Leaving an MPI program together when something went wrong.

#include <mpi.h>

#include <functional>
#include <string>
#include <utility>

#include "mpi/handles.hpp"

namespace fourscore::bench {

/// Thrown on all ranks at once: rank 0 prints the message, all leave through MPI_Finalize with the code.
struct LeaveTogether {
  int code = 0;
  std::string message;
};

/// Runs steps that may throw on some ranks only, without leaving the others in a collective for ever.
class Agreement {
 public:
  /// `program` speaks where the job has to be ended.
  explicit Agreement(MPI_Comm comm, std::string program = "fft_bench")
      : comm_(mpi::duplicate(comm)), program_(std::move(program)) {}

  /// Collective. Where work throws on any rank, throws LeaveTogether everywhere with the lowest such rank's message:
  /// code 2 for an InputError, 3 for anything else. Ranks whose work is a collective cannot return from it when another
  /// failed before; the failed one waits patience_s for them and then ends the job with MPI_Abort.
  void run(const std::function<void()>& work, double patience_s = 5);

  /// Collective. As run(), for work that rank 0 does for all.
  void run_on_root(const std::function<void()>& work);

 private:
  void settle(int code, const std::string& message, double patience_s);
  mpi::Communicator comm_;
  std::string program_;
};

}  // namespace fourscore::bench
